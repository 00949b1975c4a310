//! `echo` and `sleep` on rmcp, as its documentation writes a server.
//!
//! With `--tuned`, on the fastest of what it offers: non-blocking pipes, and one thread.

#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Duration;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::io::{stdio, stdio_pipes};
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::runtime::Builder;

#[derive(Deserialize, schemars::JsonSchema)]
struct Echo {
    /// Text to send back.
    text: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Sleep {
    /// Milliseconds to wait.
    ms: u64,
}

#[derive(Clone)]
struct Tools {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Tools {
    #[tool(description = "Return the text unchanged.")]
    async fn echo(&self, Parameters(echo): Parameters<Echo>) -> String {
        echo.text
    }

    #[tool(description = "Wait, then return.")]
    async fn sleep(&self, Parameters(sleep): Parameters<Sleep>) -> String {
        tokio::time::sleep(Duration::from_millis(sleep.ms)).await;
        "slept".to_owned()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Tools {}

fn main() -> Result<(), Box<dyn Error>> {
    let tuned = std::env::args().any(|word| word == "--tuned");
    let mut runtime = match tuned {
        true => Builder::new_current_thread(),
        false => Builder::new_multi_thread(),
    };
    runtime.enable_all().build()?.block_on(async {
        let tools = Tools {
            tool_router: Tools::tool_router(),
        };
        let running = match tuned {
            true => tools.serve(stdio_pipes()).await?,
            false => tools.serve(stdio()).await?,
        };
        running.waiting().await?;
        Ok(())
    })
}
