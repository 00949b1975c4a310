//! UNKNOWN, PROGRESS: what one side does not know, and tokens.

use crate::script::{BOTH, LEGACY, Opened, check, check_as};

/// Covers J09, B-060.
#[test]
fn no_notification_is_answered_whatever_it_is() {
    for opened in [Opened::Not, BOTH[0], BOTH[1]] {
        check_as(
            opened,
            &[],
            r#"
            > notifications/foo {"a": 1}
            > notifications/roots/list_changed
            > foo/bar
            > tools/call {"name": "echo", "arguments": {"text": "x"}}
            > notifications/initialized []
            > notifications/cancelled {"requestId": {}}
            > notifications/progress {"progressToken": 1}
            > window/logMessage {"type": 3}
            -
            "#,
        );
    }
}

/// Covers J18, B-074, B-076.
#[test]
fn what_nobody_here_knows_is_tolerated() {
    for version in LEGACY {
        check_as(
            Opened::Not,
            &[],
            &format!(
                r#"
                > raw {{"jsonrpc":"2.0","id":1,"x":1,"method":"initialize","params":{{"y":[],"protocolVersion":"{version}","capabilities":{{"sampling":{{"tools":{{}},"new":1}},"elicitation":{{"voice":{{}}}},"newer":{{"a":[]}},"experimental":{{"z":{{}}}}}},"clientInfo":{{"name":"x","version":"1","mood":"good"}}}}}}
                < 1 ok {{"protocolVersion": "{version}"}}
                > raw {{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
                < 2 ok
                > raw {{"jsonrpc":"2.0","extra":{{}},"id":3,"method":"tools/call","params":{{"name":"echo","more":1,"arguments":{{"text":"x"}},"_meta":{{"com.acme/a":1,"io.modelcontextprotocol/unheard-of":null}}}}}}
                < 3 text "x"
                "#
            ),
        );
    }
}

/// Covers J12, M12.
#[test]
fn reserved_metadata_that_nobody_knows_changes_nothing() {
    check(
        r#"
        > 1 tools/call {"name": "echo", "arguments": {"text": "x"}, "_meta": {"io.modelcontextprotocol/unheard-of": 5, "com.acme/a": {}}}
        < 1 text "x"
        > 2 acme/own {"a": 1}
        < 2 error -32601 {"message": "~acme/own"}
        "#,
    );
}

/// Covers P02, P04, B-237, B-238.
#[test]
fn a_token_comes_back_as_it_was_and_only_if_there_was_one() {
    for token in [
        "0",
        "1",
        "-5",
        "9007199254740993",
        "\"1\"",
        "\"\"",
        "\"t-1\"",
    ] {
        check(&format!(
            r#"
            > 1 tools/call {{"name": "chatter", "arguments": {{"times": 2}}, "_meta": {{"progressToken": {token}}}}}
            < notifications/progress {{"progressToken": {token}, "progress": 1.0}}
            < notifications/progress {{"progressToken": {token}, "progress": 2.0}}
            < 1 text "said"
            > 2 call chatter {{"times": 0}}
            < 2 text "said"
            "#
        ));
    }
}
