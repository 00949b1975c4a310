//! What a client is asked depends on what it has declared, down to the last member.

use std::io::Cursor;

use mcp_server::input::{page, sample};
use mcp_server::prelude::*;
use mcp_server::types::{
    CreateMessageParams, IncludeContext, SamplingMessage, Tool as Definition, ToolChoice,
};
use mcp_transport_stdio::Framed;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

#[derive(Tools)]
enum Ask {
    /// Ask the model for a message.
    Plain,
    /// Ask the model for a message, for which it may use a tool.
    WithTools,
    /// Ask the model for a message, and say that it may use none.
    WithChoice,
    /// Ask the model for a message, with the context of all servers.
    WithContext,
    /// Send the user to a page.
    Page,
}

impl RunTools for Ask {
    async fn run(self, cx: &Context) -> Result<impl IntoContent, ToolError> {
        let plain = CreateMessageParams::new([SamplingMessage::user("Hi")], 10);
        let asked = match self {
            Self::Plain => plain,
            Self::WithTools => plain.tools(vec![Definition::new("x", json!({ "type": "object" }))]),
            Self::WithChoice => plain.tool_choice(serde_json::from_value::<ToolChoice>(
                json!({ "mode": "none" }),
            )?),
            Self::WithContext => plain.include_context(IncludeContext::AllServers),
            Self::Page => {
                cx.input("page", page("Log in", "https://example.com/login"))?;
                return Ok(String::new());
            }
        };
        Ok(cx.input("sample", sample(asked))?.model)
    }
}

/// What comes of a call in one era: a question, a result, an error.
async fn comes_of(tool: &str, capabilities: &Value, modern: bool) -> Value {
    let version = if modern { "2026-07-28" } else { "2025-11-25" };
    comes_in(version, tool, capabilities).await
}

async fn comes_in(version: &str, tool: &str, capabilities: &Value) -> Value {
    let mut call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool },
    });
    let mut input = String::new();
    if version == "2026-07-28" {
        call["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
    } else {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let handshake =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        input += &format!("{handshake}\n");
    }
    input += &format!("{call}\n");
    let (near, far) = tokio::io::duplex(1 << 16);
    let (mut replies, output) = (near, far);
    let server = Server::new("test", "1").tools::<Ask>();
    let served = server.serve(Framed::new(Cursor::new(input), output));
    served.await.expect("the end of input is no error");
    let mut text = String::new();
    let read = replies.read_to_string(&mut text).await;
    read.expect("text is written");
    let lines = text.lines().map(serde_json::from_str);
    lines
        .map(|line| line.expect("only JSON is written"))
        .find(|line: &Value| line["id"] != 1)
        .expect("something comes of it")
}

/// Covers EC06, EL02, M05, SA02, X04, X05.
#[tokio::test]
async fn only_who_declared_the_very_thing_is_asked() {
    let tools = json!({ "sampling": { "tools": {} } });
    let url = json!({ "elicitation": { "url": {} } });
    let sampling = json!({ "sampling": {} });
    for (tool, enough, too_little, lacks) in [
        ("plain", &sampling, vec![json!({}), url.clone()], &sampling),
        (
            "with_tools",
            &tools,
            vec![
                json!({}),
                sampling.clone(),
                json!({ "sampling": { "context": {} } }),
            ],
            &tools,
        ),
        ("with_choice", &tools, vec![sampling.clone()], &tools),
        (
            "page",
            &url,
            vec![
                json!({}),
                json!({ "elicitation": {} }),
                json!({ "elicitation": { "form": {} } }),
            ],
            &url,
        ),
    ] {
        let asked = comes_of(tool, enough, true).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let asked = comes_of(tool, enough, false).await;
        assert!(asked["method"].is_string(), "{asked}");
        for declared in too_little {
            let refused = comes_of(tool, &declared, true).await;
            assert_eq!(refused["error"]["code"], -32021, "{refused}");
            let data = &refused["error"]["data"];
            assert_eq!(data["requiredCapabilities"], *lacks, "{declared}");
            let failed = comes_of(tool, &declared, false).await;
            assert_eq!(failed["result"]["isError"], true, "{declared}: {failed}");
        }
    }
}

/// Covers SA04.
#[tokio::test]
async fn context_is_asked_of_whom_declared_it_since_that_can_be_declared() {
    let plain = json!({ "sampling": {} });
    let context = json!({ "sampling": { "context": {} } });
    let all = json!("allServers");
    for (version, declared, included) in [
        ("2024-11-05", &plain, Some(&all)),
        ("2025-06-18", &plain, Some(&all)),
        ("2025-11-25", &plain, None),
        ("2025-11-25", &context, Some(&all)),
        ("2026-07-28", &plain, None),
        ("2026-07-28", &context, Some(&all)),
    ] {
        let asked = comes_in(version, "with_context", declared).await;
        let modern = &asked["result"]["inputRequests"]["sample"];
        let question = if modern.is_null() { &asked } else { modern };
        assert_eq!(question["method"], "sampling/createMessage", "{asked}");
        let include = question["params"].get("includeContext");
        assert_eq!(include, included, "{version}: {asked}");
    }
}
