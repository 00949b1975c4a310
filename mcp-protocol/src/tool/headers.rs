//! Arguments that clients repeat in headers, because the schema of their tool wants it.

use serde_json::Value;

use crate::RawJson;

/// An argument that every client over HTTP repeats in a header, for whoever is on the way.
///
/// Spec: [custom headers](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters).
/// Since 2026-07-28.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderArgument {
    header: String,
    path: Vec<String>,
}

impl HeaderArgument {
    /// What stands behind `Mcp-Param-` in the name of the header.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The argument in a call, if it is there.
    #[must_use]
    pub fn find<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        let mut path = self.path.iter();
        let found = path.try_fold(arguments, |value, name| value.get(name));
        found.filter(|value| !value.is_null())
    }
}

/// Why a tool cannot be called over HTTP: what is wrong in its schema, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why} (at {path})")]
pub struct HeaderError {
    /// Where, as in `properties.region`; empty for the root.
    pub path: String,
    /// What is wrong.
    pub why: &'static str,
}

/// The arguments that an input schema wants repeated by `x-mcp-header`.
///
/// ```
/// use mcp_protocol::RawJson;
/// use mcp_protocol::tool::header_arguments;
/// use serde_json::json;
///
/// let region = json!({ "type": "string", "x-mcp-header": "Region" });
/// let schema = json!({ "type": "object", "properties": { "region": region } });
/// let found = header_arguments(&schema.into())?;
/// assert_eq!(found[0].header(), "Region");
/// assert_eq!(found[0].find(&json!({ "region": "eu" })), Some(&json!("eu")));
/// # Ok::<(), mcp_protocol::tool::HeaderError>(())
/// ```
///
/// # Errors
///
/// When one of them cannot be, or there are more than 64: clients leave such a tool out.
pub fn header_arguments(schema: &RawJson) -> Result<Vec<HeaderArgument>, HeaderError> {
    // Few schemas name a header, so few are read.
    if !schema.as_str().contains(KEYWORD) {
        return Ok(Vec::new());
    }
    let schema = schema.to_value().unwrap_or_default();
    let mut walk = Walk::default();
    let walked = walk.schema(&schema, true);
    let path = walk.path.join(".");
    walked
        .map(|()| walk.found)
        .map_err(|why| HeaderError { path, why })
}

const KEYWORD: &str = "x-mcp-header";

/// Headers of one tool, and letters in the name of one. Servers take few headers, and what
/// keeps headers has bounds of its own, beyond which it panics.
const MOST: usize = 64;
const LONGEST: usize = 256;

#[derive(Default)]
struct Walk<'a> {
    path: Vec<&'a str>,
    found: Vec<HeaderArgument>,
}

impl<'a> Walk<'a> {
    /// Looks through a schema. Only through `properties` alone is it one of an argument.
    fn schema(&mut self, schema: &'a Value, is_argument: bool) -> Result<(), &'static str> {
        if let Value::Array(schemas) = schema {
            return schemas.iter().try_for_each(|one| self.schema(one, false));
        }
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            if keyword == KEYWORD {
                self.argument(value, schema.get("type"), is_argument)?;
                continue;
            }
            self.path.push(keyword);
            match &**keyword {
                // Values, which no schema is among.
                "const" | "default" | "enum" | "examples" => {}
                // Here the keys are names.
                "properties" | "patternProperties" | "$defs" | "definitions"
                | "dependentSchemas" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        self.path.push(name);
                        self.schema(schema, is_argument && keyword == "properties")?;
                        self.path.pop();
                    }
                }
                _ => self.schema(value, false)?,
            }
            self.path.pop();
        }
        Ok(())
    }

    fn argument(
        &mut self,
        header: &Value,
        kind: Option<&Value>,
        is_argument: bool,
    ) -> Result<(), &'static str> {
        if !is_argument || self.path.is_empty() {
            return Err("a header is named where no argument can be found");
        }
        let Some(header) = header.as_str().filter(|header| is_token(header)) else {
            return Err("a header has no usable name");
        };
        if !kind.is_some_and(is_primitive) {
            return Err("an argument with a header is no string, integer or boolean");
        }
        if self.found.len() == MOST {
            return Err("it is an argument too many with a header");
        }
        let mut found = self.found.iter();
        if found.any(|other| other.header.eq_ignore_ascii_case(header)) {
            return Err("two arguments have the same header");
        }
        // Every other member of the path is `properties`.
        let path = self.path.iter().skip(1).step_by(2);
        self.found.push(HeaderArgument {
            header: header.to_owned(),
            path: path.map(|&name| name.to_owned()).collect(),
        });
        Ok(())
    }
}

/// Whether it may stand in the name of a header.
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(fits)
}

fn is_primitive(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds
            .iter()
            .all(|kind| kind == "null" || is_primitive(kind)),
        kind => matches!(kind.as_str(), Some("string" | "integer" | "boolean")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(properties: Value) -> Result<Vec<HeaderArgument>, HeaderError> {
        header_arguments(&json!({ "type": "object", "properties": properties }).into())
    }

    /// Covers H14.
    #[test]
    fn arguments_with_a_header_are_found_at_any_depth() {
        let found = of(json!({
            "region": { "type": "string", "x-mcp-header": "Region" },
            "inner": { "type": "object", "properties": {
                "count": { "type": ["integer", "null"], "x-mcp-header": "Count" } } },
            "x-mcp-header": { "type": "string" },
            "data": { "type": "object", "default": { "x-mcp-header": "A" } },
        }));
        let found = found.expect("all can be");
        let arguments = json!({ "region": null, "inner": { "count": 7 }, "x-mcp-header": "a" });
        let found = found
            .iter()
            .map(|argument| (argument.header(), argument.find(&arguments)));
        let found: Vec<_> = found.collect();
        assert_eq!(found, [("Count", Some(&json!(7))), ("Region", None)]);
    }

    /// Covers H14.
    #[test]
    fn what_cannot_be_a_header_is_refused_with_its_place() {
        let named = |name: Value| json!({ "a": { "type": "string", "x-mcp-header": name } });
        let names = ["", "My Region", "Region:Primary", "Région", "Region\t1"];
        for name in names.map(Value::from).into_iter().chain([json!(7)]) {
            let error = of(named(name.clone())).expect_err("it has no name");
            assert_eq!(error.path, "properties.a", "{name}");
        }
        for kind in ["object", "array", "null", "number"] {
            let property = json!({ "a": { "type": kind, "x-mcp-header": "A" } });
            assert!(of(property).is_err(), "{kind}");
        }
        assert!(of(json!({ "a": { "x-mcp-header": "A" } })).is_err());
        let twice = json!({
            "a": { "type": "string", "x-mcp-header": "MyField" },
            "b": { "type": "string", "x-mcp-header": "myfield" },
        });
        let error = of(twice).expect_err("one header is for one argument");
        assert_eq!(
            error.to_string(),
            "two arguments have the same header (at properties.b)"
        );
        let string = &named(json!("A"))["a"];
        for (unreachable, path) in [
            (
                json!({ "type": "array", "items": string }),
                "properties.a.items",
            ),
            (json!({ "anyOf": [string] }), "properties.a.anyOf"),
            (
                json!({ "items": { "properties": { "b": string } } }),
                "properties.a.items.properties.b",
            ),
        ] {
            let error = of(json!({ "a": unreachable })).expect_err("it is no argument");
            assert_eq!(error.path, path);
        }
        assert!(header_arguments(&string.clone().into()).is_err());
    }

    #[test]
    fn neither_long_names_nor_many_headers_are_repeated() {
        let string = |header: &str| json!({ "type": "string", "x-mcp-header": header });
        let longest = "a".repeat(LONGEST);
        assert!(of(json!({ "a": string(&longest) })).is_ok());
        let error = of(json!({ "a": string(&(longest + "a")) }));
        assert_eq!(error.expect_err("too long").path, "properties.a");
        let many = |count: usize| {
            let names = (0..count).map(|n| format!("n{n}"));
            names.map(|name| (name.clone(), string(&name))).collect()
        };
        assert!(of(Value::Object(many(MOST))).is_ok());
        let error = of(Value::Object(many(MOST + 1)));
        assert!(error.is_err_and(|error| error.why.contains("too many")));
    }
}
