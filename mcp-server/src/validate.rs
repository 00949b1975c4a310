//! Outputs held against their schemas.

use mcp_protocol::RawJson;
use serde_json::Value;

use crate::output::Validate;
use crate::schema::SchemaError;

/// Compiles a schema, of 2020-12 unless it names another dialect. What it refers to is never
/// fetched.
pub(crate) fn compile(schema: &RawJson) -> Result<Validate, SchemaError> {
    let schema: Value = crate::schema::read(schema)?;
    let validator = jsonschema::validator_for(&schema)
        .map_err(|error| SchemaError::new(&[], error.masked().to_string()))?;
    Ok(Box::new(move |value| {
        let value: Value = value.decode().map_err(|error| error.to_string())?;
        // Masked: what a tool gives is not for the log.
        validator
            .validate(&value)
            .map_err(|error| format!("{} (at `{}`)", error.masked(), error.instance_path()))
    }))
}
