//! A tour: this program starts itself again as a server, talks to it over stdio in both eras
//! of the protocol, and prints what happens.
//!
//! The client's side is written with the protocol and transport crates alone, so that every
//! message can be seen.

#![expect(clippy::print_stdout, reason = "printing is what a tour does")]

use std::error::Error;
use std::future::poll_fn;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mcp_protocol::transport::{Frame, Receiver as _, Sender as _, Transport as _};
use mcp_protocol::{Incoming, Message, Method, Response, ServerResult};
use mcp_server::prelude::*;
use mcp_transport_stdio::{Framed, FramedReceiver, FramedSender};
use serde_json::{Value, json};
use tokio::process::{ChildStdin, ChildStdout, Command};

/// What makes this program the server. Not for people.
const SERVE: &str = "--serve";

#[derive(Tools)]
enum Tour {
    /// Greet somebody.
    Greet {
        /// Whom.
        name: String,
    },
    /// Divide a by b.
    Divide { a: f64, b: f64 },
    /// Count down to zero, one step every 30 ms, and tell how far it is.
    CountDown {
        /// Where to begin.
        from: u8,
    },
}

impl RunTools for Tour {
    async fn run(self, cx: &Context) -> Result<impl IntoContent, ToolError> {
        match self {
            Self::Greet { name } => Ok(format!("Hello, {name}!")),
            Self::Divide { b: 0.0, .. } => Err(ToolError::failed("cannot divide by zero")),
            Self::Divide { a, b } => Ok((a / b).to_string()),
            Self::CountDown { from } => {
                for step in 1..=from {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    cx.progress(step.into(), Some(from.into()));
                }
                Ok("Lift-off!".to_owned())
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|arg| arg == SERVE) {
        let server = Server::new("tour", env!("CARGO_PKG_VERSION")).tools::<Tour>();
        return Ok(server.serve_stdio().await?);
    }
    tour().await
}

async fn tour() -> Result<(), Box<dyn Error>> {
    println!("One MCP server over stdio, spoken to in both eras of the protocol.");
    let mut server = Command::new(std::env::current_exe()?)
        .arg(SERVE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = server.stdin.take().ok_or("the server has no stdin")?;
    let stdout = server.stdout.take().ok_or("the server has no stdout")?;
    let mut peer = Peer::new(stdout, stdin);

    println!("\n2025-11-25: a session begins with a handshake\n");
    let client = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "tour", "version": "1" },
    });
    peer.request("initialize", client).await?;
    peer.notify("notifications/initialized", json!({})).await?;
    calls(&mut peer).await?;

    println!("\n2026-07-28: no handshake, each request says who asks\n");
    peer.modern = true;
    peer.request("server/discover", json!({})).await?;
    calls(&mut peer).await?;

    println!("\nWhat is wrong costs only itself\n");
    peer.send("{this is not JSON").await?;
    peer.answer(None, &Method::Ping).await?;
    peer.request("no/such/method", json!({})).await?;
    let slow = json!({ "name": "count_down", "arguments": { "from": 200 } });
    let id = peer.ask("tools/call", slow).await?;
    peer.notify("notifications/cancelled", json!({ "requestId": id }))
        .await?;
    println!("  .. and the cancelled call is never answered");
    peer.request("tools/list", json!({})).await?;

    println!("\nThe end\n");
    let closed = Instant::now();
    drop(peer);
    let status = server.wait().await?;
    let millis = closed.elapsed().as_millis();
    println!("  .. stdin closed; the server ended with {status} after {millis} ms");
    Ok(())
}

/// The same calls in either era.
async fn calls(peer: &mut Peer) -> Result<(), Box<dyn Error>> {
    peer.request("tools/list", json!({})).await?;
    for (tool, arguments) in [
        ("greet", json!({ "name": "World" })),
        ("divide", json!({ "a": 1, "b": 0 })),
        ("greet", json!({ "nmae": "World" })),
    ] {
        let params = json!({ "name": tool, "arguments": arguments });
        peer.request("tools/call", params).await?;
    }
    let params = json!({
        "name": "count_down",
        "arguments": { "from": 3 },
        "_meta": { "progressToken": "tour" },
    });
    peer.request("tools/call", params).await
}

/// The server, as a client sees it that does everything by hand.
struct Peer {
    receiver: FramedReceiver<ChildStdout>,
    sender: FramedSender<ChildStdin>,
    modern: bool,
    last_id: i64,
}

impl Peer {
    fn new(stdout: ChildStdout, stdin: ChildStdin) -> Self {
        let (receiver, sender) = Framed::new(stdout, stdin).split();
        Self {
            receiver,
            sender,
            modern: false,
            last_id: 0,
        }
    }

    /// Asks, and prints what comes until the answer has come.
    async fn request(&mut self, method: &str, params: Value) -> Result<(), Box<dyn Error>> {
        let id = self.ask(method, params).await?;
        self.answer(Some(id), &Method::from(method)).await
    }

    async fn ask(&mut self, method: &str, mut params: Value) -> Result<i64, Box<dyn Error>> {
        let shown = brief(&params);
        if self.modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.last_id += 1;
        let id = self.last_id;
        println!("  -> {method}{shown}");
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_quietly(message.to_string()).await?;
        Ok(id)
    }

    async fn notify(&mut self, method: &str, params: Value) -> Result<(), Box<dyn Error>> {
        println!("  -> {method}{}", brief(&params));
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_quietly(message.to_string()).await
    }

    async fn send(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        println!("  -> {line}");
        self.send_quietly(line.to_owned()).await
    }

    async fn send_quietly(&mut self, line: String) -> Result<(), Box<dyn Error>> {
        self.sender.send(&Frame::from(line), None);
        poll_fn(|cx| self.sender.poll_flush(cx)).await?;
        Ok(())
    }

    async fn answer(&mut self, id: Option<i64>, method: &Method) -> Result<(), Box<dyn Error>> {
        loop {
            let frame = poll_fn(|cx| self.receiver.poll_receive(cx)).await;
            let frame = frame.ok_or("the server has ended")??;
            match Incoming::parse(&frame) {
                Incoming::Message(Message::Response(response)) => {
                    if response.id == id.map(Into::into) {
                        println!("  <- {}", describe(method, &response)?);
                        return Ok(());
                    }
                }
                Incoming::Message(Message::Notification(notification)) => {
                    let params = notification.params.map(|params| params.decode::<Value>());
                    let params = params.transpose()?.unwrap_or_default();
                    println!("  <- {}{}", notification.method, brief(&params));
                }
                other => println!("  <- {other:?}"),
            }
        }
    }
}

/// What an answer says, in a line.
fn describe(method: &Method, response: &Response) -> Result<String, Box<dyn Error>> {
    let result = match &response.outcome {
        Ok(result) => result,
        Err(error) => return Ok(format!("error {error}")),
    };
    Ok(match ServerResult::parse(method, result)? {
        ServerResult::Initialize(result) => format!(
            "{} {}, speaking {}",
            result.server_info.name, result.server_info.version, result.protocol_version
        ),
        ServerResult::Discover(result) => {
            format!("speaks {}", result.supported_versions.join(", "))
        }
        ServerResult::ListTools(result) => {
            let names: Vec<_> = result.tools.iter().map(|tool| &*tool.name).collect();
            format!("tools: {}", names.join(", "))
        }
        ServerResult::CallTool(result) => {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            let texts = texts.collect::<Vec<_>>().join(" ");
            match result.is_error {
                Some(true) => format!("failed: {texts}"),
                _ => texts,
            }
        }
        _ => result.to_string(),
    })
}

/// Parameters without what every request carries.
fn brief(params: &Value) -> String {
    let mut params = params.clone();
    if let Some(object) = params.as_object_mut() {
        object.remove("_meta");
        object.remove("clientInfo");
    }
    match params.as_object() {
        Some(object) if object.is_empty() => String::new(),
        _ => format!(" {params}"),
    }
}
