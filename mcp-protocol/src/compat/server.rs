//! What a server offers, fitted.

use super::{fit_annotations, fit_content, keep};
use crate::RawJson;
use crate::types::{CallToolResult, Prompt, Resource, ResourceTemplate, Tool};
use crate::version::ProtocolVersion::{self, *};
use crate::wire::{Extra, wire};

/// Fits a tool.
///
/// Up to 2025-11-25 the schemas are those of objects, and those of their properties are
/// objects. An output schema that may be another's is that of an object with the member
/// `result`, as [`fit_call_tool_result`] makes one.
pub fn fit_tool(tool: &mut Tool, version: ProtocolVersion) {
    keep(&mut tool.title, version >= V2025_06_18);
    keep(&mut tool.annotations, version >= V2025_03_26);
    keep(&mut tool.output_schema, version >= V2025_06_18);
    keep(&mut tool.meta, version >= V2025_06_18);
    keep(&mut tool.icons, version >= V2025_11_25);
    keep(&mut tool.execution, version == V2025_11_25);
    if version <= V2025_11_25 {
        spell_out_booleans(&mut tool.input_schema);
        if let Some(schema) = &mut tool.output_schema {
            make_object_schema(schema);
            spell_out_booleans(schema);
        }
    }
}

/// Fits what a tool answered.
///
/// Before 2025-06-18 there is no structured content. Up to 2025-11-25 it is an object: any
/// other value becomes its member `result`.
pub fn fit_call_tool_result(result: &mut CallToolResult, version: ProtocolVersion) {
    keep(&mut result.structured_content, version >= V2025_06_18);
    if let Some(value) = &mut result.structured_content {
        fit_structured_content(value, version);
    }
    if version < V2025_11_25 {
        for content in &mut result.content {
            fit_content(content, version);
        }
    }
}

/// Fits a prompt.
pub fn fit_prompt(prompt: &mut Prompt, version: ProtocolVersion) {
    keep(&mut prompt.title, version >= V2025_06_18);
    keep(&mut prompt.meta, version >= V2025_06_18);
    keep(&mut prompt.icons, version >= V2025_11_25);
    for argument in prompt.arguments.iter_mut().flatten() {
        keep(&mut argument.title, version >= V2025_06_18);
    }
}

/// Fits a resource.
pub fn fit_resource(resource: &mut Resource, version: ProtocolVersion) {
    keep(&mut resource.title, version >= V2025_06_18);
    keep(&mut resource.meta, version >= V2025_06_18);
    keep(&mut resource.icons, version >= V2025_11_25);
    fit_annotations(&mut resource.annotations, version);
}

/// Fits a template of resources.
pub fn fit_resource_template(template: &mut ResourceTemplate, version: ProtocolVersion) {
    keep(&mut template.title, version >= V2025_06_18);
    keep(&mut template.meta, version >= V2025_06_18);
    keep(&mut template.icons, version >= V2025_11_25);
    fit_annotations(&mut template.annotations, version);
}

pub(super) fn fit_structured_content(value: &mut RawJson, version: ProtocolVersion) {
    if version <= V2025_11_25 && !value.is_object() {
        *value = object([("result", value.clone())]);
    }
}

wire! {
    /// A JSON Schema, as far as it matters here.
    open struct Schema {
        optional "type" => kind: RawJson,
        optional "properties" => properties: RawJson,
        optional "$schema" => dialect: RawJson,
        optional "$defs" => defs: RawJson,
        optional "definitions" => definitions: RawJson,
    }
}

wire! {
    open struct Object {}
}

/// Makes any schema one that takes an object for each value that the schema takes: the value
/// itself if it is an object, else an object with the value as `result`.
fn make_object_schema(schema: &mut RawJson) {
    let Ok(mut root) = schema.decode::<Schema>() else {
        // `true` or `false`, which are schemas as well.
        *schema = wrapper(schema.clone(), true);
        return;
    };
    let kind = root.kind.as_ref().map(RawJson::as_str);
    if kind == Some(r#""object""#) {
        return;
    }
    // A `type` is a word or an array of words.
    let takes_objects = kind.is_none_or(|kind| kind.contains(r#""object""#));
    // References into these are counted from the root.
    let hoisted = [
        ("$schema", root.dialect.take()),
        ("$defs", root.defs.take()),
        ("definitions", root.definitions.take()),
    ];
    let inner = encode(&root);
    let mut outer: Object = decode(&wrapper(inner, takes_objects));
    for (name, value) in hoisted {
        if let Some(value) = value {
            outer.extra.insert(name, value);
        }
    }
    *schema = encode(&outer);
}

fn wrapper(schema: RawJson, takes_objects: bool) -> RawJson {
    let wrapped = [
        ("properties", object([("result", schema.clone())])),
        ("required", json(r#"["result"]"#)),
    ];
    let kind = ("type", json(r#""object""#));
    if takes_objects {
        let either = [schema, object(wrapped)];
        object([kind, ("anyOf", encode(&either))])
    } else {
        let [properties, required] = wrapped;
        object([kind, properties, required])
    }
}

/// Gives properties whose schema is `true` or `false` one that is an object.
fn spell_out_booleans(schema: &mut RawJson) {
    let Ok(mut root) = schema.decode::<Schema>() else {
        return;
    };
    let Some(Ok(properties)) = root.properties.as_ref().map(RawJson::decode::<Object>) else {
        return;
    };
    let mut spelled = Extra::default();
    let mut changed = false;
    for (name, property) in properties.extra.iter() {
        let property = match property.as_str() {
            "true" => json("{}"),
            "false" => json(r#"{"not":{}}"#),
            _ => {
                spelled.push(name, property.clone());
                continue;
            }
        };
        changed = true;
        spelled.push(name, property);
    }
    if changed {
        root.properties = Some(encode(&spelled));
        *schema = encode(&root);
    }
}

fn object<const LEN: usize>(members: [(&str, RawJson); LEN]) -> RawJson {
    let mut object = Extra::default();
    for (name, value) in members {
        object.push(name, value);
    }
    encode(&object)
}

fn json(text: &'static str) -> RawJson {
    RawJson::parse(text).expect("it is written here")
}

fn encode(value: &impl serde::Serialize) -> RawJson {
    RawJson::encode(value).expect("what was JSON encodes as JSON")
}

fn decode<T: serde::de::DeserializeOwned>(value: &RawJson) -> T {
    value.decode().expect("it was made here")
}
