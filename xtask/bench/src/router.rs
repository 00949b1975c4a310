//! A whole server, and its client on the other end of a stream in memory.

use std::sync::Arc;

use mcp_server::prelude::*;
use mcp_server::{RawJson, tool_fn, types};
use mcp_transport_stdio::Framed;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::{Builder, Runtime};

use crate::Answer;

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

/// One thread for both, so that one thing happens after another in each run alike.
pub struct Served {
    runtime: Runtime,
    client: DuplexStream,
    reply: Vec<u8>,
}

impl Served {
    /// A server of `echo` and so many other tools.
    pub fn new(others: usize) -> Self {
        // The clock stands still: a call that seems slow, as all may where instructions are
        // counted, would be treated in another way.
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let mut server = Server::new("counts", "1.0.0").tool::<Echo>();
        for number in 0..others {
            server = server.dyn_tool(other(number));
        }
        let server = server.build().expect("each tool has a name of its own");
        let (client, stream) = duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(stream);
        runtime.spawn(async move { server.serve(Framed::new(reader, writer)).await });
        Self {
            runtime,
            client,
            reply: Vec::with_capacity(64 * 1024),
        }
    }
}

impl Answer for Served {
    fn answer(&mut self, line: &[u8]) -> &[u8] {
        self.reply.clear();
        self.runtime.block_on(async {
            self.client.write_all(line).await.expect("it is served");
            while !self.reply.ends_with(b"\n") {
                let read = self.client.read_buf(&mut self.reply).await;
                assert!(read.expect("it is served") > 0, "it has an answer");
            }
        });
        &self.reply
    }
}

fn other(number: usize) -> Arc<dyn mcp_server::Tool<()>> {
    let schema = RawJson::parse(r#"{"type":"object"}"#).expect("it is written here");
    let definition = types::Tool::new(format!("other_{number}"), schema);
    Arc::new(tool_fn(definition, async |_: RawJson, _: Context| {
        Ok("done".to_owned())
    }))
}
