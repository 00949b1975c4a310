//! What counts as an answer: only what was given to this question, of this call.

mod support;

use std::sync::Arc;

use mcp_server::input::fields;
use mcp_server::prelude::*;
use mcp_server::types::{self, RequestedSchema};
use mcp_server::{RawJson, tool_fn};
use serde_json::{Value, json};

use self::support::{Client, MODERN};

fn anything() -> RequestedSchema {
    let schema = json!({ "type": "object", "properties": { "value": { "type": "string" } } });
    serde_json::from_value(schema).expect("a form")
}

/// A tool that does with its arguments what the user has agreed to.
fn server() -> Server {
    let definition = types::Tool::new("pay", json!({ "type": "object" }));
    let pay = tool_fn(definition, async |arguments: RawJson, cx: Context| {
        cx.input("sure", fields("Sure?", anything()))?;
        Ok(format!("paid {arguments}"))
    });
    Server::new("test", "1.0.0").dyn_tool(Arc::new(pay))
}

fn declared() -> Value {
    json!({ "elicitation": {}, "roots": {}, "sampling": {} })
}

impl Client {
    /// A client of 2026-07-28 that can be asked for everything.
    async fn askable(server: Server) -> Self {
        Self::of(&server.build().expect("it can be built"), MODERN).await
    }

    /// Calls a tool with arguments as they are written, and with other members.
    async fn call_with(&mut self, tool: &str, arguments: &str, more: &[(&str, &Value)]) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": declared(),
        });
        let more: String = more
            .iter()
            .map(|(name, value)| format!(",\"{name}\":{value}"))
            .collect();
        self.write_text(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":\
             {{\"name\":\"{tool}\",\"arguments\":{arguments},\"_meta\":{meta}{more}}}}}"
        ))
        .await;
        self.receive().await
    }
}

fn yes() -> Value {
    json!({ "sure": { "action": "accept", "content": {} } })
}

fn is_asked(reply: &Value) -> bool {
    reply["result"]["resultType"] == "input_required"
}

/// Covers X06.
#[tokio::test]
async fn an_answer_is_of_the_arguments_that_were_agreed_to() {
    let mut client = Client::askable(server()).await;
    for (agreed, other) in [
        (
            r#"{"to":"alice","x":1e999}"#,
            r#"{"to":"mallory","x":1e999}"#,
        ),
        (r#"{"x":1e999}"#, r#"{"x":1e998}"#),
        (
            r#"{"x":170141183460469231731687303715884105727}"#,
            r#"{"x":170141183460469231731687303715884105728}"#,
        ),
    ] {
        let round = client.call_with("pay", agreed, &[]).await;
        let state = &round["result"]["requestState"];
        let carried = [("inputResponses", &yes()), ("requestState", state)];
        let reply = client.call_with("pay", other, &carried).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        let reply = client.call_with("pay", agreed, &carried).await;
        let paid = format!("paid {agreed}");
        assert_eq!(reply["result"]["content"][0]["text"], paid, "{reply}");
    }
    for ambiguous in [r#"{"to":"a","x":"\ud800"}"#, r#"{"to":"a","to":"b"}"#] {
        let reply = client.call_with("pay", ambiguous, &[]).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
}

/// Covers X06, X09.
#[tokio::test]
async fn an_answer_without_its_question_is_none() {
    let mut client = Client::askable(server().rounds(2)).await;
    let answers = ("inputResponses", &yes());
    // What was not sealed was not asked.
    let reply = client.call_with("pay", "{}", &[answers]).await;
    assert!(is_asked(&reply), "{reply}");
    let state = reply["result"]["requestState"].clone();
    let carried = ("requestState", &state);
    // Nor was anything else than what was.
    let other = json!({ "other": yes()["sure"], "sure2": yes()["sure"] });
    let reply = client
        .call_with("pay", "{}", &[carried, ("inputResponses", &other)])
        .await;
    assert!(is_asked(&reply), "{reply}");
    let reply = client.call_with("pay", "{}", &[carried, answers]).await;
    assert_eq!(reply["result"]["content"][0]["text"], "paid {}", "{reply}");
    // Rounds are counted by what is carried.
    let last = ("requestState", &reply_state(&mut client, carried).await);
    let reply = client.call_with("pay", "{}", &[last]).await;
    assert_eq!(reply["result"]["isError"], true, "{reply}");
}

/// The state that asks once more.
async fn reply_state(client: &mut Client, carried: (&str, &Value)) -> Value {
    let reply = client.call_with("pay", "{}", &[carried]).await;
    reply["result"]["requestState"].clone()
}
