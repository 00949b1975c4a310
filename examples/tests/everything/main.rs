//! The real `everything` over real pipes: each of its tools, in both eras.

mod asking;
mod offers;
#[path = "../process/support.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Peer, discover, modern, request};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// The server, and a client of one era.
struct Client {
    peer: Peer,
    era: Era,
}

/// What came of a call.
struct Called {
    /// The parameters of the notifications of one method, in order.
    notified: Vec<Value>,
    result: Value,
    took: Duration,
}

impl Client {
    fn start(era: Era) -> Self {
        let mut peer = Peer::spawn(&mut Command::new(env!("CARGO_BIN_EXE_everything")));
        if era == Era::Legacy {
            peer.shake_hands("2025-11-25");
        }
        Self { peer, era }
    }

    fn send(&mut self, request: Value) {
        self.peer.send(&match self.era {
            Era::Legacy => request,
            Era::Modern => modern(request),
        });
    }

    fn result(&mut self, method: &str, params: Value) -> Value {
        self.send(request("r", method, params));
        let mut reply = self.peer.receive();
        assert_eq!(reply["id"], "r", "{reply}");
        reply["result"].take()
    }

    /// Calls a tool as the suite does, without `arguments` if there are none. Notifications are
    /// to be of this method only.
    fn call(&mut self, tool: &str, meta: Value, notification: &str) -> Called {
        let begin = Instant::now();
        let params = json!({ "name": tool, "_meta": meta });
        self.send(request("c", "tools/call", params));
        let mut notified = Vec::new();
        loop {
            let (at, mut message) = self.peer.receive_timed();
            if message["id"] == "c" {
                return Called {
                    notified,
                    result: message["result"].take(),
                    took: at - begin,
                };
            }
            assert_eq!(message["method"], notification, "{message}");
            notified.push(message["params"].take());
        }
    }

    /// A result as this era has it.
    fn stamped(&self, mut result: Value) -> Value {
        if self.era == Era::Modern {
            let server = json!({ "name": "everything", "version": "1.0.0" });
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": server });
        }
        result
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    let contents = json!({ "uri": uri, "mimeType": mime_type, "text": text });
    json!({ "type": "resource", "resource": contents })
}

#[test]
fn each_kind_of_result_is_what_the_suite_expects() {
    let results = [
        (
            "test_simple_text",
            json!({ "content": [text("This is a simple text response for testing.")] }),
        ),
        ("test_image_content", json!({ "content": [image()] })),
        (
            "test_audio_content",
            json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] }),
        ),
        (
            "test_embedded_resource",
            json!({ "content": [resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )] }),
        ),
        (
            "test_multiple_content_types",
            json!({ "content": [
                text("Multiple content types test:"),
                image(),
                resource(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                ),
            ] }),
        ),
        (
            "test_error_handling",
            json!({
                "content": [text("This tool intentionally returns an error for testing")],
                "isError": true,
            }),
        ),
    ];
    for era in ERAS {
        let mut client = Client::start(era);
        for (tool, result) in &results {
            let called = client.call(tool, json!({}), "no notification");
            assert_eq!(called.result, client.stamped(result.clone()), "{era:?}");
        }
        client.peer.ends_well();
    }
}

const TOOLS: [&str; 36] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_reconnection",
    "test_region",
    "json_schema_2020_12_tool",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_missing_capability",
    "test_streaming_elicitation",
    "interop_roots",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "interop_trigger_resource_change",
    "interop_touch_resource",
    "interop_echo",
    "interop_structured",
    "interop_payload",
    "interop_sleep",
    "interop_cancel_count",
];

/// Covers TL03.
#[test]
fn the_list_has_all_tools_with_description_and_schema() {
    for era in ERAS {
        let mut client = Client::start(era);
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("a list");
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, TOOLS, "{era:?}");
        for tool in tools {
            assert!(tool["description"].is_string(), "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
        client.peer.ends_well();
    }
}

/// Covers LG01.
#[test]
fn the_capabilities_are_those_of_what_works() {
    let mut peer = Client::start(Era::Modern).peer;
    let capabilities = json!({
        "logging": {},
        "completions": {},
        "prompts": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "tools": { "listChanged": true },
    });
    peer.send(&discover(1));
    assert_eq!(peer.receive()["result"]["capabilities"], capabilities);
    peer.send(&support::initialize("2025-11-25"));
    assert_eq!(peer.receive()["result"]["capabilities"], capabilities);
    peer.ends_well();
}

/// The tools that log, what they log, and what they give.
const LOGGING: [(&str, &[&str], &str); 2] = [
    (
        "test_tool_with_logging",
        &[
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ],
        "Tool with logging executed successfully",
    ),
    (
        "test_logging_tool",
        &["Diagnostic trace logging activated"],
        "Logging evaluated",
    ),
];

/// Calls the tools that log and expects all of their messages, or none.
fn check_logging(client: &mut Client, meta: &Value, wanted: bool) {
    for (tool, messages, result) in LOGGING {
        let called = client.call(tool, meta.clone(), "notifications/message");
        let logged = messages
            .iter()
            .filter(|_| wanted)
            .map(|message| json!({ "level": "info", "data": message }));
        assert_eq!(called.notified, logged.collect::<Vec<_>>(), "{tool} {meta}");
        assert_eq!(called.result["content"], json!([text(result)]));
    }
}

/// Covers LG02.
#[test]
fn a_legacy_session_hears_logs_of_the_level_that_it_has_set() {
    let mut client = Client::start(Era::Legacy);
    check_logging(&mut client, &json!({}), true);
    for (level, wanted) in [("warning", false), ("debug", true)] {
        let set = client.result("logging/setLevel", json!({ "level": level }));
        assert_eq!(set, json!({}));
        check_logging(&mut client, &json!({}), wanted);
    }
    client.peer.ends_well();
}

/// Covers LG03, LG04.
#[test]
fn a_modern_request_hears_logs_of_the_level_that_it_names() {
    let mut client = Client::start(Era::Modern);
    check_logging(&mut client, &json!({}), false);
    for (level, wanted) in [("debug", true), ("info", true), ("warning", false)] {
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        check_logging(&mut client, &meta, wanted);
    }
    client.peer.ends_well();
}

/// Covers P02, P03, P04, B-237, B-238.
#[test]
fn progress_is_told_to_the_token_that_asked_for_it() {
    for era in ERAS {
        let mut client = Client::start(era);
        for (token, result) in [(json!("a token"), "a token"), (json!(7), "7")] {
            let meta = json!({ "progressToken": token });
            let called = client.call("test_tool_with_progress", meta, "notifications/progress");
            let reports = [0.0, 50.0, 100.0].map(
                |progress| json!({ "progressToken": token, "progress": progress, "total": 100.0 }),
            );
            assert_eq!(called.notified, reports, "{era:?}");
            assert_eq!(called.result["content"], json!([text(result)]));
        }
        let called = client.call("test_tool_with_progress", json!({}), "no notification");
        assert_eq!(called.result["content"], json!([text("0")]));
        client.peer.ends_well();
    }
}

#[test]
fn reports_come_one_by_one() {
    let mut client = Client::start(Era::Legacy);
    for tool in ["test_tool_with_logging", "test_tool_with_progress"] {
        let called = client.call(tool, json!({}), "notifications/message");
        assert!(called.took >= Duration::from_millis(100), "{tool}");
    }
    client.peer.ends_well();
}

/// Covers JS07.
#[test]
fn a_schema_by_hand_keeps_every_keyword() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    for era in ERAS {
        let mut client = Client::start(era);
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("a list");
        let by_hand = tools
            .iter()
            .find(|tool| tool["name"] == "json_schema_2020_12_tool");
        assert_eq!(by_hand.expect("it is listed")["inputSchema"], schema);

        let params = json!({ "name": "json_schema_2020_12_tool", "arguments": { "name": "A" } });
        let result = client.result("tools/call", params);
        let expected = text(r#"JSON Schema 2020-12 tool called with: {"name":"A"}"#);
        assert_eq!(result["content"], json!([expected]), "{era:?}");
        client.peer.ends_well();
    }
}
