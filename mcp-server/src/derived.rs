//! What a derived tool needs of its types, so that the compiler says which derive is missing.
//!
//! Each trait is another one by another name: a missing `Deserialize` of a tool has five errors
//! of twenty lines, none of which says what to write.

use mcp_protocol::RawJson;
use mcp_protocol::tool::{ArgumentError, decode_arguments, decode_closed_arguments};
use mcp_protocol::types::CallToolResult;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::content::{IntoContent, Structured};
use crate::schema::{closed_input_schema, input_schema, output_schema};

/// Arguments that can be read.
#[diagnostic::on_unimplemented(
    message = "the arguments `{Self}` cannot be read",
    label = "add `Deserialize` to its derives"
)]
pub trait ReadArguments: Sized {
    /// [`decode_arguments`].
    fn read(arguments: &RawJson) -> Result<Self, ArgumentError>;
    /// [`decode_closed_arguments`].
    fn read_closed(arguments: &RawJson) -> Result<Self, ArgumentError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> ReadArguments for T {
    fn read(arguments: &RawJson) -> Result<Self, ArgumentError> {
        decode_arguments(arguments)
    }

    fn read_closed(arguments: &RawJson) -> Result<Self, ArgumentError> {
        decode_closed_arguments(arguments)
    }
}

/// A type that a model can be told of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema that a model could be shown",
    label = "add `JsonSchema` to its derives"
)]
pub trait Described {
    /// [`input_schema`].
    fn input_schema() -> RawJson;
    /// [`closed_input_schema`].
    fn closed_input_schema() -> RawJson;
    /// [`output_schema`].
    fn output_schema() -> RawJson;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> Described for T {
    fn input_schema() -> RawJson {
        input_schema::<T>()
    }

    fn closed_input_schema() -> RawJson {
        closed_input_schema::<T>()
    }

    fn output_schema() -> RawJson {
        output_schema::<T>()
    }
}

/// An output that can be written.
#[diagnostic::on_unimplemented(
    message = "the output `{Self}` cannot be written",
    label = "add `Serialize` to its derives"
)]
pub trait WriteOutput {
    /// As structured content: [`Structured`].
    fn write(self) -> serde_json::Result<CallToolResult>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> WriteOutput for T {
    fn write(self) -> serde_json::Result<CallToolResult> {
        Structured(self).into_content()
    }
}
