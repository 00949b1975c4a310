//! What a server offers, fitted.

use std::borrow::Cow;
use std::iter;

use super::{each, fit_content};
use crate::RawJson;
use crate::jsonrpc::Members;
use crate::types::{CallToolResult, Tool};
use crate::version::{Era, ProtocolVersion};
use crate::wire::{Extra, wire};

/// Fits a tool.
///
/// Up to 2025-11-25 the schemas are those of objects, and those of their properties are
/// objects. An output schema that may be another's is that of an object with the member
/// `result`, as [`fit_call_tool_result`] makes one.
pub fn fit_tool(tool: &mut Tool, version: ProtocolVersion) {
    if version.era() == Era::Legacy {
        spell_out_booleans(&mut tool.input_schema);
        if let Some(schema) = &mut tool.output_schema {
            make_object_schema(schema);
            spell_out_booleans(schema);
        }
    }
}

/// Fits what a tool answered.
///
/// Up to 2025-11-25 structured content is an object: any other value becomes its member
/// `result`.
pub fn fit_call_tool_result(result: &mut CallToolResult, version: ProtocolVersion) {
    if let Some(value) = &mut result.structured_content {
        fit_structured_content(value, version);
    }
    each(&mut result.content, version, fit_content);
}

pub(super) fn fit_structured_content(value: &mut RawJson, version: ProtocolVersion) {
    if version.era() == Era::Legacy && !value.is_object() {
        *value = encode(&object([("result", value.clone())]));
    }
}

wire! {
    /// A JSON Schema, as far as it matters here.
    open struct Schema {
        optional "type" => kind: RawJson,
        optional "anyOf" => any_of: Vec<RawJson>,
        optional "oneOf" => one_of: Vec<RawJson>,
        optional "properties" => properties: RawJson,
        optional "$schema" => dialect: RawJson,
        optional "$defs" => defs: RawJson,
        optional "definitions" => definitions: RawJson,
    }
}

/// Makes any schema one that takes an object for each value that the schema takes: the value
/// itself if it is an object, else an object with the value as `result`.
fn make_object_schema(schema: &mut RawJson) {
    let Ok(mut root) = schema.decode::<Schema>() else {
        // `true` or `false`, which are schemas as well.
        *schema = encode(&wrapper(schema.clone(), true));
        return;
    };
    if root
        .kind
        .as_ref()
        .is_some_and(|kind| kind.as_str() == r#""object""#)
    {
        return;
    }
    let takes_objects = may_be_object(&root, 8);
    // References into these are counted from the root.
    let hoisted = [
        ("$schema", root.dialect.take()),
        ("$defs", root.defs.take()),
        ("definitions", root.definitions.take()),
    ];
    let mut outer = wrapper(encode(&root), takes_objects);
    for (name, value) in hoisted {
        if let Some(value) = value {
            outer.insert(name, value);
        }
    }
    *schema = encode(&outer);
}

/// Whether a schema may take an object, as far as can be seen from its upper levels.
fn may_be_object(schema: &Schema, levels: usize) -> bool {
    // A `type` is a word or an array of words.
    let kind = schema.kind.as_ref();
    let one_may = |choice: &RawJson| match choice.decode::<Schema>() {
        Ok(choice) => levels == 0 || may_be_object(&choice, levels - 1),
        Err(_) => choice.as_str() != "false",
    };
    let any_may = |choices: &Vec<RawJson>| choices.iter().any(one_may);
    kind.is_none_or(|kind| kind.as_str().contains(r#""object""#))
        && schema.any_of.as_ref().is_none_or(any_may)
        && schema.one_of.as_ref().is_none_or(any_may)
}

fn wrapper(schema: RawJson, takes_objects: bool) -> Extra {
    let wrapped = [
        ("properties", encode(&object([("result", schema.clone())]))),
        ("required", json(r#"["result"]"#)),
    ];
    let kind = ("type", json(r#""object""#));
    if takes_objects {
        let either = [schema, encode(&object(wrapped))];
        object([kind, ("anyOf", encode(&either))])
    } else {
        let [properties, required] = wrapped;
        object([kind, properties, required])
    }
}

/// Hardly any schema has one, and lists are asked for often.
fn has_boolean_property(schema: &RawJson) -> bool {
    let text = schema.as_str();
    if !text.contains("true") && !text.contains("false") {
        return false;
    }
    let properties = members(text.as_bytes()).filter(|(name, _)| **name == *b"properties");
    properties
        .flat_map(|(_, properties)| members(properties))
        .any(|(_, property)| matches!(property, b"true" | b"false"))
}

/// The members of a value that is well-formed: none, if it is no object.
fn members(value: &[u8]) -> impl Iterator<Item = (Cow<'_, [u8]>, &[u8])> {
    let mut members = value.starts_with(b"{").then(|| Members::of(value));
    iter::from_fn(move || members.as_mut()?.next_member().ok()?)
}

/// Gives properties whose schema is `true` or `false` one that is an object.
fn spell_out_booleans(schema: &mut RawJson) {
    if !has_boolean_property(schema) {
        return;
    }
    let Ok(mut root) = schema.decode::<Schema>() else {
        return;
    };
    let Some(Ok(properties)) = root.properties.as_ref().map(RawJson::decode::<Extra>) else {
        return;
    };
    let mut spelled = Extra::default();
    for (name, property) in properties.iter() {
        let property = match property.as_str() {
            "true" => json("{}"),
            "false" => json(r#"{"not":{}}"#),
            _ => property.clone(),
        };
        spelled.push(name, property);
    }
    root.properties = Some(encode(&spelled));
    *schema = encode(&root);
}

fn object<const LEN: usize>(members: [(&str, RawJson); LEN]) -> Extra {
    let mut object = Extra::default();
    for (name, value) in members {
        object.push(name, value);
    }
    object
}

fn json(text: &'static str) -> RawJson {
    RawJson::parse(text).expect("it is written here")
}

fn encode(value: &impl serde::Serialize) -> RawJson {
    RawJson::encode(value).expect("what was JSON encodes as JSON")
}
