//! The conservative form of schemas: rules that hold for every type, and exact forms for some.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcp_server::prelude::*;
use mcp_server::schema::{
    SchemaError, closed_input_schema, conservative, conservative_output, input_schema,
    output_schema,
};
use serde_json::{Value, json};

// --- the rules, as a walker of its own ------------------------------------------------------

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Every rule that a part of a schema breaks.
fn broken_rules(schema: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    walk(schema, "#", schema, &mut broken);
    broken
}

fn walk(schema: &Value, at: &str, root: &Value, broken: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        broken.push(format!("{at}: {schema} is no object"));
        return;
    };
    let mut rule = |holds: bool, rule: &str| {
        if !holds {
            broken.push(format!("{at}: {rule}: {schema}"));
        }
    };
    if let Some(name) = object.get("type") {
        let known = name.as_str().is_some_and(|name| TYPES.contains(&name));
        rule(known, "one type of JSON");
        rule(name != "array" || object.contains_key("items"), "items");
    }
    if let Some(format) = object.get("format").and_then(Value::as_str) {
        let foreign = ["uint", "int", "float", "double"]
            .iter()
            .any(|foreign| format.starts_with(foreign));
        rule(!foreign, "no foreign format");
    }
    for gone in ["$schema", "definitions", "additionalItems", "const"] {
        let word = object
            .get(gone)
            .is_some_and(|value| gone != "const" || value.is_string());
        rule(!word, gone);
    }
    rule(
        at == "#" || !object.contains_key("$defs"),
        "definitions at the root",
    );
    if let Some(reference) = object.get("$ref") {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let found = pointer.filter(|pointer| pointer.starts_with("/$defs/"));
        let found = found.and_then(|pointer| root.pointer(pointer));
        rule(found.is_some(), "a reference to a definition");
    }
    if let Some(required) = object.get("required") {
        let names = required.as_array().is_some_and(|names| !names.is_empty());
        rule(names, "required names something");
    }
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, schema) in named {
                    walk(schema, &format!("{at}/{keyword}/{name}"), root, broken);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    walk(schema, &format!("{at}/{keyword}/{index}"), root, broken);
                }
            }
            ("additionalProperties" | "unevaluatedProperties", Value::Bool(_)) => {}
            (
                "items"
                | "not"
                | "contains"
                | "if"
                | "then"
                | "else"
                | "propertyNames"
                | "additionalProperties"
                | "unevaluatedProperties",
                schema,
            ) => walk(schema, &format!("{at}/{keyword}"), root, broken),
            _ => {}
        }
    }
}

fn assert_conservative_input(schema: &Value) {
    assert_eq!(broken_rules(schema), Vec::<String>::new());
    assert_eq!(schema["type"], "object", "{schema}");
    assert!(schema["properties"].is_object(), "{schema}");
    for choice in ["oneOf", "anyOf", "allOf"] {
        assert!(
            schema.get(choice).is_none(),
            "{choice} at the root: {schema}"
        );
    }
    optional_is_never_null(schema);
    assert_unchanged_by(schema, conservative);
}

/// No property that may be left out allows `null`.
fn optional_is_never_null(schema: &Value) {
    match schema {
        Value::Array(list) => list.iter().for_each(optional_is_never_null),
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                for (name, property) in properties {
                    let required = object.get("required").and_then(Value::as_array);
                    let required = required.is_some_and(|names| names.iter().any(|n| n == name));
                    let null = |schema: &Value| schema["type"] == "null";
                    let nullable = ["anyOf", "oneOf"].iter().any(|choice| {
                        property[*choice]
                            .as_array()
                            .is_some_and(|list| list.iter().any(null))
                    });
                    assert!(required || !nullable, "{name} may be null in {schema}");
                }
            }
            object.values().for_each(optional_is_never_null);
        }
        _ => {}
    }
}

fn assert_unchanged_by(
    schema: &Value,
    form: fn(Value) -> Result<mcp_server::RawJson, SchemaError>,
) {
    let again: Value = form(schema.clone()).unwrap().decode().unwrap();
    assert_eq!(
        &again, schema,
        "the form of a conservative schema is another"
    );
}

fn input_of<T: JsonSchema>() -> Value {
    let schema = input_schema::<T>().decode().unwrap();
    assert_conservative_input(&schema);
    schema
}

fn output_of<T: JsonSchema>() -> Value {
    let schema = output_schema::<T>().decode().unwrap();
    assert_eq!(broken_rules(&schema), Vec::<String>::new());
    assert_unchanged_by(&schema, conservative_output);
    schema
}

/// The schema of a field of this type, with `required` or without.
fn field<T: JsonSchema>() -> (Value, bool) {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct One<T> {
        field: T,
    }
    let schema = input_of::<One<T>>();
    let required = schema.get("required") == Some(&json!(["field"]));
    assert!(required || schema.get("required").is_none(), "{schema}");
    (schema["properties"]["field"].clone(), required)
}

type Field = fn() -> (Value, bool);

// --- a table of types -----------------------------------------------------------------------

#[derive(Serialize, Deserialize, JsonSchema)]
enum Plain {
    A,
    B,
}

/// How it goes.
#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
enum Documented {
    /// Very well.
    #[default]
    Well,
    /// Not so
    /// well.
    Badly,
    Unknown,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Data {
    Nothing,
    Named { size: u8 },
    One(String),
    Two(u8, u8),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    Circle { radius: f64 },
    Point,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Inner {
    /// How many.
    count: u16,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Node {
    label: String,
    next: Option<Box<Node>>,
    children: Vec<Node>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Left {
    right: Option<Box<Right>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Right {
    left: Vec<Left>,
    inner: Inner,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Unit;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Empty {}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Everything {
    any: Value,
    any_or_not: Option<Value>,
    anys: Vec<Value>,
    map: HashMap<String, u8>,
    numbered: BTreeMap<u8, Option<Inner>>,
    set: HashSet<u32>,
    bytes: [u8; 4],
    pair: (u32, String),
    pairs: Vec<(f32, Option<f64>)>,
    nothing: (),
    letter: char,
    huge: i128,
    holes: Vec<Option<String>>,
    tagged: Tagged,
    data: Data,
    plain: Option<Plain>,
    documented: Option<Documented>,
    #[serde(default)]
    defaulted: Documented,
    inner: Inner,
    /// Another one.
    other: Inner,
    twice: Option<Option<i8>>,
    node: Option<Node>,
    left: Left,
    wait: std::time::Duration,
    range: std::ops::Range<usize>,
    either: Result<u8, String>,
    #[serde(rename = "type")]
    renamed: bool,
}

/// Covers JS01, B-002, B-004, B-007, B-008, B-011, B-016, B-020, B-021, B-022.
#[test]
fn every_rule_holds_for_every_type() {
    input_of::<Everything>();
    input_of::<Node>();
    input_of::<Left>();
    input_of::<Option<Inner>>();
    input_of::<HashMap<String, Everything>>();
    output_of::<Everything>();
    output_of::<Vec<Everything>>();
    output_of::<Vec<Node>>();
    output_of::<(u8, Option<Node>)>();
    output_of::<Option<Documented>>();
    output_of::<Data>();
    output_of::<Value>();
    output_of::<()>();
}

/// Covers B-001, B-004, B-013, B-014, B-022.
#[test]
fn a_field_has_the_plainest_schema_there_is() {
    let whole = |minimum: i64, maximum: i64| json!({ "type": "integer", "minimum": minimum, "maximum": maximum });
    let unsigned = json!({ "type": "integer", "minimum": 0 });
    let integer = json!({ "type": "integer" });
    let number = json!({ "type": "number" });
    let string = json!({ "type": "string" });
    let strings = json!({ "type": "array", "items": string });
    let plain = json!({ "type": "string", "enum": ["A", "B"] });
    let documented = json!({
        "type": "string",
        "enum": ["unknown", "well", "badly"],
        "description": "How it goes.\n\n- `well`: Very well.\n- `badly`: Not so well.",
    });
    let inner = json!({
        "type": "object",
        "properties": {
            "count": {
                "type": "integer", "minimum": 0, "maximum": 65_535, "description": "How many.",
            },
        },
        "required": ["count"],
    });
    let required: [(Field, Value); 22] = [
        (field::<u8>, whole(0, 255)),
        (field::<u16>, whole(0, 65_535)),
        (field::<u32>, unsigned.clone()),
        (field::<u64>, unsigned.clone()),
        (field::<u128>, unsigned.clone()),
        (field::<usize>, unsigned.clone()),
        (field::<i8>, whole(-128, 127)),
        (field::<i32>, integer.clone()),
        (field::<i64>, integer.clone()),
        (field::<isize>, integer.clone()),
        (field::<f32>, number.clone()),
        (field::<f64>, number.clone()),
        (field::<String>, string.clone()),
        (field::<Value>, json!({})),
        (field::<Vec<Value>>, json!({ "type": "array", "items": {} })),
        (field::<Vec<String>>, strings.clone()),
        (
            field::<[u8; 4]>,
            json!({ "type": "array", "items": whole(0, 255), "minItems": 4, "maxItems": 4 }),
        ),
        (
            field::<(u32, String)>,
            json!({
                "type": "array", "items": {}, "minItems": 2, "maxItems": 2,
                "prefixItems": [unsigned, string],
            }),
        ),
        (
            field::<HashMap<String, i64>>,
            json!({ "type": "object", "additionalProperties": integer }),
        ),
        (
            field::<Vec<Option<String>>>,
            json!({
                "type": "array",
                "items": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            }),
        ),
        (field::<Plain>, plain.clone()),
        (field::<Inner>, inner.clone()),
    ];
    for (field, expected) in required {
        assert_eq!(field(), (expected, true));
    }
    let optional: [(Field, Value); 7] = [
        (
            field::<Option<u32>>,
            json!({ "type": "integer", "minimum": 0 }),
        ),
        (field::<Option<String>>, string.clone()),
        (field::<Option<Vec<String>>>, strings),
        (field::<Option<Plain>>, plain),
        (field::<Option<Documented>>, documented),
        (field::<Option<Inner>>, inner),
        (field::<Option<Value>>, json!({})),
    ];
    for (field, expected) in optional {
        assert_eq!(field(), (expected, false));
    }
}

/// Covers TL03, B-018, B-020.
#[test]
fn a_type_without_members_is_an_empty_object() {
    let empty = json!({ "type": "object", "properties": {} });
    assert_eq!(input_of::<Unit>(), empty);
    assert_eq!(input_of::<Empty>(), empty);
    assert_eq!(input_of::<()>(), empty);
    assert_eq!(input_of::<Value>(), empty);
    let closed: Value = closed_input_schema::<Unit>().decode().unwrap();
    assert_eq!(
        closed,
        json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    );
}

/// Covers B-007.
#[test]
fn a_type_that_contains_itself_is_one_definition() {
    let node = json!({
        "type": "object",
        "properties": {
            "label": { "type": "string" },
            "next": { "$ref": "#/$defs/Root" },
            "children": { "type": "array", "items": { "$ref": "#/$defs/Root" } },
        },
        "required": ["label", "children"],
    });
    let mut expected = node.clone();
    expected["$defs"] = json!({ "Root": node });
    assert_eq!(input_of::<Node>(), expected);

    // Two types that contain each other: one of them is enough to end it.
    let schema = input_of::<Left>();
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 1, "{schema}");
    assert!(schema.to_string().contains("How many."), "{schema}");
}

/// Covers B-026.
#[test]
fn what_the_words_mean_is_told_wherever_they_are_used() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Moods {
        /// Today.
        now: Documented,
        /// Back then.
        then: Option<Documented>,
    }
    let schema = input_of::<Moods>();
    let words = "- `well`: Very well.\n- `badly`: Not so well.";
    let described = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(described("now"), format!("Today.\n\n{words}"));
    assert_eq!(described("then"), format!("Back then.\n\n{words}"));
}

#[test]
fn many_types_in_one_another_do_not_multiply() {
    let types = ["object", "array", "string"];
    let deep = (0..60).fold(
        json!({ "type": types }),
        |inside, _| json!({ "type": types, "properties": { "a": inside } }),
    );
    let schema = conservative(json!({ "properties": { "a": deep } })).unwrap();
    assert!(schema.as_bytes().len() < 20_000);
}

/// Covers B-057.
#[test]
fn defaults_are_shown_and_not_required() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Defaults {
        #[serde(default)]
        mood: Documented,
        #[serde(default = "seven")]
        limit: u32,
        #[serde(default)]
        maybe: Option<String>,
    }
    fn seven() -> u32 {
        7
    }
    let schema = input_of::<Defaults>();
    assert_eq!(schema.get("required"), None);
    assert_eq!(schema["properties"]["mood"]["default"], "well");
    assert_eq!(
        schema["properties"]["limit"],
        json!({ "type": "integer", "minimum": 0, "default": 7 }),
    );
    assert_eq!(schema["properties"]["maybe"], json!({ "type": "string" }));
}

#[test]
fn closing_a_schema_leaves_what_the_type_says() {
    let closed = |schema: mcp_server::RawJson| -> Value {
        let schema: Value = schema.decode().unwrap();
        assert_conservative_input(&schema);
        schema
    };
    let schema = closed(closed_input_schema::<Inner>());
    assert_eq!(schema["additionalProperties"], false);

    let schema = closed(closed_input_schema::<HashMap<String, u8>>());
    assert_eq!(schema["additionalProperties"]["type"], "integer");
}

#[test]
fn an_output_says_where_it_may_be_null() {
    #[derive(Serialize, JsonSchema)]
    struct Output {
        always: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sometimes: Option<String>,
    }
    let schema = output_of::<Output>();
    assert_eq!(schema["required"], json!(["always"]));
    assert_eq!(
        schema["properties"]["always"]["anyOf"][1],
        json!({ "type": "null" }),
    );
    assert_eq!(
        schema["properties"]["sometimes"]["anyOf"],
        json!([{ "type": "string" }, { "type": "null" }]),
    );
}

/// Covers B-011.
#[test]
fn a_choice_is_refused_as_arguments_and_taken_inside_of_them() {
    for refused in [
        json!({ "oneOf": [{ "type": "object" }, { "type": "string" }] }),
        json!({ "type": "object", "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        json!({ "allOf": [{ "type": "object" }, { "minProperties": 1 }] }),
        json!({ "type": "string", "enum": ["a", "b"] }),
        json!({ "enum": ["a", 1] }),
        json!({ "const": 1 }),
        json!({ "type": ["object", "array"] }),
        json!({ "type": "array", "items": {} }),
    ] {
        let error = conservative(refused.clone()).expect_err(&refused.to_string());
        assert_eq!(error.path(), "");
        assert!(error.to_string().starts_with("arguments are "), "{error}");
    }
    assert!(field::<Data>().0["oneOf"].is_array());
}

#[test]
fn an_enum_as_arguments_keeps_its_schema_which_is_refused_when_it_is_registered() {
    let schema = input_schema::<Data>().decode().expect("a schema is JSON");
    let error = conservative(schema).expect_err("arguments have names");
    assert!(error.to_string().starts_with("arguments are one object"));
}

/// Covers JS01, JS07, B-016.
#[test]
fn schemas_written_by_hand_are_brought_into_form() {
    let table = [
        // Nothing, in all its spellings.
        (json!({}), json!({ "type": "object", "properties": {} })),
        (json!(true), json!({ "type": "object", "properties": {} })),
        (
            json!({ "type": "object", "properties": null, "required": null }),
            json!({ "type": "object", "properties": {} }),
        ),
        // Draft-07.
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                    "p": { "$ref": "#/definitions/Pair" },
                    "q": { "allOf": [{ "$ref": "#/definitions/Pair" }], "description": "Q" },
                },
                "definitions": {
                    "Pair": {
                        "type": "array",
                        "items": [{ "type": "integer" }, true],
                        "additionalItems": false,
                    },
                },
            }),
            json!({
                "type": "object",
                "properties": {
                    "p": {
                        "type": "array",
                        "prefixItems": [{ "type": "integer" }, {}],
                        "items": { "not": {} },
                    },
                    "q": {
                        "description": "Q",
                        "type": "array",
                        "prefixItems": [{ "type": "integer" }, {}],
                        "items": { "not": {} },
                    },
                },
            }),
        ),
        // Types in an array, with what concerns each.
        (
            json!({
                "type": "object",
                "properties": {
                    "id": { "type": ["string", "integer"], "minLength": 1, "title": "Id" },
                    "word": { "type": ["string", "null"], "enum": ["a", "b", null] },
                    "never": { "type": ["string", "null"], "enum": ["a"] },
                    "list": { "type": ["array", "null"] },
                    "lists": { "items": { "type": ["array", "string"] } },
                    "tree": {
                        "type": ["object", "null", "integer"],
                        "properties": { "leaf": { "type": ["string", "null"] } },
                        "maximum": 9,
                        "not": { "required": ["a"] },
                        "anyOf": [{ "minProperties": 1 }, { "minimum": 1 }],
                    },
                },
                "required": ["word", "never"],
            }),
            json!({
                "type": "object",
                "properties": {
                    "id": {
                        "title": "Id",
                        "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "integer" }],
                    },
                    "word": {
                        "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }],
                    },
                    "never": { "type": "string", "enum": ["a"] },
                    "list": { "type": "array", "items": {} },
                    "tree": {
                        "anyOf": [
                            {
                                "type": "object",
                                "properties": { "leaf": { "type": "string" } },
                            },
                            { "type": "integer", "maximum": 9 },
                        ],
                        "not": { "required": ["a"] },
                        "allOf": [{ "anyOf": [{ "minProperties": 1 }, { "minimum": 1 }] }],
                    },
                    "lists": {
                        "items": { "anyOf": [{ "type": "array", "items": {} }, { "type": "string" }] },
                    },
                },
                "required": ["word", "never"],
            }),
        ),
        // A reference that adds a restriction.
        (
            json!({
                "type": "object",
                "properties": { "n": { "$ref": "#/$defs/N", "minimum": 5, "description": "N" } },
                "$defs": { "N": { "type": "integer", "minimum": 0, "description": "any" } },
            }),
            json!({
                "type": "object",
                "properties": {
                    "n": {
                        "allOf": [
                            { "type": "integer", "minimum": 0, "description": "N" },
                            { "minimum": 5 },
                        ],
                    },
                },
            }),
        ),
        // Restrictions that mean something else together.
        (
            json!({
                "type": "object",
                "properties": {
                    "o": {
                        "allOf": [{ "properties": { "a": {} } }],
                        "additionalProperties": false,
                    },
                },
            }),
            json!({
                "type": "object",
                "properties": {
                    "o": {
                        "allOf": [{ "properties": { "a": {} } }],
                        "additionalProperties": false,
                    },
                },
            }),
        ),
        // A root that is a reference, and contains itself.
        (
            json!({
                "$ref": "#/$defs/A%20%3CB%3E",
                "$defs": {
                    "A <B>": {
                        "type": "object",
                        "properties": { "more": { "$ref": "#/$defs/A%20%3CB%3E" } },
                    },
                },
            }),
            json!({
                "type": "object",
                "properties": { "more": { "$ref": "#/$defs/A__B_" } },
                "$defs": {
                    "A__B_": {
                        "type": "object",
                        "properties": { "more": { "$ref": "#/$defs/A__B_" } },
                    },
                },
            }),
        ),
        // Two definitions that contain themselves, of names that look alike.
        (
            json!({
                "type": "object",
                "properties": { "a": { "$ref": "#/$defs/A B" }, "b": { "$ref": "#/$defs/A-B" } },
                "$defs": {
                    "A B": { "items": { "$ref": "#/$defs/A B" } },
                    "A-B": { "not": { "$ref": "#/$defs/A-B" } },
                },
            }),
            json!({
                "type": "object",
                "properties": {
                    "a": { "$ref": "#/$defs/A_B" },
                    "b": { "$ref": "#/$defs/A_B_2" },
                },
                "$defs": {
                    "A_B": { "items": { "$ref": "#/$defs/A_B" } },
                    "A_B_2": { "not": { "$ref": "#/$defs/A_B_2" } },
                },
            }),
        ),
        // Words and numbers.
        (
            json!({
                "type": "object",
                "required": [],
                "properties": {
                    "size": { "type": "integer", "format": "uint32" },
                    "more": { "type": "integer", "format": "uint8", "exclusiveMinimum": 0 },
                    "when": { "type": "string", "format": "date-time" },
                    "word": { "enum": ["a", null], "default": null },
                    "one": { "type": ["string"], "anyOf": [{ "minLength": 1 }, {}] },
                    "none": { "type": ["string", "null"], "enum": [1], "title": "None" },
                    "all": { "type": "string", "allOf": [{ "oneOf": [{ "const": "a" }] }] },
                    "other": { "type": "integer", "oneOf": [{ "const": "a" }] },
                    "both": { "enum": ["a"], "oneOf": [{ "const": "a" }, { "const": "b" }] },
                },
            }),
            json!({
                "type": "object",
                "properties": {
                    "size": { "type": "integer", "minimum": 0 },
                    "more": { "type": "integer", "exclusiveMinimum": 0 },
                    "when": { "type": "string", "format": "date-time" },
                    "word": { "enum": ["a"] },
                    "one": { "type": "string", "anyOf": [{ "minLength": 1 }, {}] },
                    "none": { "title": "None", "not": {} },
                    "all": { "type": "string", "enum": ["a"] },
                    "other": {
                        "type": "integer",
                        "oneOf": [{ "type": "string", "enum": ["a"] }],
                    },
                    "both": {
                        "enum": ["a"],
                        "oneOf": [
                            { "type": "string", "enum": ["a"] },
                            { "type": "string", "enum": ["b"] },
                        ],
                    },
                },
            }),
        ),
        // Members that are named like keywords.
        (
            json!({
                "type": "object",
                "properties": { "type": true, "$ref": { "type": "string" }, "items": {} },
            }),
            json!({
                "type": "object",
                "properties": { "type": {}, "$ref": { "type": "string" }, "items": {} },
            }),
        ),
        // What nobody here knows is kept.
        (
            json!({
                "type": "object",
                "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
                "if": true,
            }),
            json!({
                "type": "object",
                "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
                "if": {},
            }),
        ),
    ];
    for (by_hand, expected) in table {
        let schema: Value = conservative(by_hand).unwrap().decode().unwrap();
        assert_eq!(schema, expected);
        assert_conservative_input(&schema);
    }
}

/// Covers JS02, JS03, JS05.
#[test]
fn a_schema_without_a_form_is_refused_with_the_place() {
    let table = [
        (
            json!({ "properties": { "a": { "items": { "type": "unknown" } } } }),
            "JSON has no type \"unknown\" (at properties.a.items)",
        ),
        (
            json!({ "properties": { "a": { "$ref": "https://example.com/a.json" } } }),
            "\"https://example.com/a.json\" refers to something outside of this schema \
             (at properties.a.$ref)",
        ),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/A" } } }),
            "there is nothing at \"#/$defs/A\" (at properties.a.$ref)",
        ),
        (
            json!({ "properties": { "a": { "$dynamicRef": "#a" } } }),
            "only `$ref` can refer to another schema (at properties.a.$dynamicRef)",
        ),
        (
            json!({ "properties": [] }),
            "this is an object of schemas (at properties)",
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-04/schema#" }),
            "schemas of \"http://json-schema.org/draft-04/schema#\" are not understood (at $schema)",
        ),
        (json!(1), "a schema is an object (at the root)"),
    ];
    for (schema, expected) in table {
        assert_eq!(conservative(schema).unwrap_err().to_string(), expected);
    }
}

/// Covers JS06, B-027.
#[test]
fn a_deep_schema_is_refused() {
    let deep = |levels: usize| {
        let inside = (1..levels).fold(json!({}), |inside, _| json!({ "items": inside }));
        json!({ "properties": { "a": inside } })
    };
    conservative(deep(63)).unwrap();
    let error = conservative(deep(64)).unwrap_err();
    assert_eq!(error.reason(), "schemas are more than 64 levels deep");
    conservative(deep(400)).unwrap_err();
}

/// Covers JS06.
#[test]
fn a_schema_that_multiplies_is_refused() {
    let mut definitions = json!({ "0": { "type": "string" } });
    for n in 1..30 {
        let before = json!({ "$ref": format!("#/$defs/{}", n - 1) });
        definitions[n.to_string()] = json!({ "properties": { "a": before, "b": before } });
    }
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/29" } }, "$defs": definitions });
    let error = conservative(schema).unwrap_err();
    assert_eq!(error.reason(), "the schema has more than 10000 parts");
}
