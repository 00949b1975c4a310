//! `tools/list` and `tools/call`.

use std::sync::Arc;

use mcp_protocol::tool::{ArgumentError, header_arguments, is_name};
use mcp_protocol::types::{self, CallToolParams, CallToolResult, ListToolsResult, PaginatedParams};
use mcp_protocol::{ErrorObject, RawJson, ServerResult};

use crate::context::Context;
use crate::error::{BuildError, Kind, ToolError};
use crate::output::{self, Compile, Output};
use crate::registry::{Duplicate, Registry};
use crate::schema::{self, SchemaError};
use crate::tool::{self, Tool};

/// The longest name that hosts do not cut or refuse when they put their own word before it: of
/// the 64 letters that models take, some are theirs.
const LONG_NAME: usize = 48;

/// The tools of a server.
pub(crate) struct Tools<S> {
    registry: Registry<types::Tool, Registered<S>>,
    rules: ToolRules,
}

/// How a server looks at tools that are registered.
#[derive(Clone, Copy, Default)]
pub(crate) struct ToolRules {
    /// Whether schemas are shown as they are.
    pub(crate) as_written: bool,
    /// How arguments are held against their schemas, if they are.
    pub(crate) compile_input: Option<CompileInput>,
    /// How outputs are, if they are.
    pub(crate) compile: Option<Compile>,
}

/// Says what is wrong with arguments, if anything is. The second argument has the tool
/// [read](Tool::read) them.
pub(crate) type ValidateInput = Box<
    dyn Fn(&RawJson, &dyn Fn() -> Option<Result<(), ArgumentError>>) -> Result<(), ArgumentError>
        + Send
        + Sync,
>;

/// Makes the check of a schema, once for each tool.
pub(crate) type CompileInput = fn(&RawJson) -> Result<ValidateInput, SchemaError>;

/// One tool.
pub(crate) struct Registered<S> {
    name: Box<str>,
    tool: Arc<dyn Tool<S>>,
    input: Option<ValidateInput>,
    output: Option<Output>,
}

impl<S: 'static> Tools<S> {
    pub(crate) fn new(rules: ToolRules) -> Self {
        Self {
            registry: Registry::default(),
            rules,
        }
    }

    /// Adds a tool, unless no host could use it.
    pub(crate) fn add(&self, tool: Arc<dyn Tool<S>>) -> Result<(), BuildError> {
        let mut definition = tool.definition();
        check_name(&definition.name)?;
        let name = definition.name.clone();
        let bad = |which| {
            let name = name.clone();
            move |error| BuildError::Schema { name, which, error }
        };
        let input = self.fit_input(&mut definition).map_err(bad("input"))?;
        let output = self.fit_output(&mut definition).map_err(bad("output"))?;
        let registered = Arc::new(Registered {
            name: name.as_str().into(),
            tool,
            input,
            output,
        });
        self.registry
            .insert(&name, definition, registered)
            .map_err(|Duplicate| BuildError::DuplicateTool { name })
    }

    /// Makes the schema of the arguments one that hosts can use, and the check of it.
    fn fit_input(
        &self,
        definition: &mut types::Tool,
    ) -> Result<Option<ValidateInput>, SchemaError> {
        let schema = &mut definition.input_schema;
        if self.rules.as_written {
            schema::check_written_input(schema)?;
        } else {
            *schema = schema::registered_input(schema)?;
        }
        header_arguments(schema).map_err(|error| SchemaError::new(&[&error.path], error.why))?;
        let compile = self.rules.compile_input;
        compile.map(|compile| compile(schema)).transpose()
    }

    /// Does the same for the output, if there is a schema of it.
    fn fit_output(&self, definition: &mut types::Tool) -> Result<Option<Output>, SchemaError> {
        let Some(schema) = &mut definition.output_schema else {
            return Ok(None);
        };
        if !self.rules.as_written {
            *schema = schema::registered_output(schema)?;
        }
        Output::new(schema, self.rules.compile).map(Some)
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        self.registry.remove(name)
    }

    pub(crate) fn definition(&self, name: &str) -> Option<types::Tool> {
        self.registry.definition(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.registry.is_empty()
    }

    /// The tool that is called, and with which arguments.
    pub(crate) fn find(
        &self,
        params: &CallToolParams,
    ) -> Result<(Arc<Registered<S>>, RawJson), ToolError> {
        let Some(found) = self.registry.find(&params.name) else {
            // Not all of it: an answer must not grow with what was sent.
            let error = format!("Unknown tool: {:.128}", params.name);
            return Err(ToolError::refused(ErrorObject::invalid_params(error)));
        };
        let arguments = params.arguments.clone();
        let arguments = arguments.unwrap_or(RawJson::empty_object());
        if !arguments.is_object() {
            let error = "Invalid params: `arguments` is not an object";
            return Err(ToolError::refused(ErrorObject::invalid_params(error)));
        }
        Ok((found, arguments))
    }

    pub(crate) fn list(
        &self,
        params: &PaginatedParams,
        size: usize,
    ) -> Result<ListToolsResult, ErrorObject> {
        let page = self.registry.page(params.cursor.as_deref(), size)?;
        let mut result = ListToolsResult::new(page.definitions);
        result.next_cursor = page.next;
        Ok(result)
    }
}

impl<S: Send + Sync + 'static> Registered<S> {
    pub(crate) async fn call(
        &self,
        arguments: RawJson,
        cx: Context<S>,
    ) -> Result<Box<ServerResult>, ToolError> {
        let boxed = |result| Ok(Box::new(ServerResult::CallTool(result)));
        if let Some(validate) = &self.input {
            if let Err(error) = validate(&arguments, &|| self.tool.read(&arguments)) {
                return boxed(tool::misfit(&self.name, &error));
            }
        }
        match self.tool.call(arguments, cx).await {
            Ok(mut result) => {
                output::finish(&self.name, self.output.as_ref(), &mut result)
                    .map_err(ToolError::refused)?;
                boxed(result)
            }
            Err(ToolError(Kind::Failed(message))) => boxed(CallToolResult::error(message)),
            Err(error) => Err(error),
        }
    }
}

/// Refuses a name that hosts refuse, and warns of one that some of them do.
fn check_name(name: &str) -> Result<(), BuildError> {
    if !is_name(name) {
        let name = name.to_owned();
        return Err(BuildError::ToolName { name });
    }
    if name.len() > LONG_NAME {
        tracing::warn!(
            tool = name,
            "the name is longer than {LONG_NAME} letters: some hosts cut or refuse it"
        );
    }
    if name.contains('.') {
        tracing::warn!(tool = name, "the name has a dot: some hosts refuse it");
    }
    Ok(())
}
