//! A tool in one line, as a function of its arguments.

use mcp_client::RawJson;
use mcp_client::types::Tool;

use crate::json::Members;

/// What a model is told of a tool's arguments and result, without what they mean.
pub(crate) fn signature(tool: &Tool) -> String {
    let mut text = format!("{}({})", tool.name, fields(&tool.input_schema));
    if let Some(schema) = &tool.output_schema {
        text += &match Members::of(schema).get("properties") {
            Some(_) => format!(" -> {{{}}}", fields(schema)),
            None => format!(" -> {}", kind(schema)),
        };
    }
    let annotations = tool.annotations.as_ref();
    let says = |hint: Option<bool>| hint == Some(true);
    if annotations.is_some_and(|known| says(known.read_only_hint)) {
        text += " [read-only]";
    } else if annotations.is_some_and(|known| says(known.destructive_hint)) {
        text += " [destructive]";
    }
    text
}

/// The members of an object; `?` is behind those that need not be there.
fn fields(schema: &RawJson) -> String {
    let schema = Members::of(schema);
    let required: Vec<String> = schema
        .get("required")
        .and_then(|names| names.decode().ok())
        .unwrap_or_default();
    let properties = schema.get("properties").map(Members::of);
    let fields = properties.unwrap_or_default().0.into_iter();
    let fields = fields.map(|(name, schema)| {
        let mark = if required.contains(&name) { "" } else { "?" };
        let default = match Members::of(&schema).get("default") {
            Some(value) if !value.is_null() => format!(" = {value}"),
            _ => String::new(),
        };
        format!("{name}{mark}: {}{default}", kind(&schema))
    });
    fields.collect::<Vec<_>>().join(", ")
}

/// What a value may be, as far as it can be said in a word.
fn kind(schema: &RawJson) -> String {
    let members = Members::of(schema);
    let several = |name: &str| members.get(name)?.decode::<Vec<RawJson>>().ok();
    if let Some(values) = several("enum") {
        return joined(values.iter().map(RawJson::to_string));
    }
    if let Some(value) = members.get("const") {
        return value.to_string();
    }
    if let Some(kinds) = several("anyOf").or_else(|| several("oneOf")) {
        return joined(kinds.iter().map(kind));
    }
    if let Some(name) = members
        .get("$ref")
        .and_then(|path| path.decode::<String>().ok())
    {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let Some(word) = members.get("type") else {
        return "any".to_owned();
    };
    if let Ok(words) = word.decode::<Vec<String>>() {
        return joined(words.into_iter());
    }
    let word = word.decode::<String>().unwrap_or_default();
    match (word.as_str(), members.get("items")) {
        ("array", Some(items)) => match kind(items) {
            items if items.contains('|') => format!("({items})[]"),
            items => format!("{items}[]"),
        },
        _ => word,
    }
}

fn joined(kinds: impl Iterator<Item = String>) -> String {
    kinds.collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use mcp_client::types::ToolAnnotations;

    use super::*;

    fn tool(schema: &str) -> Tool {
        let schema = RawJson::parse(schema.to_owned()).expect("it is JSON");
        Tool::new("t", schema)
    }

    #[test]
    fn arguments_stand_in_the_order_of_the_schema() {
        let tool = tool(
            r##"{ "type": "object", "required": ["z", "a"], "properties": {
                "z": { "type": "string" },
                "a": { "type": ["number", "null"] },
                "kind": { "enum": ["x", 1], "default": "x" },
                "many": { "type": "array", "items": { "anyOf": [{ "type": "integer" }, { "const": "all" }] } },
                "where": { "$ref": "#/$defs/Address" },
                "list": { "type": "array", "items": { "type": "boolean" } },
                "whatever": true
            } }"##,
        );
        assert_eq!(
            signature(&tool),
            "t(z: string, a: number|null, kind?: \"x\"|1 = \"x\", many?: (integer|\"all\")[], \
             where?: Address, list?: boolean[], whatever?: any)"
        );
    }

    #[test]
    fn results_and_hints_follow() {
        let output = r#"{ "type": "object", "properties": { "sum": { "type": "number" } } }"#;
        let output = RawJson::parse(output).expect("it is JSON");
        let tool = tool(r#"{ "type": "object" }"#)
            .output_schema(output)
            .annotations(ToolAnnotations::new().read_only_hint(true));
        assert_eq!(signature(&tool), "t() -> {sum?: number} [read-only]");
    }

    #[test]
    fn a_schema_that_is_none_has_no_fields() {
        assert_eq!(signature(&tool("[]")), "t()");
    }
}
