//! From a request to the family that serves it.

mod completion;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod tools;

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_protocol::{ClientRequest, ErrorObject, ServerResult};

use self::prompts::Prompts;
use self::resources::Resources;
use self::tools::Tools;
use crate::attempt::{Attempt, Outcome, Serve, Serving};
use crate::context::Context;
use crate::custom::Method;

/// The innermost service.
pub(crate) struct Router<S> {
    pub(crate) state: Arc<S>,
    pub(crate) methods: BTreeMap<String, Box<dyn Method<S>>>,
    pub(crate) tools: Tools<S>,
    pub(crate) prompts: Prompts<S>,
    pub(crate) resources: Resources<S>,
    /// Items on a page of a list.
    pub(crate) page_size: usize,
}

impl<S: Send + Sync + 'static> Serve for Router<S> {
    fn serve(self: Arc<Self>, attempt: Attempt) -> Serving {
        Box::pin(async move {
            let cx = Context {
                state: self.state.clone(),
                call: attempt.call.clone(),
            };
            Ok(match attempt.request() {
                ClientRequest::ListTools(params) => match self.tools.list(params, self.page_size) {
                    Ok(list) => Outcome::Done(ServerResult::ListTools(list).into()),
                    Err(error) => Outcome::Refused(error),
                },
                ClientRequest::CallTool(params) => self.tools.call(params, cx).await?,
                ClientRequest::ListResources(params) => {
                    let list = self.resources.list(params, self.page_size);
                    answered(list.map(ServerResult::ListResources))
                }
                ClientRequest::ListResourceTemplates(params) => {
                    let list = self.resources.list_templates(params, self.page_size);
                    answered(list.map(ServerResult::ListResourceTemplates))
                }
                ClientRequest::ReadResource(params) => self.resources.read(params, cx).await?,
                ClientRequest::ListPrompts(params) => {
                    let list = self.prompts.list(params, self.page_size);
                    answered(list.map(ServerResult::ListPrompts))
                }
                ClientRequest::GetPrompt(params) => self.prompts.get(params, cx).await?,
                ClientRequest::Complete(params) => {
                    let proposals = self.complete(params, cx).await;
                    answered(proposals.map(ServerResult::Complete))
                }
                ClientRequest::Custom(method, params) => match self.methods.get(method.as_str()) {
                    Some(answering) => {
                        let answer = answering.answer(params, cx).await;
                        answered(answer.map(ServerResult::Custom))
                    }
                    None => Outcome::Refused(ErrorObject::method_not_found(method.as_str())),
                },
                request => {
                    Outcome::Refused(ErrorObject::method_not_found(request.method().as_str()))
                }
            })
        })
    }
}

fn answered(result: Result<ServerResult, ErrorObject>) -> Outcome {
    match result {
        Ok(result) => Outcome::Done(result.into()),
        Err(error) => Outcome::Refused(error),
    }
}
