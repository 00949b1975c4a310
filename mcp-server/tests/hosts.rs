//! What hosts were found to stumble over, in what a server offers and answers.

mod support;

use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::types::{self, CallToolResult};
use mcp_server::{RawJson, tool_fn};
use serde_json::{Value, json};

use self::support::{Client, clients, log};

impl Client {
    async fn result(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let reply = self.ask("tools/call", params).await;
        let mut result = reply["result"].clone();
        assert!(result.is_object(), "{reply}");
        for era in ["_meta", "resultType"] {
            result.as_object_mut().expect("it is one").remove(era);
        }
        result
    }

    async fn listed(&mut self) -> Value {
        self.ask("tools/list", json!({})).await["result"].clone()
    }
}

fn object() -> Value {
    json!({ "type": "object" })
}

fn definition(name: &str) -> types::Tool {
    types::Tool::new(name, object())
}

/// A tool that always gives this.
fn gives(definition: types::Tool, result: CallToolResult) -> Arc<dyn Tool<()>> {
    Arc::new(tool_fn(definition, move |_: RawJson, _: Context| {
        let result = result.clone();
        async move { Ok(result) }
    }))
}

fn server(tools: impl IntoIterator<Item = Arc<dyn Tool<()>>>) -> ServerHandle {
    let server = Server::new("test", "1.0.0");
    let server = tools.into_iter().fold(server, Server::dyn_tool);
    server.build().unwrap()
}

fn result(result: Value) -> CallToolResult {
    serde_json::from_value(result).unwrap()
}

// --- names ----------------------------------------------------------------------------------

/// Covers B-285.
#[test]
fn names_that_some_hosts_cut_or_refuse_are_warned_of() {
    let (log, _listening) = log::listen();
    let warnings = |name: &str| {
        server([gives(definition(name), CallToolResult::new())]);
        log.take()
    };
    assert_eq!(warnings(&"x".repeat(48)), Vec::<String>::new());
    let [long] = &*warnings(&"x".repeat(49)) else {
        panic!("one warning");
    };
    assert!(long.contains("longer than 48 letters"), "{long}");
    let [dotted] = &*warnings("a.b") else {
        panic!("one warning");
    };
    assert!(
        dotted.contains("a.b") && dotted.contains("a dot"),
        "{dotted}"
    );
    assert_eq!(warnings("A-z_9"), Vec::<String>::new());
}

// --- schemas --------------------------------------------------------------------------------

/// Covers B-002, B-016, B-022.
#[tokio::test]
async fn schemas_written_by_hand_are_shown_in_the_form_that_all_hosts_take() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "any": true, "list": { "type": ["array", "null"] } },
        "definitions": { "unused": {} },
    });
    let definition = types::Tool::new("a", schema.clone()).output_schema(schema);
    for mut client in clients(&server([gives(definition, CallToolResult::new())])).await {
        let tool = client.listed().await["tools"][0].clone();
        let list = json!({ "type": "array", "items": {} });
        let input = json!({ "type": "object", "properties": { "any": {}, "list": list } });
        assert_eq!(tool["inputSchema"], input);
        let list = json!({ "anyOf": [list, { "type": "null" }] });
        let output = json!({ "type": "object", "properties": { "any": {}, "list": list } });
        assert_eq!(tool["outputSchema"], output);
    }
}

/// Covers TL03, JS07.
#[tokio::test]
async fn schemas_are_shown_as_they_were_written_where_that_is_wanted() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "a": { "$anchor": "a", "type": "string" } },
        "properties": { "a": { "$ref": "#/$defs/a" }, "b": { "type": ["string", "null"] } },
        "allOf": [{ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }],
        "additionalProperties": false,
    });
    let definition = types::Tool::new("a", schema.clone()).output_schema(schema.clone());
    let as_written = || Server::new("test", "1.0.0").schemas_as_written();
    let server = as_written().dyn_tool(gives(definition, CallToolResult::new()));
    for mut client in clients(&server.build().unwrap()).await {
        let tool = client.listed().await["tools"][0].clone();
        assert_eq!(tool["inputSchema"], schema);
        assert_eq!(tool["outputSchema"], schema);
    }
    for no_object in [json!({}), json!({ "type": "string" }), json!(true)] {
        let definition = types::Tool::new("a", no_object);
        let server = as_written().dyn_tool(gives(definition, CallToolResult::new()));
        let error = server.build().unwrap_err().to_string();
        assert!(error.contains("input schema of the tool \"a\""), "{error}");
    }
}

/// Covers H14.
#[test]
fn a_tool_that_http_clients_would_leave_out_is_refused() {
    let build = |server: Server, kind: &str, header: &str| {
        let region = json!({ "type": kind, "x-mcp-header": header });
        let schema = json!({ "type": "object", "properties": { "region": region } });
        let definition = types::Tool::new("route", schema);
        server
            .dyn_tool(gives(definition, CallToolResult::new()))
            .build()
    };
    for as_written in [false, true] {
        let server = || match as_written {
            false => Server::new("test", "1.0.0"),
            true => Server::new("test", "1.0.0").schemas_as_written(),
        };
        build(server(), "string", "Region").unwrap();
        let error = build(server(), "string", "My Region").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the input schema of the tool \"route\": a header has no usable name (at properties.region)"
        );
        build(server(), "number", "Region").unwrap_err();
    }
}

/// Covers JS06, B-027.
#[test]
fn a_schema_deeper_than_any_stack_is_refused() {
    let deep = format!("{}1{}", r#"{"not":"#.repeat(10_000), "}".repeat(10_000));
    let deep = RawJson::parse(deep).unwrap();
    for server in [
        Server::new("test", "1.0.0"),
        Server::new("test", "1.0.0").schemas_as_written(),
    ] {
        let definition = types::Tool::new("a", deep.clone());
        let server = server.dyn_tool(gives(definition, CallToolResult::new()));
        assert!(matches!(server.build(), Err(BuildError::Schema { .. })));
    }
}

// --- structured output ----------------------------------------------------------------------

/// Covers B-118, B-119.
#[tokio::test]
async fn an_error_is_text_alone() {
    let declared = definition("declared").output_schema(object());
    let failed = json!({
        "isError": true,
        "content": [{ "type": "text", "text": "no" }],
        "structuredContent": { "code": 7 },
    });
    let wordless = json!({ "isError": true, "content": [], "structuredContent": { "code": 7 } });
    let server = server([
        gives(declared, result(failed.clone())),
        gives(definition("free"), result(failed)),
        gives(definition("wordless"), result(wordless)),
    ]);
    let error = |text| json!({ "isError": true, "content": [{ "type": "text", "text": text }] });
    for mut client in clients(&server).await {
        for (name, text) in [
            ("declared", "no"),
            ("free", "no"),
            ("wordless", r#"{"code":7}"#),
        ] {
            assert_eq!(client.result(name, json!({})).await, error(text));
        }
    }
}

/// Covers TL08, B-124.
#[tokio::test]
async fn structured_content_has_a_copy_as_text() {
    let bare = json!({ "content": [], "structuredContent": { "a": 1 } });
    let said = json!({
        "content": [{ "type": "text", "text": "one" }], "structuredContent": { "a": 1 },
    });
    let server = server([
        gives(definition("bare"), result(bare)),
        gives(definition("said"), result(said.clone())),
    ]);
    for mut client in clients(&server).await {
        let text = json!([{ "type": "text", "text": r#"{"a":1}"# }]);
        let bare = json!({ "content": text, "structuredContent": { "a": 1 } });
        assert_eq!(client.result("bare", json!({})).await, bare);
        assert_eq!(client.result("said", json!({})).await, said);
    }
}

/// Covers B-117.
#[tokio::test]
async fn a_tool_made_by_hand_has_to_give_what_it_declares() {
    struct Forwarded;

    #[mcp_server::async_trait]
    impl Tool<()> for Forwarded {
        fn definition(&self) -> types::Tool {
            definition("forwarded").output_schema(object())
        }

        async fn call(&self, _: RawJson, _: Context) -> Result<CallToolResult, ToolError> {
            Ok(CallToolResult::text("only text"))
        }
    }

    for mut client in clients(&server([Arc::new(Forwarded) as Arc<dyn Tool<()>>])).await {
        let reply = client
            .ask("tools/call", json!({ "name": "forwarded" }))
            .await;
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
    }
}

// --- lists ----------------------------------------------------------------------------------

/// Covers B-070.
#[tokio::test]
async fn lists_may_be_empty_where_that_is_wanted() {
    const LISTS: [(&str, &str); 4] = [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ];
    let server = || Server::new("test", "1.0.0");
    let silent = server().build().unwrap();
    let offering = server().empty_lists().build().unwrap();
    for (mut silent, mut offering) in clients(&silent)
        .await
        .into_iter()
        .zip(clients(&offering).await)
    {
        for (method, items) in LISTS {
            let reply = silent.ask(method, json!({})).await;
            assert_eq!(reply["error"]["code"], -32601, "{reply}");
            let reply = offering.ask(method, json!({})).await;
            assert_eq!(reply["result"][items], json!([]), "{reply}");
        }
        for capability in ["tools", "prompts", "resources"] {
            assert!(silent.capabilities.get(capability).is_none());
            assert!(offering.capabilities.get(capability).is_some());
        }
    }
    let tool = gives(definition("late"), CallToolResult::new());
    offering.add_tool(tool).unwrap();
    for mut client in clients(&offering).await {
        assert_eq!(client.listed().await["tools"][0]["name"], "late");
        client.result("late", json!({})).await;
    }
}
