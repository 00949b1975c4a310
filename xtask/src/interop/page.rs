//! A page of another origin in a browser on the same machine: nothing that it makes the browser send may be served.
//!
//! What a browser sends for it is written out here, as no HTTP client sends another `Host` or a browser's headers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use super::Tally;
use crate::listener::Listener;

const SESSION: &str = "page/http";

/// Adds the tool [`ADDED`] to the server's list, so that it shows whether it has run.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_trigger_tool_change","arguments":{},"_meta":META}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":META}}"#;
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"page","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
const ADDED: &str = "interop_dynamic_tool";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"page","version":"1"}}}"#;

/// What a client sends with [`CALL`], and what a page sends when it was allowed to.
const CALLING: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: test_trigger_tool_change\r\n";
const LISTING: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
const JSON: &str =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
/// What a page can send anywhere without a question beforehand.
const SIMPLE: &str = "Content-Type: text/plain;charset=UTF-8\r\nAccept: */*\r\n";
const QUESTION: &str = "Accept: */*\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type,mcp-method,mcp-name,mcp-protocol-version\r\n";
const EVENTS: &str = "Accept: text/event-stream\r\n";

/// What is seen, what the page is, and the request: verb, headers, body.
type Attempt<'a> = (&'a str, Page<'a>, [&'a str; 3]);

/// The host that the browser takes the server for, if not its own, and the origin that it names.
#[derive(Clone, Copy)]
struct Page<'a> {
    host: Option<&'a str>,
    origin: Option<&'a str>,
}

pub(super) fn is_wanted(only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|part| SESSION.contains(part))
}

pub(super) fn run(program: &Path, tally: &mut Tally) -> Result<(), String> {
    let server = Listener::start(program)?;
    println!("== {SESSION}");
    let rebound = format!("evil.example:{}", server.address.port());
    let itself = format!("http://{rebound}");
    for (what, page, request) in attempts(&rebound, &itself) {
        let refused = refused(server.address, page, request);
        tally.line(&match refused {
            Ok(()) => format!("PASS {SESSION}: refuses {what}"),
            Err(why) => format!("FAIL {SESSION}: refuses {what}: {why}"),
        });
    }
    tally.line(&match serves_others(server.address) {
        Ok(()) => format!("PASS {SESSION}: serves who is no page"),
        Err(why) => format!("FAIL {SESSION}: serves who is no page: {why}"),
    });
    Ok(())
}

fn attempts<'a>(rebound: &'a str, itself: &'a str) -> Vec<Attempt<'a>> {
    let of = |host, origin| Page { host, origin };
    let elsewhere = of(None, Some("https://evil.example"));
    let nowhere = of(None, Some("null"));
    let rebinding = of(Some(rebound), Some(itself));
    let silent = of(Some(rebound), None);
    vec![
        (
            "the question whether a page may call",
            elsewhere,
            ["OPTIONS", QUESTION, ""],
        ),
        (
            "a call that needs no question",
            elsewhere,
            ["POST", SIMPLE, CALL],
        ),
        (
            "a call as if it was allowed",
            elsewhere,
            ["POST", CALLING, CALL],
        ),
        ("a session", elsewhere, ["POST", JSON, INITIALIZE]),
        (
            "a call of a page without an origin",
            nowhere,
            ["POST", CALLING, CALL],
        ),
        (
            "a form without an origin",
            of(None, None),
            ["POST", SIMPLE, CALL],
        ),
        (
            "a call under a name that is not its own",
            rebinding,
            ["POST", CALLING, CALL],
        ),
        (
            "a session under a name that is not its own",
            rebinding,
            ["POST", JSON, INITIALIZE],
        ),
        (
            "a stream under a name that is not its own",
            silent,
            ["GET", EVENTS, ""],
        ),
    ]
}

/// That the request was refused, no page may read anything, and nothing was done.
fn refused(server: SocketAddr, page: Page<'_>, request: [&str; 3]) -> Result<(), String> {
    judge(&send(server, page, request)?)?;
    match was_called(server)? {
        true => Err("the tool ran".into()),
        false => Ok(()),
    }
}

fn judge(answer: &str) -> Result<(), String> {
    let head = answer.split("\r\n\r\n").next().unwrap_or_default();
    let head = head.to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap_or_default();
    if !matches!(status, "403" | "415") {
        return Err(format!("status {status}"));
    }
    match ["access-control-", "mcp-session-id"]
        .iter()
        .find(|header| head.contains(*header))
    {
        Some(header) => Err(format!("there is a header {header}")),
        None => Ok(()),
    }
}

/// The same call without a page, which shows that the others were refused for what they are.
fn serves_others(server: SocketAddr) -> Result<(), String> {
    send(server, CLIENT, ["POST", CALLING, CALL])?;
    match was_called(server)? {
        true => Ok(()),
        false => Err("the tool did not run".into()),
    }
}

fn was_called(server: SocketAddr) -> Result<bool, String> {
    let list = send(server, CLIENT, ["POST", LISTING, LIST])?;
    if !list.contains("test_trigger_tool_change") {
        return Err(format!("there is no list of tools: {list:.200}"));
    }
    Ok(list.contains(ADDED))
}

const CLIENT: Page<'_> = Page {
    host: None,
    origin: None,
};

/// One request on a connection of its own; the whole answer.
fn send(server: SocketAddr, page: Page<'_>, request: [&str; 3]) -> Result<String, String> {
    let [verb, headers, body] = request;
    let body = body.replace("META", META);
    let host = page.host.map_or(server.to_string(), str::to_owned);
    let origin = page.origin.map(|origin| format!("Origin: {origin}\r\n"));
    let text = format!(
        "{verb} /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{}{headers}Content-Length: {}\r\n\r\n{body}",
        origin.unwrap_or_default(),
        body.len(),
    );
    let exchange = || {
        let mut stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(text.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer: std::io::Result<_> = exchange();
    let answer = answer.map_err(|error| format!("{verb}: {error}"))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn a_refusal_grants_nothing() {
        let judged = |head: &str| judge(&format!("HTTP/1.1 {head}\r\n\r\nAccess-Control-"));
        assert_eq!(judged("403 Forbidden\r\nvary: origin"), Ok(()));
        assert!(judged("200 OK").is_err());
        assert!(judged("403 Forbidden\r\nAccess-Control-Allow-Origin: *").is_err());
        assert!(judged("415 Type\r\nMcp-Session-Id: 1").is_err());
    }
}
