//! What the core sends is fitted to who hears it, and signed.

use std::sync::Arc;
use std::time::Instant;

use mcp_protocol::connection::{CallId, Output, ServerConnection};
use mcp_protocol::types::*;
use mcp_protocol::{ErrorCode, ErrorObject, Incoming, RawJson, ServerRequest, ServerResult};
use serde_json::{Value, json};

use crate::support::{config, encoded, message};

/// A connection with one call, by a client of a revision that can do everything.
fn called(version: &str) -> (ServerConnection, CallId) {
    let mut connection = ServerConnection::new(Arc::new(config()));
    let modern = version == "2026-07-28";
    if !modern {
        let hello = json!({
            "protocolVersion": version,
            "capabilities": { "elicitation": { "url": {} }, "sampling": {} },
            "clientInfo": { "name": "x", "version": "1" },
        });
        receive(&mut connection, &format!("1 initialize {hello}"), false);
        sent(&mut connection);
    }
    receive(&mut connection, "2 tools/call \"x\"", modern);
    let Some(Output::Start { call, .. }) = connection.poll() else {
        panic!("{version}: the call was not started");
    };
    (connection, call)
}

fn receive(connection: &mut ServerConnection, line: &str, modern: bool) {
    let frame = message(line, modern).into_bytes().into();
    connection.receive(Incoming::parse(&frame));
}

fn sent(connection: &mut ServerConnection) -> Value {
    let Some(Output::Send(outgoing)) = connection.poll() else {
        panic!("nothing was sent");
    };
    serde_json::from_str(&encoded(&outgoing.message)).expect("what is sent is JSON")
}

fn answer(version: &str, outcome: Result<ServerResult, ErrorObject>) -> Value {
    let (mut connection, call) = called(version);
    connection.reply(call, outcome.map(Box::new));
    sent(&mut connection)
}

fn custom(result: Value) -> Result<ServerResult, ErrorObject> {
    Ok(ServerResult::Custom(result.into()))
}

#[test]
fn an_error_has_the_code_of_its_hearers_revision() {
    let missing = ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "no such resource");
    let code = |version| answer(version, Err(missing.clone()))["error"]["code"].clone();
    assert_eq!(code("2025-11-25"), -32002);
    assert_eq!(code("2026-07-28"), -32602);
}

#[test]
fn a_question_has_the_form_of_its_hearers_revision() {
    let ask = |version, question| {
        let (mut connection, call) = called(version);
        let asked = connection.ask(call, question, Instant::now());
        asked.expect("it has declared that it can be asked");
        sent(&mut connection)["params"].clone()
    };
    let blocks = vec![SamplingBlock::text("a"), SamplingBlock::text("b")];
    let params = CreateMessageParams::new([SamplingMessage::user(blocks)], 1);
    let question = || ServerRequest::CreateMessage(params.clone());
    let messages = |version| {
        let messages = ask(version, question())["messages"].clone();
        messages.as_array().expect("there are some").len()
    };
    assert_eq!((messages("2025-06-18"), messages("2025-11-25")), (2, 1));
}

#[test]
fn a_web_page_has_an_id_of_its_own_in_2025_11_25() {
    let page = ElicitParams::page("Go?", "https://a.b/c");
    let ids = |version, page: &ElicitParams| {
        let (mut connection, call) = called(version);
        [(); 2].map(|()| {
            let question = ServerRequest::Elicit(page.clone());
            let asked = connection.ask(call, question, Instant::now());
            asked.expect("it has declared that it can be asked");
            sent(&mut connection)["params"]
                .get("elicitationId")
                .cloned()
        })
    };
    let [one, two] = ids("2025-11-25", &page);
    assert!(
        one.is_some() && two.is_some() && one != two,
        "{one:?} {two:?}"
    );
    assert_eq!(ids("2025-06-18", &page), [None, None]);
    let known = page.elicitation_id("mine");
    assert_eq!(
        ids("2025-11-25", &known),
        [(); 2].map(|()| Some(json!("mine")))
    );
    let form = ElicitParams::form("Who?", RequestedSchema::new(Properties::default()));
    assert_eq!(ids("2025-11-25", &form), [None, None]);
}

#[test]
fn every_modern_result_is_signed() {
    let server = json!({ "name": "scripted", "version": "1.0.0" });
    let key = "io.modelcontextprotocol/serverInfo";
    let required = ServerResult::InputRequired(InputRequiredResult::new().request_state("s"));
    let tool = ServerResult::CallTool(CallToolResult::new());
    let of = json!({ "a": 1, "_meta": { "com.acme/a": 2 } });
    for outcome in [Ok(tool), Ok(required), custom(json!({})), custom(of)] {
        let modern = answer("2026-07-28", outcome.clone());
        assert_eq!(modern["result"]["_meta"][key], server, "{modern}");
        let legacy = answer("2025-11-25", outcome);
        assert_eq!(legacy["result"]["_meta"].get(key), None, "{legacy}");
    }
    let kept = answer(
        "2026-07-28",
        custom(json!({ "a": 1, "_meta": { "com.acme/a": 2 } })),
    );
    assert_eq!(kept["result"]["a"], 1);
    assert_eq!(kept["result"]["_meta"]["com.acme/a"], 2);
}

#[test]
fn a_result_that_is_signed_keeps_its_signature() {
    let origin = json!({ "name": "origin", "version": "7" });
    let of = json!({ "content": [], "_meta": { "io.modelcontextprotocol/serverInfo": origin } });
    let tool = serde_json::from_value(of.clone()).expect("it is a result");
    for outcome in [Ok(ServerResult::CallTool(tool)), custom(of)] {
        let sent = answer("2026-07-28", outcome);
        let meta = &sent["result"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/serverInfo"], origin);
    }
}

#[test]
fn a_custom_result_that_cannot_be_signed_is_sent_as_it_is() {
    for odd in ["17", r#"{"_meta":5,"resultType":"complete"}"#] {
        let odd = RawJson::parse(odd).expect("it is JSON");
        let sent = answer("2026-07-28", Ok(ServerResult::Custom(odd.clone())));
        assert_eq!(
            RawJson::from(sent["result"].clone()).decode::<Value>().ok(),
            odd.decode().ok()
        );
    }
}
