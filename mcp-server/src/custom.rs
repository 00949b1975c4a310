//! What a server has beyond the specification: methods and notifications of its own.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_protocol::tool::{ArgumentError, decode_arguments};
use mcp_protocol::types::CustomParams;
use mcp_protocol::{ClientNotification, ErrorObject, RawJson};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument;

use crate::context::Context;
use crate::limit::{Share, Slot};
use crate::named::Named;
use crate::span::{self, CallSpan};
use crate::work::Caught;

/// What answers a method.
#[async_trait]
pub(crate) trait Method<S>: Send + Sync {
    async fn answer(&self, params: &CustomParams, cx: Context<S>) -> Result<RawJson, ErrorObject>;
}

/// A method that a closure answers.
pub(crate) struct AnsweredBy<F, P>(F, PhantomData<fn(P)>);

impl<F, P> AnsweredBy<F, P> {
    pub(crate) fn new(answer: F) -> Self {
        Self(answer, PhantomData)
    }
}

#[async_trait]
impl<S, P, F, A, R> Method<S> for AnsweredBy<F, P>
where
    S: Send + Sync + 'static,
    P: DeserializeOwned + Send,
    F: Fn(P, Context<S>) -> A + Send + Sync,
    A: Future<Output = Result<R, ErrorObject>> + Send,
    R: Serialize,
{
    async fn answer(&self, params: &CustomParams, cx: Context<S>) -> Result<RawJson, ErrorObject> {
        let params = typed(params)
            .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: {error}")))?;
        let result = (self.0)(params, cx).await?;
        object(&result).ok_or_else(|| {
            tracing::error!("the result of a method is not a JSON object");
            ErrorObject::internal("the result is not an object")
        })
    }
}

/// The parameters without their `_meta`, read as arguments are: any object is nothing.
fn typed<P: DeserializeOwned>(params: &CustomParams) -> Result<P, ArgumentError> {
    let members = RawJson::encode(&params.extra);
    let members = members.map_err(|error| ArgumentError::new("", error.to_string()))?;
    decode_arguments(&members)
}

/// A value as an object: nothing is an empty one.
pub(crate) fn object(value: &impl Serialize) -> Option<RawJson> {
    let json = RawJson::encode(value).ok()?;
    let json = if json.is_null() {
        RawJson::empty_object()
    } else {
        json
    };
    json.is_object().then_some(json)
}

/// A notification being handled.
type Handling = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What handles a notification.
pub(crate) type Handler = Box<dyn Fn(CustomParams) -> Handling + Send + Sync>;

/// The handlers, by the methods of their notifications.
pub(crate) type Handlers = Named<Handler>;

pub(crate) fn handled_by<S, P, F, H>(handle: F, state: Arc<S>) -> Handler
where
    S: Send + Sync + 'static,
    P: DeserializeOwned + Send,
    F: Fn(P, Arc<S>) -> H + Send + Sync + 'static,
    H: Future<Output = ()> + Send + 'static,
{
    let handle = Arc::new(handle);
    Box::new(move |params| {
        let (handle, state) = (handle.clone(), state.clone());
        Box::pin(async move {
            match typed(&params) {
                Ok(params) => handle(params, state).await,
                // Of a malformed notification nobody is told, as of any other.
                Err(error) => tracing::debug!(%error, "a notification is malformed"),
            }
        })
    })
}

/// What one connection has notified of, handled one after another.
///
/// Each takes a slot of its connection until it has been handled, so those which wait are
/// bounded as calls are, in number and in bytes. Where no slot is free, it is dropped.
pub(crate) struct Heard {
    handlers: Arc<Handlers>,
    share: Share,
    network: Option<&'static str>,
    waiting: Option<UnboundedSender<(Slot, Handling)>>,
    /// At most one, which ends with the connection.
    worker: JoinSet<()>,
}

impl Heard {
    pub(crate) fn new(
        handlers: Arc<Handlers>,
        share: Share,
        network: Option<&'static str>,
    ) -> Self {
        Self {
            handlers,
            share,
            network,
            waiting: None,
            worker: JoinSet::new(),
        }
    }

    /// Hands a notification to its handler, if it has one. Does not wait.
    pub(crate) fn hear(&mut self, notification: ClientNotification) {
        let (method, params) = match notification {
            ClientNotification::Custom(method, params) => (method, params),
            ClientNotification::RootsListChanged(_) => {
                (mcp_protocol::Method::RootsListChanged, CustomParams::new())
            }
            _ => return,
        };
        let Some(handler) = self.handlers.get(method.as_str()) else {
            return;
        };
        let members = params.extra.iter();
        let size = members.map(|(name, value)| name.len() + value.as_bytes().len());
        let Ok(slot) = self.share.try_acquire(size.sum()) else {
            tracing::warn!(method = method.as_str(), "a notification was dropped: busy");
            return;
        };
        let span = span::notification(method.as_str(), self.network);
        let handling = Box::pin(handler(params).instrument(span));
        let worker = &mut self.worker;
        let waiting = self.waiting.get_or_insert_with(|| {
            let (waiting, mut next) = unbounded_channel::<(Slot, Handling)>();
            worker.spawn(async move {
                while let Some((slot, handling)) = next.recv().await {
                    if let Err(panic) = Caught::new(handling, CallSpan::none()).await {
                        tracing::error!(panic, "a handler panicked");
                    }
                    drop(slot);
                }
            });
            waiting
        });
        // The worker takes them for as long as there is somebody to send them.
        let _ = waiting.send((slot, handling));
    }

    /// Lets what was heard be handled, if that does not take too long.
    pub(crate) async fn finish(&mut self, grace: Duration) {
        self.waiting = None;
        let _ = timeout(grace, self.worker.join_next()).await;
    }
}
