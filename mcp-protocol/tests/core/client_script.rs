//! Conversations with the client's core. See `client_support` for how to read them.

use std::time::Duration;

use mcp_protocol::{Era, ProtocolVersion};

use crate::client_support::{check, check_with, config};

const PROBE: &str = r#"
    ? connect
    < 1 server/discover {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
"#;

const DISCOVERED: &str = r#"{
    "supportedVersions": ["2026-07-28"], "resultType": "complete",
    "capabilities": {"tools": {"listChanged": true}, "resources": {}}
}"#;

const SERVER: &str = r#"
    "capabilities": {"tools": {}, "resources": {"subscribe": true}},
    "serverInfo": {"name": "server", "version": "1"}
"#;

/// A script that begins after the probe of a modern server.
fn check_modern(script: &str) {
    let discovered = DISCOVERED.replace('\n', " ");
    check(&format!(
        "{PROBE}
        > 1 ok {discovered}
        ! connected 2026-07-28
        {script}"
    ));
}

fn initialized(id: u8, version: &str) -> String {
    let server = SERVER.replace('\n', " ");
    format!(
        r#"
        > {id} ok {{"protocolVersion": "{version}", {server}}}
        < notifications/initialized
        ! connected {version}
        "#
    )
}

/// A script that begins after the handshake with a legacy server, which was probed before.
fn check_legacy(version: &str, script: &str) {
    let initialized = initialized(2, version);
    check(&format!(
        r#"{PROBE}
        > 1 error -32601
        < 2 initialize {{"protocolVersion": "2025-11-25"}}
        {initialized}
        {script}"#
    ));
}

fn check_only(era: Era, script: &str) {
    check_with(config().only(era), script);
}

/// Covers D06, M01, M02, B-078c.
#[test]
fn the_probe_says_who_asks() {
    check(
        r#"
        ? connect
        < 1 server/discover = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {"listChanged": true}, "sampling": {}}, "io.modelcontextprotocol/clientInfo": {"name": "scripted", "version": "1.0.0"}}}
        ? connect
        -
        "#,
    );
}

/// Covers M02.
#[test]
fn a_client_need_not_name_itself() {
    let mut config = config();
    config.names_itself = false;
    let envelope = r#"{"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {"listChanged": true}, "sampling": {}}}}"#;
    let discovered = DISCOVERED.replace('\n', " ");
    check_with(
        config,
        &format!(
            r#"
            ? connect
            < 1 server/discover = {envelope}
            > 1 ok {discovered}
            ! connected 2026-07-28
            ? call a tools/list
            < 2 tools/list = {envelope}
            "#
        ),
    );
}

/// Covers D09, EC03, L01, B-246.
#[test]
fn a_server_that_does_not_know_the_probe_is_initialized() {
    let initialized = initialized(2, "2025-11-25");
    for answer in [
        "1 error -32601",
        "1 error -32602",
        "1 error -32600",
        "1 error -32603",
        "1 error -32700",
        "1 error -32000",
        "1 error -32001",
        "1 error -32002",
        "1 error 0",
        "null error -32700",
        "1 ok {}",
        r#"1 ok {"supportedVersions": 1}"#,
        r#"raw {"jsonrpc": "2.0", "id": 1, "result": []}"#,
        r#"raw {"jsonrpc": "2.0", "error": {"code": -32600, "message": "?"}}"#,
        r#"raw {"id": 1, "result": {}}"#,
        r#"raw {"jsonrpc": "2.0", "id": 1, "error": "no"}"#,
    ] {
        check(&format!(
            r#"{PROBE}
            > {answer}
            < 2 initialize {{"protocolVersion": "2025-11-25", "clientInfo": {{"name": "scripted"}}}}
            {initialized}
            "#
        ));
    }
}

/// Covers D09, B-245, B-249, B-156.
#[test]
fn a_server_that_does_not_answer_the_probe_is_initialized() {
    let initialized = initialized(2, "2025-11-25");
    for silence in ["wait 5000", "skip"] {
        check(&format!(
            r#"{PROBE}
            ? wait 4999
            -
            ? {silence}
            < 2 initialize
            ? wait 59999
            -
            {initialized}
            "#
        ));
    }
}

/// Covers D19.
#[test]
fn a_late_answer_to_the_probe_changes_nothing() {
    let discovered = DISCOVERED.replace('\n', " ");
    let initialized = initialized(2, "2025-11-25");
    for late in [format!("1 ok {discovered}"), "1 error -32022".to_owned()] {
        check(&format!(
            r#"{PROBE}
            ? wait 5000
            < 2 initialize
            > {late}
            ! ignored
            > null error -32601
            ! ignored
            {initialized}
            > {late}
            ! ignored
            "#
        ));
    }
}

/// Covers D03, D07.
#[test]
fn a_modern_server_may_name_its_revisions_once() {
    let discovered = DISCOVERED.replace('\n', " ");
    let named = r#"error -32022 {"supported": ["2030-01-01", "2026-07-28"], "requested": "x"}"#;
    check(&format!(
        r#"{PROBE}
        > 1 {named}
        < 2 server/discover
        > 2 ok {discovered}
        ! connected 2026-07-28
        "#
    ));
    check(&format!(
        r#"{PROBE}
        > 1 {named}
        < 2 server/discover
        > 2 {named}
        ! failed -32022
        ! close
        "#
    ));
}

#[test]
fn a_server_that_never_agrees_is_not_asked_for_ever() {
    let named = r#"error -32022 {"supported": ["2026-07-28", "2025-11-25"], "requested": "x"}"#;
    let legacy = r#"error -32022 {"supported": ["2025-11-25"], "requested": "x"}"#;
    let found = r#"ok {"supportedVersions": ["2025-11-25"], "capabilities": {}}"#;
    for (junk, again) in [("ok {}", legacy), ("error -32601", named), (found, named)] {
        check(&format!(
            r#"{PROBE}
            > 1 error -32601
            < 2 initialize
            > 2 {named}
            < 3 server/discover
            > 3 {junk}
            < 4 initialize
            > 4 {again}
            ! failed -32022
            ! close
            "#
        ));
    }
}

/// Covers D11.
#[test]
fn a_server_that_names_legacy_revisions_only_is_initialized_in_the_newest() {
    let initialized = initialized(2, "2025-06-18");
    for answer in [
        r#"error -32022 {"supported": ["2025-03-26", "2025-06-18"], "requested": "x"}"#,
        r#"ok {"supportedVersions": ["2025-03-26", "2025-06-18"], "capabilities": {}}"#,
    ] {
        check(&format!(
            r#"{PROBE}
            > 1 {answer}
            < 2 initialize {{"protocolVersion": "2025-06-18"}}
            {initialized}
            "#
        ));
    }
}

/// Covers D03, D08.
#[test]
fn a_modern_server_without_a_common_revision_is_not_initialized() {
    for (answer, error) in [
        (
            r#"error -32022 {"supported": ["2030-01-01"], "requested": "x"}"#,
            "NoCommonVersion",
        ),
        (
            r#"ok {"supportedVersions": [], "capabilities": {}}"#,
            "NoCommonVersion",
        ),
        ("error -32022", "Refused"),
        ("error -32021", "Refused"),
        ("error -32020", "Refused"),
    ] {
        check(&format!(
            r#"{PROBE}
            > 1 {answer}
            ! failed {error}
            ! close
            ? call a tools/list
            ! done a NotConnected
            > 2 ping
            -
            "#
        ));
    }
}

/// Covers H13.
#[test]
fn what_is_no_answer_makes_for_a_fallback_only_where_somebody_has_spoken() {
    check(&format!(
        r#"{PROBE}
        ? unanswered 1 unusable
        < 2 initialize
        "#
    ));
    for why in ["unreachable", "unauthorized"] {
        check(&format!(
            r#"{PROBE}
            ? unanswered 1 {why}
            ! failed NoAnswer
            ! close
            "#
        ));
    }
}

/// Covers D13.
#[test]
fn a_modern_client_tells_an_older_server_apart() {
    for (answer, error) in [
        ("> 1 error -32601", "OnlyLegacy"),
        ("> 1 ok {}", "Unreadable"),
        ("? wait 5000", "TimedOut"),
    ] {
        check_only(
            Era::Modern,
            &format!(
                "
                ? connect
                < 1 server/discover
                {answer}
                ! failed {error}
                ! close
                "
            ),
        );
    }
}

/// Covers L01.
#[test]
fn a_legacy_client_does_not_probe() {
    let initialized = initialized(1, "2025-11-25");
    check_only(
        Era::Legacy,
        &format!(
            r#"
            ? connect
            < 1 initialize = {{"protocolVersion": "2025-11-25", "capabilities": {{"elicitation": {{}}, "roots": {{"listChanged": true}}, "sampling": {{}}}}, "clientInfo": {{"name": "scripted", "version": "1.0.0"}}}}
            {initialized}
            "#
        ),
    );
}

#[test]
fn a_client_without_revisions_fails() {
    let mut config = config();
    config.versions.clear();
    check_with(
        config,
        "
        ? connect
        ! failed NoCommonVersion
        ! close
        ",
    );
}

/// Covers L04, B-253.
#[test]
fn the_server_chooses_among_the_legacy_revisions() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check_legacy(version, "");
    }
}

/// Covers L03.
#[test]
fn the_handshake_fails_on_what_is_not_spoken_here() {
    let server = SERVER.replace('\n', " ");
    for version in ["1.0", "2026-07-28", "2099-01-01", ""] {
        check_only(
            Era::Legacy,
            &format!(
                r#"
                ? connect
                < 1 initialize
                > 1 ok {{"protocolVersion": "{version}", {server}}}
                ! failed Answered
                ! close
                "#
            ),
        );
    }
    let mut config = config();
    config.versions = vec![ProtocolVersion::V2025_06_18];
    check_with(
        config,
        &format!(
            r#"
            ? connect
            < 1 initialize {{"protocolVersion": "2025-06-18"}}
            > 1 ok {{"protocolVersion": "2025-11-25", {server}}}
            ! failed Answered
            ! close
            "#
        ),
    );
}

#[test]
fn an_answer_that_says_nothing_ends_its_call_and_a_log_does_not() {
    check_modern(
        r#"
        ? call a tools/list
        < 2 tools/list
        > raw {"id": 2, "level": "info"}
        ! ignored
        > raw {"jsonrpc": "2.0", "id": 2}
        ! done a Unreadable
        "#,
    );
}

/// Covers L10.
#[test]
fn the_handshake_fails_without_a_cancel() {
    for (event, error) in [
        ("> 1 error -32602", "Refused"),
        ("> 1 ok {}", "Unreadable"),
        ("? skip", "Unreadable"),
        ("? wait 60000", "TimedOut"),
        ("? eof", "Lost"),
        ("? shutdown", "Lost"),
    ] {
        check_only(
            Era::Legacy,
            &format!(
                "
                ? connect
                < 1 initialize
                {event}
                ! failed {error}
                ! close
                "
            ),
        );
    }
}

/// Covers B-155.
#[test]
fn a_server_may_take_as_long_to_begin_as_it_is_given() {
    let mut config = config().only(Era::Legacy);
    config.limits.initialize = Duration::from_secs(3600);
    let initialized = initialized(1, "2025-11-25");
    check_with(
        config,
        &format!(
            "
            ? connect
            < 1 initialize
            ? wait 3599999
            -
            {initialized}
            "
        ),
    );
}

#[test]
fn a_server_that_dies_of_the_probe_is_told_apart() {
    check(&format!(
        "{PROBE}
        ? eof
        ! failed Lost
        ! close
        "
    ));
}

#[test]
fn a_modern_server_that_was_too_slow_for_the_probe_is_known_by_its_late_answer() {
    let discovered = DISCOVERED.replace('\n', " ");
    for failure in [
        "> 2 error -32601",
        "> 2 error -32602",
        r#"> 2 error -32022 {"supported": ["2026-07-28"], "requested": "2025-11-25"}"#,
        "> 2 ok {}",
        "? wait 60000",
    ] {
        check(&format!(
            r#"{PROBE}
            ? wait 5000
            < 2 initialize
            > 1 ok {discovered}
            ! ignored
            {failure}
            ! connected 2026-07-28
            "#
        ));
    }
}

#[test]
fn a_silent_server_that_refuses_to_be_initialized_is_probed_again() {
    let discovered = DISCOVERED.replace('\n', " ");
    let named = r#"error -32022 {"supported": ["2026-07-28"], "requested": "2025-11-25"}"#;
    for refusal in ["error -32601", "ok {}", named] {
        check(&format!(
            r#"{PROBE}
            ? wait 5000
            < 2 initialize
            > 2 {refusal}
            < 3 server/discover
            > 3 ok {discovered}
            ! connected 2026-07-28
            "#
        ));
    }
    // The refusal is what counts if that brings nothing.
    for nothing in ["> 3 error -32601", "> 3 ok {}", "? wait 5000", "? eof"] {
        check(&format!(
            r#"{PROBE}
            ? wait 5000
            < 2 initialize
            > 2 error -32000
            < 3 server/discover
            {nothing}
            ! failed Refused
            ! close
            "#
        ));
    }
    // There is no more time than there was to begin with.
    check(&format!(
        r#"{PROBE}
        ? wait 5000
        < 2 initialize
        ? wait 59000
        > 2 error -32000
        < 3 server/discover
        ? wait 1000
        ! failed Refused
        ! close
        "#
    ));
    // One that has answered the probe is none that is slow.
    check(&format!(
        r#"{PROBE}
        > 1 error -32601
        < 2 initialize
        > 1 ok {discovered}
        ! ignored
        > 2 error -32000
        ! failed Refused
        ! close
        "#
    ));
}

/// Covers L05, L12c, B-230.
#[test]
fn a_server_may_notify_and_ping_before_it_has_answered() {
    let initialized = initialized(2, "2025-11-25");
    check(&format!(
        r#"{PROBE}
        > "p" ping
        < "p" ok {{}}
        > 1 error -32601
        < 2 initialize
        > notifications/message {{"level": "info", "data": "starting"}}
        ! heard notifications/message
        > 1 ping
        < 1 ok {{}}
        > 3 roots/list
        < 3 error -32600
        {initialized}
        "#
    ));
}

/// Covers L05.
#[test]
fn nothing_can_be_called_before_the_server_is_known() {
    check(
        "
        ? call a tools/list
        ! done a NotConnected
        ? notify notifications/roots/list_changed
        -
        ? connect
        < 2 server/discover
        ? call b tools/list
        ! done b NotConnected
        ",
    );
}

/// Covers J19, C02c, C10c, B-124c, B-270c, A-38.
#[test]
fn a_call_has_one_outcome() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/call {"name": "echo", "arguments": {"n": 9007199254740993}}
        < 3 tools/call = {"name": "echo", "arguments": {"n": 9007199254740993}}
        ? call b tools/list
        < 4 tools/list = {}
        > 4 ok {"tools": []}
        ! done b ok {"tools": []}
        > 3 ok {"structuredContent": {"n": 9007199254740993}}
        ! done a ok {"content": [], "structuredContent": {"n": 9007199254740993}}
        > 3 ok {"content": []}
        ! ignored
        > 4 error -32603
        ! ignored
        ? cancel a
        -
        ? wait 100000
        -
        "#,
    );
}

/// Covers EC09, EC12c.
#[test]
fn a_refusal_is_the_servers() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a resources/read {"uri": "x:1"}
        < 3 resources/read
        > 3 error -32002
        ! done a -32002
        ? call b tools/list
        < 4 tools/list
        > raw {"jsonrpc": "2.0", "id": 4, "error": {"code": "busy"}}
        ! done b -32603
        "#,
    );
}

/// Covers J19, B-167.
#[test]
fn answers_go_by_their_id_and_its_type() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/list
        < 3 tools/list
        > "3" ok {"tools": []}
        ! ignored an answer to no open request
        > 4 ok {"tools": []}
        ! ignored
        > -3 ok {"tools": []}
        ! ignored
        > 18446744073709551615 ok {}
        ! ignored
        > 4294967299 ok {"tools": []}
        ! ignored
        > null error -32603
        ! ignored
        > 3 ok {"tools": []}
        ! done a ok
        "#,
    );
}

/// Covers J09c, J10c, J11c, J17c, T16, A-31, B-062, B-064, B-091.
#[test]
fn junk_harms_nothing_and_is_never_answered() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/list
        < 3 tools/list
        > raw Listening on port 8080
        ! ignored not a message
        > raw {
        ! ignored
        > raw [1]
        ! ignored a batch
        > raw {"jsonrpc": "2.0", "id": 9}
        ! ignored
        > raw {"jsonrpc": "2.0", "id": null, "method": "ping"}
        ! ignored
        > raw {"jsonrpc": "2.0", "id": 9, "result": {}, "error": {}}
        ! ignored
        > raw {"jsonrpc": "2.0", "id": 3, "method": 5}
        ! ignored not a message
        > notifications/unheard/of
        ! heard notifications/unheard/of
        > notifications/message {"data": 1}
        ! ignored `notifications/message`
        > 3 ok {"tools": []}
        ! done a ok
        "#,
    );
}

/// Covers J07c.
#[test]
fn an_answer_that_is_none_ends_its_call() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/list
        < 3 tools/list
        > 3 ok {"tools": 5}
        ! done a Unreadable
        ? call b tools/list
        < 4 tools/list
        > raw {"jsonrpc": "2.0", "id": 4, "result": {}, "error": {}}
        ! done b Unreadable
        ? call c tools/list
        < 5 tools/list
        > raw {"id": 5, "result": {"tools": []}}
        ! done c Unreadable
        "#,
    );
}

#[test]
fn the_kind_of_a_result_is_a_modern_matter() {
    check_modern(
        r#"
        ? call a tools/call {"name": "x"}
        < 2 tools/call {"name": "x", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        > 2 ok {"resultType": "input_required", "requestState": "s"}
        ! done a ok {"resultType": "input_required", "requestState": "s"}
        ? call b tools/call {"name": "x"}
        < 3 tools/call
        > 3 ok {"resultType": "task"}
        ! done b Unreadable
        ? call c tools/call {"name": "x"}
        < 4 tools/call
        > 4 ok {"content": []}
        ! done c ok
        ? call d tools/list
        < 5 tools/list
        > 5 ok {"resultType": "input_required", "requestState": "s"}
        ! done d Unreadable
        "#,
    );
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/call {"name": "x"}
        < 3 tools/call
        > 3 ok {"resultType": "input_required", "content": [{"type": "text", "text": "a"}]}
        ! done a ok {"content": [{"type": "text", "text": "a"}]}
        ? call b tools/list
        < 4 tools/list
        > 4 ok {"resultType": "some", "tools": []}
        ! done b ok
        "#,
    );
}

/// Covers M01, M11c, P04c.
#[test]
fn a_call_says_only_what_its_revision_has() {
    let call = r#"tools/call {"name": "x", "_meta": {"progressToken": "mine", "own": 1, "io.modelcontextprotocol/logLevel": "info"}}"#;
    check_legacy(
        "2025-11-25",
        &format!(
            r#"
            ? call a {call}
            < 3 tools/call = {{"name": "x", "_meta": {{"own": 1}}}}
            ? follow b 1000 1000 {call}
            < 4 tools/call = {{"name": "x", "_meta": {{"own": 1, "progressToken": 4}}}}
            ? log c tools/list
            < 5 tools/list = {{}}
            "#
        ),
    );
    check_modern(
        r#"
        ? log a tools/list
        < 2 tools/list {"_meta": {"io.modelcontextprotocol/logLevel": "warning", "io.modelcontextprotocol/clientInfo": {"name": "scripted"}}}
        ? follow b 1000 1000 tools/call {"name": "x", "requestState": "s", "_meta": {"own": 1}}
        < 3 tools/call {"requestState": "s", "_meta": {"own": 1, "progressToken": 3, "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}}
        "#,
    );
}

/// Covers M13c.
#[test]
fn trace_context_goes_on_as_it_is() {
    let call = r#"tools/call {"name": "x", "_meta": {"baggage": "a=%20b", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=1"}}"#;
    check_modern(&format!("? call a {call}\n< 2 {call}"));
    let call = call.replace(" {", " = {").replacen(": = {", ": {", 1);
    let (request, sent) = (call.replacen(" = ", " ", 1), call);
    check_legacy("2025-11-25", &format!("? call a {request}\n< 3 {sent}"));
}

/// Covers CP06.
#[test]
fn what_is_filled_in_already_is_told_to_who_knows_what_it_is() {
    let argument =
        r#""ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}"#;
    let context = r#""context": {"arguments": {"b": "c"}}"#;
    let server =
        r#""capabilities": {"completions": {}}, "serverInfo": {"name": "server", "version": "1"}"#;
    for (version, sent) in [
        ("2024-11-05", format!("{{{argument}}}")),
        ("2025-03-26", format!("{{{argument}}}")),
        ("2025-06-18", format!("{{{argument}, {context}}}")),
        ("2025-11-25", format!("{{{argument}, {context}}}")),
    ] {
        check_only(
            Era::Legacy,
            &format!(
                r#"
                ? connect
                < 1 initialize
                > 1 ok {{"protocolVersion": "{version}", {server}}}
                < notifications/initialized
                ! connected {version}
                ? call a completion/complete {{{argument}, {context}}}
                < 2 completion/complete = {sent}
                "#
            ),
        );
    }
}

#[test]
fn an_item_of_a_list_that_cannot_be_read_costs_itself_only() {
    for (method, member, item, bad) in [
        (
            "tools/list",
            "tools",
            r#"{"name": "x", "inputSchema": {}}"#,
            r#"{"name": "y"}"#,
        ),
        (
            "resources/list",
            "resources",
            r#"{"name": "x", "uri": "a:b"}"#,
            r#"{"uri": 5}"#,
        ),
        (
            "resources/templates/list",
            "resourceTemplates",
            r#"{"name": "x", "uriTemplate": "a:b"}"#,
            "null",
        ),
        (
            "prompts/list",
            "prompts",
            r#"{"name": "x"}"#,
            r#"{"name": "y", "arguments": 5}"#,
        ),
    ] {
        let capabilities = r#"{"tools": {}, "resources": {}, "prompts": {}}"#;
        for (connected, id) in [
            (
                format!(
                    r#"{PROBE}
                > 1 ok {{"supportedVersions": ["2026-07-28"], "capabilities": {capabilities}}}
                ! connected 2026-07-28"#
                ),
                2,
            ),
            (
                format!(
                    r#"{PROBE}
                > 1 error -32601
                < 2 initialize
                > 2 ok {{"protocolVersion": "2025-11-25", "capabilities": {capabilities}, "serverInfo": {{"name": "s", "version": "1"}}}}
                < notifications/initialized
                ! connected 2025-11-25"#
                ),
                3,
            ),
        ] {
            let next = id + 1;
            check(&format!(
                r#"{connected}
                ? call a {method}
                < {id} {method}
                > {id} ok {{"{member}": [{item}, {bad}, {item}, 5], "nextCursor": "n", "ttlMs": 7, "own": 1}}
                ! done a ok {{"{member}": [{item}, {item}], "nextCursor": "n", "ttlMs": 7, "own": 1}} but 2 of 4 `{member}` cannot be read, the first at 1:
                ? call b {method}
                < {next} {method}
                > {next} ok {{"{member}": {bad}}}
                ! done b Unreadable
                "#
            ));
        }
    }
}

/// Covers L09c, B-070c.
#[test]
fn a_call_that_cannot_be_served_is_not_sent() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a prompts/list
        ! done a NotOffered
        ? call b logging/setLevel {"level": "info"}
        ! done b NotOffered
        ? call c completion/complete {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}
        ! done c NotOffered
        ? call d server/discover
        ! done d NoSuchMethod
        ? call e subscriptions/listen {"notifications": {}}
        ! done e NoSuchMethod
        ? call f own/method {"a": 1}
        < 8 own/method = {"a": 1}
        > 8 ok {"b": 2}
        ! done f ok {"b": 2}
        ? call g ping
        < 9 ping
        ? call h resources/subscribe {"uri": "x:1"}
        < 10 resources/subscribe
        "#,
    );
    check_modern(
        r#"
        ? call a ping
        ! done a NoSuchMethod
        ? call b resources/subscribe {"uri": "x:1"}
        ! done b NoSuchMethod
        ? call c initialize {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        ! done c NoSuchMethod
        ? call d prompts/get {"name": "x"}
        ! done d NotOffered
        ? call e server/discover
        < 6 server/discover
        "#,
    );
}

#[test]
fn the_first_revision_declares_no_completion() {
    check_legacy(
        "2024-11-05",
        r#"
        ? call a completion/complete {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}
        < 3 completion/complete = {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}
        "#,
    );
}

/// Covers L14c, C06, A-36, B-207, B-210.
#[test]
fn a_call_times_out_with_one_cancel() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/list
        < 3 tools/list
        ? wait 59999
        -
        ? wait 1
        < notifications/cancelled {"requestId": 3, "reason": "timed out"}
        ! done a TimedOut
        > 3 ok {"tools": []}
        ! ignored
        ? wait 60000
        -
        ? cancel a
        -
        "#,
    );
}

/// Covers L14c, B-150, B-153.
#[test]
fn calls_time_out_each_in_its_time() {
    check_modern(
        r#"
        ? follow a 900 9000 tools/list
        < 2 tools/list
        ? follow b 500 9000 tools/list
        < 3 tools/list
        ? follow c 700 9000 tools/list
        < 4 tools/list
        > 4 ok {"tools": []}
        ! done c ok
        ? wait 500
        < notifications/cancelled {"requestId": 3}
        ! done b TimedOut
        ? wait 1000
        < notifications/cancelled {"requestId": 2}
        ! done a TimedOut
        "#,
    );
}

/// Covers B-151.
#[test]
fn progress_extends_a_call_up_to_its_longest() {
    check_modern(
        r#"
        ? follow a 500 900 tools/call {"name": "x"}
        < 2 tools/call
        ? wait 400
        -
        > notifications/progress {"progressToken": 2, "progress": 0.5}
        ! progress a 0.5
        ? wait 400
        -
        > notifications/progress {"progressToken": 2, "progress": 0.6}
        ! progress a 0.6
        ? wait 99
        -
        ? wait 1
        < notifications/cancelled {"requestId": 2}
        ! done a TimedOut
        > notifications/progress {"progressToken": 2, "progress": 0.7}
        ! ignored
        "#,
    );
}

#[test]
fn no_call_is_late_while_a_person_is_asked() {
    check_legacy(
        "2025-11-25",
        r#"
        ? follow a 500 1600 tools/call {"name": "x"}
        < 3 tools/call {"name": "x"}
        > "q" roots/list {}
        ! ask q roots/list
        ? wait 500
        -
        ? wait 400
        ? answer q
        < "q" ok {}
        ? wait 100
        -
        ? wait 499
        -
        ? wait 1
        < notifications/cancelled {"requestId": 3, "reason": "timed out"}
        ! done a TimedOut
        ? follow b 500 700 tools/call {"name": "x"}
        < 4 tools/call {"name": "x"}
        > "r" roots/list {}
        ! ask r roots/list
        ? wait 699
        -
        ? wait 1
        < notifications/cancelled {"requestId": 4, "reason": "timed out"}
        ! done b TimedOut
        "#,
    );
}

/// Covers P07, M14c, B-234.
#[test]
fn progress_that_nobody_asked_for_is_ignored() {
    check_modern(
        r#"
        ? call a tools/call {"name": "x"}
        < 2 tools/call
        > notifications/progress {"progressToken": 2, "progress": 1}
        ! ignored
        ? follow b 500 900 tools/call {"name": "x"}
        < 3 tools/call
        > notifications/progress {"progressToken": "3", "progress": 1}
        ! ignored
        > notifications/progress {"progressToken": 99, "progress": 1}
        ! ignored
        > 3 ok {"content": []}
        ! done b ok
        > notifications/progress {"progressToken": 3, "progress": 1}
        ! ignored
        ? wait 59999
        -
        "#,
    );
}

/// Covers C01, C02c, C06, B-207, B-209.
#[test]
fn a_cancel_is_told_once() {
    for check in [check_modern, |script: &str| {
        check_only(
            Era::Legacy,
            &format!(
                "
                ? connect
                < 1 initialize
                {}
                {script}",
                initialized(1, "2024-11-05")
            ),
        );
    }] {
        check(
            r#"
            ? call a tools/list
            < 2 tools/list
            ? cancel a
            < notifications/cancelled {"requestId": 2, "reason": "enough"}
            ! done a Cancelled
            ? cancel a
            -
            > 2 ok {"tools": []}
            ! ignored
            "#,
        );
    }
}

/// Covers T15c, B-089.
#[test]
fn a_lost_message_ends_the_calls_whose_answer_it_may_have_been() {
    check_modern(
        r#"
        ? call s subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < 2 subscriptions/listen
        > notifications/subscriptions/acknowledged {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! heard notifications/subscriptions/acknowledged of s
        ? call a tools/list
        < 3 tools/list
        ? call b tools/list
        < 4 tools/list
        ? skip
        < notifications/cancelled {"requestId": 3}
        ! done a Unreadable
        < notifications/cancelled {"requestId": 4}
        ! done b Unreadable
        ? call c tools/list
        < 5 tools/list
        "#,
    );
}

#[test]
fn a_request_without_an_answer_ends_its_call_alone_and_once() {
    check_modern(
        r#"
        ? call a tools/list
        < 2 tools/list
        ? call b tools/list
        < 3 tools/list
        ? unanswered 2 unreachable
        ! done a NoAnswer
        ? unanswered 2 unreachable
        ! ignored no open request
        ? unanswered "x" unusable
        ! ignored no open request
        > 3 ok {"tools": []}
        ! done b ok
        "#,
    );
}

/// Covers J05c, J12c, D17, EC11, EL03, EL04, L12c, SA02c, B-066, B-068.
#[test]
fn a_legacy_server_asks_what_was_declared() {
    check_legacy(
        "2025-11-25",
        r#"
        > "q" roots/list
        ! ask q roots/list
        ? answer q
        < "q" ok {"roots": [{"uri": "file:///a"}]}
        ? answer q
        -
        > 1 sampling/createMessage {"messages": [], "maxTokens": 5}
        ! ask s sampling/createMessage
        ? refuse s
        < 1 error -32603
        > 1 sampling/createMessage {"messages": [], "maxTokens": 5}
        ! ask t sampling/createMessage
        ? sample t
        < 1 ok {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        > 2 ping
        < 2 ok {}
        > 3 elicitation/create {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
        ! ask e elicitation/create
        > 4 elicitation/create {"mode": "url", "message": "?", "url": "https://a", "elicitationId": "1"}
        < 4 error -32602
        > 5 elicitation/create {"mode": "voice", "message": "?"}
        < 5 error -32602
        > 6 sampling/createMessage {"messages": [], "maxTokens": 5, "tools": []}
        < 6 error -32602
        > 7 roots/list []
        < 7 error -32602
        > 8 tasks/list
        < 8 error -32601
        > 9 no/such
        < 9 error -32601
        "#,
    );
}

#[test]
fn an_answer_is_fitted_to_the_revision() {
    check_legacy(
        "2025-06-18",
        r#"
        > 1 sampling/createMessage {"messages": [], "maxTokens": 5}
        ! ask q sampling/createMessage
        ? sample q
        < 1 ok {"content": {"type": "text"}}
        "#,
    );
}

/// Covers EC11, RO04, EL03.
#[test]
fn what_was_not_declared_is_refused() {
    let mut config = config().only(Era::Legacy);
    let declared = serde_json::from_str(r#"{"elicitation": {"url": {}}}"#);
    config.capabilities = declared.expect("one mode");
    let initialized = initialized(1, "2025-11-25");
    check_with(
        config,
        &format!(
            r#"
            ? connect
            < 1 initialize
            {initialized}
            > 1 roots/list
            < 1 error -32601
            > 2 sampling/createMessage {{}}
            < 2 error -32601
            > 3 elicitation/create {{"message": "?", "requestedSchema": {{"type": "object", "properties": {{}}}}}}
            < 3 error -32602
            > 4 elicitation/create {{"mode": "url", "message": "?", "url": "https://a", "elicitationId": "1"}}
            ! ask e elicitation/create
            "#
        ),
    );
}

/// Covers EL01.
#[test]
fn who_shows_no_forms_does_not_say_to_older_servers_that_users_can_be_asked() {
    for (version, declared) in [
        (
            ProtocolVersion::V2025_11_25,
            r#"{"elicitation": {"url": {}}}"#,
        ),
        (ProtocolVersion::V2025_06_18, "{}"),
    ] {
        let mut config = config();
        config.versions = vec![version];
        let by_page = serde_json::from_str(r#"{"elicitation": {"url": {}}}"#);
        config.capabilities = by_page.expect("one mode");
        let info = r#"{"name": "scripted", "version": "1.0.0"}"#;
        check_with(
            config,
            &format!(
                r#"
                ? connect
                < 1 initialize = {{"protocolVersion": "{version}", "capabilities": {declared}, "clientInfo": {info}}}
                "#
            ),
        );
    }
}

/// Covers C03c, C05c, C08.
#[test]
fn a_question_may_be_withdrawn_and_is_then_not_answered() {
    check_legacy(
        "2025-11-25",
        r#"
        > 1 roots/list
        ! ask q roots/list
        > notifications/cancelled {"requestId": "1"}
        ! ignored
        > notifications/cancelled {"requestId": 1, "reason": "late"}
        ! withdrawn q
        ? answer q
        -
        > notifications/cancelled {"requestId": 1}
        ! ignored
        > notifications/cancelled {}
        ! ignored
        > 1 roots/list
        ! ask r roots/list
        ? answer r
        < 1 ok
        "#,
    );
}

/// Covers J06c, SE06c.
#[test]
fn questions_are_limited_and_their_ids_unique() {
    check_legacy(
        "2025-11-25",
        r#"
        > 1 roots/list
        ! ask a roots/list
        > 1 roots/list
        < 1 error -32600
        > 1 ping
        < 1 error -32600
        > 2 roots/list
        ! ask b roots/list
        > 3 roots/list
        < 3 error -32603
        > 4 ping
        < 4 ok
        ? answer a
        < 1 ok
        > 3 roots/list
        ! ask c roots/list
        "#,
    );
}

/// Covers P06, RO01.
#[test]
fn a_legacy_server_is_notified_of_what_its_revision_has() {
    check_legacy(
        "2025-11-25",
        "
        ? notify notifications/roots/list_changed
        < notifications/roots/list_changed
        ? notify notifications/own
        < notifications/own
        ? notify notifications/initialized
        -
        ? notify notifications/cancelled
        -
        ",
    );
    check_modern(
        "
        ? notify notifications/roots/list_changed
        -
        ? notify notifications/own
        < notifications/own
        ",
    );
}

/// Covers P02c, P03c, P06, B-239.
#[test]
fn who_is_asked_reports_progress_to_who_wants_it_and_only_forwards() {
    check_legacy(
        "2025-11-25",
        r#"
        > 1 roots/list {"_meta": {"progressToken": "t-1"}}
        ! ask q roots/list
        > 2 roots/list
        ! ask r roots/list
        ? notify notifications/progress {"progressToken": "t-1", "progress": 0.0}
        < notifications/progress {"progressToken": "t-1", "progress": 0.0}
        ? notify notifications/progress {"progressToken": "t-1", "progress": 0}
        -
        ? notify notifications/progress {"progressToken": "t-1", "progress": 0.5}
        < notifications/progress {"progressToken": "t-1", "progress": 0.5}
        ? notify notifications/progress {"progressToken": "t-1", "progress": 0.4}
        -
        ? notify notifications/progress {"progressToken": 1, "progress": 1}
        -
        ? notify notifications/progress {"progressToken": 2, "progress": 1}
        -
        ? answer q
        < 1 ok
        ? notify notifications/progress {"progressToken": "t-1", "progress": 1}
        -
        "#,
    );
    check_modern(
        r#"
        ? notify notifications/progress {"progressToken": 1, "progress": 1}
        -
        "#,
    );
}

/// Covers EL11.
#[test]
fn the_end_of_a_page_that_nobody_knows_harms_nothing() {
    check_legacy(
        "2025-11-25",
        r#"
        > notifications/elicitation/complete {"elicitationId": "nobody's"}
        ! heard notifications/elicitation/complete
        > notifications/elicitation/complete {}
        ! ignored
        "#,
    );
}

/// Covers LG07.
#[test]
fn a_log_message_belongs_to_no_call() {
    check_modern(
        r#"
        ? log a tools/list
        < 2 tools/list
        > notifications/message {"level": "error", "data": "whose?"}
        ! heard notifications/message
        ? log b tools/list
        < 3 tools/list
        > notifications/message {"level": "error", "data": "whose?"}
        ! heard notifications/message
        "#,
    );
}

/// Covers D17, T07.
#[test]
fn a_modern_server_must_not_ask_and_is_not_answered() {
    check_modern(
        r#"
        > 1 roots/list
        ! ignored a request of a modern server
        > 2 ping
        ! ignored
        > raw [{"jsonrpc": "2.0", "id": 3, "method": "ping"}]
        ! ignored a batch
        "#,
    );
    check_only(
        Era::Modern,
        "
        ? connect
        < 1 server/discover
        > 2 ping
        ! ignored
        ",
    );
}

/// Covers J15c.
#[test]
fn a_batch_is_answered_by_a_batch() {
    check_legacy(
        "2025-03-26",
        r#"
        ? call a tools/list
        < 3 tools/list
        > raw [{"jsonrpc": "2.0", "id": 3, "result": {"tools": []}}, {"jsonrpc": "2.0", "id": "p", "method": "ping"}, {"jsonrpc": "2.0", "id": "q", "method": "roots/list"}, {"jsonrpc": "2.0", "id": "r", "method": "roots/list"}]
        ! done a ok
        ! ask q roots/list
        ! ask r roots/list
        ? answer q
        -
        > notifications/cancelled {"requestId": "r"}
        ! withdrawn r
        < batch "p" "q"
        > raw [{"jsonrpc": "2.0", "id": "p", "method": "no/such"}, 1]
        ! ignored
        < batch "p"
        > raw [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]
        ! heard notifications/tools/list_changed
        > raw [1, 2, 3, 4, 5]
        ! ignored a batch
        > raw []
        -
        "#,
    );
}

/// Covers S08, S09c, S13.
#[test]
fn a_stream_is_acknowledged_and_then_lasts() {
    check_modern(
        r#"
        ? call s subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < 2 subscriptions/listen {"notifications": {"toolsListChanged": true}}
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! ignored `notifications/tools/list_changed`: the stream has not been acknowledged
        > notifications/subscriptions/acknowledged {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": "2"}}
        ! ignored
        > notifications/subscriptions/acknowledged {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! heard notifications/subscriptions/acknowledged of s
        ? wait 10000000
        -
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! heard notifications/tools/list_changed of s
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 3}}
        ! ignored `notifications/tools/list_changed`: no such stream is open
        > notifications/tools/list_changed
        ! heard notifications/tools/list_changed
        ? cancel s
        < notifications/cancelled {"requestId": 2}
        ! done s Cancelled
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! ignored
        "#,
    );
}

/// Covers S05c, S08.
#[test]
fn streams_are_told_apart() {
    check_modern(
        r#"
        ? call s subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < 2 subscriptions/listen
        ? call t subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < 3 subscriptions/listen
        > notifications/subscriptions/acknowledged {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 3}}
        ! heard notifications/subscriptions/acknowledged of t
        > notifications/subscriptions/acknowledged {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! heard notifications/subscriptions/acknowledged of s
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! heard notifications/tools/list_changed of s
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 3}}
        ! heard notifications/tools/list_changed of t
        ? cancel s
        < notifications/cancelled {"requestId": 2}
        ! done s Cancelled
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 3}}
        ! heard notifications/tools/list_changed of t
        "#,
    );
}

#[test]
fn a_stream_that_is_not_acknowledged_times_out() {
    check_modern(
        r#"
        ? call s subscriptions/listen {"notifications": {}}
        < 2 subscriptions/listen
        ? wait 60000
        < notifications/cancelled {"requestId": 2}
        ! done s TimedOut
        "#,
    );
}

#[test]
fn a_server_ends_a_stream_by_a_result_or_by_a_cancel() {
    for end in [
        r#"2 ok {"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}"#,
        r#"notifications/cancelled {"requestId": 2}"#,
    ] {
        check_modern(&format!(
            r#"
            ? call s subscriptions/listen {{"notifications": {{}}}}
            < 2 subscriptions/listen
            > {end}
            ! done s ok
            > {end}
            ! ignored
            ? call a tools/list
            < 3 tools/list
            > notifications/cancelled {{"requestId": 3}}
            ! ignored
            "#
        ));
    }
}

#[test]
fn tags_mean_nothing_to_a_legacy_server() {
    check_legacy(
        "2025-11-25",
        r#"
        > notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        ! heard notifications/tools/list_changed
        "#,
    );
}

/// Covers T10, B-103.
#[test]
fn the_end_of_input_loses_what_is_open() {
    check_legacy(
        "2025-11-25",
        r#"
        ? call a tools/list
        < 3 tools/list
        ? call b tools/list
        < 4 tools/list
        > 1 roots/list
        ! ask q roots/list
        ? eof
        ! done a Lost
        ! done b Lost
        ! withdrawn q
        ! close
        ? eof
        -
        ? shutdown
        -
        ? answer q
        -
        ? notify notifications/roots/list_changed
        -
        > 3 ok {"tools": []}
        -
        ? call c tools/list
        ! done c NotConnected
        ? wait 100000
        -
        "#,
    );
}

#[test]
fn to_shut_down_gives_up_what_is_open() {
    check_legacy(
        "2025-03-26",
        r#"
        ? call a tools/list
        < 3 tools/list
        > raw [{"jsonrpc": "2.0", "id": "p", "method": "ping"}, {"jsonrpc": "2.0", "id": "q", "method": "roots/list"}]
        ! ask q roots/list
        ? shutdown
        < notifications/cancelled {"requestId": 3}
        ! done a Lost
        ! withdrawn q
        ! close
        ? connect
        -
        "#,
    );
}

#[test]
fn what_has_not_begun_can_end() {
    check(
        "
        ? eof
        ! close
        ? connect
        -
        ",
    );
}
