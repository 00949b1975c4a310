//! What counts as an answer: only what was given to this question, of this call.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_server::input::{fields, page, roots};
use mcp_server::prelude::*;
use mcp_server::types::{self, RequestedSchema};
use mcp_server::{RawJson, tool_fn};
use serde_json::{Value, json};

use self::support::{Client, MODERN, log};

fn anything() -> RequestedSchema {
    let schema = json!({ "type": "object", "properties": { "value": { "type": "string" } } });
    serde_json::from_value(schema).expect("a form")
}

/// A server with a tool that asks before it does something with its arguments.
fn asking(ask: fn(&Context) -> Result<(), ToolError>) -> Server {
    let definition = types::Tool::new("pay", json!({ "type": "object" }));
    let pay = tool_fn(
        definition,
        move |arguments: RawJson, cx: Context| async move {
            ask(&cx)?;
            Ok(format!("paid {arguments}"))
        },
    );
    let server = Server::new("test", "1.0.0").dyn_tool(Arc::new(pay));
    // It refuses numbers that are none of Rust's.
    #[cfg(feature = "validate")]
    let server = server.validate_input(false);
    server
}

fn server() -> Server {
    asking(|cx| cx.input("sure", fields("Sure?", anything())).map(drop))
}

fn declared() -> Value {
    json!({ "elicitation": {}, "roots": {}, "sampling": {} })
}

impl Client {
    /// A client of 2026-07-28 that can be asked for everything.
    async fn askable(server: Server) -> Self {
        Self::of(&server.build().expect("it can be built"), MODERN).await
    }

    /// Answers a question of the server.
    async fn answer(&mut self, id: &Value, outcome: &Value) {
        let mut message = outcome.clone();
        (message["jsonrpc"], message["id"]) = (json!("2.0"), id.clone());
        self.write_text(message.to_string()).await;
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
async fn an_answer_belongs_to_its_question() {
    let mut client = Client::askable(server().rounds(2)).await;
    let answers = ("inputResponses", &yes());
    // Who carries nothing vouches for its answers alone, and for none of another name.
    let reply = client.call_with("pay", "{}", &[answers]).await;
    assert_eq!(reply["result"]["content"][0]["text"], "paid {}", "{reply}");
    let stranger = json!({ "other": yes()["sure"] });
    let reply = client
        .call_with("pay", "{}", &[("inputResponses", &stranger)])
        .await;
    assert!(is_asked(&reply), "{reply}");
    let state = reply["result"]["requestState"].clone();
    let carried = ("requestState", &state);
    // Nor was anything else asked than what was.
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

/// A legacy client whose call has asked for three things at once, with the ids of the questions
/// in the order of their names.
async fn asked(ask: fn(&Context) -> Result<(), ToolError>) -> (Client, Vec<Value>) {
    let server = asking(ask).build().expect("it can be built");
    let mut client = Client::declaring(&server, "2025-11-25", declared()).await;
    let params = json!({ "name": "pay", "arguments": {} });
    client.send("tools/call", params).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(client.receive().await["id"].clone());
    }
    (client, ids)
}

fn three(cx: &Context) -> Result<(), ToolError> {
    cx.inputs((
        ("a", fields("A?", anything())),
        ("b", fields("B?", anything())),
        ("c", fields("C?", anything()).answer()),
    ))
    .map(drop)
}

/// Covers EL09.
#[tokio::test(start_paused = true)]
async fn the_first_no_ends_a_legacy_call_and_withdraws_its_other_questions() {
    let decline = json!({ "result": { "action": "decline" } });
    let cancel = json!({ "result": { "action": "cancel" } });
    let refuse = json!({ "error": { "code": -1, "message": "not now" } });
    for (no, says) in [
        (decline, "the user declined `b`"),
        (cancel, "the user cancelled `b`"),
        (refuse, "`b`: the client refused: not now"),
    ] {
        let (mut client, ids) = asked(three).await;
        client.answer(&ids[1], &no).await;
        let mut withdrawn = Vec::new();
        let reply = loop {
            let message = client.receive().await;
            if message.get("method").is_none() {
                break message;
            }
            assert_eq!(message["method"], "notifications/cancelled");
            withdrawn.push(message["params"]["requestId"].clone());
        };
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert_eq!(reply["result"]["content"][0]["text"], says, "{reply}");
        assert_eq!(withdrawn, [ids[0].clone(), ids[2].clone()]);
    }
}

/// Covers EL09.
#[tokio::test(start_paused = true)]
async fn a_no_that_is_an_answer_ends_nothing() {
    let (mut client, ids) = asked(three).await;
    for (id, action) in ids.iter().rev().zip(["decline", "accept", "accept"]) {
        let answer = json!({ "result": { "action": action } });
        client.answer(id, &answer).await;
    }
    let reply = client.receive().await;
    assert_eq!(reply["result"]["content"][0]["text"], "paid {}", "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_is_asked_again_for_what_its_answer_does_not_say() {
    let (mut client, ids) = asked(three).await;
    let accept = json!({ "result": { "action": "accept" } });
    for (id, answer) in ids.iter().zip([&json!({ "result": 7 }), &accept, &accept]) {
        client.answer(id, answer).await;
    }
    for nonsense in [
        json!({}),
        json!({ "action": 7 }),
        json!({ "action": "later" }),
    ] {
        let question = client.receive().await;
        assert_eq!(question["params"]["message"], "A?", "{question}");
        let answer = json!({ "result": nonsense });
        client.answer(&question["id"], &answer).await;
    }
    let question = client.receive().await;
    client.answer(&question["id"], &accept).await;
    let reply = client.receive().await;
    assert_eq!(reply["result"]["content"][0]["text"], "paid {}", "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_still_open_is_not_asked_again() {
    // Turns to another question once the user has said no to one.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let (mut client, ids) = asked(|cx| match ASKED.fetch_add(1, Ordering::Relaxed) {
        0 => three(cx),
        _ => cx
            .inputs((("a", fields("A?", anything())), ("d", roots())))
            .map(drop),
    })
    .await;
    client
        .answer(&ids[1], &json!({ "result": { "action": "decline" } }))
        .await;
    let question = client.receive().await;
    assert_eq!(question["method"], "roots/list", "{question}");
    let none = json!({ "result": { "roots": [] } });
    client.answer(&question["id"], &none).await;
    client
        .answer(&ids[0], &json!({ "result": { "action": "accept" } }))
        .await;
    let mut last = client.receive().await;
    if last["method"] == "notifications/cancelled" {
        last = client.receive().await;
    }
    assert_eq!(last["result"]["content"][0]["text"], "paid {}", "{last}");
}

#[tokio::test]
async fn two_questions_of_one_name_are_an_error_that_names_it() {
    let both: fn(&Context) -> Result<(), ToolError> = |cx| {
        let inputs = (("same", fields("A?", anything())), ("same", roots()));
        cx.inputs(inputs).map(drop)
    };
    let in_turn: fn(&Context) -> Result<(), ToolError> = |cx| {
        cx.input("same", fields("Sure?", anything()))?;
        cx.input("same", roots()).map(drop)
    };
    let (log, _listening) = log::listen();
    let mut client = Client::askable(asking(both)).await;
    let reply = client.call_with("pay", "{}", &[]).await;
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert!(log.take().iter().any(|line| line.contains("same")));
    let mut client = Client::askable(asking(in_turn)).await;
    let round = client.call_with("pay", "{}", &[]).await;
    let answers = json!({ "same": yes()["sure"] });
    let carried = [
        ("inputResponses", &answers),
        ("requestState", &round["result"]["requestState"]),
    ];
    let reply = client.call_with("pay", "{}", &carried).await;
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    // The same question twice has the same answer twice.
    let twice = asking(|cx| {
        let ask = || ("same", fields("A?", anything()));
        cx.inputs((ask(), ask())).map(drop)
    });
    let mut client = Client::askable(twice).await;
    assert!(is_asked(&client.call_with("pay", "{}", &[]).await));
}

/// Covers EL07.
#[tokio::test]
async fn a_page_is_at_an_absolute_url() {
    for (ask, fits) in [
        ((|cx| go(cx, "https://a.b/c")) as fn(&Context) -> _, true),
        (|cx| go(cx, "app:login"), true),
        (|cx| go(cx, ""), false),
        (|cx| go(cx, "/login"), false),
        (|cx| go(cx, "https://"), false),
        (|cx| go(cx, "a.b"), false),
        (|cx| go(cx, "https://a b"), false),
    ] {
        let server = asking(ask).build().expect("it can be built");
        let client = Client::declaring(&server, "2025-11-25", by_page());
        let mut client = client.await;
        let params = json!({ "name": "pay", "arguments": {} });
        client.send("tools/call", params).await;
        let reply = client.receive().await;
        assert_eq!(reply["method"] == "elicitation/create", fits, "{reply}");
        assert_eq!(reply["result"]["isError"] == true, !fits, "{reply}");
    }
}

fn go(cx: &Context, url: &str) -> Result<(), ToolError> {
    cx.input("page", page("Go", url))
}

fn by_page() -> Value {
    json!({ "elicitation": { "url": {} } })
}

#[tokio::test(start_paused = true)]
async fn all_calls_of_a_connection_may_ask_at_once() {
    let server = server().build().expect("it can be built");
    let mut client = Client::declaring(&server, "2025-11-25", declared()).await;
    for id in 0..256 {
        let params = json!({ "name": "pay", "arguments": {} });
        client.send_as(json!(id), "tools/call", params).await;
    }
    for _ in 0..256 {
        let question = client.receive().await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
    }
}
