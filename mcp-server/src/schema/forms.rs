//! The rewrites that make one schema conservative. What stands inside of it already is.

use serde_json::{Map, Value};

type Schema = Map<String, Value>;

/// How the documentation of a word begins in a description.
const WORD: &str = "- `";

/// Keywords that describe and do not restrict.
const ANNOTATIONS: [&str; 8] = [
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords that say something only together.
const TOGETHER: [&[&str]; 4] = [
    &["additionalProperties", "patternProperties", "properties"],
    &["contains", "maxContains", "minContains"],
    &["else", "if", "then"],
    &["items", "prefixItems"],
];

/// Keywords that restrict values of these types only.
const OF_TYPE: [(&[&str], &[&str]); 4] = [
    (
        &["string"],
        &[
            "contentEncoding",
            "contentMediaType",
            "contentSchema",
            "format",
            "maxLength",
            "minLength",
            "pattern",
        ],
    ),
    (
        &["integer", "number"],
        &[
            "exclusiveMaximum",
            "exclusiveMinimum",
            "maximum",
            "minimum",
            "multipleOf",
        ],
    ),
    (
        &["array"],
        &[
            "contains",
            "items",
            "maxContains",
            "maxItems",
            "minContains",
            "minItems",
            "prefixItems",
            "uniqueItems",
        ],
    ),
    (
        &["object"],
        &[
            "additionalProperties",
            "dependentRequired",
            "dependentSchemas",
            "maxProperties",
            "minProperties",
            "patternProperties",
            "properties",
            "propertyNames",
            "required",
        ],
    ),
];

/// Lays what stands beside a schema over it: descriptions replace, restrictions add.
pub(super) fn overlay(mut base: Schema, mut beside: Schema) -> Schema {
    keep_words(&base, &mut beside);
    let (mut conflicting, added): (Schema, Schema) = beside
        .into_iter()
        .partition(|(keyword, value)| conflicts(&base, keyword, value));
    base.extend(added);
    if !conflicting.is_empty() {
        add_items(&mut conflicting);
        let both = vec![base.into(), conflicting.into()];
        base = Map::from_iter([("allOf".into(), Value::Array(both))]);
    }
    base
}

/// Whether a schema restricts something in another way already.
fn conflicts(schema: &Schema, keyword: &str, value: &Value) -> bool {
    if ANNOTATIONS.contains(&keyword) {
        return false;
    }
    let differs = |other: &&str| {
        let given = schema.get(*other);
        given.is_some_and(|given| *other != keyword || given != value)
    };
    match TOGETHER.iter().find(|group| group.contains(&keyword)) {
        Some(group) => group.iter().any(differs),
        None => differs(&keyword),
    }
}

/// What the words of a type mean is said by the type, whoever describes their use.
fn keep_words(base: &Schema, beside: &mut Schema) {
    let text = |schema: &Schema| schema.get("description")?.as_str().map(str::to_owned);
    let (Some(old), Some(new)) = (text(base), text(beside)) else {
        return;
    };
    if !base.contains_key("enum") || old == new {
        return;
    }
    let list = if old.starts_with(WORD) {
        Some(&*old)
    } else {
        let start = old.find(&format!("\n\n{WORD}"));
        start.map(|start| &old[start + 2..])
    };
    if let Some(list) = list {
        beside.insert("description".into(), format!("{new}\n\n{list}").into());
    }
}

/// `allOf` of one is that one, unless it restricts what is restricted beside it.
pub(super) fn flatten_all_of(schema: &mut Schema) {
    let only = match schema.get("allOf") {
        Some(Value::Array(all)) if all.len() == 1 => all[0].as_object(),
        _ => None,
    };
    let flat = only.is_some_and(|only| {
        only.iter()
            .all(|(keyword, value)| !conflicts(schema, keyword, value))
    });
    if flat {
        take_single(schema, "allOf");
    }
}

/// Puts the only schema of a list in the place of the list.
fn take_single(schema: &mut Schema, keyword: &str) {
    let Some(Value::Array(list)) = schema.get_mut(keyword) else {
        return;
    };
    if list.len() != 1 {
        return;
    }
    if let Some(Value::Object(only)) = list.pop() {
        schema.remove(keyword);
        *schema = overlay(only, std::mem::take(schema));
    }
}

/// `items` as a list, and what may follow the list, as 2020-12 writes them.
pub(super) fn rename_items(schema: &mut Schema) {
    let rest = schema.remove("additionalItems");
    if let Some(Value::Array(_)) = schema.get("items") {
        let list = schema.remove("items").expect("it was just there");
        schema.insert("prefixItems".into(), list);
        if let Some(rest) = rest {
            schema.insert("items".into(), rest);
        }
    }
}

/// Removes formats that only Rust generators know. That a number is unsigned stays said.
pub(super) fn replace_format(schema: &mut Schema) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        return;
    };
    let size = format.trim_start_matches('u').strip_prefix("int");
    let integer = matches!(size, Some("" | "8" | "16" | "32" | "64" | "128"));
    if !integer && !matches!(format, "float" | "double") {
        return;
    }
    if format.starts_with('u') && !schema.contains_key("exclusiveMinimum") {
        schema.entry("minimum").or_insert(0.into());
    }
    schema.remove("format");
}

/// One `enum` of strings for `const` and for a choice between words, with the documentation of
/// each word in the description.
pub(super) fn gather_words(schema: &mut Schema) {
    if schema.get("const").is_some_and(Value::is_string) && !schema.contains_key("enum") {
        let word = schema.remove("const").expect("it was just there");
        schema.insert("enum".into(), vec![word].into());
        schema.entry("type").or_insert("string".into());
    }
    for keyword in ["oneOf", "anyOf"] {
        let Some(words) = schema.get(keyword).and_then(words) else {
            continue;
        };
        let restricted = schema.get("type").is_some_and(|name| name != "string");
        if restricted || schema.contains_key("enum") {
            continue;
        }
        schema.remove(keyword);
        schema.insert("type".into(), "string".into());
        describe(schema, &words);
        let words = words.into_iter().map(|(word, _)| word).collect();
        schema.insert("enum".into(), Value::Array(words));
    }
}

/// The words of a choice and their documentation, if it is a choice between words.
fn words(choice: &Value) -> Option<Vec<(Value, Option<String>)>> {
    const KEYWORDS: [&str; 3] = ["description", "enum", "type"];
    let mut words = Vec::new();
    for branch in choice.as_array()? {
        let branch = branch.as_object()?;
        let only_words = branch.keys().all(|key| KEYWORDS.contains(&key.as_str()))
            && branch.get("type").is_some_and(|name| name == "string");
        if !only_words {
            return None;
        }
        let text = branch.get("description").and_then(Value::as_str);
        for word in branch.get("enum")?.as_array()? {
            word.as_str()?;
            words.push((word.clone(), text.map(str::to_owned)));
        }
    }
    (!words.is_empty()).then_some(words)
}

fn describe(schema: &mut Schema, words: &[(Value, Option<String>)]) {
    let list: Vec<String> = words
        .iter()
        .filter_map(|(word, text)| {
            let text = text.as_ref()?.replace('\n', " ");
            Some(format!("{WORD}{}`: {text}", word.as_str()?))
        })
        .collect();
    if list.is_empty() {
        return;
    }
    let mut text = list.join("\n");
    if let Some(own) = schema.get("description").and_then(Value::as_str) {
        text = format!("{own}\n\n{text}");
    }
    schema.insert("description".into(), text.into());
}

/// One `anyOf` for an array of types. What concerns one of the types goes there, what concerns
/// all of them stays outside; nothing that contains schemas is written twice.
pub(super) fn split_types(schema: &mut Schema) {
    let Some(Value::Array(types)) = schema.get("type") else {
        return;
    };
    let types = types.clone();
    if let [only] = &*types {
        schema.insert("type".into(), only.clone());
        return;
    }
    schema.remove("type");
    let branches: Vec<Value> = types
        .into_iter()
        .filter_map(|name| of_type(schema, name))
        .map(Value::Object)
        .collect();
    if branches.is_empty() {
        schema.retain(|keyword, _| ANNOTATIONS.contains(&keyword.as_str()));
        schema.insert("not".into(), Map::new().into());
        return;
    }
    let moved = OF_TYPE.iter().flat_map(|(_, keywords)| *keywords);
    for keyword in moved.chain(&["enum"]) {
        schema.remove(*keyword);
    }
    if let Some(choice) = schema.remove("anyOf") {
        let choice = Map::from_iter([("anyOf".into(), choice)]);
        match schema
            .entry("allOf")
            .or_insert_with(|| Value::Array(Vec::new()))
        {
            Value::Array(all) => all.push(choice.into()),
            other => *other = vec![other.take(), choice.into()].into(),
        }
    }
    schema.insert("anyOf".into(), branches.into());
    take_single(schema, "anyOf");
}

/// The part of a schema that concerns one type; `None` if no value of that type fits.
fn of_type(schema: &Schema, name: Value) -> Option<Schema> {
    let mut part = Map::new();
    for (types, keywords) in OF_TYPE {
        if types.iter().any(|concerned| name == *concerned) {
            let given = |keyword: &&str| schema.get_key_value(*keyword);
            let given = keywords.iter().filter_map(given);
            part.extend(given.map(|(keyword, value)| (keyword.clone(), value.clone())));
        }
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        let words: Vec<Value> = words
            .iter()
            .filter(|word| is_of_type(word, &name))
            .cloned()
            .collect();
        if words.is_empty() {
            return None;
        }
        if name != "null" {
            part.insert("enum".into(), words.into());
        }
    }
    part.insert("type".into(), name);
    add_items(&mut part);
    Some(part)
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number"
                || name == "integer" && number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// An array says what is in it, if only that it can be anything.
pub(super) fn add_items(schema: &mut Schema) {
    if schema.get("type").is_some_and(|name| name == "array") {
        schema.entry("items").or_insert_with(|| Map::new().into());
    }
}

/// Takes `null` from each property that may be left out.
pub(super) fn remove_null_from_optional(schema: &mut Schema) {
    let required = match schema.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        if let Value::Object(property) = property {
            if !required.iter().any(|required| required == name) {
                remove_null(property);
            }
        }
    }
}

/// Takes `null` from a schema that allows it among others.
pub(super) fn remove_null(schema: &mut Schema) {
    let mut nullable = false;
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(choice)) = schema.get_mut(keyword) else {
            continue;
        };
        let is_null = |branch: &Value| branch.get("type").is_some_and(|name| name == "null");
        if choice.iter().any(is_null) && !choice.iter().all(is_null) {
            choice.retain(|branch| !is_null(branch));
            nullable = true;
            take_single(schema, keyword);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        let all = words.len();
        words.retain(|word| !word.is_null());
        nullable |= words.len() < all;
    }
    if nullable && schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}
