//! What a tool has promised of its output, held against what it gives.

use mcp_protocol::types::{CallToolResult, ContentBlock};
use mcp_protocol::{ErrorObject, RawJson};

use crate::schema::SchemaError;

/// Says what is wrong with a value, if anything is.
pub(crate) type Validate = Box<dyn Fn(&RawJson) -> Result<(), String> + Send + Sync>;

/// Makes the check of a schema, once for each tool.
pub(crate) type Compile = fn(&RawJson) -> Result<Validate, SchemaError>;

/// The output that a tool has declared.
pub(crate) struct Output {
    validate: Option<Validate>,
}

impl Output {
    pub(crate) fn new(schema: &RawJson, compile: Option<Compile>) -> Result<Self, SchemaError> {
        let validate = compile.map(|compile| compile(schema)).transpose()?;
        Ok(Self { validate })
    }

    /// A tool that says what its output is like must give it. What a closure returns, or `run`
    /// for all the tools of a set, cannot say so.
    fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), ErrorObject> {
        let Some(value) = &result.structured_content else {
            tracing::error!(tool, "an output is declared: return `Structured` of it");
            let error = format!("the tool `{tool}` gave no structured output");
            return Err(ErrorObject::internal(error));
        };
        let validate = self.validate.as_ref();
        validate
            .map_or(Ok(()), |validate| validate(value))
            .map_err(|why| {
                tracing::warn!(tool, "the output does not fit its schema: {why}");
                let error =
                    format!("the tool `{tool}` gave an output that does not fit its schema");
                ErrorObject::internal(error)
            })
    }
}

/// Makes what a tool gave what clients can rely on: structured content has a copy as text, a
/// declared output is there, and an error has nothing but text.
pub(crate) fn finish(
    tool: &str,
    declared: Option<&Output>,
    result: &mut CallToolResult,
) -> Result<(), ErrorObject> {
    if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
        result.content = vec![ContentBlock::text(value.as_str())];
    }
    if result.is_error == Some(true) {
        // Some clients hold it against the schema, and show that instead of the error.
        result.structured_content = None;
    } else if let Some(output) = declared {
        output.check(tool, result)?;
    }
    Ok(())
}
