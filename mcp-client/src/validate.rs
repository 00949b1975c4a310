//! Outputs held against the schemas that their tools have declared.
//!
//! A schema is the server's, and may be made to keep a validator busy for years, or to overflow
//! its stack. So each validation has a thread of its own, whose size is known and which nobody
//! waits for without end; a client has but one at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use jsonschema::Validator;
use mcp_protocol::types::{CallToolResult, Tool};
use mcp_protocol::{RawJson, ServerResult};
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use crate::error::ClientError;

/// How long is waited for a verdict.
const LONGEST: Duration = Duration::from_secs(2);

/// JSON values in a schema.
const VALUES: usize = 20_000;

/// Schemas that are open at once, each within another or referred to by it.
const OPEN: usize = 20_000;

/// Tools whose schemas are known, and bytes of these. Beyond either all are forgotten until they
/// are listed again, so that a server that lists ever others cannot fill the memory.
const TOOLS: usize = 10_000;
const BYTES: usize = 64 << 20;

/// Room for as many, and more.
const STACK: usize = 64 << 20;

/// Objects and arrays within each other. What is deeper is not read.
const DEPTH: usize = 128;

/// The output schemas of the tools that were listed.
pub(crate) struct Outputs {
    known: Mutex<Known>,
    turn: Arc<Semaphore>,
}

impl Outputs {
    pub(crate) fn new() -> Self {
        Self {
            known: Mutex::default(),
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Learns of the tools in a list, and checks the result of a tool.
    pub(crate) async fn see(
        &self,
        tool: Option<&str>,
        result: &ServerResult,
    ) -> Result<(), ClientError> {
        match (result, tool) {
            (ServerResult::ListTools(list), _) => self.learn(&list.tools),
            (ServerResult::CallTool(result), Some(tool)) if result.is_error != Some(true) => {
                let checked = self.check(tool, result).await;
                checked.map_err(|why| ClientError::Invalid {
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
            known.forget(&tool.name);
            if let Some(schema) = &tool.output_schema {
                known.learn(&tool.name, schema);
            }
        }
    }

    async fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), String> {
        let Some(schema) = self.lock().schemas.get(tool).cloned() else {
            return Ok(());
        };
        let output = result.structured_content.clone();
        let output = output.ok_or("there is none, and a schema for it")?;
        let verdict = async {
            let turn = self.turn.clone().acquire_owned().await;
            let (say, verdict) = oneshot::channel();
            let check = move || {
                let _turn = turn;
                // Who does not wait any more has his verdict.
                let _ = say.send(schema.check(&output));
            };
            let thread = thread::Builder::new().name("mcp-validate".to_owned());
            let started = thread.stack_size(STACK).spawn(check);
            started.map_err(|error| format!("it could not be looked at: {error}"))?;
            let panicked = |_| Err("it could not be looked at".to_owned());
            verdict.await.unwrap_or_else(panicked)
        };
        timeout(LONGEST, verdict)
            .await
            .unwrap_or_else(|_| Err(format!("its schema takes longer than {LONGEST:?}")))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// By the names of their tools.
#[derive(Default)]
struct Known {
    schemas: HashMap<String, Arc<Schema>>,
    bytes: usize,
}

impl Known {
    fn forget(&mut self, tool: &str) {
        if let Some(schema) = self.schemas.remove(tool) {
            self.bytes = self.bytes.saturating_sub(schema.json.as_bytes().len());
        }
    }

    fn learn(&mut self, tool: &str, schema: &RawJson) {
        let bytes = schema.as_bytes().len();
        if self.schemas.len() >= TOOLS || self.bytes.saturating_add(bytes) > BYTES {
            *self = Self::default();
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.schemas.insert(tool.to_owned(), Schema::new(schema));
    }
}

struct Schema {
    json: RawJson,
    /// With how often it refers to a schema; or why it cannot be used.
    compiled: OnceLock<Result<(Validator, usize), String>>,
}

impl Schema {
    fn new(json: &RawJson) -> Arc<Self> {
        Arc::new(Self {
            json: json.clone(),
            compiled: OnceLock::new(),
        })
    }

    fn check(&self, output: &RawJson) -> Result<(), String> {
        let compiled = self.compiled.get_or_init(|| compile(&self.json));
        let unusable = |why| format!("its schema is of no use: {why}");
        let (validator, references) = compiled.as_ref().map_err(unusable)?;
        let output = value(output)?;
        if (references + DEPTH) * (depth(&output) + 1) > OPEN {
            return Err("it is nested too deeply for its schema".to_owned());
        }
        let checked = validator.validate(&output);
        checked.map_err(|error| format!("{} (at `{}`)", error.masked(), error.instance_path()))
    }
}

/// Compiles a schema, of 2020-12 unless it names another dialect. What it refers to is never
/// fetched.
fn compile(schema: &RawJson) -> Result<(Validator, usize), String> {
    let schema = value(schema)?;
    let (values, references) = size(&schema);
    if values > VALUES || references + DEPTH > OPEN / 2 {
        return Err("it is too large".to_owned());
    }
    let validator = jsonschema::validator_for(&schema);
    let validator = validator.map_err(|error| error.masked().to_string())?;
    Ok((validator, references))
}

fn value(json: &RawJson) -> Result<Value, String> {
    json.decode().map_err(|error| error.to_string())
}

/// How many values there are, and how many of them refer to a schema.
fn size(value: &Value) -> (usize, usize) {
    let sum = |(values, references), (more, refer)| (values + more, references + refer);
    match value {
        Value::Array(items) => items.iter().map(size).fold((1, 0), sum),
        Value::Object(members) => {
            let references = members
                .keys()
                .filter(|name| name.ends_with("Ref") || *name == "$ref")
                .count();
            members.values().map(size).fold((1, references), sum)
        }
        _ => (1, 0),
    }
}

fn depth(value: &Value) -> usize {
    let within = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => return 0,
    };
    within.unwrap_or_default() + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(number: usize, schema: &RawJson) -> Tool {
        let mut tool = Tool::new(format!("tool-{number}"), RawJson::empty_object());
        tool.output_schema = Some(schema.clone());
        tool
    }

    #[test]
    fn a_server_that_lists_ever_others_fills_no_memory() {
        let outputs = Outputs::new();
        for number in 0..=TOOLS {
            outputs.learn(&[tool(number, &RawJson::empty_object())]);
        }
        assert_eq!(outputs.lock().schemas.len(), 1);
        let large = json!({ "description": "x".repeat(BYTES / 4) }).into();
        for number in 0..20 {
            outputs.learn(&[tool(number, &large)]);
            let known = outputs.lock();
            assert!(known.bytes <= BYTES && known.schemas.contains_key(&format!("tool-{number}")));
        }
    }

    #[test]
    fn what_is_listed_again_is_counted_once() {
        let outputs = Outputs::new();
        outputs.learn(&[tool(1, &json!({ "type": "object" }).into())]);
        outputs.learn(&[tool(1, &RawJson::empty_object())]);
        assert_eq!(outputs.lock().bytes, 2);
        let mut without = tool(1, &RawJson::empty_object());
        without.output_schema = None;
        outputs.learn(&[without]);
        let known = outputs.lock();
        assert_eq!((known.bytes, known.schemas.len()), (0, 0));
    }
}
