//! Conversations with the server's core. See `support` for how to read them.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{check, check_with, config, encoded};
use mcp_protocol::connection::{Output, ServerConnection};
use mcp_protocol::{Frame, Incoming, ProtocolVersion};

const READY: &str = r#"
    > 1 initialize "2025-11-25"
    < 1 ok {"protocolVersion": "2025-11-25", "serverInfo": {"name": "scripted"}}
    > notifications/initialized
"#;

/// A script that begins after the handshake of 2025-11-25.
fn check_ready(script: &str) {
    check(&format!("{READY}{script}"));
}

/// Covers L02.
#[test]
fn the_handshake_agrees_on_what_the_client_asks_for() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check(&format!(
            r#"
            > 1 initialize "{version}"
            < 1 ok {{"protocolVersion": "{version}"}}
            "#
        ));
    }
}

/// Covers L02, B-254, B-255.
#[test]
fn the_handshake_offers_the_newest_instead_of_what_is_not_spoken() {
    for version in ["1999-01-01", "2099-01-01", "2026-07-28", ""] {
        check(&format!(
            r#"
            > 1 initialize "{version}"
            < 1 ok {{"protocolVersion": "2025-11-25"}}
            "#
        ));
    }
}

/// Covers L11.
#[test]
fn a_second_handshake_is_refused_and_harms_nothing() {
    check_ready(
        r#"
        > 2 initialize "2024-11-05"
        < 2 error -32600
        > 3 ping
        < 3 ok
        "#,
    );
}

#[test]
fn a_modern_only_server_names_its_revisions_to_initialize() {
    let mut config = config();
    config.versions = vec![ProtocolVersion::V2026_07_28];
    check_with(
        config,
        r#"
        > 1 initialize "2025-11-25"
        < 1 error -32022
        "#,
    );
}

/// Covers L12, B-227.
#[test]
fn ping_is_answered_at_any_time_with_an_empty_object() {
    check(
        r#"
        > 1 ping
        < 1 ok {}
        > 2 initialize "2025-11-25"
        < 2 ok
        > 3 ping
        < 3 ok {}
        > 4 tools/call "slow"
        ! start 4 a
        > 5 ping
        < 5 ok {}
        "#,
    );
}

/// Covers L08, B-250.
#[test]
fn legacy_requests_need_a_session() {
    check(
        r#"
        > 1 tools/list
        < 1 error -32602
        > 2 foo/bar
        < 2 error -32601
        > 3 server/discover
        < 3 error -32602
        > 4 initialize "2025-11-25"
        < 4 ok
        > 5 tools/list
        ! start 5 a
        "#,
    );
}

#[test]
fn a_call_gets_its_reply() {
    check_ready(
        r#"
        > 7 tools/call "echo"
        ! start 7 a
        ? reply a hello
        < 7 ok {"content": [{"type": "text", "text": "hello"}]}
        ? reply a again
        -
        > 8 tools/call "echo"
        ! start 8 b
        ? fail b
        < 8 error -32603
        "#,
    );
}

#[test]
fn replies_go_out_as_calls_end() {
    check_ready(
        r#"
        > 1 tools/call "slow"
        ! start 1 a
        > 2 tools/call "fast"
        ! start 2 b
        ? reply b two
        < 2 ok
        ? reply a one
        < 1 ok
        "#,
    );
}

/// Covers J04, B-173.
#[test]
fn an_open_id_is_refused_and_the_first_call_unharmed() {
    check_ready(
        r#"
        > 7 tools/call "slow"
        ! start 7 a
        > 7 tools/call "slow"
        < 7 error -32600
        > 7 ping
        < 7 error -32600
        ? reply a done
        < 7 ok
        > 7 tools/call "slow"
        ! start 7 b
        "#,
    );
}

#[test]
fn ids_are_compared_with_their_type() {
    check_ready(
        r#"
        > 7 tools/call "slow"
        ! start 7 a
        > "7" tools/call "slow"
        ! start "7" b
        > notifications/cancelled {"requestId": "7"}
        ! stop b
        ? reply a done
        < 7 ok
        "#,
    );
}

/// Covers B-206.
#[test]
fn nothing_is_said_after_a_cancel() {
    check_ready(
        r#"
        > 7 tools/call {"name": "slow", "_meta": {"progressToken": "t"}}
        ! start 7 a
        > notifications/cancelled {"requestId": 7}
        ! stop a
        ? progress a 0.5
        -
        ? log a error late
        -
        ? reply a late
        -
        "#,
    );
}

/// Covers C10.
#[test]
fn the_outcome_of_a_cancelled_call_cannot_answer_the_next_with_its_id() {
    check_ready(
        r#"
        > 7 tools/call "slow"
        ! start 7 old
        > notifications/cancelled {"requestId": 7}
        ! stop old
        > 7 tools/call "slow"
        ! start 7 new
        ? reply old stale
        -
        ? reply new fresh
        < 7 ok {"content": [{"type": "text", "text": "fresh"}]}
        "#,
    );
}

/// Covers C05, C10, B-214.
#[test]
fn a_cancel_of_nothing_is_ignored_and_not_remembered() {
    check_ready(
        r#"
        > notifications/cancelled {"requestId": 5}
        > notifications/cancelled {"requestId": null}
        > notifications/cancelled {"requestId": {}}
        > notifications/cancelled {}
        > notifications/cancelled []
        -
        > 5 tools/call "echo"
        ! start 5 a
        ? reply a five
        < 5 ok
        > notifications/cancelled {"requestId": 5}
        -
        "#,
    );
}

/// Covers J09, B-060, B-171.
#[test]
fn notifications_are_never_answered() {
    check_ready(
        r#"
        > notifications/foo/bar
        ! heard notifications/foo/bar
        > notifications/roots/list_changed
        ! heard notifications/roots/list_changed
        > raw {"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}
        ! heard tools/call
        > raw {"jsonrpc":"1.0","method":"notifications/initialized"}
        -
        "#,
    );
}

#[test]
fn answers_to_nothing_are_ignored() {
    check_ready(
        r#"
        > raw {"jsonrpc":"2.0","id":99,"result":{}}
        > raw {"jsonrpc":"2.0","id":"ask-0","result":{}}
        > raw {"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}
        > raw {"jsonrpc":"2.0","result":{}}
        > raw {"jsonrpc":"2.0","id":1,"result":{},"error":{}}
        -
        "#,
    );
}

/// Covers J10, J11.
#[test]
fn junk_is_answered_with_a_null_id_until_a_newer_revision_is_spoken() {
    check(
        r#"
        > raw {nope
        < null error -32700
        > raw 123
        < null error -32600
        > raw [1,"ping",{}]
        < null error -32600
        > 1 initialize "2025-06-18"
        < 1 ok
        > raw {nope
        < null error -32700
        >> 2 server/discover
        < 2 ok
        > raw {nope
        < absent error -32700
        "#,
    );
    check(
        r#"
        >> 1 server/discover
        < 1 ok
        > 2 initialize "2025-06-18"
        < 2 ok
        > raw {nope
        < absent error -32700
        "#,
    );
    check_ready("> raw {nope\n< absent error -32700");
}

#[test]
fn a_refused_modern_request_does_not_say_what_its_sender_speaks() {
    check(
        r#"
        > 1 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        < 1 error -32602
        > raw {nope
        < null error -32700
        "#,
    );
}

/// Covers J01, J02, J06.
#[test]
fn a_readable_id_is_used_however_broken_the_rest_is() {
    check(
        r#"
        > raw {"jsonrpc":"2.0","id":7,"method":5}
        < 7 error -32600
        > raw {"jsonrpc":"2.0","id":7,"request":{}}
        < 7 error -32600
        > raw {"id":7,"method":"ping"}
        < 7 error -32600
        > raw {"jsonrpc":"2.0","id":"x","method":"ping","method":"ping"}
        < x error -32600
        > raw {"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}
        < null error -32600
        > raw {"jsonrpc":"2.0","id":null,"method":"ping"}
        < null error -32600
        > raw {"jsonrpc":"2.0","id":1.5,"method":"ping"}
        < null error -32600
        > raw {}
        < null error -32600
        "#,
    );
}

/// Covers J17.
#[test]
fn a_batch_is_refused_whole_but_in_the_one_revision_that_has_them() {
    for version in ["2024-11-05", "2025-06-18"] {
        check(&format!(
            r#"
            > 1 initialize "{version}"
            < 1 ok
            > raw [{{"jsonrpc":"2.0","id":2,"method":"ping"}}]
            < null error -32600
            "#
        ));
    }
}

/// Covers J15, B-289.
#[test]
fn the_replies_to_a_batch_come_as_one() {
    check(
        r#"
        > 1 initialize "2025-03-26"
        < 1 ok
        > raw [{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3,"method":"ping"},7]
        ! start 2 a
        ? reply a two
        < batch 3 null 2
        "#,
    );
}

/// Covers J15.
#[test]
fn cancelled_members_of_a_batch_are_left_out() {
    check(
        r#"
        > 1 initialize "2025-03-26"
        < 1 ok
        > raw [{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}},{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}]
        ! start 2 a
        ! start 3 b
        > notifications/cancelled {"requestId": 2}
        ! stop a
        ? reply b three
        < batch 3
        > raw [{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow"}}]
        ! start 4 c
        > notifications/cancelled {"requestId": 4}
        ! stop c
        "#,
    );
}

/// Covers J15.
#[test]
fn a_batch_of_nothing_to_answer_is_answered_with_nothing() {
    check(
        r#"
        > 1 initialize "2025-03-26"
        < 1 ok
        > raw [{"jsonrpc":"2.0","method":"notifications/initialized"}]
        -
        > raw [{"jsonrpc":"2.0","id":2,"result":{},"error":{}},{"jsonrpc":"1.0","method":"x"}]
        -
        "#,
    );
}

/// Covers J16.
#[test]
fn bad_batches_are_refused_whole() {
    check(
        r#"
        > 1 initialize "2025-03-26"
        < 1 ok
        > raw []
        < null error -32600
        > raw [{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"initialize"}]
        < null error -32600
        > raw [1,1,1,1,1]
        < null error -32600
        > raw [{"jsonrpc":"2.0","id":2,"method":"ping"}
        < null error -32700
        "#,
    );
}

/// Covers P02, P03, P04, B-237, B-242.
#[test]
fn progress_only_with_a_token_and_only_rising() {
    check_ready(
        r#"
        > 2 tools/call "slow"
        ! start 2 a
        ? progress a 1
        -
        > 3 tools/call {"name": "slow", "_meta": {"progressToken": "t-1"}}
        ! start 3 b
        ? progress b 1
        < notifications/progress {"progressToken": "t-1", "progress": 1.0, "message": "going"}
        ? progress b 1
        -
        ? progress b 0.5
        -
        ? progress b NaN
        -
        ? progress b inf
        -
        ? progress b 2.5
        < notifications/progress {"progressToken": "t-1", "progress": 2.5}
        ? reply b done
        < 3 ok
        ? progress b 3
        -
        > 4 tools/call {"name": "slow", "_meta": {"progressToken": 7}}
        ! start 4 c
        ? progress c 0
        < notifications/progress {"progressToken": 7, "progress": 0.0}
        >> 5 tools/call {"name": "slow", "_meta": {"progressToken": 8}}
        ! start 5 d
        ? progress d 1
        < notifications/progress {"progressToken": 8, "progress": 1.0, "message": "going"}
        "#,
    );
}

/// Covers LG02, LG03, LG04, M10.
#[test]
fn logs_only_at_the_level_that_was_asked_for() {
    check_ready(
        r#"
        > 2 tools/call "slow"
        ! start 2 a
        ? log a debug quiet
        -
        ? log a info hello
        < notifications/message {"level": "info", "data": "hello"}
        > 3 logging/setLevel {"level": "error"}
        < 3 ok {}
        ? log a warning quiet
        -
        ? log a critical loud
        < notifications/message {"level": "critical"}
        > 4 logging/setLevel {"level": "loud"}
        < 4 error -32602
        >> 5 tools/call "slow"
        ! start 5 b
        ? log b emergency quiet
        -
        >> 6 tools/call {"name": "slow", "_meta": {"io.modelcontextprotocol/logLevel": "warning"}}
        ! start 6 c
        ? log c notice quiet
        -
        ? log c warning loud
        < notifications/message {"level": "warning"}
        >> 7 tools/call {"name": "slow", "_meta": {"io.modelcontextprotocol/logLevel": "loud"}}
        < 7 error -32602
        "#,
    );
}

#[test]
fn a_legacy_caller_can_be_asked() {
    check_ready(
        r#"
        > 2 tools/call "ask"
        ! start 2 a
        ? ask a q
        < ask q elicitation/create
        > raw {"jsonrpc":"2.0","id":"ask-00","result":{"action":"accept","content":{}}}
        > raw {"jsonrpc":"2.0","id":"ask-+0","result":{"action":"accept","content":{}}}
        > raw {"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{}}}
        -
        > raw {"jsonrpc":"2.0","id":"ask-0","result":{"action":"accept","content":{}}}
        ! answer q given
        > raw {"jsonrpc":"2.0","id":"ask-0","result":{"action":"accept","content":{}}}
        -
        ? reply a done
        < 2 ok
        "#,
    );
}

/// Covers C02, EC12, L14.
#[test]
fn every_question_is_answered_once() {
    check_ready(
        r#"
        > 2 tools/call "ask"
        ! start 2 a
        ? ask a refused
        < ask refused elicitation/create
        > raw {"jsonrpc":"2.0","id":"ask-0","error":{"code":-32601,"message":"no"}}
        ! answer refused refused
        ? ask a nonsense
        < ask nonsense elicitation/create
        > raw {"jsonrpc":"2.0","id":"ask-1","result":{"action":7}}
        ! answer nonsense given
        ? ask a late
        < ask late elicitation/create
        ? wait 60000
        < notifications/cancelled {"requestId": "ask-2"}
        ! answer late late
        ? ask a gone
        < ask gone elicitation/create
        > notifications/cancelled {"requestId": 2}
        < notifications/cancelled {"requestId": "ask-3"}
        ! answer gone gone
        ! stop a
        > raw {"jsonrpc":"2.0","id":"ask-3","result":{"action":"accept","content":{}}}
        -
        ? ask a after
        -
        "#,
    );
}

/// Covers L14.
#[test]
fn each_question_has_its_own_deadline() {
    check_ready(
        r#"
        > 2 tools/call "ask"
        ! start 2 a
        ? ask a early
        < ask early elicitation/create
        ? wait 30000
        ? ask a late
        < ask late elicitation/create
        ? wait 30000
        < notifications/cancelled {"requestId": "ask-0"}
        ! answer early late
        ? wait 30000
        < notifications/cancelled {"requestId": "ask-1"}
        ! answer late late
        "#,
    );
}

#[test]
fn what_ends_together_ends_in_the_order_it_began() {
    let mut config = config();
    config.limits.asks = 8;
    let (mut begin, mut of_one, mut of_all, mut cut_off) = Default::default();
    let add = |script: &mut String, lines: String| script.push_str(&lines);
    for n in 0..8 {
        add(
            &mut begin,
            format!("> {n} tools/call \"x\"\n! start {n} c{n}\n"),
        );
        add(
            &mut of_one,
            format!("? ask c0 q{n}\n< ask q{n} elicitation/create\n"),
        );
        add(
            &mut of_all,
            format!("? ask c{n} q{n}\n< ask q{n} elicitation/create\n"),
        );
        add(&mut cut_off, format!("! stop c{n}\n"));
    }
    of_one.push_str("> notifications/cancelled {\"requestId\": 0}\n");
    of_all.push_str("? eof\n");
    for n in 0..8 {
        add(
            &mut of_one,
            format!(
                "< notifications/cancelled {{\"requestId\": \"ask-{n}\"}}\n! answer q{n} gone\n"
            ),
        );
        add(&mut of_all, format!("! answer q{n} gone\n! stop c{n}\n"));
    }
    let ready = "> \"i\" initialize \"2025-11-25\"\n< i ok\n";
    check_with(config.clone(), &format!("{ready}{begin}{of_one}! stop c0"));
    check_with(config.clone(), &format!("{ready}{begin}{of_all}! close 0"));
    check_with(
        config,
        &format!("{ready}{begin}? eof\n? wait 1000\n{cut_off}! close 8"),
    );
}

#[test]
fn so_many_questions_may_be_open() {
    check_ready(
        r#"
        > 2 tools/call "ask"
        ! start 2 a
        ? ask a one
        < ask one elicitation/create
        ? ask a two
        < ask two elicitation/create
        ? ask a three
        -
        "#,
    );
}

/// Covers T06.
#[test]
fn a_modern_caller_is_never_asked() {
    check_ready(
        r#"
        >> 2 tools/call {"name": "ask", "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}
        ! start 2 a
        ? ask a q
        -
        "#,
    );
}

/// Covers L09.
#[test]
fn a_legacy_caller_is_asked_what_it_has_declared_in_whatever_revision() {
    let questions = [
        ("elicitation", "elicitation/create"),
        ("sampling", "sampling/createMessage"),
        ("roots", "roots/list"),
    ];
    let mut config = config();
    config.limits.asks = 8;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for (declared, _) in questions {
            let mut script = format!(
                r#"
                > 1 initialize {{"protocolVersion": "{version}", "capabilities": {{"{declared}": {{}}}}, "clientInfo": {{"name": "x", "version": "1"}}}}
                < 1 ok
                > 2 tools/call "ask"
                ! start 2 a
                ? ask a ping ping
                < ask ping ping
                ? ask a custom acme/question
                -
                "#,
            );
            for (capability, method) in questions {
                script.push_str(&format!("? ask a {capability} {method}\n"));
                script.push_str(&match capability == declared {
                    true => format!("< ask {capability} {method}\n"),
                    false => "-\n".to_owned(),
                });
            }
            check_with(config.clone(), &script);
        }
    }
}

/// Covers B-078, D02, M04, M07.
#[test]
fn a_modern_request_needs_no_handshake() {
    check(
        r#"
        >> 1 server/discover
        < 1 ok {"supportedVersions": ["2026-07-28"], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted"}}}
        >> 2 tools/call "echo"
        ! start 2 a
        ? reply a hello
        < 2 ok {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1.0.0"}}}
        "#,
    );
}

/// Covers M03, M15.
#[test]
fn a_modern_request_has_to_say_who_asks() {
    check(
        r#"
        > 1 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        < 1 error -32602
        > 2 tools/list {"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}}
        < 2 error -32602
        > 3 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": 7, "io.modelcontextprotocol/clientCapabilities": {}}}
        < 3 error -32602
        > 4 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": []}}
        < 4 error -32602
        > 5 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "x"}}}
        < 5 error -32602
        > 6 tools/list {"_meta": 5}
        < 6 error -32602
        "#,
    );
    // A session does not make good what the request lacks.
    check_ready(
        r#"
        > 2 tools/list {"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}}
        < 2 error -32602
        > 3 tools/list {"_meta": {"io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"}}}
        < 3 error -32602
        > 4 tools/list {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}
        < 4 error -32602
        "#,
    );
}

#[test]
fn a_revision_that_is_not_spoken_is_refused_before_anything_else() {
    check(
        r#"
        > 1 tools/call {"name": 5, "_meta": {"io.modelcontextprotocol/protocolVersion": "v999.0.0", "io.modelcontextprotocol/clientCapabilities": {}}}
        < 1 error -32022
        > 2 no/such {"_meta": {"io.modelcontextprotocol/protocolVersion": "2025-11-25", "io.modelcontextprotocol/clientCapabilities": {}}}
        < 2 error -32022
        > 3 tools/list {"_meta": {"io.modelcontextprotocol/protocolVersion": "v999.0.0", "io.modelcontextprotocol/clientCapabilities": 5}}
        < 3 error -32022
        "#,
    );
}

/// Covers J12, L15.
#[test]
fn methods_exist_in_their_revisions_only() {
    check_ready(
        r#"
        >> 2 initialize "2025-11-25"
        < 2 error -32601
        >> 3 ping
        < 3 error -32601
        >> 4 logging/setLevel
        < 4 error -32601
        >> 5 resources/subscribe
        < 5 error -32601
        >> 6 foo/bar
        < 6 error -32601
        > 7 server/discover
        < 7 error -32601
        > 8 subscriptions/listen {"notifications": {}}
        < 8 error -32601
        > 9 tasks/list
        < 9 error -32601
        > 10 roots/list
        < 10 error -32601
        "#,
    );
}

/// Covers D04.
#[test]
fn both_eras_are_spoken_on_one_connection() {
    check(
        r#"
        >> 1 server/discover
        < 1 ok
        > 2 initialize "2025-06-18"
        < 2 ok {"protocolVersion": "2025-06-18"}
        >> 3 tools/call "echo"
        ! start 3 a
        ? reply a hello
        < 3 ok {"resultType": "complete"}
        > 4 tools/call "echo"
        ! start 4 b
        ? reply b hello
        < 4 ok
        "#,
    );
}

/// Covers L09, S14, RS01, PR01, CP01, LG01.
#[test]
fn what_is_not_offered_is_no_method() {
    let mut config = config();
    config.capabilities = serde_json::from_str(r#"{"tools": {}}"#).unwrap();
    check_with(
        config,
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok {"capabilities": {"tools": {}}}
        > 9 prompts/list
        < 9 error -32601
        > 2 resources/list
        < 2 error -32601
        > 3 logging/setLevel {"level": "info"}
        < 3 error -32601
        > 4 completion/complete {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}
        < 4 error -32601
        >> 5 subscriptions/listen {"notifications": {}}
        < 5 error -32601
        > 6 tools/list
        ! start 6 a
        ? log a emergency quiet
        -
        ? publish tools
        -
        "#,
    );
    let mut config = crate::support::config();
    config.capabilities = serde_json::from_str(r#"{"resources": {}}"#).unwrap();
    check_with(
        config,
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok
        > 2 resources/subscribe {"uri": "x:1"}
        < 2 error -32601
        ? publish resources
        -
        "#,
    );
}

#[test]
fn instructions_are_given_in_either_handshake() {
    let mut config = config();
    config.instructions = Some("be brief".to_owned());
    check_with(
        config,
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok {"instructions": "be brief"}
        >> 2 server/discover
        < 2 ok {"instructions": "be brief"}
        "#,
    );
}

/// Covers J13, J20, J21, M14, B-074.
#[test]
fn parameters_of_the_wrong_shape_are_refused() {
    check_ready(
        r#"
        > 2 tools/call []
        < 2 error -32602
        > 3 tools/call {"name": 5}
        < 3 error -32602
        > 4 tools/call {}
        < 4 error -32602
        > 5 tools/list null
        ! start 5 a
        > raw {"jsonrpc":"2.0","id":6,"method":"tools/list"}
        ! start 6 b
        > 7 tools/list {"_meta": {"progressToken": {}}}
        < 7 error -32602
        > 8 tools/list {"_meta": null, "cursor": null, "more": {"x": 1}}
        ! start 8 c
        "#,
    );
}

/// Covers S01, S02, S03, S09, S12, M09, RS08.
#[test]
fn a_stream_is_acknowledged_before_it_is_told_anything() {
    check(
        r#"
        >> "s" subscriptions/listen {"notifications": {"toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": ["file:///a"]}}
        < notifications/subscriptions/acknowledged {"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]}, "_meta": {"io.modelcontextprotocol/subscriptionId": "s"}}
        ? publish tools
        < notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": "s"}}
        ? publish prompts
        -
        ? publish resources
        -
        ? publish file:///a
        < notifications/resources/updated {"uri": "file:///a", "_meta": {"io.modelcontextprotocol/subscriptionId": "s"}}
        ? publish file:///a/b
        < notifications/resources/updated {"uri": "file:///a/b"}
        ? publish file:///ab
        -
        > notifications/cancelled {"requestId": "s"}
        -
        ? publish tools
        -
        "#,
    );
}

/// Covers S02, S05, S06, S15.
#[test]
fn each_stream_is_told() {
    check(
        r#"
        >> 0 subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < notifications/subscriptions/acknowledged {"_meta": {"io.modelcontextprotocol/subscriptionId": 0}}
        >> 1 subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < notifications/subscriptions/acknowledged {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        >> 2 subscriptions/listen {"notifications": {"toolsListChanged": true}}
        < 2 error -31503
        >> 1 subscriptions/listen {"notifications": {}}
        < 1 error -32600
        ? publish tools
        < notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 0}}
        < notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        ? shutdown
        < 0 ok {"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 0}}
        < 1 ok {"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        ! close 0
        "#,
    );
}

/// Covers S04, S14.
#[test]
fn a_stream_is_granted_only_what_there_is() {
    let mut config = config();
    config.capabilities = serde_json::from_str(r#"{"tools": {"listChanged": true}}"#).unwrap();
    check_with(
        config,
        r#"
        >> 1 subscriptions/listen {"notifications": {"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["x:y"]}}
        < notifications/subscriptions/acknowledged {"notifications": {"toolsListChanged": true}}
        ? publish everything
        < notifications/tools/list_changed
        >> 2 subscriptions/listen {}
        < 2 error -32602
        "#,
    );
}

/// Covers L06, RS07.
#[test]
fn a_legacy_session_is_told_once_it_is_ready() {
    check(
        r#"
        ? publish tools
        -
        > 1 initialize "2025-11-25"
        < 1 ok
        ? publish tools
        -
        > 9 ping
        < 9 ok
        ? publish tools
        -
        > notifications/initialized
        ? publish tools
        < notifications/tools/list_changed
        ? publish file:///a
        -
        > 2 resources/subscribe {"uri": "file:///a"}
        < 2 ok {}
        ? publish file:///a
        < notifications/resources/updated {"uri": "file:///a"}
        > 3 resources/unsubscribe {"uri": "file:///a"}
        < 3 ok {}
        > 4 resources/unsubscribe {"uri": "file:///never"}
        < 4 ok {}
        ? publish file:///a
        -
        "#,
    );
}

#[test]
fn everything_is_all_that_is_still_subscribed_to() {
    check_ready(
        r#"
        > 2 resources/subscribe {"uri": "file:///a/"}
        < 2 ok
        >> 3 subscriptions/listen {"notifications": {"resourceSubscriptions": ["x:1"]}}
        < notifications/subscriptions/acknowledged
        >> 4 subscriptions/listen {"notifications": {"resourceSubscriptions": ["file:///a/b"]}}
        < notifications/subscriptions/acknowledged
        ? publish file:///a/c
        < notifications/resources/updated {"uri": "file:///a/c"}
        > notifications/cancelled {"requestId": 4}
        -
        ? publish everything
        < notifications/tools/list_changed
        < notifications/prompts/list_changed
        < notifications/resources/list_changed
        < notifications/resources/updated {"uri": "file:///a/"}
        < notifications/resources/updated {"uri": "x:1", "_meta": {"io.modelcontextprotocol/subscriptionId": 3}}
        "#,
    );
}

#[test]
fn subscriptions_alone_are_enough_for_a_stream() {
    let mut config = config();
    config.capabilities = serde_json::from_str(r#"{"resources": {"subscribe": true}}"#).unwrap();
    check_with(
        config,
        r#"
        >> 1 subscriptions/listen {"notifications": {"resourceSubscriptions": ["x:1"], "resourcesListChanged": true}}
        < notifications/subscriptions/acknowledged {"notifications": {"resourceSubscriptions": ["x:1"]}}
        > 2 initialize "2025-11-25"
        < 2 ok
        > notifications/initialized
        ? publish resources
        -
        "#,
    );
}

#[test]
fn a_stream_in_a_batch_is_refused() {
    check(
        r#"
        > 1 initialize "2025-03-26"
        < 1 ok
        > raw [{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}},{"jsonrpc":"2.0","id":3,"method":"ping"}]
        < batch 2 3
        ? publish tools
        -
        "#,
    );
}

/// Covers S15.
#[test]
fn a_session_may_hold_so_many_subscriptions() {
    check_ready(
        r#"
        > 2 resources/subscribe {"uri": "x:1"}
        < 2 ok
        > 3 resources/subscribe {"uri": "x:2"}
        < 3 ok
        > 4 resources/subscribe {"uri": "x:3"}
        < 4 ok
        > 5 resources/subscribe {"uri": "x:4"}
        < 5 error -31503
        > 6 resources/subscribe {"uri": "x:3"}
        < 6 ok
        >> 7 subscriptions/listen {"notifications": {"resourceSubscriptions": ["x:1", "x:2", "x:3", "x:4"]}}
        < 7 error -31503
        >> 8 subscriptions/listen {"notifications": {"resourceSubscriptions": ["x:1", "x:2", "x:3"]}}
        < notifications/subscriptions/acknowledged
        "#,
    );
}

/// Covers T09.
#[test]
fn calls_have_a_grace_when_the_input_ends() {
    check_ready(
        r#"
        > 2 tools/call "quick"
        ! start 2 a
        > 3 tools/call "stuck"
        ! start 3 b
        ? eof
        -
        > 4 ping
        -
        ? wait 500
        -
        ? reply a two
        < 2 ok
        ? wait 500
        ! stop b
        ! close 1
        ? reply b late
        -
        "#,
    );
}

/// Covers T09.
#[test]
fn the_end_comes_at_once_when_nothing_runs() {
    check("? eof\n! close 0");
    check("? shutdown\n! close 0\n? eof\n-");
    check_ready(
        r#"
        > 2 tools/call "quick"
        ! start 2 a
        ? eof
        -
        ? reply a two
        < 2 ok
        ! close 0
        "#,
    );
}

#[test]
fn without_grace_calls_end_with_the_input() {
    let mut config = config();
    config.limits.grace = Duration::ZERO;
    check_with(
        config,
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok
        > 2 tools/call "stuck"
        ! start 2 a
        ? eof
        ! stop a
        ! close 1
        "#,
    );
}

#[test]
fn calls_that_wait_for_an_answer_end_with_the_input() {
    check_ready(
        r#"
        > 2 tools/call "ask"
        ! start 2 a
        ? ask a q
        < ask q elicitation/create
        ? eof
        ! answer q gone
        ! stop a
        ! close 0
        "#,
    );
}

/// Covers L07, B-225, B-232.
#[test]
fn a_client_that_never_says_initialized_is_served() {
    check(
        r#"
        > 1 initialize "2025-11-25"
        < 1 ok
        > 2 tools/call "echo"
        ! start 2 a
        ? publish tools
        < notifications/tools/list_changed
        ? reply a hello
        < 2 ok
        "#,
    );
}

#[test]
fn a_legacy_only_server_lets_a_modern_client_fall_back() {
    let mut config = config();
    config
        .versions
        .retain(|version| *version < ProtocolVersion::V2026_07_28);
    check_with(
        config,
        r#"
        >> 1 server/discover
        < 1 error -32602
        > 2 server/discover {"_meta": {"io.modelcontextprotocol/protocolVersion": 7}}
        < 2 error -32602
        > 3 initialize "2025-11-25"
        < 3 ok {"protocolVersion": "2025-11-25"}
        >> 4 tools/list
        ! start 4 a
        "#,
    );
}

#[test]
fn of_everything_each_is_told_its_own() {
    check(
        r#"
        >> 1 subscriptions/listen {"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x:1"]}}
        < notifications/subscriptions/acknowledged
        >> 2 subscriptions/listen {"notifications": {"resourceSubscriptions": ["x:", "x:2"]}}
        < notifications/subscriptions/acknowledged
        ? publish everything
        < notifications/tools/list_changed {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        < notifications/resources/updated {"uri": "x:1", "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
        < notifications/resources/updated {"uri": "x:", "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        < notifications/resources/updated {"uri": "x:2", "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}
        "#,
    );
}

/// Covers S15.
#[test]
fn a_uri_has_a_length() {
    let long = "x".repeat(9_000);
    check_ready(&format!(
        r#"
        > 2 resources/subscribe {{"uri": "{long}"}}
        < 2 error -32602
        >> 3 subscriptions/listen {{"notifications": {{"resourceSubscriptions": ["{long}"]}}}}
        < 3 error -32602
        "#
    ));
}

/// Covers SE06.
#[test]
fn an_answer_repeats_only_so_much() {
    let long = "\u{7f}".repeat(100_000);
    for request in [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":"{long}"}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"cursor":["{long}"]}}}}"#
        ),
    ] {
        let mut connection = ServerConnection::new(Arc::new(config()));
        connection.receive(Incoming::parse(&Frame::from(request)));
        let Some(Output::Send(outgoing)) = connection.poll() else {
            panic!("it is answered");
        };
        assert!(encoded(&outgoing.message).len() < 1_500);
    }
}

#[test]
fn a_method_of_the_application_is_served_in_both_eras() {
    let mut config = config();
    config.methods.push("acme/do".to_owned());
    // Naming one of the specification's does not bring it back.
    config.methods.push("ping".to_owned());
    check_with(
        config,
        r#"
        > 1 acme/do
        < 1 error -32602
        > 1 acme/none
        < 1 error -32601
        >> 1 acme/do {"a": 1}
        ! start 1 a
        >> 2 ping
        < 2 error -32601
        > 3 initialize "2024-11-05"
        < 3 ok
        > 4 acme/do
        ! start 4 b
        > 5 acme/none
        < 5 error -32601
        > raw {"jsonrpc": "2.0", "id": 6, "method": "acme/do", "params": []}
        < 6 error -32602
        > raw {"jsonrpc": "2.0", "id": 7, "method": "acme/none", "params": []}
        < 7 error -32601
        "#,
    );
}

#[test]
fn a_call_notifies_of_what_is_its_own_until_it_ends() {
    check_ready(
        r#"
        > 7 tools/call "a"
        ! start 7 a
        ? notify a notifications/acme {"n": 1}
        < notifications/acme {"n": 1}
        ? notify a notifications/progress {"progressToken": 1, "progress": 1}
        -
        ? notify a tools/call {}
        -
        ? notify a notifications/acme [1]
        -
        ? reply a done
        < 7 ok
        ? notify a notifications/acme {"n": 2}
        -
        "#,
    );
}
