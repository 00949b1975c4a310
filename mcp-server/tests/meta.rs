//! `_meta` of requests and of results, to clients of both eras.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_server::prelude::*;
use mcp_server::types::{self, ResourceContents};
use mcp_server::{Attempt, RawJson, RequestMeta, resource_fn, tool_fn};
use serde_json::{Value, json};
use tower::util::MapRequestLayer;

use self::support::{Client, clients};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

impl Client {
    async fn call(&mut self, name: &str, meta: Value) -> Value {
        let params = json!({ "name": name, "arguments": {}, "_meta": meta });
        self.ask("tools/call", params).await
    }
}

fn tool<F: Future<Output = Result<String, ToolError>> + Send + 'static>(
    name: &str,
    run: impl Fn(Context) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool<()>> {
    let definition = types::Tool::new(name, json!({ "type": "object" }));
    Arc::new(tool_fn(definition, move |_: RawJson, cx| run(cx)))
}

/// What can be seen of a `_meta`.
fn seen(meta: &RequestMeta) -> Value {
    json!({
        "trace": meta.trace_context().map(|trace| trace.trace_id().to_owned()),
        "state": meta.trace_context().and_then(|trace| trace.tracestate().map(str::to_owned)),
        "baggage": meta.baggage(),
        "raw": meta.extra.get("traceparent"),
        "tenant": meta.extra.get("com.acme/tenant"),
    })
}

/// Say it.
#[derive(Deserialize, Prompt)]
struct Say {}

impl Render for Say {
    async fn render(self, cx: &Context) -> Result<impl IntoMessages, ToolError> {
        cx.add_meta("com.acme/took", 3);
        Ok("said")
    }
}

fn server() -> Server {
    Server::new("test", "1.0.0")
        .dyn_tool(tool("see", async |cx| Ok(seen(cx.meta()).to_string())))
        .dyn_tool(tool("add", async |cx| {
            cx.add_meta("com.acme/took", 2);
            cx.add_meta("com.acme/took", 3);
            for name in [
                "io.modelcontextprotocol/serverInfo",
                "dev.mcp/a",
                "a b",
                "a/",
                "",
            ] {
                cx.add_meta(name, "mine");
            }
            cx.add_meta("com.acme/none", f64::NAN);
            cx.add_meta("com.acme/bad", BTreeMap::from([((1, 2), 3)]));
            Ok("added".to_owned())
        }))
        .dyn_tool(tool("fail", async |cx| {
            cx.add_meta("com.acme/took", 3);
            Err(ToolError::failed("no"))
        }))
        .method("acme/add", async |_: RawJson, cx: Context| {
            cx.add_meta("com.acme/took", 3);
            Ok(json!({ "a": 1, "_meta": { "b": 2 } }))
        })
        .prompt::<Say>()
        .resource(resource_fn(
            types::Resource::new("a://b", "b"),
            async |cx: Context| {
                cx.add_meta("com.acme/took", 3);
                Ok(vec![ResourceContents::text("a://b", "text")])
            },
        ))
}

fn text(reply: &Value) -> Value {
    let text = reply["result"]["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("no text: {reply}"))).expect("JSON")
}

/// Covers M13.
#[tokio::test]
async fn a_handler_reads_what_the_client_has_sent() {
    let meta = json!({
        "traceparent": PARENT,
        "tracestate": "a=b",
        "baggage": "user=alice",
        "com.acme/tenant": { "id": 7 },
    });
    for mut client in clients(&server().build().unwrap()).await {
        let reply = client.call("see", meta.clone()).await;
        let expected = json!({
            "trace": "0af7651916cd43dd8448eb211c80319c",
            "state": "a=b",
            "baggage": "user=alice",
            "raw": PARENT,
            "tenant": { "id": 7 },
        });
        assert_eq!(text(&reply), expected);
    }
}

#[tokio::test]
async fn what_is_malformed_is_no_trace_context_and_can_be_seen() {
    let meta = json!({ "traceparent": "00-1-2-3", "tracestate": "a=b", "baggage": 7 });
    for mut client in clients(&server().build().unwrap()).await {
        let reply = client.call("see", meta.clone()).await;
        let expected = json!({
            "trace": null,
            "state": null,
            "baggage": null,
            "raw": "00-1-2-3",
            "tenant": null,
        });
        assert_eq!(text(&reply), expected);
    }
}

#[tokio::test]
async fn a_request_without_meta_has_an_empty_one() {
    let server = server().dyn_tool(tool("empty", async |cx| {
        Ok((*cx.meta() == RequestMeta::new()).to_string())
    }));
    let [mut legacy, _] = clients(&server.build().unwrap()).await;
    let reply = legacy.ask("tools/call", json!({ "name": "empty" })).await;
    assert_eq!(text(&reply), json!(true));
}

#[tokio::test]
async fn a_layer_reads_it_too() {
    let read = Arc::new(Mutex::new(Vec::new()));
    let reading = read.clone();
    let server = server().layer(MapRequestLayer::new(move |attempt: Attempt| {
        reading.lock().unwrap().push(seen(attempt.meta()));
        attempt
    }));
    for mut client in clients(&server.build().unwrap()).await {
        client.call("see", json!({ "traceparent": PARENT })).await;
        let seen = read
            .lock()
            .unwrap()
            .pop()
            .expect("the layer has seen the call");
        assert_eq!(seen["raw"], PARENT);
        assert_eq!(seen["trace"], "0af7651916cd43dd8448eb211c80319c");
    }
}

#[tokio::test]
async fn a_handler_adds_to_the_meta_of_any_result() {
    for mut client in clients(&server().build().unwrap()).await {
        for reply in [
            client.call("add", json!({})).await,
            client.call("fail", json!({})).await,
            client.ask("prompts/get", json!({ "name": "say" })).await,
            client.ask("acme/add", json!({})).await,
            client
                .ask("resources/read", json!({ "uri": "a://b" }))
                .await,
        ] {
            let meta = &reply["result"]["_meta"];
            assert_eq!(meta["com.acme/took"], 3, "{reply}");
            let signed = &meta["io.modelcontextprotocol/serverInfo"]["name"];
            assert_eq!(*signed == "test", client.modern, "{reply}");
        }
    }
}

/// Covers M11.
#[tokio::test]
async fn what_is_reserved_or_cannot_be_json_is_not_added() {
    let [mut legacy, _] = clients(&server().build().unwrap()).await;
    let reply = legacy.call("add", json!({})).await;
    let meta = json!({ "com.acme/took": 3, "com.acme/none": null });
    assert_eq!(reply["result"]["_meta"], meta);
}
