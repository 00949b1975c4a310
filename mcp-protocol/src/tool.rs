//! What a server and its clients share of a tool: its name, its arguments, its output.
//!
//! A derive writes these traits; nothing here says what a tool *does*. That is a trait of the
//! server's.

mod arguments;
mod headers;
mod known;
mod members;
mod output;

pub use self::arguments::{
    ArgumentError, decode_arguments, decode_closed_arguments, encode_arguments,
};
pub use self::headers::{HeaderArgument, HeaderError, header_arguments};
pub use self::output::decode_output;
use crate::RawJson;
use crate::types::{CallToolResult, Tool};

/// The arguments of one tool, and what a caller may know of the tool.
///
/// Implemented by `#[derive(Tool)]`. A server adds what the tool does and a client calls it by
/// this type. By hand it is this much:
///
/// ```
/// use mcp_protocol::tool::{ArgumentError, ToolArgs, decode_closed_arguments};
/// use mcp_protocol::types::{CallToolResult, ContentBlock, Tool};
/// use mcp_protocol::RawJson;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// impl ToolArgs for Add {
///     type Output = i64;
///     const NAME: &'static str = "add";
///
///     fn definition() -> Tool {
///         let number = serde_json::json!({ "type": "integer" });
///         let schema = RawJson::from(serde_json::json!({
///             "type": "object",
///             "properties": { "a": number, "b": number },
///             "required": ["a", "b"],
///             "additionalProperties": false,
///         }));
///         Tool::new(Self::NAME, schema).description("Adds two numbers.")
///     }
///
///     fn parse(arguments: &RawJson) -> Result<Self, ArgumentError> {
///         decode_closed_arguments(arguments)
///     }
///
///     fn result(sum: i64) -> serde_json::Result<CallToolResult> {
///         Ok(CallToolResult::new().content(vec![ContentBlock::text(sum.to_string())]))
///     }
/// }
///
/// let add = Add::parse(&RawJson::parse(r#"{"a": 1, "b": 2}"#)?)?;
/// assert_eq!(add.a + add.b, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the arguments of a tool",
    label = "derive it: `#[derive(Deserialize, JsonSchema, Tool)]`"
)]
pub trait ToolArgs: Sized + Send + 'static {
    /// What the tool gives back when all went well.
    type Output: Send;

    /// The name that a call uses; see [`is_name`].
    const NAME: &'static str;

    /// The tool as `tools/list` shows it.
    fn definition() -> Tool;

    /// Reads the arguments of a call.
    ///
    /// An implementation whose schema says `additionalProperties: false` reads them with
    /// [`decode_closed_arguments`], so that schema and behaviour agree; others with
    /// [`decode_arguments`].
    ///
    /// # Errors
    ///
    /// When the arguments do not fit.
    fn parse(arguments: &RawJson) -> Result<Self, ArgumentError>;

    /// Writes the output as a result: structured with a copy as text where the definition has
    /// an output schema, content alone where it has none.
    ///
    /// # Errors
    ///
    /// When the output cannot be JSON.
    fn result(output: Self::Output) -> serde_json::Result<CallToolResult>;
}

/// The arguments of several tools as one type, usually an enum with a variant for each.
///
/// Implemented by `#[derive(Tools)]`. See [`ToolArgs`] for a single tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of tools",
    label = "write an enum with one variant for each tool and `#[derive(Tools)]`"
)]
pub trait ToolSet: Sized + Send + 'static {
    /// The tools as `tools/list` shows them, each name once.
    fn definitions() -> Vec<Tool>;

    /// Reads the arguments of a call, or `None` when no tool here has that name.
    fn parse(name: &str, arguments: &RawJson) -> Option<Result<Self, ArgumentError>>;
}

/// Whether every host takes this as the name of a tool: 1 to 128 of `A-Z a-z 0-9 _ - .`.
///
/// Spec: [tool names](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names).
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}
