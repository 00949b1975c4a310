//! `echo` and `sleep` on tower-mcp, as its documentation writes a server. It has non-blocking pipes by itself.

#![forbid(unsafe_code)]

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tower_mcp::{BoxError, CallToolResult, McpRouter, StdioTransport, ToolBuilder};

#[derive(Debug, Deserialize, JsonSchema)]
struct Echo {
    /// Text to send back.
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Sleep {
    /// Milliseconds to wait.
    ms: u64,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let echo = ToolBuilder::new("echo")
        .description("Return the text unchanged.")
        .handler(|echo: Echo| async move { Ok(CallToolResult::text(echo.text)) })
        .build();
    let sleep = ToolBuilder::new("sleep")
        .description("Wait, then return.")
        .handler(|sleep: Sleep| async move {
            tokio::time::sleep(Duration::from_millis(sleep.ms)).await;
            Ok(CallToolResult::text("slept"))
        })
        .build();
    let router = McpRouter::new()
        .server_info("echo", "1.0.0")
        .tool(echo)
        .tool(sleep);
    // By itself it takes no message of more than 4 MiB, and 16 MB are measured.
    StdioTransport::new(router)
        .max_frame_len(32 << 20)
        .run()
        .await?;
    Ok(())
}
