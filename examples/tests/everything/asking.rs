//! The tools that ask, with one user, model and client for both eras.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Peer, request};
use crate::{ERAS, Era};

/// What the tools are asked with, what they ask, and what they make of the answers.
const CALLS: &[(&str, &str, &[&str], &str)] = &[
    (
        "test_sampling",
        r#"{"prompt":"Hi"}"#,
        &["sampling/createMessage"],
        "LLM response: Paris",
    ),
    (
        "test_elicitation",
        r#"{"message":"Well?"}"#,
        &["elicitation/create"],
        r#"User response: action=accept, content={"response":"yes"}"#,
    ),
    (
        "test_input_required_result_elicitation",
        "{}",
        &["elicitation/create"],
        "Hello, Ada!",
    ),
    (
        "test_input_required_result_sampling",
        "{}",
        &["sampling/createMessage"],
        "Sampling result: Paris",
    ),
    (
        "test_input_required_result_list_roots",
        "{}",
        &["roots/list"],
        "Found 1 root(s)",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "{}",
        &["elicitation/create", "sampling/createMessage", "roots/list"],
        "Name: Ada; Greeting: Paris; Roots: 1",
    ),
    (
        "test_input_required_result_multi_round",
        "{}",
        &["elicitation/create", "elicitation/create"],
        "Multi-round complete for Ada who likes red",
    ),
    (
        "test_input_required_result_capabilities",
        "{}",
        &["elicitation/create", "sampling/createMessage"],
        "capabilities-ok: received elicit_input, sample_input",
    ),
    (
        "interop_roots",
        "{}",
        &["roots/list"],
        "Found 1 root(s): file:///home",
    ),
];

fn capabilities() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

/// What the user, the model and the client answer.
fn answer(request: &Value) -> Value {
    match request["method"].as_str().expect("a method") {
        "elicitation/create" => {
            let fields = &request["params"]["requestedSchema"]["properties"];
            let fields = fields.as_object().expect("fields");
            let content: Value = [("name", "Ada"), ("color", "red"), ("response", "yes")]
                .iter()
                .filter(|(name, _)| fields.contains_key(*name))
                .map(|&(name, value)| (name.to_owned(), json!(value)))
                .collect();
            json!({ "action": "accept", "content": content })
        }
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "Paris" },
            "model": "none",
        }),
        "roots/list" => json!({ "roots": [{ "uri": "file:///home" }] }),
        method => panic!("{method}"),
    }
}

/// Calls a tool, answers what it asks, and gives the methods it asked with and its reply.
fn call(era: Era, tool: &str, arguments: &Value, capabilities: &Value) -> (Vec<String>, Value) {
    let mut peer = Peer::spawn(&mut Command::new(env!("CARGO_BIN_EXE_everything")));
    let mut asked = Vec::new();
    let mut ask = |request: &Value| {
        asked.push(request["method"].as_str().expect("a method").to_owned());
        answer(request)
    };
    let mut call = request(
        "c",
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    );
    let reply = match era {
        Era::Legacy => {
            let client = json!({ "name": "by hand", "version": "1" });
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": client,
            });
            peer.send(&request("i", "initialize", params));
            peer.receive();
            peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
            peer.send(&call);
            loop {
                let message = peer.receive();
                if message["id"] == "c" {
                    break message;
                }
                let result = ask(&message);
                peer.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            }
        }
        Era::Modern => loop {
            call["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
            peer.send(&call);
            let message = peer.receive();
            if message["result"]["resultType"] != "input_required" {
                break message;
            }
            let requests = message["result"]["inputRequests"].as_object();
            let requests = requests.expect("requests");
            let answers: Value = requests
                .iter()
                .map(|(key, request)| (key.clone(), ask(request)))
                .collect();
            call["params"]["inputResponses"] = answers;
            call["params"]["requestState"] = message["result"]["requestState"].clone();
        },
    };
    peer.ends_well();
    (asked, reply)
}

#[test]
fn both_eras_are_asked_the_same_and_end_the_same() {
    for (tool, arguments, questions, result) in CALLS {
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        for era in ERAS {
            let (mut asked, reply) = call(era, tool, &arguments, &capabilities());
            // Questions of one round have no order.
            asked.sort();
            let mut questions = questions.to_vec();
            questions.sort_unstable();
            assert_eq!(asked, questions, "{era:?} {tool}");
            let text = &reply["result"]["content"][0]["text"];
            assert_eq!(text, result, "{era:?} {tool}: {reply}");
        }
    }
}

/// Covers X04, X05, EL02, RO03, M05.
#[test]
fn a_client_is_asked_only_what_it_has_declared() {
    for era in ERAS {
        for (tool, arguments, ..) in CALLS {
            let arguments: Value = serde_json::from_str(arguments).expect("JSON");
            let (asked, reply) = call(era, tool, &arguments, &json!({}));
            assert_eq!(asked, [""; 0], "{era:?} {tool}");
            match (*tool, era) {
                ("test_input_required_result_capabilities", _) => {
                    let text = &reply["result"]["content"][0]["text"];
                    assert_eq!(text, "No supported capabilities declared");
                }
                (_, Era::Legacy) => assert_eq!(reply["result"]["isError"], true, "{reply}"),
                (_, Era::Modern) => assert_eq!(reply["error"]["code"], -32021, "{reply}"),
            }
        }
    }
}

/// Covers X06.
#[test]
fn a_changed_state_is_refused() {
    for (from, to) in [("\"rounds\"", "\"rounds \""), (".", ".0"), ("{", "")] {
        let mut peer = Peer::spawn(&mut Command::new(env!("CARGO_BIN_EXE_everything")));
        let mut call = request(
            "c",
            "tools/call",
            json!({
                "name": "test_input_required_result_tampered_state",
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": capabilities(),
                },
            }),
        );
        peer.send(&call);
        let result = peer.receive()["result"].take();
        let state = result["requestState"].as_str().expect("a state");
        let changed = state.replacen(from, to, 1);
        assert_ne!(state, changed);
        let yes = json!({ "action": "accept", "content": { "ok": true } });
        call["params"]["inputResponses"] = json!({ "confirm": yes });
        call["params"]["requestState"] = json!(changed);
        peer.send(&call);
        assert_eq!(peer.receive()["error"]["code"], -32602, "{changed}");
        call["params"]["requestState"] = json!(state);
        peer.send(&call);
        let text = "integrity-ok: state verified";
        assert_eq!(peer.receive()["result"]["content"][0]["text"], text);
        peer.ends_well();
    }
}
