//! Questions: acceptance checks, and the rules of rounds.

use serde_json::{Value, json};

use crate::script::{BOTH, Opened, Play};
use crate::support::fixture;
#[cfg(target_os = "linux")]
use crate::support::{SOON, modern, request};

fn asked(args: &[&str], opened: Opened) -> Play {
    Play::new(&mut fixture(args), opened, json!({ "elicitation": {} }))
}

/// Covers A-11, C03.
#[test]
fn a11_a_call_that_is_cancelled_while_it_asks_is_never_done() {
    let mut play = asked(&["--cap", "2", "--share", "1"], BOTH[0]);
    play.play(
        r#"
        > 1 call ask
        < elicitation/create {"message": "Shall it be?"}
        > 2 call echo {"text": "x"}
        < 2 error -31503
        > notifications/cancelled {"requestId": 1}
        < notifications/cancelled {"requestId": "ask-0"}
        > raw {"jsonrpc":"2.0","id":"ask-0","result":{"action":"accept","content":{"approve":true}}}
        -
        > 3 call approved
        < 3 text "0"
        "#,
    );
    play.peer.ends_well();
}

/// Covers A-13, L14.
#[test]
fn a13_a_call_that_nobody_answers_ends_once() {
    let mut play = asked(&["--ask", "200"], BOTH[0]);
    play.play(
        r#"
        > 1 call ask
        < elicitation/create {"message": "Shall it be?"}
        < notifications/cancelled {"requestId": "ask-0"}
        < 1 failed "`approve`: nobody has answered in time"
        > raw {"jsonrpc":"2.0","id":"ask-0","result":{"action":"accept","content":{"approve":true}}}
        -
        > 2 call approved
        < 2 text "0"
        "#,
    );
    play.peer.ends_well();
}

/// Covers EL09.
#[test]
fn a_legacy_user_approves_declines_and_cancels() {
    let mut play = asked(&[], BOTH[0]);
    for (answer, ends, done) in [
        (
            r#"{"action": "decline"}"#,
            r#"failed "the user declined `approve`""#,
            0,
        ),
        (
            r#"{"action": "cancel"}"#,
            r#"failed "the user cancelled `approve`""#,
            0,
        ),
        (
            r#"{"action": "accept", "content": {"approve": false}}"#,
            r#"failed "not approved""#,
            0,
        ),
        (
            r#"{"action": "accept", "content": {"approve": true}}"#,
            r#"text "done""#,
            1,
        ),
    ] {
        play.play(&format!(
            r#"
            > 1 call ask
            < elicitation/create {{"requestedSchema": {{"required": ["approve"]}}}}
            > answer {answer}
            < 1 {ends}
            > 2 call approved
            < 2 text "{done}"
            "#
        ));
    }
    play.peer.ends_well();
}

/// Covers EL09, T06, X02, X03, X09, X17, CA02.
#[test]
fn a_modern_call_says_what_it_needs_and_is_made_again() {
    let mut play = asked(&[], Opened::Modern);
    play.play("> 1 call ask {}");
    let round = play.peer.receive()["result"].take();
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
    play.peer.ends_well();
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
    play.peer.ends_well();
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
    play.peer.ends_well();
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
            play.peer.send(&call);
            let reply = play.peer.receive();
            assert_eq!(reply["result"]["resultType"], "input_required", "{reply}");
        }
        play.peer.peak_memory()
    };
    let few = rounds(0..500);
    let many = rounds(500..10_000);
    assert!(many - few < 4 << 20, "{} bytes more", many - few);
    play.peer.close_stdin();
    assert!(play.peer.ends_within(SOON).success());
}
