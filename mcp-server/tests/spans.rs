//! What the spans of connections and calls say, of clients of both eras.

#[path = "support/capture.rs"]
mod capture;
mod support;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcp_server::input::roots;
use mcp_server::prelude::*;
use mcp_server::transport::Transport;
use mcp_server::types::{self, ResourceContents};
use mcp_server::{Attempt, RawJson, ServiceDown, resource_fn, tool_fn};
use mcp_transport_stdio::memory::Memory;
use serde_json::{Value, json};
use tower::timeout::TimeoutLayer;
use tower::util::MapRequestLayer;
use tracing::info;

use self::capture::{Fields, Kept, listen};
use self::support::{Client, LEGACY, MODERN, clients};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const SECRET: &str = "swordfish";

impl Client {
    async fn call(&mut self, name: &str) -> Value {
        let params = json!({ "name": name, "arguments": { "secret": SECRET } });
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

/// Block.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(open)]
struct Block {}

impl RunBlocking for Block {
    fn run(self, _: &Context) -> Result<String, ToolError> {
        info!("on a thread");
        Ok("blocked".to_owned())
    }
}

struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        info!("dropped");
    }
}

/// Say it.
#[derive(Deserialize, Prompt)]
struct Say {}

impl Render for Say {
    async fn render(self, _: &Context) -> Result<impl IntoMessages, ToolError> {
        Ok("said")
    }
}

fn server() -> Server {
    Server::new("test", "1.0.0")
        .dyn_tool(tool("echo", async |_| {
            info!("in a task");
            Ok(SECRET.to_owned())
        }))
        .dyn_tool(tool("fail", async |_| Err(ToolError::failed(SECRET))))
        .dyn_tool(tool("boom", async |_| panic!("boom")))
        .dyn_tool(tool("stuck", async |_| {
            let _on_drop = OnDrop;
            pending().await
        }))
        .dyn_tool(tool("ask", async |cx| {
            cx.input("roots", roots())?;
            Ok("asked".to_owned())
        }))
        .dyn_tool(tool("die", async |_| Err(ServiceDown::new("died").into())))
        .blocking_tool::<Block>()
        .prompt::<Say>()
        .resource(resource_fn(
            types::Resource::new("a://b", "b"),
            async |_| Ok(vec![ResourceContents::text("a://b", SECRET)]),
        ))
}

fn fields(fields: &[(&str, &str)]) -> Fields {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    fields.iter().map(owned).collect()
}

/// Outcome, error and code of a call.
fn ended(kept: &Kept) -> [Option<&str>; 3] {
    let field = |name| kept.fields.get(name).map(String::as_str);
    let failed = field("otel.status_code") == Some("ERROR");
    assert_eq!(failed, field("error.type").is_some(), "{kept:?}");
    ["outcome", "error.type", "rpc.response.status_code"].map(field)
}

#[tokio::test]
async fn a_call_is_a_span_of_the_conventions() {
    let heard = listen().await;
    for mut client in clients(&server().build().unwrap()).await {
        let meta = json!({ "traceparent": PARENT, "tracestate": "a=b", "baggage": "c=d" });
        let params = json!({ "name": "echo", "_meta": meta });
        client.ask("tools/call", params).await;
        let kept = heard.closed("mcp.call").await;
        let expected = fields(&[
            ("otel.name", "tools/call echo"),
            ("otel.kind", "server"),
            ("mcp.method.name", "tools/call"),
            ("mcp.protocol.version", client.version),
            ("jsonrpc.request.id", "1"),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "echo"),
            ("traceparent", PARENT),
            ("tracestate", "a=b"),
            ("outcome", "done"),
        ]);
        assert_eq!(kept.fields, expected);
        assert_eq!(kept.messages(), ["in a task", "a call has ended"]);
        let seconds = &kept.events[1]["mcp.server.operation.duration"];
        assert!(seconds.parse::<f64>().is_ok_and(|seconds| seconds > 0.0));
    }
}

#[tokio::test]
async fn prompts_and_resources_are_named_too() {
    let heard = listen().await;
    for mut client in clients(&server().build().unwrap()).await {
        client.ask("prompts/get", json!({ "name": "say" })).await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["otel.name"], "prompts/get say");
        assert_eq!(kept.fields["gen_ai.prompt.name"], "say");
        // A URI could be any of many, and a span's name should not.
        client
            .ask("resources/read", json!({ "uri": "a://b" }))
            .await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["otel.name"], "resources/read");
        assert_eq!(kept.fields["mcp.resource.uri"], "a://b");
        assert_eq!(kept.fields.get("gen_ai.operation.name"), None);
        client.ask("tools/list", json!({})).await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["otel.name"], "tools/list");
    }
}

#[tokio::test]
async fn a_span_says_what_came_of_its_call() {
    let heard = listen().await;
    let server = server().layer(TimeoutLayer::new(Duration::from_millis(1)));
    for mut client in clients(&server.build().unwrap()).await {
        let not_found = if client.modern { "-32602" } else { "-32002" };
        for (tool, expected) in [
            ("echo", [Some("done"), None, None]),
            ("fail", [Some("failed"), Some("tool_error"), None]),
            ("none", [Some("refused"), Some("-32602"), Some("-32602")]),
            ("boom", [Some("panicked"), Some("-32603"), Some("-32603")]),
            ("stuck", [Some("timed_out"), Some("-32603"), Some("-32603")]),
        ] {
            client.call(tool).await;
            assert_eq!(ended(&heard.closed("mcp.call").await), expected, "{tool}");
        }
        let read = json!({ "uri": "a://none" });
        let reply = client.ask("resources/read", read).await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(
            ended(&kept),
            [Some("refused"), Some(not_found), Some(not_found)]
        );
        assert_eq!(reply["error"]["code"].to_string(), not_found);
    }
}

#[tokio::test]
async fn a_span_says_that_its_call_was_refused_or_cancelled() {
    let heard = listen().await;
    let server = server().max_in_flight(1).build().unwrap();
    for mut client in clients(&server).await {
        client.send("tools/call", json!({ "name": "stuck" })).await;
        let params = json!({ "name": "echo" });
        client.send_as(json!("two"), "tools/call", params).await;
        client.receive().await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(ended(&kept), [Some("busy"), Some("-31503"), Some("-31503")]);
        assert_eq!(kept.fields["jsonrpc.request.id"], "two");
        assert!(!kept.was_entered);

        client
            .notify("notifications/cancelled", json!({ "requestId": 1 }))
            .await;
        let kept = heard.closed_before("mcp.call", 1).await;
        assert_eq!(ended(&kept), [Some("cancelled"), None, None]);
        assert_eq!(kept.messages(), ["dropped", "a call has ended"]);
    }
}

#[tokio::test]
async fn a_round_that_ends_with_a_question_says_so() {
    let heard = listen().await;
    let [_, mut modern] = clients(&server().build().unwrap()).await;
    let able = json!({ "io.modelcontextprotocol/clientCapabilities": { "roots": {} } });
    modern
        .ask("tools/call", json!({ "name": "ask", "_meta": able }))
        .await;
    let kept = heard.closed("mcp.call").await;
    assert_eq!(ended(&kept), [Some("input_required"), None, None]);
}

#[tokio::test]
async fn what_a_handler_and_a_layer_log_is_within_the_span() {
    let heard = listen().await;
    let server = server().layer(MapRequestLayer::new(|attempt: Attempt| {
        info!("in a layer");
        attempt
    }));
    for mut client in clients(&server.build().unwrap()).await {
        client.call("block").await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(
            kept.messages(),
            ["in a layer", "on a thread", "a call has ended"]
        );
        client.call("boom").await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(
            kept.messages(),
            ["in a layer", "a handler panicked", "a call has ended"]
        );
    }
}

#[tokio::test]
async fn no_argument_and_no_result_is_told() {
    let heard = listen().await;
    for mut client in clients(&server().build().unwrap()).await {
        for tool in ["echo", "fail", "ask"] {
            client.call(tool).await;
        }
        client
            .ask(
                "tools/call",
                json!({ "name": "echo", "arguments": [SECRET] }),
            )
            .await;
        client
            .ask("resources/read", json!({ "uri": "a://b" }))
            .await;
        heard.closed("mcp.call").await;
    }
    for kept in heard.spans("mcp.call") {
        assert!(!format!("{kept:?}").contains(SECRET), "{kept:?}");
    }
    assert_eq!(heard.spans("mcp.call").len(), 10);
}

#[tokio::test]
async fn what_a_client_chooses_is_cut() {
    let heard = listen().await;
    let long = "é".repeat(5_000);
    for mut client in clients(&server().build().unwrap()).await {
        client.call(&long).await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["gen_ai.tool.name"], long[..256]);
        assert_eq!(
            kept.fields["otel.name"],
            format!("tools/call {}", &long[..256])
        );
        client.ask("resources/read", json!({ "uri": long })).await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["mcp.resource.uri"], long[..4_096]);
        client.send_as(json!(long), "tools/list", json!({})).await;
        client.receive().await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["jsonrpc.request.id"], long[..256]);
    }
}

#[tokio::test]
async fn the_application_sees_a_span_before_it_is_entered() {
    let heard = listen().await;
    let server = server().on_span(|span, attempt| {
        span.record("tracestate", attempt.tool());
        info!(parent: span, "seen");
    });
    for mut client in clients(&server.build().unwrap()).await {
        client.call("echo").await;
        let kept = heard.closed("mcp.call").await;
        assert_eq!(kept.fields["tracestate"], "echo");
        assert_eq!(kept.messages(), ["seen", "in a task", "a call has ended"]);
    }
}

#[tokio::test]
async fn a_notification_that_is_handled_is_a_span() {
    let heard = listen().await;
    let server = server().on_notification("acme/ping", async |_: RawJson, _| info!("heard"));
    for mut client in clients(&server.build().unwrap()).await {
        client.notify("acme/ping", json!({})).await;
        client.notify("acme/pong", json!({})).await;
        client.close().await.unwrap();
        let kept = heard.closed("mcp.notification").await;
        let expected = fields(&[
            ("otel.name", "acme/ping"),
            ("otel.kind", "server"),
            ("mcp.method.name", "acme/ping"),
        ]);
        assert_eq!(kept.fields, expected);
        assert_eq!(kept.messages(), ["heard"]);
    }
}

/// Memory that says it is a pipe.
struct Piped(Memory);

impl Transport for Piped {
    type Receiver = <Memory as Transport>::Receiver;
    type Sender = <Memory as Transport>::Sender;

    fn network(&self) -> Option<&'static str> {
        Some("pipe")
    }

    fn split(self) -> (Self::Receiver, Self::Sender) {
        self.0.split()
    }
}

#[tokio::test]
async fn a_connection_is_a_span_that_its_calls_follow() {
    let heard = listen().await;
    for version in [LEGACY, MODERN] {
        let server = server().build().unwrap();
        let mut client = Client::through(&server, version, Piped).await;
        client.call("echo").await;
        let call = heard.closed("mcp.call").await;
        let connection = heard.spans("mcp.connection").pop().expect("it has begun");
        assert_eq!(connection.fields, fields(&[("network.transport", "pipe")]));
        assert_eq!(call.fields["network.transport"], "pipe");
        assert_eq!((call.is_root, call.follows), (true, Some(connection.id)));

        client.send("tools/call", json!({ "name": "die" })).await;
        let connection = heard.closed("mcp.connection").await;
        assert_eq!(connection.fields["error.type"], "down");
        assert_eq!(connection.fields["otel.status_code"], "ERROR");
        assert_eq!(connection.messages(), ["a connection has ended"]);
        assert!(connection.events[0].contains_key("mcp.server.session.duration"));
        let call = heard.closed("mcp.call").await;
        assert_eq!(ended(&call), [Some("down"), Some("down"), None]);
    }
}
