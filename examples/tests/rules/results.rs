//! STRUCT, JSONVAL: what a result may hold.

use serde_json::{Value, json};

use crate::script::{BOTH, LEGACY, Opened, Play, check, check_as};
use crate::support::fixture;

/// Covers B-118, B-119, B-124, B-126, TL07, TL08.
#[test]
fn a_structured_result_comes_as_text_too_and_an_error_only_as_text() {
    check(
        r#"
        > 1 call divide {"a": 7, "b": 2}
        < 1 ok {"structuredContent": {"quotient": 3, "exact": false}, "content": [{"type": "text", "text": "{\"quotient\":3,\"exact\":false}"}], "isError": "absent"}
        > 2 call divide {"a": 7, "b": 0}
        < 2 failed "division by zero"
        > 3 call divide {"a": 7}
        < 3 failed "~missing field"
        > 4 call echo {"text": "{\"a\":1}"}
        < 4 ok {"structuredContent": "absent", "content": [{"text": "{\"a\":1}"}]}
        "#,
    );
}

/// Covers B-117, B-121.
#[test]
fn a_result_that_is_no_object_is_wrapped_for_legacy_clients_in_schema_and_value() {
    for opened in BOTH {
        let mut play = Play::new(&mut fixture(&[]), opened, json!({}));
        play.play("> 1 tools/list");
        let tools = play.peer.receive()["result"]["tools"].take();
        let output = |name: &str| {
            let tools = tools.as_array().expect("a list");
            let tool = tools.iter().find(|tool| tool["name"] == name);
            tool.expect("it is listed").get("outputSchema").cloned()
        };
        assert_eq!(output("echo"), None);
        assert_eq!(output("nothing"), None);
        let numbers = json!({ "type": "array", "items": { "type": "number" } });
        let divided = output("divide").expect("it is declared");
        assert_eq!(divided["required"], json!(["quotient", "exact"]));
        let (schema, value) = match opened {
            Opened::Modern => (numbers, "[1.5, null, null, null]"),
            _ => {
                let wrapped = json!({ "result": numbers });
                let wrapped =
                    json!({ "type": "object", "properties": wrapped, "required": ["result"] });
                (wrapped, r#"{"result": [1.5, null, null, null]}"#)
            }
        };
        assert_eq!(output("numbers"), Some(schema));
        play.play(&format!(
            "> 2 call numbers\n< 2 ok {{\"structuredContent\": {value}}}"
        ));
        for any in ["5", "\"a\"", "null", "true", "[1]"] {
            let expected = match opened {
                Opened::Modern => any.to_owned(),
                _ => format!("{{\"result\": {any}}}"),
            };
            play.play(&format!(
                r#"
                > 3 call same {{"value": {any}}}
                < 3 ok {{"structuredContent": {expected}}}
                "#
            ));
        }
        play.peer.ends_well();
    }
}

/// Covers B-270.
#[test]
fn integers_come_back_digit_for_digit() {
    for opened in BOTH {
        let mut play = Play::new(&mut fixture(&[]), opened, json!({}));
        for number in [
            "9007199254740993",
            "-9007199254740993",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
        ] {
            play.play(&format!(
                r#"> 1 call same {{"value": {{"deep": [{number}]}}}}"#
            ));
            let (_, line) = play.peer.receive_line().expect("a line comes");
            let line = String::from_utf8(line).expect("output is text");
            let value = format!(r#""structuredContent":{{"deep":[{number}]}}"#);
            assert!(line.contains(&value), "{line}");
            let text = format!(r#"{{\"deep\":[{number}]}}"#);
            assert!(line.contains(&text), "{line}");
        }
        play.peer.ends_well();
    }
}

/// Covers B-272, B-273.
#[test]
fn numbers_that_json_does_not_have_lose_no_reply() {
    for version in LEGACY {
        check_as(
            Opened::Legacy(version),
            &[],
            r#"
            > 1 call numbers
            < 1 ok {"content": [{"text": "[1.5,null,null,null]"}], "isError": "absent"}
            "#,
        );
    }
}

/// Covers B-274.
#[test]
fn deep_values_are_refused_and_cost_nothing_else() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let value = |text: &str| format!(r#"> 1 call same {{"value": {text}}}"#);
    let shallow = deep(50);
    for opened in BOTH {
        let mut play = Play::new(&mut fixture(&[]), opened, json!({}));
        for depth in [200, 100_000] {
            let deep = deep(depth);
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"same","arguments":{{"value":{deep}}},"_meta":{meta}}}}}"#,
                meta = meta(opened)
            );
            play.play(&format!("> raw {line}\n< 1 failed \"~recursion limit\""));
        }
        play.play(&value(&shallow));
        assert_eq!(play.peer.receive()["id"], 1);
        play.peer.ends_well();
    }
}

fn meta(opened: Opened) -> Value {
    match opened {
        Opened::Modern => json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }),
        _ => json!({}),
    }
}
