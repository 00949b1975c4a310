//! `completion/complete`.

use std::collections::BTreeMap;

use mcp_protocol::ErrorObject;
use mcp_protocol::types::{CompleteParams, CompleteResult, Completion, Reference};

use super::Router;
use crate::context::Context;

/// Most proposals that a client may be given.
/// Spec: [`CompleteResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult).
const VALUES: usize = 100;

impl<S: Send + Sync + 'static> Router<S> {
    pub(crate) async fn complete(
        &self,
        params: &CompleteParams,
        cx: Context<S>,
    ) -> Result<CompleteResult, ErrorObject> {
        let argument = &params.argument;
        let known = params.context.as_ref();
        let known = known.and_then(|context| context.arguments.as_ref());
        let known = known.unwrap_or(const { &BTreeMap::new() });
        let values = match &params.reference {
            Reference::Prompt(prompt) => {
                let name = &prompt.name;
                self.prompts.complete(name, argument, known, cx).await?
            }
            Reference::Resource(template) => {
                let (uri, name, value) = (&template.uri, &argument.name, &argument.value);
                let values = self.resources.complete(uri, name, value, known, cx).await;
                values.ok_or_else(|| unknown(uri, name))?
            }
            _ => {
                let error = "Invalid params: `ref` is neither of a prompt nor of a resource";
                return Err(ErrorObject::invalid_params(error));
            }
        };
        Ok(CompleteResult::new(first(values)))
    }
}

fn unknown(template: &str, variable: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!(
        "Invalid params: no resource template `{template:.128}` has a variable `{variable:.128}`"
    ))
}

/// As many as may be given, and how many there are.
fn first(mut values: Vec<String>) -> Completion {
    let all = values.len();
    values.truncate(VALUES);
    Completion::new(values)
        .total(u64::try_from(all).unwrap_or(u64::MAX))
        .has_more(all > VALUES)
}
