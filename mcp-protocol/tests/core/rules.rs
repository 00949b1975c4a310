//! Rules of the specification that are a line or two each, in either era.

use mcp_protocol::ProtocolVersion;

use crate::support::{check, check_with, config};

/// Requests as 2026-07-28 has them, and some that it does not have.
const MODERN: [&str; 20] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "subscriptions/listen",
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/cancel",
    "acme/own",
];

/// Covers D01, D18, EC07, B-258.
#[test]
fn a_revision_that_is_not_spoken_is_refused_with_those_that_are() {
    for method in MODERN {
        for version in ["1900-01-01", "v999.0.0", "", "2024-11-05", "2025-11-25"] {
            check(&format!(
                r#"
                > 1 {method} {{"_meta": {{"io.modelcontextprotocol/protocolVersion": "{version}", "io.modelcontextprotocol/clientCapabilities": {{}}}}}}
                < 1 error -32022 {{"data": {{"supported": ["2026-07-28"], "requested": "{version}"}}}}
                "#
            ));
        }
    }
}

/// Covers D05.
#[test]
fn a_modern_server_tells_a_handshake_what_it_speaks() {
    let mut config = config();
    config.versions = vec![ProtocolVersion::V2026_07_28];
    check_with(
        config,
        r#"
        > 1 initialize "2025-11-25"
        < 1 error -32022 {"data": {"supported": ["2026-07-28"], "requested": "2025-11-25"}}
        > 2 ping
        < 2 error -32602
        >> 3 server/discover
        < 3 ok
        "#,
    );
}

/// Covers D14, TX11.
#[test]
fn what_the_modern_era_has_removed_is_no_method() {
    for method in &MODERN[10..] {
        for params in [
            "{}",
            r#"{"level": "info"}"#,
            r#"{"uri": "x:1", "taskId": "1"}"#,
        ] {
            check(&format!(">> 1 {method} {params}\n< 1 error -32601"));
        }
    }
}

/// Covers D04, M06, ST02.
#[test]
fn each_modern_request_speaks_for_itself() {
    check(
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok
        > 2 logging/setLevel {"level": "debug"}
        < 2 ok
        >> 3 tools/call {"name": "x", "_meta": {"io.modelcontextprotocol/logLevel": "info"}}
        ! start 3 loud
        >> 4 tools/call "x"
        ! start 4 quiet
        > 5 tools/call "x"
        ! start 5 legacy
        ? log quiet emergency no
        -
        ? log loud info yes
        < notifications/message {"level": "info"}
        ? log legacy debug yes
        < notifications/message {"level": "debug"}
        ? ask quiet no
        -
        ? ask legacy q
        < ask q elicitation/create
        > 6 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        < 6 error -32602
        "#,
    );
}

/// Covers S11.
#[test]
fn nobody_in_the_modern_era_is_told_without_a_stream() {
    check(
        r#"
        >> 1 server/discover
        < 1 ok
        >> 2 tools/call "x"
        ! start 2 a
        ? publish everything
        -
        ? publish file:///a
        -
        "#,
    );
}

/// Covers S10.
#[test]
fn a_stream_carries_neither_progress_nor_logs() {
    check(
        r#"
        >> "s" subscriptions/listen {"notifications": {"toolsListChanged": true}, "_meta": {"progressToken": "p", "io.modelcontextprotocol/logLevel": "debug"}}
        < notifications/subscriptions/acknowledged
        >> "c" tools/call {"name": "x", "_meta": {"progressToken": "q", "io.modelcontextprotocol/logLevel": "debug"}}
        ! start "c" a
        ? progress a 1
        < notifications/progress {"progressToken": "q", "_meta": "absent"}
        ? log a error x
        < notifications/message {"data": "x", "_meta": "absent"}
        ? publish tools
        < notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": "s"}}
        "#,
    );
}

/// Covers C04.
#[test]
fn nothing_is_said_of_a_modern_call_after_its_cancel() {
    check(
        r#"
        >> 7 tools/call {"name": "x", "_meta": {"progressToken": "t", "io.modelcontextprotocol/logLevel": "debug"}}
        ! start 7 a
        > notifications/cancelled {"requestId": 7, "reason": "enough"}
        ! stop a
        ? progress a 1
        -
        ? log a error late
        -
        ? fail a
        -
        "#,
    );
}

/// Covers C07.
#[test]
fn a_modern_call_is_never_cancelled_by_the_server() {
    check(
        r#"
        >> 1 tools/call "x"
        ! start 1 a
        >> 2 subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < notifications/subscriptions/acknowledged
        ? shutdown
        < 2 ok
        ? wait 1000
        ! stop a
        ! close 1
        "#,
    );
}

/// Covers TL01, RS01, PR01, CP01, L09.
#[test]
fn what_a_server_does_not_have_is_no_method_in_either_era() {
    for (capability, methods) in [
        ("tools", &["tools/list", "tools/call"][..]),
        ("prompts", &["prompts/list", "prompts/get"]),
        (
            "resources",
            &[
                "resources/list",
                "resources/templates/list",
                "resources/read",
            ],
        ),
        ("completions", &["completion/complete"]),
    ] {
        let mut config = config();
        let mut offered = serde_json::to_value(&config.capabilities).expect("JSON");
        offered
            .as_object_mut()
            .expect("an object")
            .remove(capability);
        config.capabilities = serde_json::from_value(offered).expect("capabilities");
        for method in methods {
            let params = r#"{"name": "x", "uri": "x:1", "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": ""}}"#;
            check_with(
                config.clone(),
                &format!(
                    r#"
                    > 1 initialize "2025-11-25"
                    < 1 ok {{"capabilities": {{"{capability}": "absent"}}}}
                    > 2 {method} {params}
                    < 2 error -32601
                    >> 3 {method} {params}
                    < 3 error -32601
                    >> 4 server/discover
                    < 4 ok {{"capabilities": {{"{capability}": "absent"}}}}
                    "#
                ),
            );
        }
    }
}

/// Covers B-172, B-228.
#[test]
fn a_handshake_follows_whatever_came_before_it() {
    check(
        r#"
        > raw {"jsonrpc":"2.0","id":null,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
        < null error -32600
        > raw {"jsonrpc":"2.0","id":1,"method":"ping","params":null}
        < 1 ok {}
        > notifications/initialized
        > notifications/cancelled {"requestId": 1}
        -
        > 2 initialize "2025-11-25"
        < 2 ok
        > 3 tools/list
        ! start 3 a
        "#,
    );
}

/// Covers B-186.
#[test]
fn a_malformed_message_is_told_which_member_is_wrong() {
    for (line, says) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"request":{}}"#,
            "neither `method` nor `result` nor `error`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            "`method` is not a string",
        ),
        (
            r#"{"id":1,"method":"ping"}"#,
            "`jsonrpc` is not \\\"2.0\\\"",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            "`method` stands there twice",
        ),
    ] {
        check(&format!(
            "> raw {line}\n< 1 error -32600 {{\"message\": \"Invalid request: {says}\"}}"
        ));
    }
}

/// Covers B-252.
#[test]
fn a_legacy_server_refuses_discovery_as_it_does_any_other_stranger() {
    let mut config = config();
    config
        .versions
        .retain(|version| *version < ProtocolVersion::V2026_07_28);
    check_with(
        config,
        r#"
        >> 1 server/discover
        < 1 error -32602 {"message": "Invalid params: there is no session; send `initialize` first", "data": "absent"}
        > 2 initialize "2025-06-18"
        < 2 ok
        >> 3 server/discover
        < 3 error -32601
        "#,
    );
}

/// Covers TK01, TX11.
#[test]
fn a_task_that_is_asked_for_is_a_plain_call() {
    check(
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok {"capabilities": {"tasks": "absent"}}
        > 2 tools/call {"name": "x", "task": {"ttl": 60000}}
        ! start 2 a
        ? reply a done
        < 2 ok {"task": "absent", "content": [{"type": "text", "text": "done"}]}
        >> 3 tools/call {"name": "x", "task": {"ttl": 60000}}
        ! start 3 b
        ? reply b done
        < 3 ok {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
        > 4 tasks/get {"taskId": "2"}
        < 4 error -32601
        "#,
    );
}
