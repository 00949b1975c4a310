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
    label = "wrap it in `Json(…)`, or name its type with `#[tool(output = …)]`",
    note = "both want `Serialize`; text, a number, content blocks and `()` are content by themselves"
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
        RawJson::encode(&self.0)?.to_string().into_content()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(content: impl IntoContent) -> serde_json::Value {
        serde_json::to_value(content.into_content().unwrap()).unwrap()
    }

    fn text(text: &str) -> serde_json::Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn text_and_numbers_are_one_block() {
        assert_eq!(written("a"), text("a"));
        assert_eq!(written(String::from("a")), text("a"));
        assert_eq!(written(Cow::Borrowed("a")), text("a"));
        assert_eq!(written('a'), text("a"));
        assert_eq!(written(true), text("true"));
        assert_eq!(written(u64::MAX), text("18446744073709551615"));
        assert_eq!(written(i128::MIN), text(&i128::MIN.to_string()));
        assert_eq!(written(0.5_f32), text("0.5"));
    }

    #[test]
    fn nothing_is_no_block() {
        assert_eq!(written(()), json!({ "content": [] }));
    }

    #[test]
    fn blocks_and_results_are_taken_as_they_are() {
        let blocks = json!({
            "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }],
        });
        assert_eq!(written(ContentBlock::text("a")), text("a"));
        let list: Vec<ContentBlock> = vec!["a".into(), "b".into()];
        assert_eq!(written(list), blocks);
        assert_eq!(written(CallToolResult::text("a")), text("a"));
    }

    #[test]
    fn any_type_that_serialises_is_text_or_structured() {
        let value = vec![("a", 1)];
        assert_eq!(written(Json(&value)), text(r#"[["a",1]]"#));
        let mut structured = text(r#"[["a",1]]"#);
        structured["structuredContent"] = json!([["a", 1]]);
        assert_eq!(written(Structured(&value)), structured);
    }

    #[test]
    fn null_is_structured_content_too() {
        let result = Structured(None::<u8>).into_content().unwrap();
        assert_eq!(result.structured_content, Some(RawJson::from(json!(null))));
    }

    /// Covers B-272, B-273.
    #[test]
    fn numbers_that_json_does_not_have_lose_nothing_else() {
        assert_eq!(written(f64::NAN), text("NaN"));
        assert_eq!(written(f32::NEG_INFINITY), text("-inf"));
        assert_eq!(written(Json(f64::INFINITY)), text("null"));
        let result = Structured([f64::NAN, 1.5]).into_content().unwrap();
        let value = result.structured_content.unwrap();
        assert_eq!(value.as_str(), "[null,1.5]");
    }

    #[test]
    fn what_cannot_be_json_is_an_error() {
        let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(Structured(&keys).into_content().is_err());
        assert!(Json(&keys).into_content().is_err());
    }
}
