//! Where the specification is, and what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use mcp_protocol::ProtocolVersion;
use serde_json::{Value, json};

/// The folder of the specification; `None`, said aloud, when it is not there.
pub(crate) fn folder() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = env::var_os("MCP_SPEC_DIR").map_or_else(|| shared.join("spec"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        env::var_os("CI").is_none() || !shared.is_dir(),
        "in CI the specification must be there: {}",
        folder.display()
    );
    eprintln!("skipped: there is no specification in {}", folder.display());
    None
}

pub(crate) fn read(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What is in a folder, in the order of its names.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder was just opened").path())
        .collect();
    entries.sort();
    entries
}

/// The schema of one revision.
pub(crate) struct Schema {
    /// As it is.
    open: Value,
    /// With no members but those that some revision names, which finds misspelled ones.
    closed: Value,
    /// `definitions`, or `$defs` where the dialect is the later one.
    keyword: &'static str,
}

/// Definitions that add members to others, which then cannot be closed.
const SUMS: &[&str] = &[
    "CancelTaskResult",
    "GetTaskResult",
    "HeaderMismatchError",
    "MissingRequiredClientCapabilityError",
    "TaskStatusNotification",
    "TaskStatusNotificationParams",
    "URLElicitationRequiredError",
    "UnsupportedProtocolVersionError",
];

impl Schema {
    pub(crate) fn of(version: ProtocolVersion) -> Option<Self> {
        let open = read(&folder()?.join(version.as_str()).join("schema.json"));
        let keyword = if version < ProtocolVersion::V2025_11_25 {
            "definitions"
        } else {
            "$defs"
        };
        let mut closed = open.clone();
        close("", &mut closed, &known_members()?);
        Some(Self {
            open,
            closed,
            keyword,
        })
    }

    pub(crate) fn definitions(&self) -> impl Iterator<Item = &str> {
        let definitions = self.open[self.keyword].as_object();
        definitions
            .expect("every revision has definitions")
            .keys()
            .map(String::as_str)
    }

    fn validator(&self, definition: &str) -> jsonschema::Validator {
        let document = if SUMS.contains(&definition) {
            &self.open
        } else {
            &self.closed
        };
        let known = &document[self.keyword][definition];
        assert!(known.is_object(), "there is no definition {definition}");
        let schema = json!({
            "$schema": document["$schema"],
            "$ref": format!("#/{}/{definition}", self.keyword),
            self.keyword: document[self.keyword],
        });
        jsonschema::validator_for(&schema).expect("the specification's schemas are schemas")
    }

    /// What is wrong with values of these definitions.
    pub(crate) fn complaints(&self, values: &[(&str, Value)]) -> Vec<String> {
        let mut validators = BTreeMap::new();
        let mut complaints = Vec::new();
        for (definition, value) in values {
            let validator = validators
                .entry(definition)
                .or_insert_with(|| self.validator(definition));
            for error in validator.iter_errors(value) {
                complaints.push(format!("{definition}: {error} in {value}"));
            }
        }
        complaints
    }
}

/// A pattern of the members that any object of any revision has.
fn known_members() -> Option<String> {
    let mut names = BTreeSet::new();
    for version in ProtocolVersion::ALL {
        let schema = read(&folder()?.join(version.as_str()).join("schema.json"));
        name_members(&schema, &mut names);
    }
    let names: Vec<_> = names.iter().map(|name| name.replace('$', "\\$")).collect();
    Some(format!("^({})$", names.join("|")))
}

fn name_members(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Array(schemas) => schemas
            .iter()
            .for_each(|schema| name_members(schema, names)),
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                names.extend(properties.keys().cloned());
            }
            members
                .values()
                .for_each(|schema| name_members(schema, names));
        }
        _ => {}
    }
}

/// Allows no members but those that are known, wherever the schema does not say otherwise.
fn close(name: &str, schema: &mut Value, known: &str) {
    // In metadata and in the schemas of tools foreign members are welcome.
    if ["_meta", "inputSchema", "outputSchema"].contains(&name) || name.ends_with("MetaObject") {
        return;
    }
    match schema {
        Value::Array(schemas) => schemas
            .iter_mut()
            .for_each(|schema| close("", schema, known)),
        Value::Object(members) => {
            members
                .iter_mut()
                .for_each(|(name, schema)| close(name, schema, known));
            let open = members.contains_key("additionalProperties");
            if members.get("properties").is_some_and(Value::is_object) && !open {
                members.insert("patternProperties".to_owned(), json!({ known: {} }));
                members.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        _ => {}
    }
}
