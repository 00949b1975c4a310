//! What the derives say of a tool, and how its arguments are read.

#![allow(dead_code, reason = "most arguments are only read by their schema")]

use std::collections::BTreeMap;
use std::io::Cursor;

use mcp_server::prelude::*;
use mcp_server::schema::decode_arguments;
use mcp_server::types::{CallToolResult, Tool as Definition};
use mcp_server::{ArgumentError, RawJson, ToolArgs, ToolSet};
use mcp_transport_stdio::Framed;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

fn shown(definition: &Definition) -> Value {
    serde_json::to_value(definition).unwrap()
}

fn definition<T: ToolArgs>() -> Value {
    shown(&T::definition())
}

fn parse<T: ToolArgs>(arguments: Value) -> Result<T, ArgumentError> {
    T::parse(&RawJson::from(arguments))
}

/// What a caller is told.
fn refusal<T: ToolArgs>(arguments: Value) -> String {
    match parse::<T>(arguments) {
        Ok(_) => "taken".to_owned(),
        Err(error) => error.to_string(),
    }
}

// --- one tool -------------------------------------------------------------------------------

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Shipped {
    build: u32,
    note: Option<String>,
}

/// Ship a build to
/// an environment.
///
/// It can be watched.
#[derive(Deserialize, JsonSchema, Tool, Debug, PartialEq)]
#[tool(
    name = "ship.it",
    title = "Ship it",
    output = Shipped,
    read_only = false,
    destructive = false,
    idempotent,
    open_world = false,
    icon = "https://example.com/ship.png",
    icon = "data:image/png;base64,AAAA"
)]
struct Deploy {
    /// Where to.
    env: String,
    #[serde(default = "seven")]
    limit: u32,
    #[serde(rename = "dryRun", alias = "dry")]
    dry_run: Option<bool>,
}

fn seven() -> u32 {
    7
}

/// Covers B-026, B-053, B-057.
#[test]
fn a_struct_with_everything_is_shown_with_everything() {
    assert_eq!(
        definition::<Deploy>(),
        json!({
            "name": "ship.it",
            "title": "Ship it",
            "description": "Ship a build to an environment.\n\nIt can be watched.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "env": { "type": "string", "description": "Where to." },
                    "limit": { "type": "integer", "minimum": 0, "default": 7 },
                    "dryRun": { "type": "boolean" },
                },
                "required": ["env"],
                "additionalProperties": false,
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "build": { "type": "integer", "minimum": 0 },
                    "note": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                },
                "required": ["build", "note"],
            },
            "annotations": {
                "readOnlyHint": false,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
            "icons": [
                { "src": "https://example.com/ship.png" },
                { "src": "data:image/png;base64,AAAA" },
            ],
        }),
    );
    assert_eq!(Deploy::NAME, "ship.it");
}

/// Covers B-018, B-026.
#[test]
fn a_struct_with_nothing_is_shown_with_nothing() {
    #[derive(Deserialize, JsonSchema, Tool)]
    struct GetURLOf2Things;

    assert_eq!(
        definition::<GetURLOf2Things>(),
        json!({
            "name": "get_url_of2_things",
            "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        }),
    );
    assert_eq!(GetURLOf2Things::NAME, "get_url_of2_things");
}

#[test]
fn a_description_that_is_given_is_taken_for_the_doc_comment() {
    /// For readers of the source.
    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(description = "For the model.")]
    struct Documented {}

    assert_eq!(definition::<Documented>()["description"], "For the model.");
}

/// Covers TL08, B-124.
#[test]
fn an_output_is_structured_with_a_copy_as_text() {
    let shipped = Shipped {
        build: 7,
        note: None,
    };
    let result = Deploy::result(shipped).unwrap();
    assert_eq!(
        serde_json::to_value(result).unwrap(),
        json!({
            "content": [{ "type": "text", "text": r#"{"build":7,"note":null}"# }],
            "structuredContent": { "build": 7, "note": null },
        }),
    );
}

/// Covers B-117, B-126, B-272.
#[test]
fn content_is_content_alone() {
    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(content = f64)]
    struct Ratio {}

    #[derive(Deserialize, JsonSchema, Tool)]
    struct Name {}

    fn text(result: serde_json::Result<CallToolResult>) -> String {
        let result = result.unwrap();
        assert_eq!(result.structured_content, None);
        result.content[0].as_text().unwrap().to_owned()
    }
    assert_eq!(text(Ratio::result(0.5)), "0.5");
    assert_eq!(text(Ratio::result(f64::NAN)), "NaN");
    assert_eq!(text(Name::result("Ada".to_owned())), "Ada");
    assert_eq!(definition::<Ratio>().get("outputSchema"), None);
}

// --- its arguments --------------------------------------------------------------------------

#[test]
fn arguments_are_read_as_serde_has_it() {
    let deploy: Deploy = parse(json!({ "env": "prod", "dryRun": true })).unwrap();
    let expected = Deploy {
        env: "prod".to_owned(),
        limit: 7,
        dry_run: Some(true),
    };
    assert_eq!(deploy, expected);
    // An alias is not shown, and understood.
    let deploy: Deploy = parse(json!({ "env": "prod", "dry": true })).unwrap();
    assert_eq!(deploy, expected);
}

/// Covers B-056.
#[test]
fn null_is_the_same_as_absent_where_a_member_may_be_absent() {
    let deploy: Deploy = parse(json!({ "env": "", "limit": null, "dryRun": null })).unwrap();
    let expected = Deploy {
        env: String::new(),
        limit: 7,
        dry_run: None,
    };
    assert_eq!(deploy, expected);
    assert_eq!(
        refusal::<Deploy>(json!({ "env": null })),
        "missing field `env`"
    );
    // An empty text is a text.
    assert_eq!(
        refusal::<Deploy>(json!({ "env": "", "dryRun": "" })),
        "at `dryRun`: invalid type: string \"\", expected a boolean",
    );
    // What is wrong besides the null is what is told.
    assert_eq!(
        refusal::<Deploy>(json!({ "limit": null, "env": 1 })),
        "at `env`: invalid type: integer `1`, expected a string",
    );
}

#[test]
fn null_inside_of_an_argument_is_a_value() {
    #[derive(Deserialize, JsonSchema, Tool, Debug)]
    struct Outer {
        inner: Inner,
        any: Value,
    }
    #[derive(Deserialize, JsonSchema, Debug)]
    struct Inner {
        #[serde(default)]
        count: u8,
    }
    assert_eq!(
        refusal::<Outer>(json!({ "inner": { "count": null }, "any": 1 })),
        "at `inner.count`: invalid type: null, expected u8",
    );
    let outer: Outer = parse(json!({ "inner": {}, "any": null })).unwrap();
    assert_eq!(outer.any, Value::Null);
}

#[test]
fn a_whole_number_may_have_a_fraction_of_zeros_or_an_exponent() {
    #[derive(Deserialize, JsonSchema, Tool, Debug, PartialEq)]
    struct Point {
        x: i64,
        y: Vec<u8>,
        z: f64,
        name: String,
    }
    let read = |json: &str| <Point as ToolArgs>::parse(&RawJson::parse(json.to_owned()).unwrap());
    assert_eq!(
        read(r#"{"x":-3.0,"y":[1.00,2,30.0],"z":1.50,"name":"1.0 \" 2.0 \\\" 3.0e1 -0"}"#).unwrap(),
        Point {
            x: -3,
            y: vec![1, 2, 30],
            z: 1.5,
            name: r#"1.0 " 2.0 \" 3.0e1 -0"#.to_owned(),
        }
    );
    let x = |x: &str| read(&format!(r#"{{"x":{x},"y":[],"z":0,"name":""}}"#));
    for (written, means) in [
        ("-0", 0),
        ("-0.0e7", 0),
        ("0e99999999999999999999", 0),
        ("1e2", 100),
        ("-1E+2", -100),
        ("1.50e1", 15),
        ("100e-2", 1),
        ("0.001e3", 1),
        ("9223372036854775807.000", i64::MAX),
        ("9e18", 9_000_000_000_000_000_000),
    ] {
        assert_eq!(x(written).map(|point| point.x), Ok(means), "{written}");
    }
    for fraction in [
        "3.5",
        "3.05",
        "35e-1",
        "1e-1",
        "1e30",
        "1e99999999999999999999",
    ] {
        let error = x(fraction).unwrap_err().to_string();
        assert!(error.starts_with("at `x`: "), "{fraction}: {error}");
    }
    // An integer of more digits than `u64` has is one as well.
    let long = RawJson::parse(format!("{{\"n\":{}.0}}", u128::MAX)).unwrap();
    let decoded = decode_arguments::<BTreeMap<String, u128>>(&long).unwrap();
    assert_eq!(decoded["n"], u128::MAX);
}

#[test]
fn a_refusal_does_not_grow_with_what_was_sent() {
    let name = "n".repeat(100_000);
    let arguments = RawJson::from(json!({ &name: { &name: "x".repeat(100_000) } }));
    type Deep = BTreeMap<String, BTreeMap<String, u8>>;
    let error = decode_arguments::<Deep>(&arguments).unwrap_err();
    assert!(error.path().starts_with("nnn"), "{error}");
    assert!(error.to_string().len() < 700, "{}", error.to_string().len());
    let error = ArgumentError::new(name.clone(), name);
    assert!(error.to_string().len() < 700, "{}", error.to_string().len());
}

#[test]
fn nulls_are_looked_into_a_bounded_number_of_times() {
    let read = |nulls: usize| {
        let nulls: BTreeMap<usize, Option<u8>> = (0..nulls).map(|n| (n, None)).collect();
        let arguments = RawJson::encode(&nulls).unwrap();
        decode_arguments::<BTreeMap<String, u8>>(&arguments)
    };
    assert_eq!(read(32), Ok(BTreeMap::new()));
    let error = read(33).unwrap_err();
    assert_eq!(error.message(), "invalid type: null, expected u8");
}

/// Covers B-047, B-049, B-051.
#[test]
fn a_refusal_names_the_place_and_what_was_expected() {
    #[derive(Deserialize, JsonSchema, Tool)]
    struct Scan {
        targets: Vec<Target>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Target {
        port: u16,
        mode: Option<Mode>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Full,
    }
    let table = [
        (json!({}), "missing field `targets`"),
        (
            json!({ "targets": "all" }),
            "at `targets`: invalid type: string \"all\", expected a sequence",
        ),
        (
            json!({ "targets": [{ "port": 1 }, { "port": "80" }] }),
            "at `targets[1].port`: invalid type: string \"80\", expected u16",
        ),
        (
            json!({ "targets": [{ "port": 65_536 }] }),
            "at `targets[0].port`: invalid value: integer `65536`, expected u16",
        ),
        (
            json!({ "targets": [{ "mode": "fast" }] }),
            "at `targets[0]`: missing field `port`",
        ),
        (
            json!({ "targets": [{ "port": 1, "mode": "slow" }] }),
            "at `targets[0].mode`: unknown variant `slow`, expected `fast` or `full`",
        ),
        (
            json!([]),
            "invalid type: sequence, expected an object with the arguments",
        ),
        (
            json!("x"),
            "invalid type: string \"x\", expected an object with the arguments",
        ),
    ];
    for (arguments, expected) in table {
        assert_eq!(refusal::<Scan>(arguments), expected);
    }
}

#[test]
fn a_refusal_quotes_a_bounded_part_of_what_came() {
    let long = "x".repeat(1_000_000);
    assert!(refusal::<Deploy>(json!({ "env": "prod", "limit": long })).len() < 1_000);
    let unknown = refusal::<Deploy>(json!({ "env": "prod", long: 1 }));
    assert!(unknown.len() < 1_000);
    assert!(unknown.contains("known are `env`"), "{unknown}");
}

/// Covers B-053.
#[test]
fn an_argument_that_the_tool_does_not_have_is_refused_by_name() {
    #[derive(Deserialize, JsonSchema, Tool)]
    struct Find {
        max_depth: Option<u32>,
        path: Option<String>,
    }
    #[derive(Deserialize, JsonSchema, Tool)]
    struct Ping;

    let refused = |name: &str| refusal::<Find>(json!({ "path": "/", name: 2 }));
    for near in ["maxDepht", "max_dept", "MaxDepth", "max-depth", "maxdepth"] {
        let expected = format!("unknown argument `{near}`, did you mean `max_depth`?");
        assert_eq!(refused(near), expected);
    }
    assert_eq!(
        refused("paths"),
        "unknown argument `paths`, did you mean `path`?",
    );
    assert_eq!(
        refused("colour"),
        "unknown argument `colour`, known are `max_depth`, `path`",
    );
    assert_eq!(
        refusal::<Ping>(json!({ "x": 1 })),
        "unknown argument `x`, the tool takes none",
    );
    assert_eq!(refusal::<Ping>(json!({})), "taken");
}

/// Covers B-053.
#[test]
fn schema_and_behaviour_are_closed_or_open_together() {
    fn check<T: ToolArgs>(closed: bool, arguments: Value) {
        let schema = definition::<T>()["inputSchema"].clone();
        let shown = schema.get("additionalProperties") == Some(&json!(false));
        assert_eq!(shown, closed, "{schema}");
        let mut more = arguments.clone();
        more["more"] = json!(1);
        assert_eq!(refusal::<T>(arguments), "taken");
        assert_eq!(refusal::<T>(more) == "taken", !closed);
    }

    #[derive(Deserialize, JsonSchema, Tool)]
    struct Closed {
        a: u8,
    }
    check::<Closed>(true, json!({ "a": 1 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    #[serde(deny_unknown_fields)]
    struct ClosedBySerde {
        a: u8,
    }
    check::<ClosedBySerde>(true, json!({ "a": 1 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(open)]
    struct Open {
        a: u8,
    }
    check::<Open>(false, json!({ "a": 1 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(open)]
    struct OpenUnit;
    check::<OpenUnit>(false, json!({}));

    #[derive(Deserialize, JsonSchema)]
    struct Part {
        b: u8,
    }
    #[derive(Deserialize, JsonSchema, Tool)]
    struct Flattened {
        a: u8,
        #[serde(flatten)]
        part: Part,
    }
    check::<Flattened>(false, json!({ "a": 1, "b": 2 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    struct Rest {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    check::<Rest>(false, json!({ "a": 1, "b": 2 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    #[serde(from = "Part")]
    struct Converted {
        b: u16,
    }
    impl From<Part> for Converted {
        fn from(part: Part) -> Self {
            Self { b: part.b.into() }
        }
    }
    check::<Converted>(false, json!({ "b": 1 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    #[serde(transparent)]
    struct Transparent {
        part: Part,
    }
    check::<Transparent>(false, json!({ "b": 1 }));

    #[derive(Deserialize, JsonSchema, Tool)]
    #[serde(tag = "type")]
    struct Tagged {
        b: u8,
    }
    check::<Tagged>(false, json!({ "b": 1, "type": "Tagged" }));
}

/// Covers B-270.
#[test]
fn integers_of_64_bits_are_exact() {
    #[derive(Deserialize, JsonSchema, Tool)]
    struct Big {
        high: u64,
        low: i64,
    }
    let big: Big = parse(json!({ "high": u64::MAX, "low": i64::MIN })).unwrap();
    assert_eq!((big.high, big.low), (u64::MAX, i64::MIN));
}

// --- several tools --------------------------------------------------------------------------

#[derive(Tools, Debug, PartialEq)]
enum Notes {
    /// Adds a note.
    #[tool(idempotent = false)]
    Add {
        /// What it says.
        text: String,
        #[serde(default, rename = "isPinned")]
        #[schemars(title = "Pin")]
        pinned: bool,
    },
    /// Lists all notes.
    #[tool(name = "list-notes", title = "All", read_only, output = Vec<Note>)]
    List,
    #[serde(rename_all = "camelCase")]
    #[tool(open)]
    FindByTag {
        tag_name: String,
        at_most: Option<u8>,
    },
    Clear {},
}

#[derive(Serialize, JsonSchema)]
struct Note {
    text: String,
}

#[test]
fn each_variant_is_a_tool_in_their_order() {
    let tools: Vec<Value> = Notes::definitions().iter().map(shown).collect();
    assert_eq!(
        tools,
        [
            json!({
                "name": "add",
                "description": "Adds a note.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "text": { "type": "string", "description": "What it says." },
                        "isPinned": { "type": "boolean", "title": "Pin", "default": false },
                    },
                    "required": ["text"],
                    "additionalProperties": false,
                },
                "annotations": { "idempotentHint": false },
            }),
            json!({
                "name": "list-notes",
                "title": "All",
                "description": "Lists all notes.",
                "inputSchema": {
                    "type": "object", "properties": {}, "additionalProperties": false,
                },
                "outputSchema": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "text": { "type": "string" } },
                        "required": ["text"],
                    },
                },
                "annotations": { "readOnlyHint": true },
            }),
            json!({
                "name": "find_by_tag",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "tagName": { "type": "string" },
                        "atMost": { "type": "integer", "minimum": 0, "maximum": 255 },
                    },
                    "required": ["tagName"],
                },
            }),
            json!({
                "name": "clear",
                "inputSchema": {
                    "type": "object", "properties": {}, "additionalProperties": false,
                },
            }),
        ],
    );
}

#[test]
fn a_call_becomes_its_variant() {
    let parse = |name: &str, arguments: Value| {
        Notes::parse(name, &RawJson::from(arguments))
            .map(|result| result.map_err(|error| error.to_string()))
    };
    let add = Notes::Add {
        text: "x".to_owned(),
        pinned: true,
    };
    assert_eq!(
        parse("add", json!({ "text": "x", "isPinned": true })),
        Some(Ok(add))
    );
    assert_eq!(parse("list-notes", json!({})), Some(Ok(Notes::List)));
    let find = Notes::FindByTag {
        tag_name: "t".to_owned(),
        at_most: None,
    };
    assert_eq!(
        parse("find_by_tag", json!({ "tagName": "t", "more": 1 })),
        Some(Ok(find))
    );
    assert_eq!(parse("clear", json!({})), Some(Ok(Notes::Clear {})));
    assert_eq!(
        parse("clear", json!({ "all": true })),
        Some(Err("unknown argument `all`, the tool takes none".to_owned())),
    );
    assert_eq!(parse("list", json!({})), None);
    assert_eq!(parse("ADD", json!({})), None);
}

// --- calls ----------------------------------------------------------------------------------

/// What a server of notes answers to one call: the result, or the error.
async fn answer<S: Send + Sync + 'static>(
    server: Server<S>,
    name: &str,
    arguments: Value,
) -> Value {
    let lines = [
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "0" },
            },
        }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": name, "arguments": arguments },
        }),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (output, mut replies) = tokio::io::duplex(1 << 20);
    server
        .serve(Framed::new(Cursor::new(input), output))
        .await
        .unwrap();
    let mut text = String::new();
    replies.read_to_string(&mut text).await.unwrap();
    let reply: Value = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|reply| reply["id"] == 2)
        .unwrap();
    reply.get("result").unwrap_or(&reply["error"]).clone()
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn failed(message: &str) -> Value {
    let mut result = text(message);
    result["isError"] = json!(true);
    result
}

impl Run<u32> for Deploy {
    async fn run(self, cx: &Context<u32>) -> Result<Shipped, ToolError> {
        match self.env.as_str() {
            "moon" => Err(ToolError::failed("too far")),
            _ => Ok(Shipped {
                build: *cx.state(),
                note: None,
            }),
        }
    }
}

/// Covers TL06, TL08, TL16, B-118, B-119, B-308.
#[tokio::test]
async fn a_call_runs_the_tool() {
    let call = |arguments| {
        let server = Server::with_state("test", "0", 7).tool::<Deploy>();
        answer(server, "ship.it", arguments)
    };
    let mut expected = text(r#"{"build":7,"note":null}"#);
    expected["structuredContent"] = json!({ "build": 7, "note": null });
    assert_eq!(call(json!({ "env": "prod" })).await, expected);
    assert_eq!(call(json!({ "env": "moon" })).await, failed("too far"));
    assert_eq!(
        call(json!({ "env": ["prod"] })).await,
        failed(
            "invalid arguments for `ship.it`: \
             at `env`: invalid type: sequence, expected a string",
        ),
    );
}

#[tokio::test]
async fn a_call_of_a_blocking_tool_runs_on_another_thread() {
    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(content = bool)]
    struct IsElsewhere {
        here: String,
    }

    impl RunBlocking for IsElsewhere {
        fn run(self, _: &Context) -> Result<bool, ToolError> {
            let thread = std::thread::current().id();
            Ok(format!("{thread:?}") != self.here)
        }
    }

    let here = format!("{:?}", std::thread::current().id());
    let call = |arguments| {
        let server = Server::new("test", "0").blocking_tool::<IsElsewhere>();
        answer(server, "is_elsewhere", arguments)
    };
    assert_eq!(call(json!({ "here": here })).await, text("true"));
    assert_eq!(
        call(json!({})).await,
        failed("invalid arguments for `is_elsewhere`: missing field `here`"),
    );
}

impl RunTools for Notes {
    async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
        Ok(match self {
            Self::Add { text, .. } => text.into_content()?,
            Self::List => Structured([1, 2]).into_content()?,
            Self::FindByTag { tag_name, .. } => return Err(ToolError::failed(tag_name)),
            Self::Clear {} => ().into_content()?,
        })
    }
}

#[tokio::test]
async fn a_call_runs_the_variant() {
    let call = |name, arguments| {
        let server = Server::new("test", "0").tools::<Notes>();
        answer(server, name, arguments)
    };
    assert_eq!(call("add", json!({ "text": "x" })).await, text("x"));
    assert_eq!(call("clear", json!({})).await, json!({ "content": [] }));
    assert_eq!(
        call("find_by_tag", json!({ "tagName": "t" })).await,
        failed("t")
    );
    assert_eq!(
        call("add", json!({ "text": "x", "ispinned": true })).await,
        failed(
            "invalid arguments for `add`: \
             unknown argument `ispinned`, did you mean `isPinned`?",
        ),
    );
}

/// Covers TL07, B-117.
#[tokio::test]
async fn a_variant_that_declares_an_output_has_to_give_it() {
    #[derive(Tools)]
    enum Forgetful {
        #[tool(output = u32)]
        Count,
        #[tool(output = u32)]
        Fail,
        #[tool(output = u32)]
        FailAtLength,
    }

    impl RunTools for Forgetful {
        async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
            match self {
                Self::Count => Ok(CallToolResult::text("1")),
                Self::Fail => Err(ToolError::failed("no")),
                Self::FailAtLength => Ok(CallToolResult::error("no")),
            }
        }
    }

    let call = |name| {
        answer(
            Server::new("test", "0").tools::<Forgetful>(),
            name,
            json!({}),
        )
    };
    assert_eq!(
        call("count").await,
        json!({ "code": -32603, "message": "the tool `count` gave no structured output" }),
    );
    assert_eq!(call("fail").await, failed("no"));
    assert_eq!(call("fail_at_length").await, failed("no"));
}

#[tokio::test]
async fn an_output_that_cannot_be_json_is_an_error_of_the_server() {
    #[derive(Deserialize, JsonSchema, Tool)]
    #[tool(output = BTreeMap<Key, u8>)]
    struct Keys {}

    #[derive(Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
    struct Key {
        part: u8,
    }

    impl Run for Keys {
        async fn run(self, _: &Context) -> Result<BTreeMap<Key, u8>, ToolError> {
            Ok(BTreeMap::from([(Key { part: 1 }, 2)]))
        }
    }

    assert_eq!(
        answer(Server::new("test", "0").tool::<Keys>(), "keys", json!({})).await,
        json!({ "code": -32603, "message": "the output cannot be JSON" }),
    );
}

#[test]
fn types_may_have_the_names_that_the_derives_use() {
    mod elsewhere {
        /// Names of the derives' own, with other meanings.
        #[allow(dead_code, reason = "they are only in the way")]
        mod clutter {
            pub(super) struct Option;
            pub(super) struct Result;
            pub(super) struct Vec;
            pub(super) struct String;
            pub(super) struct Some;
            pub(super) mod core {}
            pub(super) mod std {}
            pub(super) mod mcp_server {}
            pub(super) mod schemars {}
            pub(super) mod serde {}
        }
        #[allow(unused_imports, reason = "that nobody uses them is the point")]
        use clutter::*;

        #[derive(::mcp_server::Tools)]
        pub(super) enum Tools {
            One {
                add: u8,
            },
            #[allow(non_camel_case_types, reason = "it is a raw identifier")]
            r#type,
        }
    }
    use mcp_server::ToolSet as _;
    let names: Vec<String> = elsewhere::Tools::definitions()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["one", "type"]);
}
