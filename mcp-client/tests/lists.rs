//! What a server offers: it reaches the caller as it is, and what is asked of it is as it has to be.

mod support;

use mcp_client::types::{ResourceContents, Tool};
use mcp_client::{Client, RawJson};
use mcp_server::prelude::{Deserialize, JsonSchema, Serialize, schemars};
use serde_json::{Value, json};
use support::warnings::Warnings;
use support::{Server, builder, legacy, modern, said};

/// Lists the tools of a server that has these.
async fn list(client: &Client, server: &mut Server, tools: &[&str]) -> Vec<Tool> {
    let answer = async {
        let request = server.expect("tools/list").await;
        let (id, tools) = (&request["id"], tools.join(","));
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]}}}}"#);
        server.write(&answer).await;
    };
    let (tools, ()) = tokio::join!(client.list_tools(), answer);
    tools.unwrap()
}

/// Covers TL15, B-010, B-026c, B-027c.
#[tokio::test(start_paused = true)]
async fn tools_reach_the_caller_as_they_are() {
    let deep = format!("{}1{}", r#"{"not":"#.repeat(10_000), "}".repeat(10_000));
    let deep = format!(r#"{{"name":"deep","inputSchema":{deep}}}"#);
    let tools = [
        r##"{"name":"refers","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"a":{"type":["integer","null"],"maximum":18446744073709551616}},"type":"object","properties":{"b":{"$ref":"#/$defs/a"},"a":true},"allOf":[{"required":["b"]}],"x-own":1.0}}"##,
        r#"{"name":"header","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"No Header"}}}}"#,
        r#"{"name":"tells nothing (at all)","inputSchema":{},"x-own":[null]}"#,
        &deep,
    ];
    for (client, mut server) in [modern(builder()).await, legacy(builder()).await] {
        let listed = list(&client, &mut server, &tools).await;
        let listed = listed.iter().map(|tool| RawJson::encode(tool).unwrap());
        let listed: Vec<_> = listed.map(|tool| tool.as_str().to_owned()).collect();
        assert!(listed == tools, "{:.300}", listed.concat());
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_cannot_be_read_is_left_out_with_a_warning() {
    let warnings = Warnings::default();
    let _guard = tracing::subscriber::set_default(warnings.clone());
    let tools = [
        r#"{"name":"one","inputSchema":{}}"#,
        r#"{"name":"secret"}"#,
        "7",
        r#"{"name":"two","inputSchema":{}}"#,
    ];
    let (client, mut server) = modern(builder()).await;
    let listed = list(&client, &mut server, &tools).await.into_iter();
    let names: Vec<_> = listed.map(|tool| tool.name).collect();
    assert_eq!(names, ["one", "two"]);
    // What warns is the driver.
    client.close().await;
    let warnings = warnings.take();
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    let expected = "left out of a list of the server's: \
                    2 of 4 `tools` cannot be read, the first at 1: missing field `inputSchema`";
    assert!(warning.starts_with(expected), "{warning}");
}

/// Covers CA06.
#[tokio::test(start_paused = true)]
async fn what_is_kept_is_one_clients() {
    let page = json!({ "tools": [], "ttlMs": 60_000, "cacheScope": "private" });
    for _ in 0..2 {
        let (client, mut server) = modern(builder()).await;
        let listed = async {
            let listed = client.list_tools_page(None).await;
            listed.unwrap();
            // This is not asked for again.
            client.list_tools_page(None).await.unwrap();
        };
        tokio::join!(listed, server.serve("tools/list", page.clone()));
    }
}

/// Look for something.
#[derive(Serialize, Deserialize, JsonSchema, mcp_server::prelude::Tool)]
#[tool(name = "look")]
struct Look {
    what: String,
    at_most: Option<u32>,
    /// May be nothing, but has to be said.
    #[schemars(required)]
    place: Option<String>,
}

async fn arguments(client: &Client, server: &mut Server, look: Look) -> Value {
    let call = client.call_tool(look).into_future();
    let (found, request) = tokio::join!(call, server.serve("tools/call", said("found")));
    found.unwrap();
    request["params"]["arguments"].clone()
}

/// Covers B-058.
#[tokio::test(start_paused = true)]
async fn a_field_that_is_none_is_not_sent_unless_it_has_to_be() {
    let (client, server) = &mut modern(builder()).await;
    let look = |at_most, place| Look {
        what: String::new(),
        at_most,
        place,
    };
    let sent = arguments(client, server, look(None, None)).await;
    assert_eq!(sent, json!({ "what": "", "place": null }));
    let sent = arguments(client, server, look(Some(0), Some(String::new()))).await;
    assert_eq!(sent, json!({ "what": "", "at_most": 0, "place": "" }));
    let call = client.call("look", ()).into_future();
    let (found, request) = tokio::join!(call, server.serve("tools/call", said("found")));
    found.unwrap();
    assert_eq!(request["params"].get("arguments"), None);
}

/// Covers PR03c.
#[tokio::test(start_paused = true)]
async fn the_arguments_of_a_prompt_are_text() {
    let (client, mut server) = legacy(builder()).await;
    let call = client.get_prompt("greet", [("name", "7"), ("on", "true")]);
    let (prompt, request) = tokio::join!(
        call.into_future(),
        server.serve("prompts/get", json!({ "messages": [] }))
    );
    prompt.unwrap();
    let arguments = json!({ "name": "7", "on": "true" });
    assert_eq!(request["params"]["arguments"], arguments);
}

/// Covers RS10c.
#[tokio::test(start_paused = true)]
async fn a_resource_may_have_several_contents() {
    let (client, mut server) = modern(builder()).await;
    let contents = json!([
        { "uri": "file:///d/a", "text": "a" },
        { "uri": "file:///d/b", "blob": "Yg==", "mimeType": "image/png" },
        { "uri": "file:///d/c", "text": "" },
    ]);
    let (read, _) = tokio::join!(
        client.read_resource("file:///d").into_future(),
        server.serve("resources/read", json!({ "contents": contents }))
    );
    let read = read.unwrap().contents;
    assert!(matches!(
        &read[..],
        [
            ResourceContents::Text(_),
            ResourceContents::Blob(_),
            ResourceContents::Text(_)
        ]
    ));
    assert_eq!(serde_json::to_value(read).unwrap(), contents);
}
