//! Arguments and outputs held against their schemas.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::LocationSegment;
use jsonschema::{ValidationError, Validator};
use mcp_protocol::RawJson;
use mcp_protocol::tool::ArgumentError;
use serde_json::Value;

use crate::output::Validate;
use crate::router::tools::ValidateInput;
use crate::schema::SchemaError;

/// Compiles the schema of an output, of 2020-12 unless it names another dialect. What it refers
/// to is never fetched.
pub(crate) fn compile(schema: &RawJson) -> Result<Validate, SchemaError> {
    let validator = validator(schema)?;
    Ok(Box::new(move |value| {
        let value = value.to_value().map_err(|error| error.to_string())?;
        // Masked: what a tool gives is not for the log.
        validator
            .validate(&value)
            .map_err(|error| format!("{} (at `{}`)", error.masked(), error.instance_path()))
    }))
}

/// Compiles the schema of arguments, as [`compile`] does.
pub(crate) fn compile_input(schema: &RawJson) -> Result<ValidateInput, SchemaError> {
    let validator = validator(schema)?;
    Ok(Box::new(move |arguments, read| {
        let value = arguments.to_value();
        let mut value = match value.map_err(|error| error.to_string()) {
            Ok(value) if validator.is_valid(&value) => return Ok(()),
            Ok(value) => value,
            Err(why) => return read().unwrap_or(Err(ArgumentError::new("", why))),
        };
        // Many callers send `null` for what they leave out.
        remove_nulls(&mut value);
        let errors: Vec<_> = validator.iter_errors(&value).collect();
        match read() {
            // In the tool's own words, which know of its other names for things.
            Some(Err(error)) => Err(error),
            // It also takes what is not shown, such as those names.
            Some(Ok(())) => explain(errors.iter().filter_map(beyond_bound)),
            None => explain(errors.iter()),
        }
    }))
}

fn validator(schema: &RawJson) -> Result<Validator, SchemaError> {
    let schema: Value = crate::schema::read(schema)?;
    jsonschema::validator_for(&schema)
        .map_err(|error| SchemaError::new(&[], error.masked().to_string()))
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// The error of a value that is of the right type and beyond a bound, if it is one, or one of a
/// choice that fails by such errors alone.
fn beyond_bound<'a>(error: &'a ValidationError<'_>) -> Option<&'a ValidationError<'a>> {
    if let Kind::AnyOf { context } | Kind::OneOfNotValid { context } = error.kind() {
        let alone = |branch: &&Vec<_>| branch.iter().all(|error| beyond_bound(error).is_some());
        return beyond_bound(context.iter().find(alone)?.first()?);
    }
    BOUNDS.contains(&error.kind().keyword()).then_some(error)
}

/// What no type says.
const BOUNDS: [&str; 12] = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
];

/// Says what is wrong, and where, without the values, which the caller knows.
fn explain<'a>(errors: impl Iterator<Item = &'a ValidationError<'a>>) -> Result<(), ArgumentError> {
    let texts: Vec<_> = errors.map(|error| located(error).to_string()).collect();
    match texts.is_empty() {
        true => Ok(()),
        false => Err(ArgumentError::new("", texts.join("; "))),
    }
}

fn located(error: &ValidationError<'_>) -> ArgumentError {
    let mut place = String::new();
    for segment in error.instance_path() {
        match segment {
            LocationSegment::Index(index) => place.push_str(&format!("[{index}]")),
            LocationSegment::Property(name) => {
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(&name);
            }
        }
    }
    ArgumentError::new(place, error.masked().to_string())
}
