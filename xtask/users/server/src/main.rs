//! A server with one tool.
use mcp_server::prelude::*;

/// Return the text unchanged.
#[derive(Deserialize, JsonSchema, Tool)]
struct Echo { text: String }

impl Run for Echo {
    async fn run(self, _cx: &Context) -> Result<String, ToolError> { Ok(self.text) }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> { Server::new("echo", "1.0.0").tool::<Echo>().serve_stdio().await }
