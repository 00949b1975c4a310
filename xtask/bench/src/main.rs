//! `mcp-counts PATH N [TOOLS]`: runs a hot path so many times, and says how often it allocated.
//!
//! No process, no second thread: two runs of one binary count the same. Whoever runs it takes
//! the difference of two numbers of times, in which beginning and end cancel out. The server of
//! a `router-` path has as many more tools as TOOLS says.

#![forbid(unsafe_code)]

mod connection;
mod router;

use crate::connection::Bare;
use crate::router::Served;

/// What takes a line that is a request, and gives the line that answers it.
trait Answer {
    fn answer(&mut self, line: &[u8]) -> &[u8];
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
    let (path, numbers) = arguments
        .split_first()
        .expect("usage: mcp-counts PATH N [TOOLS]");
    let numbers: Vec<usize> = numbers
        .iter()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let times = *numbers.first().expect("a number of times");
    let allocations = match path.strip_prefix("router-") {
        Some(path) => {
            let others = numbers.get(1).copied().unwrap_or_default();
            count(&mut Served::new(others), path, times)
        }
        None => count(&mut Bare::new(), path, times),
    };
    println!("{allocations}");
}

fn count(server: &mut dyn Answer, path: &str, times: usize) -> u64 {
    let request = request(path).expect("a path that is known");
    server.answer(INITIALIZE.as_bytes());
    // What differs has the same length each time, and is put in without an allocation.
    let id = |number: u32| (100_000_000 + number).to_string();
    let requests: Vec<_> = (0..16).map(|n| request.replace("ID", &id(n))).collect();
    let allocations = allocation_counter::measure(|| {
        for request in requests.iter().cycle().take(times) {
            let answer = server.answer(request.as_bytes());
            assert!(answer.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1000"));
        }
    });
    allocations.count_total
}
