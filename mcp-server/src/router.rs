//! From a request to the family that serves it.

pub(crate) mod tools;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use mcp_protocol::{ClientRequest, ErrorObject, ServerResult};
use tower::{BoxError, Service};

use self::tools::Tools;
use crate::attempt::{Attempt, Outcome};
use crate::context::Context;

/// The innermost service.
pub(crate) struct Router<S> {
    routes: Arc<Routes<S>>,
}

pub(crate) struct Routes<S> {
    pub(crate) state: Arc<S>,
    pub(crate) tools: Tools<S>,
}

impl<S> Router<S> {
    pub(crate) fn new(routes: Routes<S>) -> Self {
        Self {
            routes: Arc::new(routes),
        }
    }
}

impl<S> Clone for Router<S> {
    fn clone(&self) -> Self {
        Self {
            routes: self.routes.clone(),
        }
    }
}

impl<S: Send + Sync + 'static> Service<Attempt> for Router<S> {
    type Response = Outcome;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Outcome, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, attempt: Attempt) -> Self::Future {
        let routes = self.routes.clone();
        Box::pin(async move { routes.serve(attempt).await })
    }
}

impl<S: Send + Sync + 'static> Routes<S> {
    async fn serve(&self, attempt: Attempt) -> Result<Outcome, BoxError> {
        let cx = Context {
            state: self.state.clone(),
            call: attempt.call,
            slot: attempt.slot,
        };
        Ok(match attempt.request {
            ClientRequest::ListTools(params) => match self.tools.list(&params) {
                Ok(list) => Outcome::Done(ServerResult::ListTools(list)),
                Err(error) => Outcome::Refused(error),
            },
            ClientRequest::CallTool(params) => self.tools.call(params, cx).await?,
            request => {
                Outcome::Refused(ErrorObject::method_not_found(request.method().as_str()))
            }
        })
    }
}
