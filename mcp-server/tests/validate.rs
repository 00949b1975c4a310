//! Arguments and outputs held against their schemas.

mod support;

use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::types::{self, CallToolResult};
use mcp_server::{RawJson, tool_fn};
use serde_json::{Value, json};

use self::support::{clients, log};

/// A tool that gives its arguments as its output.
fn echo(schema: Value) -> Arc<dyn Tool<()>> {
    let definition = types::Tool::new("echo", json!({ "type": "object" })).output_schema(schema);
    Arc::new(tool_fn(
        definition,
        async |arguments: RawJson, _: Context| Ok(Structured(arguments)),
    ))
}

fn ports() -> Value {
    json!({
        "type": "object",
        "properties": { "ports": { "type": "array", "items": { "type": "integer" } } },
    })
}

fn server(schema: Value) -> Server {
    Server::new("test", "1.0.0").dyn_tool(echo(schema))
}

/// What a client of each era gets, and what is written into the log meanwhile.
async fn called(server: Server, arguments: Value) -> Vec<(Value, Vec<String>)> {
    let (log, _listening) = log::listen();
    let mut all = Vec::new();
    for mut client in clients(&server.build().unwrap()).await {
        let params = json!({ "name": "echo", "arguments": arguments });
        all.push((client.ask("tools/call", params).await, log.take()));
    }
    all
}

/// Covers TL07.
#[tokio::test]
async fn an_output_that_does_not_fit_is_an_error_and_a_warning_with_the_place() {
    let server = server(ports()).validate_output(true);
    for (reply, log) in called(server, json!({ "ports": [1, "a secret"] })).await {
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
        let message = "the tool `echo` gave an output that does not fit its schema";
        assert_eq!(reply["error"]["message"], message);
        let [line] = &*log else {
            panic!("one warning: {log:?}");
        };
        assert!(line.contains("echo") && line.contains("/ports/1"), "{line}");
        assert!(!line.contains("secret"), "{line}");
    }
}

#[tokio::test]
async fn an_output_that_fits_is_sent() {
    let server = server(ports()).validate_output(true);
    for (reply, log) in called(server, json!({ "ports": [1, 2.0] })).await {
        assert_eq!(
            reply["result"]["structuredContent"]["ports"][0], 1,
            "{reply}"
        );
        assert_eq!(log, Vec::<String>::new());
    }
}

#[tokio::test]
async fn outputs_are_validated_as_a_build_with_debug_assertions_has_it() {
    for (reply, _) in called(server(ports()), json!({ "ports": 1 })).await {
        assert_eq!(
            reply.get("error").is_some(),
            cfg!(debug_assertions),
            "{reply}"
        );
    }
    let unwatched = server(ports()).validate_output(false);
    for (reply, _) in called(unwatched, json!({ "ports": 1 })).await {
        assert_eq!(reply["result"]["structuredContent"]["ports"], 1, "{reply}");
    }
}

#[tokio::test]
async fn a_schema_as_written_is_of_the_dialect_that_it_names() {
    let tuple = json!({ "type": "array", "items": [{ "type": "string" }, { "type": "null" }] });
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "pair": tuple },
    });
    for (pair, fits) in [(json!(["a", null]), true), (json!([1, null]), false)] {
        let server = server(schema.clone()).schemas_as_written();
        for (reply, _) in called(server.validate_output(true), json!({ "pair": pair })).await {
            assert_eq!(reply.get("result").is_some(), fits, "{reply}");
        }
    }
}

#[tokio::test]
async fn errors_are_not_validated() {
    let definition = types::Tool::new("echo", json!({ "type": "object" })).output_schema(ports());
    let failing = tool_fn(definition, async |_: RawJson, _: Context| {
        let mut result = CallToolResult::error("no");
        result.structured_content = Some(json!({ "ports": 1 }).into());
        Ok(result)
    });
    let server = Server::new("test", "1.0.0").dyn_tool(Arc::new(failing));
    for (reply, log) in called(server.validate_output(true), json!({})).await {
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert_eq!(log, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_tool_that_is_added_later_is_validated_too() {
    let server = Server::new("test", "1.0.0")
        .empty_lists()
        .validate_output(true);
    let server = server.build().unwrap();
    server.add_tool(echo(ports())).unwrap();
    for mut client in clients(&server).await {
        let params = json!({ "name": "echo", "arguments": { "ports": 1 } });
        let reply = client.ask("tools/call", params).await;
        assert_eq!(reply["error"]["code"], -32603, "{reply}");
    }
}

/// Covers JS04, JS05.
#[test]
fn a_schema_that_cannot_be_checked_is_refused_when_the_tool_is_registered() {
    let unfinished = json!({ "type": "object", "patternProperties": { "(": {} } });
    let elsewhere = json!({ "type": "object", "$ref": "https://127.0.0.1:1/schema.json" });
    let file = json!({ "type": "object", "$ref": "file:///dev/null" });
    for schema in [unfinished, elsewhere, file] {
        let server = server(schema).schemas_as_written().validate_output(true);
        let error = server.build().unwrap_err().to_string();
        assert!(
            error.contains("output schema of the tool \"echo\""),
            "{error}"
        );
    }
}

/// Turn to a volume.
#[derive(Deserialize, JsonSchema, Tool)]
struct Turn {
    #[serde(alias = "volume")]
    #[schemars(range(min = 0, max = 11))]
    level: i64,
    #[schemars(length(max = 3), regex(pattern = "^[a-z]+$"))]
    name: Option<String>,
    #[serde(default)]
    #[schemars(length(min = 1))]
    rooms: Vec<Room>,
    at: Option<When>,
}

#[derive(Deserialize, JsonSchema)]
struct Room {
    #[schemars(range(min = 1))]
    number: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its form matters")]
enum When {
    Now(bool),
    Hour(Hour),
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its form matters")]
struct Hour {
    #[schemars(range(max = 23))]
    hour: u8,
}

impl Run for Turn {
    async fn run(self, _: &Context) -> Result<String, ToolError> {
        let Self {
            level,
            name,
            rooms,
            at,
        } = self;
        let number = rooms.iter().find_map(|room| room.number);
        Ok(format!("{level} {name:?} {number:?} {}", at.is_some()))
    }
}

/// What a modern and a legacy client are told of a call.
async fn told(server: Server, name: &str, arguments: Value) -> (bool, String) {
    let mut all = Vec::new();
    for mut client in clients(&server.build().unwrap()).await {
        let params = json!({ "name": name, "arguments": arguments });
        let reply = client.ask("tools/call", params).await;
        let failed = reply["result"]["isError"] == true;
        let text = reply["result"]["content"][0]["text"].as_str();
        all.push((failed, text.unwrap_or_else(|| panic!("{reply}")).to_owned()));
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

fn turn() -> Server {
    Server::new("test", "1.0.0").tool::<Turn>()
}

/// Covers B-049, B-051.
#[tokio::test]
async fn arguments_beyond_a_bound_are_told_with_their_place_and_the_bound() {
    for (arguments, says) in [
        (
            json!({ "level": 12 }),
            "at `level`: value is greater than the maximum of 11",
        ),
        (
            json!({ "level": -1, "name": "loud" }),
            "at `level`: value is less than the minimum of 0; \
             at `name`: value is longer than 3 characters",
        ),
        (
            json!({ "level": 1, "name": "A" }),
            "at `name`: value does not match \"^[a-z]+$\"",
        ),
        (
            json!({ "level": 1, "rooms": [{ "number": 1 }, { "number": 0 }] }),
            "at `rooms[1].number`: value is less than the minimum of 1",
        ),
        (
            json!({ "level": 1, "rooms": [] }),
            "at `rooms`: value has less than 1 item",
        ),
        (
            json!({ "level": 1, "at": { "hour": 24 } }),
            "at `at.hour`: value is greater than the maximum of 23",
        ),
        // What is no bound is told as it is without the schema.
        (
            json!({ "level": "a", "name": "A" }),
            "at `level`: invalid type: string \"a\", expected i64",
        ),
        (
            json!({ "lvel": 12 }),
            "unknown argument `lvel`, did you mean `level`?",
        ),
    ] {
        let (failed, text) = told(turn(), "turn", arguments).await;
        assert_eq!(text, format!("invalid arguments for `turn`: {says}"));
        assert!(failed);
    }
}

/// Covers B-056.
#[tokio::test]
async fn what_a_derived_tool_reads_is_taken_although_it_is_not_shown() {
    for (arguments, says) in [
        (json!({ "level": 11 }), "11 None None false"),
        (
            json!({ "level": 2.0, "at": { "hour": 23 } }),
            "2 None None true",
        ),
        (
            json!({ "volume": 3, "name": null, "rooms": [{ "number": null }], "at": null }),
            "3 None None false",
        ),
    ] {
        let told = told(turn(), "turn", arguments).await;
        assert_eq!(told, (false, says.to_owned()));
    }
    let (failed, _) = told(turn(), "turn", json!({ "volume": 3, "name": "A" })).await;
    assert!(failed);
}

#[tokio::test]
async fn a_closure_gets_what_fits_its_schema() {
    let add = || {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "string" } },
            "required": ["a"],
        });
        let definition = types::Tool::new("add", schema);
        let add = tool_fn(definition, async |arguments: RawJson, _: Context| {
            Ok(arguments.to_string())
        });
        Server::new("test", "1.0.0").dyn_tool(Arc::new(add))
    };
    for (arguments, fits) in [
        (json!({ "a": 1 }), true),
        (json!({ "a": 1, "b": null }), true),
        (json!({ "a": 1, "c": [] }), true),
        (json!({}), false),
        (json!({ "a": "1" }), false),
        (json!({ "a": 1, "b": 2 }), false),
    ] {
        let (failed, text) = told(add(), "add", arguments.clone()).await;
        assert_eq!(failed, !fits, "{text}");
        let (failed, _) = told(add().validate_input(false), "add", arguments).await;
        assert!(!failed);
    }
    let long = json!({ "a": "x".repeat(10_000), "b": 7 });
    let (_, text) = told(add(), "add", long).await;
    assert!(text.len() < 500, "{text}");
}

/// Covers JS05.
#[test]
fn an_input_schema_that_cannot_be_checked_is_refused_too() {
    let unfinished = json!({ "type": "object", "patternProperties": { "(": {} } });
    let definition = types::Tool::new("x", unfinished);
    let tool = tool_fn(definition, async |_: RawJson, _: Context| Ok("x"));
    let server = Server::new("test", "1.0.0").dyn_tool(Arc::new(tool));
    let error = server.schemas_as_written().build().unwrap_err().to_string();
    assert!(error.contains("input schema of the tool \"x\""), "{error}");
}
