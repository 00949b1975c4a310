//! One call, before it is made.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_protocol::connection::CallOptions;
use mcp_protocol::types::{LoggingLevel, ProgressParams};
use mcp_protocol::{ClientRequest, ServerResult};

use crate::answers;
use crate::cache;
use crate::client::Client;
use crate::error::ClientError;
use crate::feed::{Feed, Feeder, feed};

/// How a result becomes what the caller wants.
pub(crate) type Read<T> = fn(ServerResult) -> Result<T, ClientError>;

/// A call that is made when it is awaited, and not before.
///
/// Awaiting it gives the result, or a [`ClientError`] that says why there is none. It ends for
/// certain: after [`timeout`](Self::timeout), with the connection, or when the server has asked
/// too often in return. While its turn or a restart of the server is waited for, nothing is sent.
///
/// # Cancel safety
///
/// Dropped while it is awaited, it tells the server that its answer is not wanted any more. The
/// server may have done what it was asked nevertheless.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn doc(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// let shipped = client
///     .call("ship", serde_json::json!({ "environment": "production" }))
///     .timeout(Duration::from_secs(5))
///     .on_progress(|report| println!("{}", report.progress))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is made when it is awaited"]
pub struct Call<T> {
    client: Client,
    request: Result<Box<ClientRequest>, ClientError>,
    read: Read<T>,
    options: CallOptions,
    is_fresh: bool,
    reports: Option<Arc<Feeder<ProgressParams>>>,
    listener: Option<(Feed<ProgressParams>, OnProgress)>,
}

type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

impl<T> Call<T> {
    pub(crate) fn new(
        client: Client,
        request: Result<Box<ClientRequest>, ClientError>,
        read: Read<T>,
    ) -> Self {
        let mut options = client.0.options;
        options.log = client.0.hub.level();
        Self {
            client,
            request,
            read,
            options,
            is_fresh: false,
            reports: None,
            listener: None,
        }
    }

    /// How long to wait for the outcome, or for the next report of progress if some are asked for.
    /// If the server asks in return, it begins anew when the question has its answer.
    /// Default is the client's; [`Duration::MAX`] is for ever.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options.timeout = Some(time);
        self
    }

    /// How long to wait in all, however much progress is reported. Default is the client's.
    pub fn longest(mut self, time: Duration) -> Self {
        self.options.longest = Some(time);
        self
    }

    /// The lowest level of log messages that this call may cause. Default is what
    /// [`Client::set_level`] has set. Since 2026-07-28.
    pub fn log(mut self, level: LoggingLevel) -> Self {
        self.options.log = Some(level);
        self
    }

    /// Asks the server, though there may be an earlier answer that it has allowed to be used.
    /// See [`ClientBuilder::cache`](crate::ClientBuilder::cache).
    pub fn fresh(mut self) -> Self {
        self.is_fresh = true;
        self
    }

    /// Asks for reports of progress, and calls `take` with each, in the task that awaits the call.
    pub fn on_progress(mut self, take: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        let (call, reports) = self.progress_stream();
        self = call;
        self.listener = Some((reports, Box::new(take)));
        self
    }

    /// Asks for reports of progress, and gives them as a stream that ends with the call. Up to
    /// 64, and 16 MiB, wait to be taken; beyond it the oldest go.
    pub fn progress_stream(mut self) -> (Self, Feed<ProgressParams>) {
        let (feeder, reports) = feed();
        self.options.progress = true;
        self.reports = Some(Arc::new(feeder));
        (self, reports)
    }
}

/// Reports that are passed on in one go, or who awaits a call could do nothing else while
/// its server reports more.
const IN_ONE_GO: usize = 8;

/// Waits for a call, and passes on how far it gets, to the last.
async fn reported<O>(
    call: impl Future<Output = O>,
    reports: Feed<ProgressParams>,
    mut take: OnProgress,
) -> O {
    let mut call = pin!(call);
    poll_fn(|cx| {
        let outcome = call.as_mut().poll(cx);
        // After the outcome no more come.
        let most = if outcome.is_ready() {
            usize::MAX
        } else {
            IN_ONE_GO
        };
        for _ in 0..most {
            let Poll::Ready(Some(report)) = reports.poll(cx) else {
                return outcome;
            };
            take(report);
        }
        cx.waker().wake_by_ref();
        outcome
    })
    .await
}

impl<T: Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            client,
            request,
            read,
            options,
            is_fresh,
            reports,
            listener,
        } = self;
        // An `async fn` has room for its arguments twice, and each call would carry it.
        Box::pin(async move {
            let request = request?;
            let keeps = || client.0.caches && !client.is_closed();
            let key = cache::key(&request).filter(|_| keeps());
            let cached = key.as_ref().map(|key| client.0.hub.cache.get(key));
            let (kept, age) = cached.unwrap_or_default();
            if let Some(kept) = kept.filter(|_| !is_fresh) {
                return read(kept);
            }
            #[cfg(feature = "validate")]
            let tool = match &*request {
                ClientRequest::CallTool(params) => Some(params.name.clone()),
                _ => None,
            };
            let call = answers::complete(&client, request, &options, reports.as_ref());
            let (result, has_asked) = match listener {
                Some((reports, take)) => Box::pin(reported(call, reports, take)).await?,
                None => call.await?,
            };
            #[cfg(feature = "validate")]
            if let Some(outputs) = &client.0.outputs {
                Box::pin(outputs.see(tool.as_deref(), &result)).await?;
            }
            if let Some(key) = key.filter(|_| !has_asked) {
                client.0.hub.cache.put(key, age, &result);
            }
            read(result)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use mcp_protocol::RequestId;

    use super::*;

    #[tokio::test]
    async fn reports_without_end_leave_room_for_others() {
        let (feeder, reports) = feed();
        let report = || ProgressParams::new(RequestId::from(1), 1.0);
        feeder.give(|waiting| waiting.push_back((report(), 0)));
        let feeder = Arc::new(feeder);
        let take = move |_| feeder.give(|waiting| waiting.push_back((report(), 0)));
        let waited = reported(pending::<()>(), reports, Box::new(take));
        let mut waited = pin!(waited);
        // One poll comes to an end.
        let first = poll_fn(|cx| Poll::Ready(waited.as_mut().poll(cx)));
        assert!(first.await.is_pending());
    }
}
