//! Questions: acceptance checks, and the rules of rounds.

use serde_json::{Value, json};

use crate::script::{Opened, Play};
use crate::support::fixture;
#[cfg(target_os = "linux")]
use crate::support::{modern, request};

fn asked(args: &[&str], opened: Opened) -> Play {
    Play::new(&mut fixture(args), opened, json!({ "elicitation": {} }))
}

/// Covers EL09, T06, X02, X03, X09, X17, CA02.
#[test]
fn a_modern_call_says_what_it_needs_and_is_made_again() {
    let mut play = asked(&[], Opened::Modern);
    play.play("> 1 call ask {}");
    let round = play.receive()["result"].take();
    assert_eq!(round["resultType"], "input_required");
    let members: Vec<_> = round.as_object().expect("an object").keys().collect();
    assert_eq!(
        members,
        ["_meta", "inputRequests", "requestState", "resultType"]
    );
    let question = &round["inputRequests"]["approve"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Shall it be?");
    assert_eq!(question.as_object().map(|members| members.len()), Some(2));
    let state = &round["requestState"];
    let mut again = |answer: Value, expected: &str| {
        let params = json!({
            "name": "ask",
            "arguments": {},
            "inputResponses": { "approve": answer, "unasked": 5 },
            "requestState": state,
        });
        play.play(&format!("> 2 tools/call {params}\n< 2 {expected}"));
    };
    again(json!(5), r#"ok {"resultType": "input_required"}"#);
    again(
        json!({ "action": "what" }),
        r#"ok {"resultType": "input_required"}"#,
    );
    again(
        json!({ "action": "decline" }),
        r#"failed "the user declined `approve`""#,
    );
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    again(yes, r#"text "done""#);
    play.ends_well();
}

/// Covers M06, X04, X05, EC06.
#[test]
fn only_the_capabilities_of_this_very_request_count() {
    let mut play = asked(&[], Opened::Modern);
    play.play("> 1 call ask\n< 1 ok {\"resultType\": \"input_required\"}");
    play.play(
        r#"
        >> 2 server/discover
        < 2 ok
        "#,
    );
    let without = r#"{"name": "ask", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{without}}}"#);
    play.play(&format!(
        r#"
        > raw {line}
        < 3 error -32021 {{"data": {{"requiredCapabilities": {{"elicitation": {{"form": {{}}}}}}}}}}
        > 4 call ask
        < 4 ok {{"resultType": "input_required"}}
        "#
    ));
    play.ends_well();
}

/// Covers X01.
#[test]
fn what_is_no_call_never_asks() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_everything"));
    let mut play = Play::new(&mut program, Opened::Modern, json!({ "elicitation": {} }));
    for (method, params) in [
        ("server/discover", "{}"),
        ("tools/list", "{}"),
        ("prompts/list", "{}"),
        ("resources/list", "{}"),
        ("resources/templates/list", "{}"),
        (
            "completion/complete",
            r#"{"ref": {"type": "ref/prompt", "name": "test_input_required_result_prompt"}, "argument": {"name": "x", "value": ""}}"#,
        ),
    ] {
        let mut params: Value = serde_json::from_str(params).expect("JSON");
        params["inputResponses"] = json!({ "a": { "action": "decline" } });
        params["requestState"] = json!("made up");
        let expected = match method {
            "completion/complete" => "error -32602",
            _ => r#"ok {"resultType": "complete", "inputRequests": "absent"}"#,
        };
        play.play(&format!("> 1 {method} {params}\n< 1 {expected}"));
    }
    play.play(
        r#"
        > 2 prompts/get {"name": "test_input_required_result_prompt"}
        < 2 ok {"resultType": "input_required", "inputRequests": {"user_context": {"method": "elicitation/create"}}}
        "#,
    );
    play.ends_well();
}

/// Covers X10.
#[cfg(target_os = "linux")]
#[test]
fn rounds_that_nobody_goes_on_with_leave_nothing_behind() {
    let mut play = asked(&["--cap", "2", "--share", "1"], Opened::Modern);
    let mut call = modern(request(0, "tools/call", json!({ "name": "ask" })));
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": {} });
    let mut rounds = |ids: std::ops::Range<u32>| {
        for id in ids {
            call["id"] = json!(id);
            play.play(&format!("> raw {call}"));
            let reply = play.receive();
            assert_eq!(reply["result"]["resultType"], "input_required", "{reply}");
        }
        play.peak_memory()
    };
    let few = rounds(0..500);
    let many = rounds(500..10_000);
    assert!(many - few < 4 << 20, "{} bytes more", many - few);
    play.ends_well();
}
