//! Hearing of changes, in either way.
//!
//! Since 2026-07-28 a client opens a stream for what it wants to hear of. Up to 2025-11-25 it
//! subscribes to resources, and hears of lists unasked.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use mcp_protocol::connection::{CallError, Change};
use mcp_protocol::types::{ListenParams, SubscribeParams, SubscriptionFilter};
use mcp_protocol::{ClientRequest, Method};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::client::Client;
use crate::error::ClientError;
use crate::feed::{Feed, feed};
use crate::hub::Changes;
use crate::link::{self, Link, Pending, Takes};

/// Changes that the server tells of, as a [`Stream`]. Made by [`Client::listen`].
///
/// A change that was told and not yet taken is not told twice, and of too many becomes one:
/// [`Change::Everything`]. That comes, too, when the server was started again, for it may have
/// forgotten what it had to tell.
#[derive(Debug)]
pub struct Listening {
    changes: Feed<Change>,
    granted: SubscriptionFilter,
    failure: Arc<OnceLock<ClientError>>,
    task: JoinHandle<()>,
}

impl Client {
    /// Listens to changes of the server's lists, and of resources.
    ///
    /// It goes on when a server is [started again](crate::ClientBuilder::restart).
    ///
    /// Dropping what this gives ends it. It keeps the connection open, as a clone of this
    /// handle does.
    ///
    /// # Errors
    ///
    /// When the server offers nothing of it, refuses, or does not confirm it in time.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Listening, ClientError> {
        let (changes, feed) = feed();
        let changes = Arc::new(changes);
        let link = self.link(Method::Listen, self.0.options.timeout).await?;
        let open = Open::new(self, link, &filter, &changes).await?;
        let failure = Arc::default();
        Ok(Listening {
            changes: feed,
            granted: open.granted.clone(),
            task: tokio::spawn(listen(
                self.clone(),
                filter,
                changes,
                open,
                Arc::clone(&failure),
            )),
            failure,
        })
    }
}

impl Listening {
    /// The next change, or `None` when the server has ended the stream or the connection has
    /// ended for good.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if this is dropped.
    pub async fn next(&mut self) -> Option<Change> {
        self.changes.next().await
    }

    /// Why there will be no more changes, unless the server has ended the stream as it should.
    /// A server that was started again is asked for it until it agrees.
    #[must_use]
    pub fn failure(&self) -> Option<&ClientError> {
        self.failure.get()
    }

    /// What the server has agreed to tell of or, up to 2025-11-25, has declared. It may be less
    /// than was wanted.
    #[must_use]
    pub fn granted(&self) -> &SubscriptionFilter {
        &self.granted
    }
}

impl Stream for Listening {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.changes.poll(cx)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Listens as long as there is something to hear, and notes why it ends.
async fn listen(
    client: Client,
    filter: SubscriptionFilter,
    changes: Arc<Changes>,
    open: Open,
    failure: Arc<OnceLock<ClientError>>,
) {
    if let Err(error) = keep(&client, &filter, &changes, open).await {
        if !client.is_closed() {
            tracing::warn!("changes are not heard of any more: {error}");
        }
        // Before the end is told with `changes`.
        let _ = failure.set(error);
    }
}

/// Listens until the server has said all, whatever happens to the connection.
async fn keep(
    client: &Client,
    filter: &SubscriptionFilter,
    changes: &Arc<Changes>,
    mut open: Open,
) -> Result<(), ClientError> {
    while open.is_lost().await? {
        let mut delay = SHORTEST;
        open = loop {
            let link = client.link(Method::Listen, None).await?;
            match Open::new(client, link, filter, changes).await {
                Ok(open) => break open,
                Err(ClientError::Closed { .. }) => {}
                Err(error) => {
                    tracing::warn!("cannot listen now: {error}; trying again in {delay:?}");
                    sleep(delay).await;
                    delay = (2 * delay).min(LONGEST);
                }
            }
        };
        changes.tell(Change::Everything);
    }
    Ok(())
}

/// How long is waited before a stream that was cut off is opened again.
const SHORTEST: Duration = Duration::from_secs(1);

/// No longer is waited before the server is asked again.
const LONGEST: Duration = Duration::from_secs(30);

/// Listening, on one connection.
struct Open {
    granted: SubscriptionFilter,
    way: Way,
}

enum Way {
    Stream(Pending<Link>),
    Subscribed(Subscribed),
}

impl Open {
    async fn new(
        client: &Client,
        link: Link,
        filter: &SubscriptionFilter,
        changes: &Arc<Changes>,
    ) -> Result<Self, ClientError> {
        if link.has(&Method::Listen) {
            Self::stream(client, link, filter, changes).await
        } else {
            Self::subscribed(client, link, filter, changes).await
        }
    }

    async fn stream(
        client: &Client,
        link: Link,
        filter: &SubscriptionFilter,
        changes: &Arc<Changes>,
    ) -> Result<Self, ClientError> {
        let request = ClientRequest::Listen(ListenParams::new(filter.clone()));
        let (told, granted) = oneshot::channel();
        let stream = link::Stream {
            changes: changes.clone(),
            granted: Some(told),
        };
        let takes = Takes {
            progress: None,
            stream: Some(stream),
        };
        let mut call = Pending::new(link, request, client.0.options, takes);
        // When it is not granted, `told` is dropped with the call.
        if let Ok(granted) = granted.await {
            let way = Way::Stream(call);
            return Ok(Self { granted, way });
        }
        match call.outcome().await {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) => Err(ClientError::protocol(
                "the server has ended a stream that it had not confirmed",
            )),
            None => Err(client.gone().await),
        }
    }

    async fn subscribed(
        client: &Client,
        link: Link,
        filter: &SubscriptionFilter,
        changes: &Arc<Changes>,
    ) -> Result<Self, ClientError> {
        let granted = filter.clone().granted_by(&link.server().capabilities);
        if granted == SubscriptionFilter::new() && *filter != granted {
            let error = CallError::NotOffered(Method::Listen);
            return Err(ClientError::Unsupported(error.into()));
        }
        client.0.hub.listen(changes, filter);
        let mut subscribed = Subscribed {
            client: client.clone(),
            link,
            uris: Vec::new(),
        };
        for uri in granted.resource_subscriptions.iter().flatten() {
            client.0.hub.subscribe(uri);
            subscribed.uris.push(uri.clone());
            let request = ClientRequest::Subscribe(SubscribeParams::new(uri));
            client.request(request).await?;
        }
        Ok(Self {
            granted,
            way: Way::Subscribed(subscribed),
        })
    }

    /// Waits for the end. Whether it is one that nobody has wanted.
    async fn is_lost(&mut self) -> Result<bool, ClientError> {
        match &mut self.way {
            Way::Stream(call) => match call.outcome().await {
                None | Some(Err(ClientError::Closed { .. })) => Ok(true),
                Some(Err(ClientError::NoAnswer(_))) => {
                    // The stream was cut off, and the next one may be, too.
                    sleep(SHORTEST).await;
                    Ok(true)
                }
                Some(outcome) => outcome.and_then(link::read).map(|_| false),
            },
            Way::Subscribed(subscribed) => {
                subscribed.link.closed().await;
                Ok(true)
            }
        }
    }
}

/// Subscriptions to resources. They end with it, unless others have the same.
struct Subscribed {
    client: Client,
    link: Link,
    uris: Vec<String>,
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        for uri in self.uris.drain(..) {
            if self.client.0.hub.unsubscribe(&uri) {
                let request = ClientRequest::Unsubscribe(SubscribeParams::new(uri));
                let options = self.client.0.options;
                Pending::new(&self.link, request, options, Takes::default()).forget();
            }
        }
    }
}
