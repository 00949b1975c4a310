//! Outputs held against their schemas.

mod support;

use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::types::{self, CallToolResult};
use mcp_server::{RawJson, tool_fn};
use serde_json::{Value, json};

use self::support::{clients, log};

/// A tool that gives its arguments as its output.
fn echo(schema: Value) -> Arc<dyn Tool<()>> {
    let definition = types::Tool::new("echo", json!({ "type": "object" })).output_schema(schema);
    Arc::new(tool_fn(
        definition,
        async |arguments: RawJson, _: Context| Ok(Structured(arguments)),
    ))
}

fn ports() -> Value {
    json!({
        "type": "object",
        "properties": { "ports": { "type": "array", "items": { "type": "integer" } } },
    })
}

fn server(schema: Value) -> Server {
    Server::new("test", "1.0.0").dyn_tool(echo(schema))
}

/// What a client of each era gets, and what is written into the log meanwhile.
async fn called(server: Server, arguments: Value) -> Vec<(Value, Vec<String>)> {
    let (log, _listening) = log::listen();
    let mut all = Vec::new();
    for mut client in clients(&server.build().unwrap()).await {
        let params = json!({ "name": "echo", "arguments": arguments });
        all.push((client.ask("tools/call", params).await, log.take()));
    }
    all
}

/// Covers TL07.
#[tokio::test]
async fn an_output_that_does_not_fit_is_an_error_and_a_warning_with_the_place() {
    let server = server(ports()).validate_output(true);
    for (reply, log) in called(server, json!({ "ports": [1, "a secret"] })).await {
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        let message = "the tool `echo` gave an output that does not fit its schema";
        assert_eq!(reply["error"]["message"], message);
        let [line] = &*log else {
            panic!("one warning: {log:?}");
        };
        assert!(line.contains("echo") && line.contains("/ports/1"), "{line}");
        assert!(!line.contains("secret"), "{line}");
    }
}

#[tokio::test]
async fn an_output_that_fits_is_sent() {
    let server = server(ports()).validate_output(true);
    for (reply, log) in called(server, json!({ "ports": [1, 2.0] })).await {
        assert_eq!(
            reply["result"]["structuredContent"]["ports"][0], 1,
            "{reply}"
        );
        assert_eq!(log, Vec::<String>::new());
    }
}

#[tokio::test]
async fn outputs_are_validated_as_a_build_with_debug_assertions_has_it() {
    for (reply, _) in called(server(ports()), json!({ "ports": 1 })).await {
        assert_eq!(
            reply.get("error").is_some(),
            cfg!(debug_assertions),
            "{reply}"
        );
    }
    let unwatched = server(ports()).validate_output(false);
    for (reply, _) in called(unwatched, json!({ "ports": 1 })).await {
        assert_eq!(reply["result"]["structuredContent"]["ports"], 1, "{reply}");
    }
}

#[tokio::test]
async fn a_schema_as_written_is_of_the_dialect_that_it_names() {
    let tuple = json!({ "type": "array", "items": [{ "type": "string" }, { "type": "null" }] });
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "pair": tuple },
    });
    for (pair, fits) in [(json!(["a", null]), true), (json!([1, null]), false)] {
        let server = server(schema.clone()).schemas_as_written();
        for (reply, _) in called(server.validate_output(true), json!({ "pair": pair })).await {
            assert_eq!(reply.get("result").is_some(), fits, "{reply}");
        }
    }
}

#[tokio::test]
async fn errors_are_not_validated() {
    let definition = types::Tool::new("echo", json!({ "type": "object" })).output_schema(ports());
    let failing = tool_fn(definition, async |_: RawJson, _: Context| {
        let mut result = CallToolResult::error("no");
        result.structured_content = Some(json!({ "ports": 1 }).into());
        Ok(result)
    });
    let server = Server::new("test", "1.0.0").dyn_tool(Arc::new(failing));
    for (reply, log) in called(server.validate_output(true), json!({})).await {
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert_eq!(log, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_tool_that_is_added_later_is_validated_too() {
    let server = Server::new("test", "1.0.0")
        .empty_lists()
        .validate_output(true);
    let server = server.build().unwrap();
    server.add_tool(echo(ports())).unwrap();
    for mut client in clients(&server).await {
        let params = json!({ "name": "echo", "arguments": { "ports": 1 } });
        let reply = client.ask("tools/call", params).await;
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
    }
}

/// Covers JS04, JS05.
#[test]
fn a_schema_that_cannot_be_checked_is_refused_when_the_tool_is_registered() {
    let unfinished = json!({ "type": "object", "patternProperties": { "(": {} } });
    let elsewhere = json!({ "type": "object", "$ref": "https://127.0.0.1:1/schema.json" });
    let file = json!({ "type": "object", "$ref": "file:///dev/null" });
    for schema in [unfinished, elsewhere, file] {
        let server = server(schema).schemas_as_written().validate_output(true);
        let error = server.build().unwrap_err().to_string();
        assert!(
            error.contains("output schema of the tool \"echo\""),
            "{error}"
        );
    }
}
