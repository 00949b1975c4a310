//! The smallest servers there are to measure: `echo`, and `sleep` to have calls in flight.
//!
//! With `MCPBENCH_ONE_TOOL` set there is `echo` only.

use std::time::Duration;

use mcp_server::prelude::*;

/// Return the text unchanged.
#[derive(Deserialize, JsonSchema, Tool)]
struct Echo {
    /// Text to send back.
    text: String,
}

impl Run for Echo {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> {
        Ok(self.text)
    }
}

/// Wait, then return.
#[derive(Deserialize, JsonSchema, Tool)]
struct Sleep {
    /// Milliseconds to wait.
    ms: u64,
}

impl Run for Sleep {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> {
        tokio::time::sleep(Duration::from_millis(self.ms)).await;
        Ok("slept".to_owned())
    }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let mut server = Server::new("echo", "1.0.0").tool::<Echo>();
    if std::env::var_os("MCPBENCH_ONE_TOOL").is_none() {
        server = server.tool::<Sleep>();
    }
    server.serve_stdio().await
}
