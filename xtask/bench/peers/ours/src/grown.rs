//! `grown [TOOLS [SOCKET]]`: a server with as many tools, and room for all that can be asked of it at once.
//!
//! It is on stdio, or has any number of connections to a Unix socket.

#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::{RawJson, tool_fn, types};
use mcp_transport_stdio::{Framed, stdio};
use tokio::net::UnixListener;

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

/// More calls in flight, and longer messages, than are measured.
const CALLS: usize = 20_000;
const BYTES: usize = 256 << 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let tools: usize = words.next().map_or(Ok(2), |word| word.parse())?;
    let mut server = Server::new("grown", "1.0.0")
        .tool::<Echo>()
        .tool::<Sleep>()
        .max_in_flight(CALLS)
        .max_in_flight_per_connection(CALLS)
        .in_flight_bytes(BYTES)
        .output_bytes(BYTES);
    for number in 2..tools {
        server = server.dyn_tool(other(number)?);
    }
    let server = server.build()?;
    let Some(socket) = words.next() else {
        return Ok(server.serve(stdio()?.max_frame(BYTES)).await?);
    };
    let listener = UnixListener::bind(socket)?;
    loop {
        let (reader, writer) = listener.accept().await?.0.into_split();
        let server = server.clone();
        tokio::spawn(async move { server.serve(Framed::new(reader, writer)).await });
    }
}

fn other(number: usize) -> Result<Arc<dyn mcp_server::Tool<()>>, serde_json::Error> {
    let schema = RawJson::parse(r#"{"type":"object"}"#)?;
    let definition = types::Tool::new(format!("other_{number}"), schema);
    Ok(Arc::new(tool_fn(
        definition,
        async |_: RawJson, _: Context| Ok("done".to_owned()),
    )))
}
