//! From a request to the family that serves it.

mod completion;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod tools;

use std::sync::Arc;

use mcp_protocol::{ClientRequest, ErrorObject, ServerResult};

use self::prompts::Prompts;
use self::resources::Resources;
use self::tools::Tools;
use crate::attempt::{Attempt, Outcome, Serve, Serving};
use crate::context::Context;
use crate::custom::Method;
use crate::error::ToolError;
use crate::named::Named;

/// The innermost service.
pub(crate) struct Router<S> {
    pub(crate) state: Arc<S>,
    pub(crate) methods: Named<Box<dyn Method<S>>>,
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
                call: attempt.call,
            };
            let size = self.page_size;
            let result = match cx.call.request() {
                ClientRequest::ListTools(params) => {
                    answered(self.tools.list(params, size), ServerResult::ListTools)
                }
                ClientRequest::CallTool(params) => match self.tools.find(params) {
                    Ok((tool, arguments)) => tool.call(arguments, cx).await,
                    Err(unknown) => Err(unknown),
                },
                ClientRequest::ListResources(params) => answered(
                    self.resources.list(params, size),
                    ServerResult::ListResources,
                ),
                ClientRequest::ListResourceTemplates(params) => {
                    let list = self.resources.list_templates(params, size);
                    answered(list, ServerResult::ListResourceTemplates)
                }
                ClientRequest::ReadResource(params) => self
                    .resources
                    .read(params, cx.clone())
                    .await
                    .map(|read| ServerResult::ReadResource(read).into()),
                ClientRequest::ListPrompts(params) => {
                    answered(self.prompts.list(params, size), ServerResult::ListPrompts)
                }
                ClientRequest::GetPrompt(params) => self
                    .prompts
                    .get(params, cx.clone())
                    .await
                    .map(|got| ServerResult::GetPrompt(got).into()),
                ClientRequest::Complete(params) => answered(
                    self.complete(params, cx.clone()).await,
                    ServerResult::Complete,
                ),
                ClientRequest::Custom(method, params) => match self.methods.get(method.as_str()) {
                    Some(answering) => answered(
                        answering.answer(params, cx.clone()).await,
                        ServerResult::Custom,
                    ),
                    None => Err(unknown(method)),
                },
                request => Err(unknown(&request.method())),
            };
            match result {
                Ok(result) => Ok(Outcome::Done(result)),
                Err(error) => error.into_outcome(),
            }
        })
    }
}

fn answered<T>(
    result: Result<T, ErrorObject>,
    of: fn(T) -> ServerResult,
) -> Result<Box<ServerResult>, ToolError> {
    match result {
        Ok(result) => Ok(of(result).into()),
        Err(error) => Err(ToolError::refused(error)),
    }
}

fn unknown(method: &mcp_protocol::Method) -> ToolError {
    ToolError::refused(ErrorObject::method_not_found(method.as_str()))
}
