//! What a tool may give back.

use std::borrow::Cow;

use mcp_protocol::RawJson;
use mcp_protocol::types::{CallToolResult, ContentBlock};
use serde::Serialize;

/// What can be the result of a tool.
///
/// Text and numbers become one block of text; [`Json`] and [`Structured`] take any type that
/// can be serialised. Called by the server on what a tool returns. A tool whose branches give
/// different things calls it itself, as [`CallToolResult`] is content too:
///
/// ```
/// use mcp_server::{IntoContent, Structured, ToolError};
/// use mcp_server::types::CallToolResult;
///
/// fn report(brief: bool) -> Result<CallToolResult, ToolError> {
///     Ok(if brief {
///         "all well".into_content()?
///     } else {
///         Structured(vec![1, 2, 3]).into_content()?
///     })
/// }
/// # report(true).unwrap();
/// # report(false).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the content of a tool's result",
    label = "not content",
    note = "return text, a number, content blocks or `()`; wrap a type that is `Serialize` in \
            `Json`, or name it with `#[tool(output = …)]`"
)]
pub trait IntoContent {
    /// Writes it as a result.
    ///
    /// # Errors
    ///
    /// When it cannot be JSON.
    fn into_content(self) -> serde_json::Result<CallToolResult>;
}

/// A value as JSON text, for the model to read.
///
/// For a program to read, use [`Structured`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A value as structured content, with its JSON as text beside it for clients that read only
/// text.
///
/// A tool that says what its output is like returns this; `#[tool(output = …)]` does it by
/// itself. A number that JSON does not have, NaN or an infinity, becomes `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl IntoContent for CallToolResult {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        Ok(self)
    }
}

impl IntoContent for Vec<ContentBlock> {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        Ok(CallToolResult::new().content(self))
    }
}

impl IntoContent for ContentBlock {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        vec![self].into_content()
    }
}

/// Nothing to say: no content.
impl IntoContent for () {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        Vec::new().into_content()
    }
}

impl IntoContent for String {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        Ok(CallToolResult::text(self))
    }
}

macro_rules! text {
    ($($type:ty),*) => {$(
        impl IntoContent for $type {
            fn into_content(self) -> serde_json::Result<CallToolResult> {
                self.to_string().into_content()
            }
        }
    )*};
}

// NaN and the infinities are `NaN` and `inf` in text, where JSON would have no word for them.
text!(
    &str,
    Cow<'_, str>,
    bool,
    char,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize
);
text!(u8, u16, u32, u64, u128, usize, f32, f64);

impl<T: Serialize> IntoContent for Json<T> {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        serde_json::to_string(&self.0)?.into_content()
    }
}

impl<T: Serialize> IntoContent for Structured<T> {
    fn into_content(self) -> serde_json::Result<CallToolResult> {
        let value = RawJson::encode(&self.0)?;
        let mut result = value.as_str().to_owned().into_content()?;
        result.structured_content = Some(value);
        Ok(result)
    }
}
