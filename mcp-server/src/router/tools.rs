//! `tools/list` and `tools/call`.

use std::sync::Arc;

use mcp_protocol::tool::is_name;
use mcp_protocol::types::PaginatedParams;
use mcp_protocol::types::{self, CallToolParams, CallToolResult, ContentBlock, ListToolsResult};
use mcp_protocol::{ErrorObject, RawJson, ServerResult};
use tower::BoxError;

use crate::attempt::Outcome;
use crate::context::Context;
use crate::error::{BuildError, Kind, ToolError};
use crate::registry::{Duplicate, Registry};
use crate::schema;
use crate::tool::Tool;

/// The tools of a server.
pub(crate) struct Tools<S>(Registry<types::Tool, dyn Tool<S>>);

impl<S> Default for Tools<S> {
    fn default() -> Self {
        Self(Registry::default())
    }
}

impl<S: 'static> Tools<S> {
    /// Adds a tool, unless no host could use it.
    pub(crate) fn add(&self, tool: Arc<dyn Tool<S>>) -> Result<(), BuildError> {
        let definition = checked(tool.definition())?;
        let name = definition.name.clone();
        self.0
            .insert(&name, definition, tool)
            .map_err(|Duplicate| BuildError::DuplicateTool { name })
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        self.0.remove(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(
        &self,
        params: &PaginatedParams,
        size: usize,
    ) -> Result<ListToolsResult, ErrorObject> {
        let page = self.0.page(params.cursor.as_deref(), size)?;
        let mut result = ListToolsResult::new(page.definitions);
        result.next_cursor = page.next;
        Ok(result)
    }
}

impl<S: Send + Sync + 'static> Tools<S> {
    pub(crate) async fn call(
        &self,
        params: &CallToolParams,
        cx: Context<S>,
    ) -> Result<Outcome, BoxError> {
        let Some(tool) = self.0.find(&params.name) else {
            // No more of it than a name can have: an answer must not grow with what was sent.
            let error = format!("Unknown tool: {:.128}", params.name);
            return Ok(Outcome::Refused(ErrorObject::invalid_params(error)));
        };
        let arguments = params.arguments.clone();
        let arguments = arguments.unwrap_or(RawJson::empty_object());
        if !arguments.is_object() {
            let error = "Invalid params: `arguments` is not an object";
            return Ok(Outcome::Refused(ErrorObject::invalid_params(error)));
        }
        match tool.call(arguments, cx).await {
            Ok(result) => Ok(Outcome::Done(ServerResult::CallTool(result).into())),
            Err(ToolError(Kind::Failed(message))) => {
                let result = CallToolResult::new()
                    .content(vec![ContentBlock::text(message)])
                    .is_error(true);
                Ok(Outcome::Done(ServerResult::CallTool(result).into()))
            }
            Err(ToolError(Kind::Refused(error))) => Ok(Outcome::Refused(error)),
            Err(ToolError(Kind::Needs(needs))) => Ok(Outcome::Needs(needs)),
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
