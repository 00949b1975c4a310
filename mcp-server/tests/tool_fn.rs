//! Tools that are closures, to clients of both eras.

mod support;

use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::{RawJson, tool_fn, types};
use serde_json::{Value, json};

use self::support::{Client, clients};

impl Client {
    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.ask("tools/call", params).await
    }

    async fn tools(&mut self) -> Vec<Value> {
        let reply = self.ask("tools/list", json!({})).await;
        let tools = reply["result"]["tools"].as_array();
        tools.expect("a list").clone()
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "key": { "type": "string" } } })
}

fn lookup(name: &str) -> Arc<dyn Tool<String>> {
    let definition = types::Tool::new(name, schema());
    Arc::new(tool_fn(
        definition,
        async |arguments: RawJson, cx: Context<String>| match arguments.as_str() {
            "{}" => Err(ToolError::failed("which key?")),
            arguments => Ok(format!("{} {arguments}", cx.state())),
        },
    ))
}

fn server() -> Server<String> {
    Server::with_state("test", "1.0.0", "found".to_owned()).dyn_tool(lookup("lookup"))
}

#[tokio::test]
async fn a_closure_is_called_with_the_arguments_and_the_state() {
    for mut client in clients(&server().build().unwrap()).await {
        let reply = client.call("lookup", json!({ "key": "1" })).await;
        let text = r#"found {"key":"1"}"#;
        assert_eq!(reply["result"]["content"][0]["text"], text, "{reply}");
        assert_ne!(reply["result"]["isError"], true, "{reply}");
    }
}

/// Covers TL16, B-308.
#[tokio::test]
async fn what_goes_wrong_in_a_closure_is_the_models_to_read() {
    for mut client in clients(&server().build().unwrap()).await {
        let reply = client.call("lookup", json!({})).await;
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert_eq!(reply["result"]["content"][0]["text"], "which key?");
    }
}

#[tokio::test]
async fn a_closure_is_listed_with_its_schema() {
    for mut client in clients(&server().build().unwrap()).await {
        let tools = client.tools().await;
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0]["name"], "lookup");
        assert_eq!(tools[0]["inputSchema"], schema());
    }
}

/// Covers B-307.
#[tokio::test]
async fn a_closure_comes_and_goes_while_the_server_runs() {
    let server = server().build().unwrap();
    for mut client in clients(&server).await {
        server.add_tool(lookup("another")).unwrap();
        assert_eq!(client.tools().await.len(), 2);
        let reply = client.call("another", json!({ "key": "2" })).await;
        let text = r#"found {"key":"2"}"#;
        assert_eq!(reply["result"]["content"][0]["text"], text, "{reply}");
        assert!(server.remove_tool("another"));
        assert_eq!(client.tools().await.len(), 1);
        let reply = client.call("another", json!({})).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
}

/// Covers TL07.
#[tokio::test]
async fn a_closure_that_declares_an_output_has_to_give_it() {
    let definition = |name| {
        let output = json!({ "type": "object" });
        types::Tool::new(name, json!({ "type": "object" })).output_schema(output)
    };
    let structured = tool_fn(definition("structured"), async |_: RawJson, _: Context| {
        Ok(Structured(json!({ "a": 1 })))
    });
    let bare = tool_fn(definition("bare"), async |_: RawJson, _: Context| Ok("a"));
    let server = Server::new("test", "1.0.0")
        .dyn_tool(Arc::new(structured))
        .dyn_tool(Arc::new(bare));
    for mut client in clients(&server.build().unwrap()).await {
        let reply = client.call("structured", json!({})).await;
        assert_eq!(reply["result"]["structuredContent"], json!({ "a": 1 }));
        let reply = client.call("bare", json!({})).await;
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
    }
}
