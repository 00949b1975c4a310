//! A server of few tools, requests to it, and what comes back.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use mcp_server::input::form;
use mcp_server::prelude::*;
use mcp_server::{ErrorObject, StaticResource};
use mcp_transport_http::{Body, Http};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

/// What the tests see of the handlers.
#[derive(Clone)]
pub(crate) struct Seen(Arc<Inner>);

struct Inner {
    /// What waiting calls wait for.
    gate: Semaphore,
    started: AtomicUsize,
    dropped: AtomicUsize,
}

impl Default for Seen {
    fn default() -> Self {
        Self(Arc::new(Inner {
            gate: Semaphore::new(0),
            started: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
        }))
    }
}

impl Seen {
    /// Lets calls that wait end.
    pub(crate) fn release(&self, calls: usize) {
        self.0.gate.add_permits(calls);
    }

    pub(crate) fn started(&self) -> usize {
        self.0.started.load(Ordering::SeqCst)
    }

    /// How many waiting calls were dropped before they were released.
    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }
}

struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[derive(Tools)]
pub(crate) enum Kit {
    /// Give the same text.
    Echo { text: String },
    /// Report progress, and wait to be released.
    Wait,
    /// Report so many steps of this many characters.
    Steps { steps: u32, width: usize },
    /// Ask the user.
    Ask,
    /// Refuse.
    Refuse,
    /// Take what proxies may want to see.
    Route {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: Option<String>,
        #[schemars(extend("x-mcp-header" = "Level"))]
        level: Option<i64>,
        #[schemars(extend("x-mcp-header" = "Dry"))]
        dry: Option<bool>,
        inner: Option<Place>,
    },
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Place {
    #[schemars(extend("x-mcp-header" = "Zone"))]
    zone: Option<String>,
}

/// An answer.
#[derive(Form)]
struct Answer {
    /// Yes or no.
    yes: bool,
}

impl RunTools<Seen> for Kit {
    async fn run(self, cx: &Context<Seen>) -> Result<impl IntoContent, ToolError> {
        let seen = &cx.state().0;
        Ok(match self {
            Self::Echo { text } => text,
            Self::Wait => {
                seen.started.fetch_add(1, Ordering::SeqCst);
                cx.progress(1.0, None);
                let dropped = Dropped(&seen.dropped);
                seen.gate
                    .acquire()
                    .await
                    .expect("nobody closes it")
                    .forget();
                std::mem::forget(dropped);
                "waited".to_owned()
            }
            Self::Steps { steps, width } => {
                for step in 1..=steps {
                    cx.progress_with(f64::from(step), None, "x".repeat(width));
                    tokio::task::yield_now().await;
                }
                "stepped".to_owned()
            }
            Self::Ask => {
                let Answer { yes } = cx.input("answer", form("Really?"))?;
                format!("yes: {yes}")
            }
            Self::Refuse => {
                return Err(ToolError::refused(ErrorObject::invalid_params("not this")));
            }
            Self::Route {
                region,
                level,
                dry,
                inner,
            } => {
                let zone = inner.map(|place| place.zone);
                format!("{region:?} {level:?} {dry:?} {zone:?}")
            }
        })
    }
}

/// The server, with what its handlers show.
pub(crate) fn server(
    describe: impl FnOnce(Server<Seen>) -> Server<Seen>,
) -> (ServerHandle<Seen>, Seen) {
    let seen = Seen::default();
    let server = Server::with_state("kit", "1.0.0", seen.clone())
        .tools::<Kit>()
        .resource(StaticResource::text("test://a%20b", "a", "A"));
    (
        describe(server).build().expect("it is well described"),
        seen,
    )
}

/// Its endpoint, as it is by default.
pub(crate) fn endpoint() -> (Http<Seen>, Seen) {
    let (server, seen) = server(|server| server);
    (Http::new(server), seen)
}

pub(crate) const ENVELOPE: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// A request that is on its way to be made.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Call {
    fn new(body: Value) -> Self {
        let headers = [
            ("host", "localhost:3000"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            headers: headers.into(),
            body,
        }
    }

    /// Puts this in the place of what the header was.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.and(name, value)
    }

    /// Adds a header, were it a second time.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    pub(crate) fn request(&self, verb: Method, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(verb).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(name, value.as_bytes());
        }
        request
            .body(Full::new(body.into()))
            .expect("it is well formed")
    }

    pub(crate) fn post(&self) -> Request<Full<Bytes>> {
        self.request(Method::POST, self.body.to_string())
    }

    /// Makes the request.
    pub(crate) async fn send(&self, http: &Http<Seen>) -> Reply {
        send(http, self.post()).await
    }
}

/// A modern request, as it should be.
pub(crate) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Call {
    let name = ["name", "uri"].iter().find_map(|key| params[*key].as_str());
    let name = name.map(str::to_owned);
    let meta = &mut params["_meta"];
    meta[ENVELOPE] = MODERN.into();
    if meta[CAPABILITIES].is_null() {
        meta[CAPABILITIES] = json!({});
    }
    let body = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params });
    let call = Call::new(body)
        .and("mcp-protocol-version", MODERN)
        .and("mcp-method", method);
    match name {
        Some(name) => call.and("mcp-name", &name),
        None => call,
    }
}

/// A modern call of a tool.
pub(crate) fn tool(id: impl Into<Value>, name: &str, arguments: Value) -> Call {
    modern(
        id,
        "tools/call",
        json!({ "name": name, "arguments": arguments }),
    )
}

/// The same, of somebody who wants to hear of progress.
pub(crate) fn watched_tool(id: impl Into<Value>, name: &str, arguments: Value) -> Call {
    let meta = json!({ "progressToken": "t" });
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    modern(id, "tools/call", params)
}

/// A message of a legacy client.
pub(crate) fn legacy(body: Value) -> Call {
    Call::new(body).and("mcp-protocol-version", LEGACY)
}

pub(crate) fn initialize(version: &str) -> Call {
    let params = json!({
        "protocolVersion": version,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    Call::new(body)
}

/// A session that is open.
pub(crate) struct Session<'a> {
    pub(crate) http: &'a Http<Seen>,
    pub(crate) id: String,
    version: String,
}

impl<'a> Session<'a> {
    pub(crate) async fn open(http: &'a Http<Seen>, version: &str) -> Session<'a> {
        let reply = initialize(version).send(http).await;
        assert_eq!(reply.status(), StatusCode::OK);
        let id = reply.header("mcp-session-id").expect("there is a session");
        let session = Session {
            http,
            id,
            version: version.to_owned(),
        };
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.tell(body).await, StatusCode::ACCEPTED);
        // An answer to what came behind it says that it has arrived.
        let ping = json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" });
        let reply = session.call(ping).send(http).await;
        reply
            .response
            .into_body()
            .collect()
            .await
            .expect("it cannot fail");
        session
    }

    pub(crate) fn call(&self, body: Value) -> Call {
        let call = legacy(body).with("mcp-session-id", &self.id);
        match &*self.version {
            // It came before the header.
            "2025-03-26" => call.without("mcp-protocol-version"),
            version => call.with("mcp-protocol-version", version),
        }
    }

    /// Posts what asks for nothing.
    pub(crate) async fn tell(&self, body: Value) -> StatusCode {
        self.call(body).send(self.http).await.status()
    }

    /// Calls a tool, hearing of progress.
    pub(crate) async fn tool(&self, id: impl Into<Value>, name: &str, arguments: Value) -> Reply {
        let meta = json!({ "progressToken": "t" });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let id = id.into();
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.call(body).send(self.http).await
    }

    /// Opens the general stream, or goes on behind an event.
    pub(crate) async fn get(&self, after: Option<&str>) -> Reply {
        let mut call = self.call(Value::Null);
        if let Some(event) = after {
            call = call.and("last-event-id", event);
        }
        send(self.http, call.request(Method::GET, "")).await
    }

    pub(crate) async fn delete(&self) -> StatusCode {
        let call = self.call(Value::Null);
        send(self.http, call.request(Method::DELETE, ""))
            .await
            .status()
    }
}

pub(crate) async fn send(http: &Http<Seen>, request: Request<Full<Bytes>>) -> Reply {
    let Ok(response) = http.clone().oneshot(request).await;
    Reply {
        response,
        rest: String::new(),
    }
}

/// What was answered.
pub(crate) struct Reply {
    response: Response<Body>,
    /// What was read of the body, and is no whole event yet.
    rest: String,
}

/// One event of a stream.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) retry: Option<String>,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        let data = self.data.as_ref().expect("the event has data");
        serde_json::from_str(data).expect("the data is JSON")
    }
}

impl Reply {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let value = self.response.headers().get(name)?;
        Some(value.to_str().expect("it is text").to_owned())
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").as_deref() == Some("text/event-stream")
    }

    /// The whole body, which is one message.
    pub(crate) async fn json(self) -> Value {
        assert_eq!(
            self.header("content-type").as_deref(),
            Some("application/json")
        );
        let body = self.response.into_body().collect().await;
        let bytes = body.expect("it cannot fail").to_bytes();
        serde_json::from_slice(&bytes).expect("it is JSON")
    }

    /// Status, and the code of the error in the body.
    pub(crate) async fn refusal(self) -> (u16, i64) {
        let status = self.status().as_u16();
        let code = self.json().await["error"]["code"].as_i64();
        (status, code.expect("it is an error"))
    }

    /// The next event of the stream; `None` at its end. Comments are events without anything.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        assert!(self.is_stream(), "{:?}", self.response);
        loop {
            if let Some((event, rest)) = self.rest.split_once("\n\n") {
                let event = parse(event);
                self.rest = rest.to_owned();
                return Some(event);
            }
            let frame = self.response.body_mut().frame().await?;
            let data = frame.expect("it cannot fail").into_data();
            let data = data.expect("there are no trailers");
            self.rest += std::str::from_utf8(&data).expect("it is text");
        }
    }

    /// The next message of the stream.
    pub(crate) async fn message(&mut self) -> Value {
        self.event().await.expect("the stream goes on").json()
    }

    /// The message, or all of them to the end of the stream.
    pub(crate) async fn messages(&mut self) -> Vec<Value> {
        if !self.is_stream() {
            let body = self.response.body_mut().collect().await;
            let bytes = body.expect("it cannot fail").to_bytes();
            return vec![serde_json::from_slice(&bytes).expect("it is JSON")];
        }
        let mut messages = Vec::new();
        while let Some(event) = self.event().await {
            let data = event.data.as_deref().unwrap_or_default();
            if !data.is_empty() {
                messages.push(event.json());
            }
        }
        messages
    }
}

fn parse(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines() {
        let (name, value) = line.split_once(':').expect("a line has a name");
        let value = Some(value.trim_start().to_owned());
        match name {
            "id" => event.id = value,
            "data" => event.data = value,
            "retry" => event.retry = value,
            "" => {}
            name => panic!("an event has no `{name}`"),
        }
    }
    event
}

/// The text of a tool's result.
pub(crate) fn text(message: &Value) -> &str {
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {message}"))
}

/// Waits until something is so, which other tasks have to do.
pub(crate) async fn until(mut so: impl FnMut() -> bool) {
    for _ in 0..10_000 {
        if so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it never came to be so");
}

/// Whether a future has nothing yet, after all other tasks had their turns.
pub(crate) async fn is_pending(future: impl Future) -> bool {
    let mut future = std::pin::pin!(future);
    for _ in 0..100 {
        tokio::task::yield_now().await;
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx)));
        if polled.await.is_ready() {
            return false;
        }
    }
    true
}
