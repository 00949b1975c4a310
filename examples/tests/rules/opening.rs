//! INIT, VERSION, DISCOVER: how a conversation may begin.

use crate::script::{LEGACY, Opened, check_as};

const CLIENT: &str = r#""capabilities": {}, "clientInfo": {"name": "x", "version": "1"}"#;

/// Covers B-225, B-227, B-228, B-232, L07, L12.
#[test]
fn requests_around_the_handshake_are_served() {
    for version in LEGACY {
        check_as(
            Opened::Not,
            &[],
            &format!(
                r#"
                > 1 ping null
                < 1 ok {{}}
                > raw {{"jsonrpc":"2.0","id":2,"method":"ping"}}
                < 2 ok {{}}
                > 3 initialize {{"protocolVersion": "{version}", {CLIENT}}}
                < 3 ok {{"protocolVersion": "{version}"}}
                > 4 tools/list
                < 4 ok
                > 5 call echo {{"text": "not yet initialized"}}
                < 5 text "not yet initialized"
                > 6 logging/setLevel {{"level": "error"}}
                < 6 ok {{}}
                > notifications/initialized
                -
                > 7 call echo {{"text": "initialized"}}
                < 7 text "initialized"
                "#
            ),
        );
    }
}

/// Covers L02, B-254, B-255.
#[test]
fn a_revision_that_nobody_knows_is_answered_with_the_newest() {
    for version in ["", "1.0", "1999-01-01", "2026-07-28", "2099-01-01"] {
        check_as(
            Opened::Not,
            &[],
            &format!(
                r#"
                > 1 initialize {{"protocolVersion": "{version}", {CLIENT}}}
                < 1 ok {{"protocolVersion": "2025-11-25", "serverInfo": {{"name": "fixture", "version": "1.0.0"}}}}
                > notifications/initialized
                > 2 call echo {{"text": "x"}}
                < 2 text "x"
                "#
            ),
        );
    }
}

/// Covers B-172, B-177, B-244, B-250, L08, L11.
#[test]
fn a_wrong_beginning_ends_nothing() {
    for first in [
        "server/discover",
        "tools/list",
        "resources/list",
        "acme/own",
        "initialize",
    ] {
        check_as(
            Opened::Not,
            &[],
            &format!(
                r#"
                > raw {{"jsonrpc":"2.0","id":null,"method":"initialize","params":{{}}}}
                < null error -32600
                > raw not json
                < null error -32700
                > 1 {first}
                < 1 error {code}
                > notifications/initialized
                -
                > 2 initialize {{"protocolVersion": "2025-06-18", {CLIENT}}}
                < 2 ok {{"protocolVersion": "2025-06-18"}}
                > 3 initialize {{"protocolVersion": "2025-11-25", {CLIENT}}}
                < 3 error -32600
                > 4 tools/list
                < 4 ok {{"resultType": "absent"}}
                "#,
                code = if first == "acme/own" { -32601 } else { -32602 },
            ),
        );
    }
}

/// Covers D02, D04, EC07, M03, M04, M07, B-258.
#[test]
fn a_modern_client_probes_and_is_served_beside_a_legacy_one() {
    check_as(
        Opened::Not,
        &[],
        &format!(
            r#"
            >> 1 server/discover
            < 1 ok {{"supportedVersions": ["2026-07-28"], "capabilities": {{"tools": {{}}}}, "resultType": "complete", "_meta": {{"io.modelcontextprotocol/serverInfo": {{"name": "fixture"}}}}}}
            > 2 tools/call {{"name": "echo", "_meta": {{"io.modelcontextprotocol/protocolVersion": "1900-01-01", "io.modelcontextprotocol/clientCapabilities": {{}}}}}}
            < 2 error -32022 {{"data": {{"supported": ["2026-07-28"], "requested": "1900-01-01"}}}}
            > 3 server/discover {{"_meta": {{"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}}
            < 3 error -32602
            > 4 initialize {{"protocolVersion": "2025-11-25", {CLIENT}}}
            < 4 ok {{"resultType": "absent", "_meta": "absent"}}
            > 5 call echo {{"text": "legacy"}}
            < 5 ok {{"resultType": "absent", "_meta": "absent"}}
            >> 6 call echo {{"text": "modern"}}
            < 6 ok {{"resultType": "complete", "_meta": {{"io.modelcontextprotocol/serverInfo": {{"name": "fixture", "version": "1.0.0"}}}}}}
            "#
        ),
    );
}
