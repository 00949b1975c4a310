//! A tool for each kind of result. Each arm of `run` is an answer to "how do I return …?".

use std::sync::Arc;
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::types::{self, ContentBlock, LoggingLevel, TextResourceContents};
use mcp_server::{RawJson, tool_fn};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{Fixture, PNG};

/// The beginning of a sound, as base64.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// After each report, so that a client sees them come one by one. Some clients forget whom to tell
/// of a report when its result comes right behind it.
const STEP: Duration = Duration::from_millis(50);

#[derive(Tools)]
#[expect(clippy::enum_variant_names, reason = "the suite names them so")]
pub(crate) enum Results {
    /// Give text.
    TestSimpleText,
    /// Give a picture.
    TestImageContent,
    /// Give a sound.
    TestAudioContent,
    /// Give the contents of a resource.
    TestEmbeddedResource,
    /// Give text, a picture and a resource in one result.
    TestMultipleContentTypes,
    /// Fail, in a way that a model can read.
    TestErrorHandling,
    /// Log three messages on the way.
    TestToolWithLogging,
    /// Log one message.
    TestLoggingTool,
    /// Report progress three times on the way.
    TestToolWithProgress,
    /// Take longer than a stream of this server lasts.
    TestReconnection,
    /// Take an argument that a proxy may want to see.
    TestRegion {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
    },
}

impl RunTools<Fixture> for Results {
    async fn run(self, cx: &Context<Fixture>) -> Result<impl IntoContent, ToolError> {
        Ok(match self {
            Self::TestSimpleText => "This is a simple text response for testing.".into_content()?,
            Self::TestImageContent => ContentBlock::image(PNG, "image/png").into_content()?,
            Self::TestAudioContent => ContentBlock::audio(WAV, "audio/wav").into_content()?,
            Self::TestEmbeddedResource => {
                let text = "This is an embedded resource content.";
                resource("test://embedded-resource", "text/plain", text).into_content()?
            }
            Self::TestMultipleContentTypes => {
                let data = r#"{"test":"data","value":123}"#;
                vec![
                    ContentBlock::text("Multiple content types test:"),
                    ContentBlock::image(PNG, "image/png"),
                    resource("test://mixed-content-resource", "application/json", data),
                ]
                .into_content()?
            }
            Self::TestErrorHandling => {
                let error = "This tool intentionally returns an error for testing";
                return Err(ToolError::failed(error));
            }
            Self::TestToolWithLogging => {
                cx.log(LoggingLevel::Info, "Tool execution started");
                sleep(STEP).await;
                cx.log(LoggingLevel::Info, "Tool processing data");
                sleep(STEP).await;
                cx.log(LoggingLevel::Info, "Tool execution completed");
                "Tool with logging executed successfully".into_content()?
            }
            Self::TestLoggingTool => {
                cx.log(LoggingLevel::Info, "Diagnostic trace logging activated");
                "Logging evaluated".into_content()?
            }
            Self::TestReconnection => {
                sleep(crate::STREAM_AGE * 2).await;
                "here it is, after all".into_content()?
            }
            Self::TestRegion { region } => region.into_content()?,
            Self::TestToolWithProgress => {
                cx.progress(0.0, Some(100.0));
                sleep(STEP).await;
                cx.progress(50.0, Some(100.0));
                sleep(STEP).await;
                cx.progress(100.0, Some(100.0));
                sleep(STEP).await;
                progress_token(cx).into_content()?
            }
        })
    }
}

fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(TextResourceContents::new(uri, text).mime_type(mime_type))
}

/// What the caller wants to hear of progress with, or `0` if it does not.
fn progress_token(cx: &Context<Fixture>) -> String {
    match cx.caller().progress_token() {
        Some(token) => match token.as_str() {
            Some(text) => text.to_owned(),
            None => token.to_string(),
        },
        None => "0".to_owned(),
    }
}

/// A tool without a Rust type for its arguments: its schema is written by hand.
pub(crate) fn contact() -> Arc<dyn Tool<Fixture>> {
    let definition = types::Tool::new("json_schema_2020_12_tool", contact_schema())
        .description("Take arguments of which some depend on others.");
    Arc::new(tool_fn(definition, async |arguments: RawJson, _| {
        Ok(format!("JSON Schema 2020-12 tool called with: {arguments}"))
    }))
}

/// The suite's own, with what JSON Schema 2020-12 has and the form that all hosts take has not.
fn contact_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
