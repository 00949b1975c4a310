//! Tools that try a client: long texts, odd texts, slow and structured ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_server::prelude::*;
use tokio::time::sleep;

use crate::Fixture;

#[derive(Tools)]
#[expect(clippy::enum_variant_names, reason = "its clients name them so")]
pub(crate) enum Interop {
    /// Give the same text.
    InteropEcho { text: String },
    /// Tell the weather.
    #[tool(output = Weather)]
    InteropStructured { city: String },
    /// Give a text of so many bytes.
    InteropPayload { bytes: usize },
    /// Wait.
    InteropSleep { ms: u64, label: Option<String> },
    /// Tell how often waiting was given up.
    InteropCancelCount,
}

#[derive(JsonSchema, Serialize)]
struct Weather {
    city: String,
    temperature: f64,
    conditions: String,
}

impl RunTools<Fixture> for Interop {
    async fn run(self, cx: &Context<Fixture>) -> Result<impl IntoContent, ToolError> {
        Ok(match self {
            Self::InteropEcho { text } => text.into_content()?,
            Self::InteropStructured { city } => Structured(Weather {
                city,
                temperature: 21.5,
                conditions: "sunny".to_owned(),
            })
            .into_content()?,
            Self::InteropPayload { bytes } => "0123456789abcdef"
                .chars()
                .cycle()
                .take(bytes)
                .collect::<String>()
                .into_content()?,
            Self::InteropSleep { ms, label } => {
                let given_up = GivenUp(&cx.state().cancelled);
                sleep(Duration::from_millis(ms)).await;
                std::mem::forget(given_up);
                format!("slept {}", label.unwrap_or_default()).into_content()?
            }
            Self::InteropCancelCount => {
                let cancelled = cx.state().cancelled.load(Ordering::Relaxed);
                cancelled.to_string().into_content()?
            }
        })
    }
}

/// Counts the futures that were dropped on their way: what becomes of a cancelled call.
struct GivenUp<'a>(&'a AtomicUsize);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
