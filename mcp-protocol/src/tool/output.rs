//! What a tool has given back, as the type that it gives.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::jsonrpc::RawJson;
use crate::types::CallToolResult;

/// Reads the output of a tool, as [`ToolArgs::result`](super::ToolArgs::result) writes it.
///
/// Structured content comes first; up to 2025-11-25 a value that is no object is its member
/// `result`. Without any, the text is read: as the string that it is, or as JSON.
///
/// ```
/// use mcp_protocol::RawJson;
/// use mcp_protocol::tool::decode_output;
/// use mcp_protocol::types::CallToolResult;
///
/// let wrapped = RawJson::parse(r#"{"result":[1,2]}"#)?;
/// let result = CallToolResult::text("[1,2]").structured_content(wrapped);
/// assert_eq!(decode_output::<Vec<u8>>(&result)?, [1, 2]);
/// assert_eq!(decode_output::<String>(&CallToolResult::text("7"))?, "7");
/// assert_eq!(decode_output::<u8>(&CallToolResult::text("7"))?, 7);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// When the result is none of this type.
pub fn decode_output<T: DeserializeOwned>(result: &CallToolResult) -> serde_json::Result<T> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped {
        result: RawJson,
    }

    if let Some(structured) = &result.structured_content {
        return structured.decode().or_else(|error| {
            let wrapped = structured.decode::<Wrapped>();
            wrapped
                .and_then(|wrapped| wrapped.result.decode())
                .or(Err(error))
        });
    }
    let value = serde_json::Value::String(result.joined_text());
    serde_json::from_value(value.clone()).or_else(|error| {
        let text = value.as_str().unwrap_or_default();
        serde_json::from_str(text).or(Err(error))
    })
}
