//! Walks a schema, writing each part of it anew.

use std::collections::BTreeMap;

use mcp_protocol::RawJson;
use serde_json::{Map, Value};

use super::SchemaError;
use super::forms;

/// How deep schemas may stand in one another. Stops a schema that would exhaust the stack.
const MAX_DEPTH: usize = 64;

/// How many parts the result may have. Stops definitions that multiply when they are written
/// where they are used.
const MAX_PARTS: usize = 10_000;

/// What is in the URI of a dialect whose words are known. In older ones, the same words have other
/// values.
const DIALECTS: [&str; 4] = ["2020-12", "2019-09", "draft-07", "draft-06"];

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// The keywords below which there is one schema,
const ONE: [&str; 12] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
];

/// … a list of them,
const MANY: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// … or one for each of some names.
const NAMED: [&str; 3] = ["dependentSchemas", "patternProperties", "properties"];

/// Which way the values go that a schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// From the caller, who leaves out what it has no value for.
    Input,
    /// To the caller, who is told of each `null` that may come.
    Output,
}

/// Brings a schema into the conservative form, whatever its root is.
pub(super) fn normalise(root: &Value, side: Side) -> Result<Map<String, Value>, SchemaError> {
    // Whether a definition contains itself shows only on the way; then the walk starts over.
    // Each start knows one more definition, so there are as many at most.
    let mut recursive = BTreeMap::new();
    loop {
        let walk = Walk {
            root,
            side,
            recursive: &recursive,
            inside: vec![String::new()],
            path: Vec::new(),
            depth: 0,
            parts: 0,
        };
        match walk.document() {
            Ok(schema) => return Ok(schema),
            Err(Stop::Refused(error)) => return Err(error),
            Err(Stop::Recursive(pointer)) => {
                let name = name(&pointer, &recursive);
                recursive.insert(pointer, name);
            }
        }
    }
}

/// A name in `$defs` that no other definition has.
fn name(pointer: &str, taken: &BTreeMap<String, String>) -> String {
    let last = match pointer.rsplit('/').next() {
        Some("") | None => "Root",
        Some(last) => last,
    };
    // No letter that would have to be encoded in a reference.
    let plain = last.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
    let free = |name: &String| taken.values().all(|taken| taken != name);
    (1..)
        .map(|n| match n {
            1 => plain.clone(),
            _ => format!("{plain}_{n}"),
        })
        .find(free)
        .expect("there are more numbers than names")
}

/// Why a walk does not go on.
enum Stop {
    /// The schema has no conservative form.
    Refused(SchemaError),
    /// The definition at this pointer contains itself.
    Recursive(String),
}

struct Walk<'a> {
    root: &'a Value,
    side: Side,
    /// Definitions that contain themselves, by pointer, and their names in `$defs`.
    recursive: &'a BTreeMap<String, String>,
    /// Pointers of the definitions that are being written just now.
    inside: Vec<String>,
    path: Vec<&'a str>,
    depth: usize,
    parts: usize,
}

impl<'a> Walk<'a> {
    fn document(mut self) -> Result<Map<String, Value>, Stop> {
        let mut out = self.schema(self.root)?;
        if self.side == Side::Input {
            forms::remove_null(&mut out);
        }
        let mut definitions = Map::new();
        for (pointer, name) in self.recursive {
            self.inside = vec![pointer.clone()];
            self.path = vec!["$defs"];
            let definition = self.target(pointer)?;
            definitions.insert(name.clone(), self.schema(definition)?.into());
        }
        if !definitions.is_empty() {
            out.insert("$defs".into(), definitions.into());
        }
        Ok(out)
    }

    fn refuse<T>(&self, reason: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Refused(SchemaError::new(&self.path, reason)))
    }

    /// Does something one step further down.
    fn at<T>(
        &mut self,
        step: &'a str,
        walk: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.path.push(step);
        let result = walk(self)?;
        self.path.pop();
        Ok(result)
    }

    fn schema(&mut self, schema: &'a Value) -> Result<Map<String, Value>, Stop> {
        self.parts += 1;
        if self.depth == MAX_DEPTH {
            return self.refuse(format!("schemas are more than {MAX_DEPTH} levels deep"));
        }
        if self.parts > MAX_PARTS {
            return self.refuse(format!("the schema has more than {MAX_PARTS} parts"));
        }
        match schema {
            Value::Bool(true) => Ok(Map::new()),
            Value::Bool(false) => Ok(Map::from_iter([("not".into(), Map::new().into())])),
            Value::Object(schema) => {
                self.depth += 1;
                let out = self.object(schema)?;
                self.depth -= 1;
                Ok(out)
            }
            _ => self.refuse("a schema is an object"),
        }
    }

    fn object(&mut self, schema: &'a Map<String, Value>) -> Result<Map<String, Value>, Stop> {
        self.check_type(schema)?;
        let mut out = Map::new();
        for (keyword, value) in schema {
            if let Some(value) = self.at(keyword, |walk| walk.keyword(keyword, value))? {
                out.insert(keyword.clone(), value);
            }
        }
        forms::rename_items(&mut out);
        forms::replace_format(&mut out);
        forms::gather_words(&mut out);
        if self.side == Side::Input {
            forms::remove_null_from_optional(&mut out);
        }
        forms::split_types(&mut out);
        forms::flatten_all_of(&mut out);
        if let Some(reference) = schema.get("$ref") {
            out = self.at("$ref", |walk| walk.reference(reference, out))?;
        }
        forms::add_items(&mut out);
        Ok(out)
    }

    fn check_type(&self, schema: &Map<String, Value>) -> Result<(), Stop> {
        let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        match schema.get("type") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(names)) if !names.is_empty() && names.iter().all(known) => Ok(()),
            Some(name) if known(name) => Ok(()),
            Some(other) => {
                let other = RawJson::from(other.clone());
                self.refuse(format!("JSON has no type {other}"))
            }
        }
    }

    /// The value of a keyword, or `None` for a keyword that is left out.
    fn keyword(&mut self, keyword: &'a str, value: &'a Value) -> Result<Option<Value>, Stop> {
        Ok(Some(match (keyword, value) {
            ("$schema", Value::String(dialect))
                if !DIALECTS.iter().any(|known| dialect.contains(known)) =>
            {
                return self.refuse(format!("schemas of {dialect:?} are not understood"));
            }
            // Read by `reference`, or of no use once everything stands in its place.
            ("$ref" | "$schema" | "$defs" | "definitions", _) => return Ok(None),
            ("$dynamicRef" | "$recursiveRef", _) => {
                return self.refuse("only `$ref` can refer to another schema");
            }
            ("default" | "const", value) => value.clone(),
            // Some generators write a keyword that they have no value for.
            (_, Value::Null) => return Ok(None),
            ("required", Value::Array(names)) if names.is_empty() => return Ok(None),
            (
                "additionalProperties" | "unevaluatedItems" | "unevaluatedProperties",
                Value::Bool(_),
            ) => value.clone(),
            // How lists were written before 2020-12.
            ("items", Value::Array(_)) => self.list(value)?,
            (keyword, _) if ONE.contains(&keyword) => self.schema(value)?.into(),
            (keyword, _) if MANY.contains(&keyword) => self.list(value)?,
            (keyword, _) if NAMED.contains(&keyword) => self.named(value)?,
            _ => value.clone(),
        }))
    }

    fn list(&mut self, list: &'a Value) -> Result<Value, Stop> {
        let Value::Array(list) = list else {
            return self.refuse("this is a list of schemas");
        };
        let list: Result<Vec<Value>, Stop> = list
            .iter()
            .map(|schema| self.schema(schema).map(Value::Object))
            .collect();
        list.map(Value::Array)
    }

    fn named(&mut self, named: &'a Value) -> Result<Value, Stop> {
        let Value::Object(named) = named else {
            return self.refuse("this is an object of schemas");
        };
        let mut out = Map::new();
        for (name, schema) in named {
            let schema = self.at(name, |walk| walk.schema(schema))?;
            out.insert(name.clone(), schema.into());
        }
        Ok(out.into())
    }

    /// Writes what a reference refers to in its place, with what stands beside the reference.
    fn reference(
        &mut self,
        reference: &'a Value,
        mut beside: Map<String, Value>,
    ) -> Result<Map<String, Value>, Stop> {
        let Some(pointer) = reference.as_str().and_then(pointer) else {
            let reference = RawJson::from(reference.clone());
            return self.refuse(format!(
                "{reference} refers to something outside of this schema"
            ));
        };
        // The root has to say itself what it is.
        let is_root = self.depth == 1 && self.path.first() != Some(&"$defs");
        match self.recursive.get(&pointer) {
            Some(name) if !is_root => {
                beside.insert("$ref".into(), format!("#/$defs/{name}").into());
                return Ok(beside);
            }
            None if self.inside.contains(&pointer) => return Err(Stop::Recursive(pointer)),
            _ => {}
        }
        let target = self.target(&pointer)?;
        self.inside.push(pointer);
        let target = self.schema(target)?;
        self.inside.pop();
        Ok(forms::overlay(target, beside))
    }

    fn target(&self, pointer: &str) -> Result<&'a Value, Stop> {
        match self.root.pointer(pointer) {
            Some(target) => Ok(target),
            None => self.refuse(format!("there is nothing at \"#{pointer}\"")),
        }
    }
}

/// The JSON pointer of a reference to a part of the same document.
fn pointer(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let decoded = after.split_first_chunk::<2>().and_then(|(hex, behind)| {
            let hex = std::str::from_utf8(hex).ok()?;
            Some((u8::from_str_radix(hex, 16).ok()?, behind))
        });
        match (byte, decoded) {
            (b'%', Some((decoded, behind))) => {
                bytes.push(decoded);
                rest = behind;
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
