//! A server without a transport, a router and a runtime.

use std::sync::Arc;

use mcp_protocol::connection::{Output, ServerConfig, ServerConnection};
use mcp_protocol::tool::decode_arguments;
use mcp_protocol::types::{CallToolResult, Implementation, ListToolsResult, Tool};
use mcp_protocol::types::{ServerCapabilities, ToolsCapability};
use mcp_protocol::{ClientRequest, Encode, RawJson, ServerResult};
use mcp_transport_stdio::Lines;
use serde::Deserialize;

use crate::Answer;

#[derive(Deserialize)]
struct Echo {
    text: String,
}

/// The connection, the framing below it and the typed arguments above it.
pub struct Bare {
    lines: Lines,
    connection: ServerConnection,
    tool: Tool,
    written: Vec<u8>,
}

impl Answer for Bare {
    fn answer(&mut self, line: &[u8]) -> &[u8] {
        self.receive(line);
        &self.written
    }
}

impl Bare {
    pub fn new() -> Self {
        let mut config = ServerConfig::new(Implementation::new("counts", "1.0.0"));
        config.capabilities = ServerCapabilities::new().tools(ToolsCapability::new());
        let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}"#;
        let schema = RawJson::parse(schema).expect("it is written here");
        Self {
            lines: Lines::default(),
            connection: ServerConnection::new(Arc::new(config)),
            tool: Tool::new("echo", schema).description("Return the text unchanged."),
            written: Vec::new(),
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.lines.buffer().extend_from_slice(bytes);
        while let Some(frame) = self.lines.next_frame() {
            let frame = frame.expect("no line is too long");
            let incoming = self.connection.parse(&frame);
            self.connection.receive(incoming);
            self.settle();
        }
    }

    fn settle(&mut self) {
        while let Some(output) = self.connection.poll() {
            match output {
                Output::Send(outgoing) => {
                    self.written.clear();
                    outgoing.message.encode(&mut self.written);
                }
                Output::Start { call, request, .. } => {
                    let result = self.serve(&request);
                    self.connection.reply(call, Ok(result.into()));
                }
                _ => {}
            }
        }
    }

    fn serve(&self, request: &ClientRequest) -> ServerResult {
        match request {
            ClientRequest::CallTool(call) => {
                let arguments = call.arguments.as_ref().expect("it has arguments");
                let echo: Echo = decode_arguments(arguments).expect("they fit");
                ServerResult::CallTool(CallToolResult::text(echo.text))
            }
            ClientRequest::ListTools(_) => {
                ServerResult::ListTools(ListToolsResult::new(vec![self.tool.clone()]))
            }
            other => panic!("nobody asks for {}", other.method()),
        }
    }
}
