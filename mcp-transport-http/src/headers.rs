//! The headers and media types that both halves know.
//!
//! Spec: [request metadata](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata).

use mcp_protocol::ClientRequest;

pub(crate) const SESSION: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";
pub(crate) const LAST_EVENT: &str = "last-event-id";
pub(crate) const METHOD: &str = "mcp-method";
pub(crate) const NAME: &str = "mcp-name";
pub(crate) const PARAMETER: &str = "mcp-param-";

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

/// A media type without its parameters.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// What a request names, for the header that repeats it.
pub(crate) fn name(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallTool(params) => Some(&params.name),
        ClientRequest::GetPrompt(params) => Some(&params.name),
        ClientRequest::ReadResource(params) => Some(&params.uri),
        _ => None,
    }
}
