//! The steps of a request, each by itself: `cargo xtask bench --steps`.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mcp_protocol::connection::{Output, ServerConfig, ServerConnection, ServerMessage};
use mcp_protocol::transport::Frame;
use mcp_protocol::types::{CallToolResult, Implementation};
use mcp_protocol::types::{ServerCapabilities, ToolsCapability};
use mcp_protocol::{Encode, Incoming, RawJson, ServerResult};
use mcp_server::prelude::*;
use mcp_server::{ToolArgs, ToolSet};

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

#[derive(Tools)]
enum Calculator {
    /// Add two numbers.
    Add { a: f64, b: f64 },
    /// Subtract b from a.
    Subtract { a: f64, b: f64 },
    /// Divide a by b.
    Divide { a: f64, b: f64 },
}

impl RunTools for Calculator {
    async fn run(self, _cx: &Context) -> Result<impl IntoContent, ToolError> {
        Ok(match self {
            Self::Add { a, b } => a + b,
            Self::Subtract { a, b } => a - b,
            Self::Divide { a, b } => a / b,
        })
    }
}

/// A text that needs no escapes, and one with many.
fn texts() -> [(&'static str, String); 2] {
    [
        ("64 B", "0123456789abcdef".repeat(4)),
        (
            "64 KB, escaped",
            "fn main() {\n\tprintln!(\"café\");\n}\n".repeat(1_800),
        ),
    ]
}

fn call(text: &str) -> Frame {
    let arguments = RawJson::from(serde_json::json!({ "text": text }));
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{meta},"name":"echo","arguments":{arguments}}}}}"#
    );
    Frame::from(line)
}

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for (name, text) in texts() {
        let frame = call(&text);
        group.throughput(Throughput::Bytes(frame.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| Incoming::parse(black_box(&frame)));
        });
    }
}

fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    for (name, text) in texts() {
        let Some(message) = answer(&mut connection(), &call(&text), text.clone()) else {
            panic!("a call is answered");
        };
        let mut written = Vec::new();
        message.encode(&mut written);
        group.throughput(Throughput::Bytes(written.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                written.clear();
                black_box(&message).encode(&mut written);
            });
        });
    }
}

fn connection() -> ServerConnection {
    let mut config = ServerConfig::new(Implementation::new("steps", "1.0.0"));
    config.capabilities = ServerCapabilities::new().tools(ToolsCapability::new());
    ServerConnection::new(Arc::new(config))
}

/// What a connection makes of a call that gives this text.
fn answer(connection: &mut ServerConnection, call: &Frame, text: String) -> Option<ServerMessage> {
    connection.receive(Incoming::parse(call));
    let mut text = Some(text);
    while let Some(output) = connection.poll() {
        match output {
            Output::Start { call, .. } => {
                let result = CallToolResult::text(text.take().unwrap_or_default());
                connection.reply(call, Ok(ServerResult::CallTool(result).into()));
            }
            Output::Send(outgoing) => return Some(outgoing.message),
            _ => {}
        }
    }
    None
}

fn relate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("connection");
    let (mut connection, frame) = (connection(), call("text"));
    group.bench_function("parse, start, reply", |bencher| {
        bencher.iter_batched(
            || "text".to_owned(),
            |text| answer(&mut connection, &frame, text),
            BatchSize::SmallInput,
        );
    });
}

fn dispatch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch");
    let numbers = RawJson::parse(r#"{"a":7.5,"b":2.5}"#).expect("it is written here");
    group.bench_function("an enum of tools", |bencher| {
        bencher.iter(|| Calculator::parse(black_box("divide"), black_box(&numbers)));
    });
    for (name, text) in texts() {
        let text = RawJson::from(serde_json::json!({ "text": text }));
        group.bench_function(format!("a tool, {name}"), |bencher| {
            bencher.iter(|| Echo::parse(black_box(&text)));
        });
    }
}

criterion_group!(steps, parse, encode, relate, dispatch);
criterion_main!(steps);
