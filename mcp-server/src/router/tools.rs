//! `tools/list` and `tools/call`.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_protocol::tool::is_name;
use mcp_protocol::types::PaginatedParams;
use mcp_protocol::types::{self, CallToolParams, CallToolResult, ContentBlock, ListToolsResult};
use mcp_protocol::{ErrorObject, RawJson, ServerResult};
use tower::BoxError;

use crate::attempt::Outcome;
use crate::context::Context;
use crate::error::{BuildError, Kind, ToolError};
use crate::schema;
use crate::tool::Tool;

/// The tools of a server, in the order in which they were registered.
pub(crate) struct Tools<S> {
    tools: Vec<Arc<dyn Tool<S>>>,
    definitions: Vec<types::Tool>,
    by_name: HashMap<String, usize>,
}

impl<S: 'static> Tools<S> {
    /// Checks what no host could use.
    pub(crate) fn new(tools: Vec<Arc<dyn Tool<S>>>) -> Result<Self, BuildError> {
        let mut definitions = Vec::with_capacity(tools.len());
        let mut by_name = HashMap::with_capacity(tools.len());
        for (at, tool) in tools.iter().enumerate() {
            let definition = checked(tool.definition())?;
            if by_name.insert(definition.name.clone(), at).is_some() {
                return Err(BuildError::DuplicateTool {
                    name: definition.name,
                });
            }
            definitions.push(definition);
        }
        Ok(Self {
            tools,
            definitions,
            by_name,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(crate) fn list(&self, params: &PaginatedParams) -> Result<ListToolsResult, ErrorObject> {
        match &params.cursor {
            // All tools are on the first page, so no cursor was ever given out.
            Some(_) => Err(ErrorObject::invalid_params(
                "Invalid params: unknown cursor",
            )),
            None => Ok(ListToolsResult::new(self.definitions.clone())),
        }
    }
}

impl<S: Send + Sync + 'static> Tools<S> {
    pub(crate) async fn call(
        &self,
        params: CallToolParams,
        cx: Context<S>,
    ) -> Result<Outcome, BoxError> {
        let Some(tool) = self.by_name.get(&params.name) else {
            // No more of it than a name can have: an answer must not grow with what was sent.
            let error = format!("Unknown tool: {:.128}", params.name);
            return Ok(Outcome::Refused(ErrorObject::invalid_params(error)));
        };
        let arguments = params.arguments.unwrap_or(RawJson::empty_object());
        if !arguments.is_object() {
            let error = "Invalid params: `arguments` is not an object";
            return Ok(Outcome::Refused(ErrorObject::invalid_params(error)));
        }
        match self.tools[*tool].call(arguments, cx).await {
            Ok(result) => Ok(Outcome::Done(ServerResult::CallTool(result).into())),
            Err(ToolError(Kind::Failed(message))) => {
                let result = CallToolResult::new()
                    .content(vec![ContentBlock::text(message)])
                    .is_error(true);
                Ok(Outcome::Done(ServerResult::CallTool(result).into()))
            }
            Err(ToolError(Kind::Refused(error))) => Ok(Outcome::Refused(error)),
            Err(ToolError(Kind::Down(down))) => Err(down.into()),
        }
    }
}

/// A definition that hosts can use.
fn checked(mut definition: types::Tool) -> Result<types::Tool, BuildError> {
    let name = &definition.name;
    if !is_name(name) {
        return Err(BuildError::ToolName { name: name.clone() });
    }
    let schema_error = |which| {
        let name = name.clone();
        move |error| BuildError::Schema { name, which, error }
    };
    let input =
        schema::registered_input(&definition.input_schema).map_err(schema_error("input"))?;
    let output = definition
        .output_schema
        .as_ref()
        .map(schema::registered_output)
        .transpose()
        .map_err(schema_error("output"))?;
    definition.input_schema = input;
    definition.output_schema = output;
    Ok(definition)
}
