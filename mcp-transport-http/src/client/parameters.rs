//! Arguments that are repeated in headers, because the schema of their tool wants it.
//!
//! Spec: [custom headers](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use data_encoding::BASE64;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use mcp_protocol::tool::{HeaderArgument, header_arguments};
use mcp_protocol::types::{CallToolParams, ListToolsResult};
use serde_json::Value;

use crate::headers::PARAMETER;

/// What is known of the tools of a server: of each that has any, the arguments to repeat.
#[derive(Default)]
pub(super) struct Parameters(Mutex<HashMap<String, Vec<HeaderArgument>>>);

impl Parameters {
    /// Learns from a list of tools. Gives it without those that cannot be called, if there are
    /// any.
    pub(super) fn learn(&self, mut list: ListToolsResult) -> Option<ListToolsResult> {
        let before = list.tools.len();
        list.tools
            .retain(|tool| match header_arguments(&tool.input_schema) {
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

    fn set(&self, tool: &str, parameters: Vec<HeaderArgument>) {
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
            let text = match parameter.find(&arguments) {
                None => continue,
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let header = format!("{PARAMETER}{}", parameter.header());
            let header: HeaderName = header.parse().expect("what names a header is a token");
            headers.insert(header, encoded(&text));
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

#[cfg(test)]
mod tests {
    use mcp_protocol::types::Tool;
    use serde_json::json;

    use super::*;

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
        let tool = |name: &str, header: &str| {
            let region = json!({ "type": "string", "x-mcp-header": header });
            Tool::new(
                name,
                json!({ "type": "object", "properties": { "region": region } }),
            )
        };
        let endless = "a".repeat(1 << 16);
        let tools = [("good", "Region"), ("bad", "My Region"), ("ugly", &endless)];
        let tools = tools.map(|(name, header)| tool(name, header)).to_vec();
        let left = Parameters::default().learn(ListToolsResult::new(tools));
        let left = left.expect("one is left out").tools;
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].name, "good");
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
