//! What a tower layer sees of a call, and what comes back.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use mcp_protocol::connection::Caller;
use mcp_protocol::types::InputRequest;
use mcp_protocol::{ClientRequest, ErrorObject, Method, RequestMeta, ServerResult};
use tower::{BoxError, Service};

use crate::context::Call;
use crate::error::ServiceDown;
use crate::named::Named;
use crate::seal::Digest;

/// One try to serve a request: what goes through the layers to a handler.
///
/// Only work gets here. The handshake, pings, cancellations and everything else that relates
/// messages to each other is dealt with before.
#[derive(Clone)]
pub struct Attempt {
    pub(crate) call: Arc<Call>,
}

impl Attempt {
    /// The request.
    #[must_use]
    pub fn request(&self) -> &ClientRequest {
        self.call.request()
    }

    /// The method that is called.
    #[must_use]
    pub fn method(&self) -> Method {
        self.request().method()
    }

    /// The tool that is called, if it is a tool.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self.request() {
            ClientRequest::CallTool(params) => Some(&params.name),
            _ => None,
        }
    }

    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.call.caller()
    }

    /// The `_meta` of the request, as [`Context::meta`](crate::Context::meta) gives it.
    #[must_use]
    pub fn meta(&self) -> &RequestMeta {
        self.call.meta()
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("method", &self.method())
            .field("tool", &self.tool())
            .finish_non_exhaustive()
    }
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The result.
    Done(Box<ServerResult>),
    /// An error for the caller.
    Refused(ErrorObject),
    /// The handler needs something of the user first, and will be tried again. A layer passes
    /// it on.
    Needs(Needs),
}

/// What a handler needs before it can give a result, by the names it has given.
#[derive(Clone, Debug, PartialEq)]
pub struct Needs(pub(crate) Named<Need>);

/// One thing that is needed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Need {
    pub(crate) request: InputRequest,
    /// The digest of the request.
    pub(crate) question: Digest,
    /// Whether the call is over when the user says no.
    pub(crate) ends_with_no: bool,
}

impl Needs {
    /// The names of what is needed.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// An attempt being served, whatever serves it.
pub(crate) type Serving = Pin<Box<dyn Future<Output = Result<Outcome, BoxError>> + Send>>;

/// The service that a layer wraps: the layers inside of it and, innermost, the router.
///
/// Always ready. A layer that has to wait before it can take a call does so inside of the
/// call's own task, never where messages are read.
#[derive(Clone)]
pub struct Next(Arc<dyn Serve>);

/// What serves attempts.
pub(crate) trait Serve: Send + Sync {
    fn serve(self: Arc<Self>, attempt: Attempt) -> Serving;
}

/// A layer's service, of which each attempt gets a clone.
struct Layered<T>(T);

impl<T> Serve for Layered<T>
where
    T: Service<Attempt, Response = Outcome> + Clone + Send + Sync + 'static,
    T::Error: Into<BoxError>,
    T::Future: Send,
{
    fn serve(self: Arc<Self>, attempt: Attempt) -> Serving {
        Box::pin(async move {
            let mut service = self.0.clone();
            poll_fn(|cx| service.poll_ready(cx))
                .await
                .map_err(|error| ServiceDown::because(error.into()))?;
            service.call(attempt).await.map_err(Into::into)
        })
    }
}

impl Next {
    pub(crate) fn serve(&self, attempt: Attempt) -> Serving {
        self.0.clone().serve(attempt)
    }

    pub(crate) fn innermost(service: Arc<impl Serve + 'static>) -> Self {
        Self(service)
    }

    pub(crate) fn layered<T>(service: T) -> Self
    where
        T: Service<Attempt, Response = Outcome> + Clone + Send + Sync + 'static,
        T::Error: Into<BoxError>,
        T::Future: Send,
    {
        Self(Arc::new(Layered(service)))
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}

impl Service<Attempt> for Next {
    type Response = Outcome;
    type Error = BoxError;
    type Future = Serving;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, attempt: Attempt) -> Serving {
        self.serve(attempt)
    }
}
