//! Outputs held against the schemas that their tools have declared.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jsonschema::Validator;
use mcp_protocol::types::{CallToolResult, Tool};
use mcp_protocol::{RawJson, ServerResult};
use serde_json::Value;

use crate::error::ClientError;

/// The output schemas of the tools that were listed, compiled; those that cannot be, with the
/// reason.
#[derive(Default)]
pub(crate) struct Outputs(Mutex<HashMap<String, Result<Validator, String>>>);

impl Outputs {
    /// Learns of the tools in a list, and checks the result of a tool.
    pub(crate) fn see(&self, tool: Option<&str>, result: &ServerResult) -> Result<(), ClientError> {
        match (result, tool) {
            (ServerResult::ListTools(list), _) => self.learn(&list.tools),
            (ServerResult::CallTool(result), Some(tool)) if result.is_error != Some(true) => {
                self.check(tool, result)
                    .map_err(|why| ClientError::Invalid {
                        why,
                        result: result.clone().into(),
                    })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn learn(&self, tools: &[Tool]) {
        let mut known = self.lock();
        for tool in tools {
            match &tool.output_schema {
                Some(schema) => known.insert(tool.name.clone(), compile(schema)),
                None => known.remove(&tool.name),
            };
        }
    }

    fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), String> {
        let known = self.lock();
        let Some(validator) = known.get(tool) else {
            return Ok(());
        };
        let validator = validator.as_ref().map_err(Clone::clone)?;
        let output = result.structured_content.as_ref();
        let output = output.ok_or("there is none, and a schema for it")?;
        validator
            .validate(&value(output)?)
            .map_err(|error| format!("{} (at `{}`)", error.masked(), error.instance_path()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Result<Validator, String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compiles a schema, of 2020-12 unless it names another dialect. What it refers to is never
/// fetched.
fn compile(schema: &RawJson) -> Result<Validator, String> {
    jsonschema::validator_for(&value(schema)?)
        .map_err(|error| format!("its schema is of no use: {}", error.masked()))
}

fn value(json: &RawJson) -> Result<Value, String> {
    json.decode().map_err(|error| error.to_string())
}
