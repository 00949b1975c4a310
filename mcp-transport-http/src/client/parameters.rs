//! Arguments that are repeated in headers, because the schema of their tool wants it.
//!
//! Spec: [custom headers](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters).

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use data_encoding::BASE64;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use mcp_protocol::types::{CallToolParams, ListToolsResult, Tool};
use serde_json::Value;

use crate::headers::{KEYWORD, PARAMETER};

/// What is known of the tools of a server: of each that has any, the arguments to repeat.
#[derive(Default)]
pub(super) struct Parameters(Mutex<HashMap<String, Vec<Parameter>>>);

/// An argument and its header.
#[derive(Debug, PartialEq)]
struct Parameter {
    header: HeaderName,
    path: Vec<String>,
}

impl Parameters {
    /// Learns from a list of tools. Gives it without those that cannot be called, if there are
    /// any.
    pub(super) fn learn(&self, mut list: ListToolsResult) -> Option<ListToolsResult> {
        let before = list.tools.len();
        list.tools.retain(|tool| match parameters(tool) {
            Ok(found) => {
                self.set(&tool.name, found);
                true
            }
            Err(why) => {
                tracing::warn!("the tool `{}` is left out: {why}", tool.name);
                false
            }
        });
        (list.tools.len() < before).then_some(list)
    }

    fn set(&self, tool: &str, parameters: Vec<Parameter>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if parameters.is_empty() {
            known.remove(tool);
        } else {
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(tool.to_owned(), parameters);
        }
    }

    /// Repeats the arguments of a call.
    pub(super) fn repeat(&self, call: &CallToolParams, headers: &mut HeaderMap) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(parameters), Some(arguments)) = (known.get(&call.name), &call.arguments) else {
            return;
        };
        let arguments: Value = arguments.decode().unwrap_or_default();
        for parameter in parameters {
            let mut path = parameter.path.iter();
            let argument = path.try_fold(&arguments, |value, name| value.get(name));
            let text = match argument {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            headers.insert(parameter.header.clone(), encoded(&text));
        }
    }
}

/// Tools whose arguments are known. Beyond it all are forgotten, so that no server can fill
/// the memory.
const MOST: usize = 10_000;

/// A text as the value of a header: as it is where it can be, otherwise in base64.
pub(super) fn encoded(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim_matches(' ') == text
        && !text.starts_with("=?base64?");
    match HeaderValue::from_str(text) {
        Ok(value) if plain => value,
        _ => HeaderValue::try_from(format!("=?base64?{}?=", BASE64.encode(text.as_bytes())))
            .expect("base64 is fit for a header"),
    }
}

/// The arguments that a tool wants repeated, or why it cannot be called.
fn parameters(tool: &Tool) -> Result<Vec<Parameter>, &'static str> {
    let schema = &tool.input_schema;
    // Few schemas name a header, so few are read.
    if !schema.as_str().contains(KEYWORD) {
        return Ok(Vec::new());
    }
    let schema = schema.decode::<Value>().unwrap_or_default();
    let mut found = Vec::new();
    properties(&schema, &mut Vec::new(), &mut found)?;
    if occurrences(&schema) > found.len() {
        return Err("a header is named where no argument can be found");
    }
    let names: HashSet<_> = found.iter().map(|parameter| &parameter.header).collect();
    if names.len() < found.len() {
        return Err("two arguments have the same header");
    }
    Ok(found)
}

/// Finds the arguments with a header among the properties of a schema, and theirs.
fn properties(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<Parameter>,
) -> Result<(), &'static str> {
    let members = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in members.into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = schema.get(KEYWORD) {
            let header = header.as_str().filter(|header| !header.is_empty());
            let header = header.map(|header| format!("{PARAMETER}{header}").parse());
            let Some(Ok(header)) = header else {
                return Err("a header has no usable name");
            };
            if !is_primitive(schema.get("type")) {
                return Err("an argument with a header is no string, integer or boolean");
            }
            let path = path.clone();
            found.push(Parameter { header, path });
        }
        properties(schema, path, found)?;
        path.pop();
    }
    Ok(())
}

fn is_primitive(kind: Option<&Value>) -> bool {
    let of_kind = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| of_kind(kind) || kind == "null"),
        Some(kind) => of_kind(kind),
        None => false,
    }
}

/// How often a schema names a header, wherever it does.
fn occurrences(schema: &Value) -> usize {
    match schema {
        Value::Array(schemas) => schemas.iter().map(occurrences).sum(),
        Value::Object(members) => {
            let inner = members.iter().map(|(keyword, value)| match &**keyword {
                KEYWORD => 1,
                // Values, which no schema is among.
                "const" | "default" | "enum" | "examples" => 0,
                // Here the keys are names.
                "properties" | "patternProperties" | "$defs" | "definitions"
                | "dependentSchemas" => {
                    let named = value.as_object().into_iter().flatten();
                    named.map(|(_, schema)| occurrences(schema)).sum()
                }
                _ => occurrences(value),
            });
            inner.sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(properties: Value) -> Result<Vec<Parameter>, &'static str> {
        let schema = json!({ "type": "object", "properties": properties });
        parameters(&Tool::new("tool", schema))
    }

    fn repeated(properties: Value, arguments: Value) -> HeaderMap {
        let schema = json!({ "type": "object", "properties": properties });
        let known = Parameters::default();
        let list = ListToolsResult::new(vec![Tool::new("tool", schema)]);
        assert_eq!(known.learn(list), None);
        let mut headers = HeaderMap::new();
        let call = CallToolParams::new("tool").arguments(arguments);
        known.repeat(&call, &mut headers);
        headers
    }

    /// Covers H14.
    #[test]
    fn arguments_are_repeated_where_the_schema_says_so() {
        let headers = repeated(
            json!({
                "region": { "type": "string", "x-mcp-header": "Region" },
                "inner": { "type": "object", "properties": {
                    "count": { "type": ["integer", "null"], "x-mcp-header": "Count" } } },
                "quiet": { "type": "boolean", "x-mcp-header": "Quiet" },
                "x-mcp-header": { "type": "string" },
            }),
            json!({ "region": "", "inner": { "count": 7 }, "quiet": null, "x-mcp-header": "a" }),
        );
        assert_eq!(headers.len(), 2);
        assert_eq!(headers["mcp-param-region"], "");
        assert_eq!(headers["mcp-param-count"], "7");
    }

    /// Covers H14.
    #[test]
    fn a_tool_with_an_unusable_header_is_left_out() {
        let named = |name: &str| json!({ "a": { "type": "string", "x-mcp-header": name } });
        for name in ["", "My Region", "Region:Primary", "Région", "Region\t1"] {
            assert!(of(named(name)).is_err(), "{name:?}");
        }
        for kind in ["object", "array", "null", "number"] {
            let property = json!({ "a": { "type": kind, "x-mcp-header": "A" } });
            assert!(of(property).is_err(), "{kind}");
        }
        let twice = json!({
            "a": { "type": "string", "x-mcp-header": "MyField" },
            "b": { "type": "string", "x-mcp-header": "myfield" },
        });
        assert!(of(twice).is_err());
        let unreachable = json!({ "a": { "type": "array", "items": named("A")["a"] } });
        assert!(of(unreachable).is_err());
        let data = json!({ "a": { "type": "object", "default": { "x-mcp-header": "A" } } });
        assert_eq!(of(data), Ok(Vec::new()));
    }

    /// Covers H03.
    #[test]
    fn what_no_header_may_have_is_in_base64() {
        assert_eq!(encoded("us west 1"), "us west 1");
        assert_eq!(encoded(""), "");
        for text in [
            " padded ",
            "a\r\nb",
            "\tindented",
            "世界",
            "=?base64?YQ==?=",
        ] {
            let value = encoded(text);
            let inner = value.to_str().expect("it is ASCII");
            let inner = inner
                .strip_prefix("=?base64?")
                .and_then(|text| text.strip_suffix("?="));
            let inner = inner.expect("it is in base64");
            assert_eq!(
                BASE64.decode(inner.as_bytes()),
                Ok(text.as_bytes().to_vec())
            );
        }
    }
}
