//! From a request to the family that serves it.

pub(crate) mod tools;

use std::sync::Arc;

use mcp_protocol::{ClientRequest, ErrorObject, ServerResult};

use self::tools::Tools;
use crate::attempt::{Attempt, Outcome, Serve, Serving};
use crate::context::Context;

/// The innermost service.
pub(crate) struct Router<S> {
    pub(crate) state: Arc<S>,
    pub(crate) tools: Tools<S>,
    /// Items on a page of a list.
    pub(crate) page_size: usize,
}

impl<S: Send + Sync + 'static> Serve for Router<S> {
    fn serve(self: Arc<Self>, attempt: Attempt) -> Serving {
        Box::pin(async move {
            let cx = Context {
                state: self.state.clone(),
                call: attempt.call,
            };
            Ok(match *attempt.request {
                ClientRequest::ListTools(params) => {
                    match self.tools.list(&params, self.page_size) {
                        Ok(list) => Outcome::Done(ServerResult::ListTools(list).into()),
                        Err(error) => Outcome::Refused(error),
                    }
                }
                ClientRequest::CallTool(params) => self.tools.call(params, cx).await?,
                request => {
                    Outcome::Refused(ErrorObject::method_not_found(request.method().as_str()))
                }
            })
        })
    }
}
