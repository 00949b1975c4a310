//! Messages that tasks write to a server, each a line.

use std::fmt::Display;

/// What a request of 2026-07-28 says of its client.
const ENVELOPE: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

pub(crate) fn request(id: impl Display, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n")
}

pub(crate) fn initialize(version: &str) -> String {
    let about = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"xtask","version":"1"}}}}"#
    );
    request(0, "initialize", &about)
}

/// A request that calls one tool.
pub(crate) fn call(id: impl Display, tool: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    request(id, "tools/call", &params)
}

/// A request of 2026-07-28; it has parameters.
pub(crate) fn modern(id: impl Display, method: &str, params: &str) -> String {
    let open = params.strip_suffix('}').unwrap_or(params);
    request(id, method, &format!("{open},{ENVELOPE}}}"))
}

pub(crate) fn modern_call(id: impl Display, tool: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    modern(id, "tools/call", &params)
}

pub(crate) fn ping(id: impl Display) -> String {
    request(id, "ping", "{}")
}

pub(crate) fn cancel(id: impl Display) -> String {
    notification(
        "notifications/cancelled",
        &format!(r#"{{"requestId":{id}}}"#),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn messages_are_lines_of_json() {
        for line in [
            initialize("2025-06-18"),
            call(3, "sleep", r#"{"ms":1}"#),
            modern_call(r#""a""#, "sleep", r#"{"ms":1}"#),
            ping(1),
            cancel(1),
        ] {
            let message = line.strip_suffix('\n').expect("it is a line");
            let message: Value = serde_json::from_str(message).expect("it is JSON");
            assert_eq!(message["jsonrpc"], "2.0");
            assert!(message["params"].is_object());
        }
    }
}
