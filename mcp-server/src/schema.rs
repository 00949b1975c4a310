//! One conservative form of JSON Schema for everything that a tool shows.
//!
//! Hosts hand the schemas of tools to model APIs, and each of those understands another part of
//! JSON Schema; one property that is not understood can cost a server its whole list of tools.
//! So every schema, derived or written by hand, is brought into the form that all of them take:
//!
//! | rule | instead of |
//! |---|---|
//! | the root of an input is `{"type": "object", "properties": …}` | `null`, an enum, any `oneOf` `anyOf` `allOf` |
//! | `{}` and `{"not": {}}` | the boolean schemas `true` and `false` |
//! | one `type`, or `anyOf` | an array of types |
//! | an input that may be left out does not allow `null` as well | `Option<T>` as "`T` or `null`" |
//! | a definition stands where it is used; one that contains itself stays in `$defs` | `$ref` to everything |
//! | `{"type": "string", "enum": […]}`, the documentation of each word in the description | `oneOf` of `const` |
//! | `array` has `items` | `array` alone |
//! | `minimum` | `format` `uint32`, `float` and the like |
//! | 2020-12 words, and no `$schema` | `definitions`, `items` as an array, `additionalItems` |
//!
//! An output may have any root, and says `null` where it can be `null`.
//!
//! [`Server::schemas_as_written`](crate::Server::schemas_as_written) turns this off.
//!
//! What has no such form is refused with a [`SchemaError`]: a schema that is deeper than 64
//! levels or has more than 10,000 parts, a reference to another document, a type that JSON
//! does not have.

mod forms;
mod walk;

use mcp_protocol::RawJson;
pub use mcp_protocol::tool::{decode_arguments, decode_closed_arguments};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use self::walk::{Side, normalise};

/// Why a schema has no conservative form, and where.
///
/// Met when a tool is registered; it is the server that is to be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (at {})", self.place())]
pub struct SchemaError {
    path: String,
    reason: String,
}

impl SchemaError {
    pub(crate) fn new(path: &[&str], reason: impl Into<String>) -> Self {
        Self {
            path: path.join("."),
            reason: reason.into(),
        }
    }

    /// Where in the schema, as in `properties.limit.items`; empty for the root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    fn place(&self) -> &str {
        match self.path.as_str() {
            "" => "the root",
            path => path,
        }
    }
}

/// The schema of arguments of type `T`, to be read with [`decode_arguments`].
///
/// A type that has no such schema, above all an enum (arguments have names), gives the schema
/// that it has, with which no server can be [built](crate::Server::build).
#[must_use]
pub fn input_schema<T: JsonSchema>() -> RawJson {
    arguments::<T>(|schema| schema)
}

/// The schema of arguments of type `T` that allows no member which the type does not have, to
/// be read with [`decode_closed_arguments`].
///
/// A type whose schema says itself what other members it takes keeps that. One that has no
/// such schema is as in [`input_schema`].
#[must_use]
pub fn closed_input_schema<T: JsonSchema>() -> RawJson {
    arguments::<T>(close)
}

/// The schema of an output of type `T`.
///
/// A type that has no conservative schema is as in [`input_schema`].
#[must_use]
pub fn output_schema<T: JsonSchema>() -> RawJson {
    let schema = generated::<T>(SchemaSettings::draft2020_12().for_serialize());
    match normalise(&schema, Side::Output) {
        Ok(schema) => raw(schema),
        Err(_) => schema.into(),
    }
}

/// Brings an input schema that was written by hand into the conservative form.
///
/// A schema that is in it already comes back as it is.
///
/// ```
/// use mcp_server::schema::conservative;
/// use serde_json::json;
///
/// let schema = conservative(json!({
///     "type": "object",
///     "properties": { "tags": { "type": ["array", "null"] }, "extra": true },
/// }))?;
/// assert_eq!(
///     schema.as_str(),
///     r#"{"properties":{"extra":{},"tags":{"items":{},"type":"array"}},"type":"object"}"#,
/// );
/// # Ok::<(), mcp_server::schema::SchemaError>(())
/// ```
///
/// # Errors
///
/// When there is no such form.
pub fn conservative(schema: Value) -> Result<RawJson, SchemaError> {
    input(schema).map(raw)
}

/// Brings an output schema that was written by hand into the conservative form.
///
/// # Errors
///
/// When there is no such form.
pub fn conservative_output(schema: Value) -> Result<RawJson, SchemaError> {
    normalise(&schema, Side::Output).map(raw)
}

/// [`conservative`], of the input schema of a tool that is registered.
pub(crate) fn registered_input(schema: &RawJson) -> Result<RawJson, SchemaError> {
    conservative(read(schema)?)
}

/// [`conservative_output`], of the output schema of a tool that is registered.
pub(crate) fn registered_output(schema: &RawJson) -> Result<RawJson, SchemaError> {
    conservative_output(read(schema)?)
}

/// Refuses an input schema that is to be shown as it is, and that no client would take.
pub(crate) fn check_written_input(schema: &RawJson) -> Result<(), SchemaError> {
    match read(schema)?.get("type") {
        Some(name) if name == "object" => Ok(()),
        _ => Err(SchemaError::new(
            &[],
            "arguments are an object with named members: the root has to say \"type\": \"object\"",
        )),
    }
}

pub(crate) fn read(schema: &RawJson) -> Result<Value, SchemaError> {
    // It is well-formed, so only the depth can be more than the parser takes.
    schema
        .to_value()
        .map_err(|error| SchemaError::new(&[], error.to_string()))
}

fn generated<T: JsonSchema>(mut settings: SchemaSettings) -> Value {
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of a Rust type tells a caller nothing.
    schema.remove("title");
    schema.to_value()
}

fn raw(schema: Map<String, Value>) -> RawJson {
    Value::Object(schema).into()
}

fn arguments<T: JsonSchema>(finish: fn(Map<String, Value>) -> Map<String, Value>) -> RawJson {
    let generated = generated::<T>(SchemaSettings::draft2020_12().for_deserialize());
    let Ok(mut schema) = input(generated.clone()) else {
        return generated.into();
    };
    // The documentation of the type is the description of the tool.
    schema.remove("description");
    raw(finish(schema))
}

fn close(mut schema: Map<String, Value>) -> Map<String, Value> {
    const OTHERS: [&str; 3] = [
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
    ];
    if !OTHERS.iter().any(|keyword| schema.contains_key(*keyword)) {
        schema.insert("additionalProperties".into(), false.into());
    }
    schema
}

/// An input schema: the conservative form, with an object at its root.
fn input(schema: Value) -> Result<Map<String, Value>, SchemaError> {
    let mut root = normalise(&schema, Side::Input)?;
    let refuse = |reason: &str| Err(SchemaError::new(&[], reason));
    if ["oneOf", "anyOf"].iter().any(|any| root.contains_key(*any)) {
        return refuse(
            "arguments are one object with named members, and this is a choice between several, \
             as of an enum: make the choice a member of its own",
        );
    }
    if root.contains_key("allOf") {
        return refuse("arguments are one object with named members, not an `allOf` of several");
    }
    match root.get("type").and_then(Value::as_str) {
        // A unit struct is `null` to serde, and has no arguments.
        Some("object" | "null") => {}
        None if !root.contains_key("enum") && !root.contains_key("const") => {}
        _ => return refuse("arguments are an object with named members"),
    }
    root.insert("type".into(), "object".into());
    root.entry("properties")
        .or_insert_with(|| Map::new().into());
    Ok(root)
}
