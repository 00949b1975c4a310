//! A server that a test plays, line by line.

#![allow(dead_code, reason = "no test needs all of it")]

pub(crate) mod warnings;

use std::future::poll_fn;

use mcp_client::transport::{Encode, Receiver as _, Sender as _, Transport};
use mcp_client::{Client, ClientBuilder, Opening};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};

struct Line(String);

impl Encode for Line {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

/// The server's end.
pub(crate) struct Server {
    /// `None` when it reads no more.
    receiver: Option<<Memory as Transport>::Receiver>,
    sender: <Memory as Transport>::Sender,
}

impl Server {
    pub(crate) fn new(transport: Memory) -> Self {
        let (receiver, sender) = transport.split();
        Self {
            receiver: Some(receiver),
            sender,
        }
    }

    /// What the client has written next, or `None` if it writes no more.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let receiver = self.receiver.as_mut().expect("it reads");
        let frame = poll_fn(|cx| receiver.poll_receive(cx)).await?;
        let frame = frame.expect("memory does not fail");
        Some(serde_json::from_slice(&frame).expect("only JSON is written"))
    }

    pub(crate) fn stop_reading(&mut self) {
        self.receiver = None;
    }

    /// The client's next message, which is a request or a notification of this method.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await.expect("the client writes");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub(crate) async fn write(&mut self, line: &str) {
        self.sender.send(&Line(line.to_owned()), None);
        // The client may be gone.
        let _ = poll_fn(|cx| self.sender.poll_flush(cx)).await;
    }

    pub(crate) async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.write(&message.to_string()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }))
            .await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({ "id": request["id"], "result": result }))
            .await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, code: i64) {
        let error = json!({ "code": code, "message": "no" });
        self.send(json!({ "id": request["id"], "error": error }))
            .await;
    }

    /// Answers the request of this method that is next.
    pub(crate) async fn serve(&mut self, method: &str, result: Value) -> Value {
        let request = self.expect(method).await;
        self.answer(&request, result).await;
        request
    }
}

/// A client that can be set up further, and what it is to be connected by.
pub(crate) fn builder() -> ClientBuilder {
    Client::builder("test", "1")
}

fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true }, "prompts": {}, "resources": { "subscribe": true }, "logging": {},
        "completions": {},
    })
}

/// Connects to a server of 2026-07-28.
pub(crate) async fn modern(builder: ClientBuilder) -> (Client, Server) {
    let (ours, theirs) = pair();
    let mut server = Server::new(theirs);
    let result = json!({
        "supportedVersions": ["2026-07-28"], "capabilities": capabilities(), "resultType": "complete",
    });
    let (client, _) = tokio::join!(
        builder.opening(Opening::Modern).connect(ours),
        server.serve("server/discover", result)
    );
    (client.expect("it connects"), server)
}

/// Connects to a server of 2025-11-25.
pub(crate) async fn legacy(builder: ClientBuilder) -> (Client, Server) {
    let (ours, theirs) = pair();
    let mut server = Server::new(theirs);
    let result = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities(),
        "serverInfo": { "name": "played", "version": "1" },
    });
    let play = async {
        server.serve("initialize", result).await;
        server.expect("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(builder.opening(Opening::Legacy).connect(ours), play);
    (client.expect("it connects"), server)
}

/// A result of `tools/call`.
pub(crate) fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}
