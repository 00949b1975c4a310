//! A client in the same process as its server.

#![allow(dead_code, reason = "no test needs all of it")]

use std::future::poll_fn;

use mcp_server::transport::{Encode, Receiver as _, Sender as _, Transport};
use mcp_server::{ServeError, ServerHandle};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) mod log;
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub(crate) const LEGACY: &str = "2025-06-18";
pub(crate) const MODERN: &str = "2026-07-28";

struct Line(String);

impl Encode for Line {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

/// A client of either era. A legacy one has shaken hands.
pub(crate) struct Client {
    receiver: <Memory as Transport>::Receiver,
    sender: <Memory as Transport>::Sender,
    /// How serving this client ended.
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    /// The revision that it speaks.
    pub(crate) version: &'static str,
    pub(crate) modern: bool,
    /// What `initialize` or `server/discover` gave.
    pub(crate) capabilities: Value,
}

impl Client {
    pub(crate) async fn of<S: Send + Sync + 'static>(
        server: &ServerHandle<S>,
        version: &'static str,
    ) -> Self {
        Self::through(server, version, |theirs| theirs).await
    }

    /// A client whose server has another transport around its end.
    pub(crate) async fn through<S: Send + Sync + 'static, T: Transport>(
        server: &ServerHandle<S>,
        version: &'static str,
        wrap: fn(Memory) -> T,
    ) -> Self {
        Self::opening(server, version, wrap, json!({})).await
    }

    /// A legacy client that can do something.
    pub(crate) async fn declaring<S: Send + Sync + 'static>(
        server: &ServerHandle<S>,
        version: &'static str,
        capabilities: Value,
    ) -> Self {
        Self::opening(server, version, |theirs| theirs, capabilities).await
    }

    async fn opening<S: Send + Sync + 'static, T: Transport>(
        server: &ServerHandle<S>,
        version: &'static str,
        wrap: fn(Memory) -> T,
        capabilities: Value,
    ) -> Self {
        let (ours, theirs) = pair();
        let theirs = wrap(theirs);
        let server = server.clone();
        let served = tokio::spawn(async move { server.serve(theirs).await });
        let (receiver, sender) = ours.split();
        let mut client = Self {
            receiver,
            sender,
            served,
            version,
            modern: version == MODERN,
            capabilities: Value::Null,
        };
        let reply = if client.modern {
            client.ask("server/discover", json!({})).await
        } else {
            let params = json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            });
            client.ask("initialize", params).await
        };
        client.capabilities = reply["result"]["capabilities"].clone();
        client
    }

    /// The reply to a request. What comes before it is passed over.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params).await;
        loop {
            let message = self.receive().await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn send(&mut self, method: &str, params: Value) {
        self.send_as(json!(1), method, params).await;
    }

    /// Sends a request with an id of one's own.
    pub(crate) async fn send_as(&mut self, id: Value, method: &str, mut params: Value) {
        if self.modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            if meta.get(CAPABILITIES).is_none() {
                meta[CAPABILITIES] = json!({});
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(message).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.write(message).await;
    }

    async fn write(&mut self, message: Value) {
        self.write_text(message.to_string()).await;
    }

    /// Sends a line as it is.
    pub(crate) async fn write_text(&mut self, line: String) {
        self.sender.send(&Line(line), None);
        poll_fn(|cx| self.sender.poll_flush(cx))
            .await
            .expect("the server reads");
    }

    /// Sends nothing more, and gives how serving it has ended.
    pub(crate) async fn close(self) -> Result<(), ServeError> {
        drop(self.sender);
        self.served.await.expect("serving does not panic")
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let frame = poll_fn(|cx| self.receiver.poll_receive(cx)).await;
        let frame = frame
            .expect("the server writes")
            .expect("memory does not fail");
        serde_json::from_slice(&frame).expect("only JSON is written")
    }
}

/// A client of each era.
pub(crate) async fn clients<S: Send + Sync + 'static>(server: &ServerHandle<S>) -> [Client; 2] {
    [
        Client::of(server, LEGACY).await,
        Client::of(server, MODERN).await,
    ]
}
