//! A client in the same process as its server.

#![allow(dead_code, reason = "no test needs all of it")]

use std::future::poll_fn;

use mcp_server::transport::{Encode, Receiver as _, Sender as _, Transport};
use mcp_server::{ServeError, ServerHandle};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) mod log;

struct Line(Value);

impl Encode for Line {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.to_string().as_bytes());
    }
}

/// A client of either era. A legacy one has shaken hands.
pub(crate) struct Client {
    receiver: <Memory as Transport>::Receiver,
    sender: <Memory as Transport>::Sender,
    /// How serving this client ended.
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    pub(crate) modern: bool,
    /// What `initialize` or `server/discover` gave.
    pub(crate) capabilities: Value,
}

impl Client {
    async fn of<S: Send + Sync + 'static>(server: &ServerHandle<S>, modern: bool) -> Self {
        let (ours, theirs) = pair();
        let server = server.clone();
        let served = tokio::spawn(async move { server.serve(theirs).await });
        let (receiver, sender) = ours.split();
        let mut client = Self {
            receiver,
            sender,
            served,
            modern,
            capabilities: Value::Null,
        };
        let reply = if modern {
            client.ask("server/discover", json!({})).await
        } else {
            let params = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
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

    pub(crate) async fn send(&mut self, method: &str, mut params: Value) {
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.write(message).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.write(message).await;
    }

    async fn write(&mut self, message: Value) {
        self.sender.send(&Line(message), None);
        poll_fn(|cx| self.sender.poll_flush(cx))
            .await
            .expect("the server reads");
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
        Client::of(server, false).await,
        Client::of(server, true).await,
    ]
}
