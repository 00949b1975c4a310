//! `mcp-counts PATH N`: runs a hot path so many times, and says how often it allocated.
//!
//! No process, no thread, no clock: two runs of one binary count the same. Whoever runs it takes
//! the difference of two numbers of times, in which beginning and end cancel out.

#![forbid(unsafe_code)]

use std::sync::Arc;

use mcp_protocol::connection::{Output, ServerConfig, ServerConnection};
use mcp_protocol::tool::decode_arguments;
use mcp_protocol::types::{CallToolResult, Implementation, ListToolsResult, Tool};
use mcp_protocol::types::{ServerCapabilities, ToolsCapability};
use mcp_protocol::{ClientRequest, Encode, Incoming, RawJson, ServerResult};
use mcp_transport_stdio::Lines;
use serde::Deserialize;

#[derive(Deserialize)]
struct Echo {
    text: String,
}

/// A server without a transport, a router and a runtime.
struct Server {
    lines: Lines,
    connection: ServerConnection,
    tool: Tool,
    written: Vec<u8>,
}

impl Server {
    fn new() -> Self {
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
            self.connection.receive(Incoming::parse(&frame));
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

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"counts","version":"1"}}}
"#;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"counts","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}TOKEN}"#;

/// A request of a path: with `ID` in place of what differs each time.
fn request(path: &str) -> Option<String> {
    let short = "0123456789abcdef".repeat(4);
    let escaped = r#"fn main() {\n\tprintln!(\"caf\u00e9\");\n}\n"#.repeat(1_500);
    let call = |text: &str| format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
    let meta = META.replace("TOKEN", "");
    let (method, params) = match path {
        "legacy-call" => ("tools/call", call(&short)),
        "legacy-call-escaped" => ("tools/call", call(&escaped)),
        "legacy-list" => ("tools/list", String::new()),
        "modern-call" => ("tools/call", format!("{meta},{}", call(&short))),
        "modern-call-progress" => {
            let meta = META.replace("TOKEN", r#","progressToken":ID"#);
            ("tools/call", format!("{meta},{}", call(&short)))
        }
        "modern-list" => ("tools/list", meta),
        _ => return None,
    };
    Some(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"{method}\",\"params\":{{{params}}}}}\n"
    ))
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [path, times] = &arguments[..] else {
        panic!("usage: mcp-counts PATH N");
    };
    let request = request(path).expect("a path that is known");
    let times: u32 = times.parse().expect("a number of times");
    let mut server = Server::new();
    server.receive(INITIALIZE.as_bytes());
    // What differs has the same length each time, and is put in without an allocation.
    let id = |number: u32| (100_000_000 + number).to_string();
    let requests: Vec<_> = (0..16).map(|n| request.replace("ID", &id(n))).collect();
    let allocations = allocation_counter::measure(|| {
        for request in requests.iter().cycle().take(times as usize) {
            server.receive(request.as_bytes());
            assert!(
                server
                    .written
                    .starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1000")
            );
        }
    });
    println!("{}", allocations.count_total);
}
