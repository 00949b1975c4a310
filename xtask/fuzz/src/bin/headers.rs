//! Requests of HTTP with any headers: a modern call is served if, and only if, its headers repeat its
//! body, as read by the specification's word, and whatever else comes is answered.

#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full};
use libfuzzer_sys::fuzz_target;
use mcp_server::prelude::*;
use mcp_server::{RawJson, tool_fn, types};
use mcp_transport_http::Http;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service as _;

#[derive(Arbitrary, Debug)]
struct Exchange {
    verb: Verb,
    tool: Tool,
    region: Option<String>,
    level: Option<i64>,
    /// Changes to the headers that the call should have: which, and how.
    changes: Vec<(Name, Change)>,
    body: Option<Vec<u8>>,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Verb {
    Post,
    Get,
    Delete,
    Options,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Tool {
    Route,
    Plain,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Name {
    Version,
    Method,
    Tool,
    Region,
    Level,
    ContentType,
    Accept,
    Host,
    Origin,
    Session,
    LastEvent,
}

#[derive(Arbitrary, Debug)]
enum Change {
    Remove,
    /// Once more, as it is.
    Twice,
    Set(Vec<u8>),
    Add(Vec<u8>),
    /// As it is, in base64.
    Encode,
    /// One byte of it is another.
    Flip(u8),
}

const VERSION: &str = "2026-07-28";

fuzz_target!(|exchange: Exchange| {
    thread_local!(static SERVER: (Runtime, Http) = server());
    SERVER.with(|(runtime, http)| runtime.block_on(exchange.send(http.clone())));
});

fn server() -> (Runtime, Http) {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "level": { "type": "integer", "x-mcp-header": "Level" },
    } });
    let route = types::Tool::new("route", schema);
    let plain = types::Tool::new("plain", json!({ "type": "object" }));
    let server = Server::new("fuzzed", "1.0.0")
        .dyn_tool(Arc::new(tool_fn(route, async |_: RawJson, _| Ok("served"))))
        .dyn_tool(Arc::new(tool_fn(plain, async |_: RawJson, _| Ok("served"))))
        .build()
        .expect("it can be built");
    let runtime = Builder::new_current_thread().enable_time().build();
    (runtime.expect("a runtime of one thread"), Http::new(server))
}

impl Exchange {
    async fn send(self, mut http: Http) {
        let headers = self.headers();
        let call = self.call();
        let body = self
            .body
            .clone()
            .map_or_else(|| Bytes::from(call), Bytes::from);
        let verb = match self.verb {
            Verb::Post => Method::POST,
            Verb::Get => Method::GET,
            Verb::Delete => Method::DELETE,
            Verb::Options => Method::OPTIONS,
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = verb;
        *request.headers_mut() = headers.clone();
        let response = http
            .call(request)
            .await
            .unwrap_or_else(|never| match never {});
        let status = response.status().as_u16();
        let known = [200, 202, 400, 403, 404, 405, 406, 409, 413, 415, 429, 503];
        assert!(known.contains(&status), "{status}");
        let stream = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "text/event-stream");
        if stream {
            return;
        }
        let body = response
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        let answer: Value = match &body[..] {
            b"" => Value::Null,
            body => serde_json::from_slice(body).expect("an answer is JSON"),
        };
        if self.body.is_none() {
            let served = answer["result"]["content"][0]["text"] == "served";
            assert_eq!(served, status == 200, "{status} {answer}");
            let may_be = self.verb == Verb::Post && self.repeats(&headers);
            assert!(!served || may_be, "served, with {headers:?}");
            let must_be = may_be && self.changes.is_empty();
            assert!(served || !must_be, "{status} {answer}");
        }
    }

    fn name(&self) -> &'static str {
        match self.tool {
            Tool::Route => "route",
            Tool::Plain => "plain",
        }
    }

    fn arguments(&self) -> Value {
        let mut arguments = json!({});
        if let Some(region) = &self.region {
            arguments["region"] = json!(region);
        }
        if let Some(level) = self.level {
            arguments["level"] = json!(level);
        }
        arguments
    }

    fn call(&self) -> String {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": self.name(), "arguments": self.arguments(), "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: Name, value: &str| {
            let value = HeaderValue::from_str(value).expect("a header");
            headers.insert(name.header(), value);
        };
        set(Name::Version, VERSION);
        set(Name::Method, "tools/call");
        set(Name::Tool, self.name());
        set(Name::ContentType, "application/json");
        set(Name::Accept, "application/json, text/event-stream");
        set(Name::Host, "localhost:8080");
        if let Tool::Route = self.tool {
            if let Some(region) = &self.region {
                set(Name::Region, &encoded(region.as_bytes()));
            }
            if let Some(level) = self.level {
                set(Name::Level, &level.to_string());
            }
        }
        for (name, change) in self.changes.iter().take(8) {
            let name = name.header();
            let old = headers.get(&name).cloned();
            let bytes = old.as_ref().map_or(&b""[..], |old| old.as_bytes()).to_vec();
            let (keep, new) = match change {
                Change::Remove => (false, None),
                Change::Twice => (true, old.as_ref().map(|_| bytes)),
                Change::Set(value) => (false, Some(value.clone())),
                Change::Add(value) => (true, Some(value.clone())),
                Change::Encode => (false, old.as_ref().map(|_| encoded(&bytes).into_bytes())),
                Change::Flip(at) => {
                    let mut bytes = bytes;
                    let len = bytes.len().max(1);
                    if let Some(byte) = bytes.get_mut(usize::from(*at) % len) {
                        *byte ^= 0x20;
                    }
                    (false, old.as_ref().map(|_| bytes))
                }
            };
            if !keep {
                headers.remove(&name);
            }
            if let Some(value) = new.and_then(|new| HeaderValue::from_bytes(&new).ok()) {
                headers.append(&name, value);
            }
        }
        headers
    }

    /// Whether the headers say what the body says, each of them once.
    fn repeats(&self, headers: &HeaderMap) -> bool {
        let one = |name: Name| {
            let mut values = headers.get_all(name.header()).iter();
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some(value), None) => Ok(Some(trim(value.as_bytes()).to_vec())),
                _ => Err(()),
            }
        };
        let means = |name: Name, expected: Option<&[u8]>| match (one(name), expected) {
            (Ok(None), None) => true,
            (Ok(Some(sent)), Some(expected)) => {
                sent == expected || decoded(&sent).as_deref() == Some(expected)
            }
            _ => false,
        };
        let level = |level: i64| {
            let sent = one(Name::Level).ok().flatten().unwrap_or_default();
            let sent = decoded(&sent).unwrap_or(sent);
            let sent = String::from_utf8(sent).unwrap_or_default();
            sent == level.to_string() || sent.parse::<f64>().is_ok_and(|sent| sent == level as f64)
        };
        let arguments = match self.tool {
            Tool::Route => {
                let region = self.region.as_deref().map(str::as_bytes);
                let none = one(Name::Level) == Ok(None);
                means(Name::Region, region) && self.level.map_or(none, level)
            }
            Tool::Plain => true,
        };
        let host = one(Name::Host).ok().flatten().unwrap_or_default();
        let host = host.split(|byte| *byte == b':').next().unwrap_or_default();
        // An address has more colons than one, or none.
        let is_local = host.eq_ignore_ascii_case(b"localhost")
            || host.starts_with(b"127.")
            || host.starts_with(b"[");
        one(Name::Version) == Ok(Some(VERSION.into()))
            && one(Name::Method) == Ok(Some(b"tools/call".to_vec()))
            && means(Name::Tool, Some(self.name().as_bytes()))
            && one(Name::Origin).is_ok()
            && is_local
            && arguments
    }
}

impl Name {
    fn header(self) -> HeaderName {
        let name = match self {
            Self::Version => "mcp-protocol-version",
            Self::Method => "mcp-method",
            Self::Tool => "mcp-name",
            Self::Region => "mcp-param-region",
            Self::Level => "mcp-param-level",
            Self::ContentType => return CONTENT_TYPE,
            Self::Accept => return ACCEPT,
            Self::Host => return HOST,
            Self::Origin => return ORIGIN,
            Self::Session => "mcp-session-id",
            Self::LastEvent => "last-event-id",
        };
        HeaderName::from_static(name)
    }
}

fn trim(value: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let from = value.iter().position(is_text).unwrap_or(value.len());
    let to = value.iter().rposition(is_text).map_or(from, |to| to + 1);
    &value[from..to]
}

/// A text in base64, as a header has it.
fn encoded(text: &[u8]) -> String {
    format!("=?base64?{}?=", BASE64.encode(text))
}

fn decoded(value: &[u8]) -> Option<Vec<u8>> {
    let inner = value.strip_prefix(b"=?base64?")?.strip_suffix(b"?=")?;
    BASE64.decode(inner).ok()
}
