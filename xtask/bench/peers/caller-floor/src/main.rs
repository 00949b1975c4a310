//! `caller-floor SERVER`: the least that a call costs a client whose callers are tasks.
//!
//! The multi-threaded runtime of tokio, and nothing of an SDK. Callers send their arguments to
//! the one task that writes requests and reads results, each straight from and to its type, and
//! wait for theirs. There is no time limit, nothing can be cancelled, no server is mistrusted, and
//! 2026-07-28 is the only revision.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::process::Stdio;

use memchr::memchr;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, yield_now};

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'a str,
    id: u64,
    method: &'a str,
    params: Params<'a>,
}

#[derive(Serialize)]
struct Params<'a> {
    name: &'a str,
    arguments: &'a Value,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'a str,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Capabilities,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Implementation<'a>,
}

#[derive(Serialize)]
struct Capabilities {}

#[derive(Serialize)]
struct Implementation<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Deserialize)]
struct Response {
    id: u64,
    result: CallResult,
}

#[derive(Deserialize)]
struct CallResult {
    content: Vec<Content>,
    #[serde(rename = "isError", default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Content {
    r#type: String,
    text: String,
}

/// The arguments of a call, and who waits for its result.
type Call = (Value, oneshot::Sender<CallResult>);

fn write(id: u64, arguments: &Value, out: &mut Vec<u8>) -> io::Result<()> {
    let meta = Meta {
        version: "2026-07-28",
        capabilities: Capabilities {},
        client: Implementation {
            name: "floor",
            version: "1.0.0",
        },
    };
    let params = Params {
        name: "echo",
        arguments,
        meta,
    };
    let request = Request {
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params,
    };
    serde_json::to_writer(&mut *out, &request)?;
    out.push(b'\n');
    Ok(())
}

/// Makes calls, until nobody is left who could want one.
async fn drive(
    mut calls: mpsc::UnboundedReceiver<Call>,
    mut output: ChildStdin,
    mut input: ChildStdout,
) -> io::Result<()> {
    let mut open = HashMap::new();
    let (mut asked, mut out, mut read) = (Vec::new(), Vec::new(), Vec::with_capacity(ROOM));
    let (mut id, mut searched) = (0, 0);
    loop {
        read.reserve(ROOM);
        tokio::select! {
            count = calls.recv_many(&mut asked, usize::MAX) => {
                if count == 0 {
                    return Ok(());
                }
                // Others who were answered together call together, too.
                yield_now().await;
                while let Ok(call) = calls.try_recv() {
                    asked.push(call);
                }
                for (arguments, to) in asked.drain(..) {
                    id += 1;
                    write(id, &arguments, &mut out)?;
                    open.insert(id, to);
                }
                output.write_all(&out).await?;
                out.clear();
            }
            count = input.read_buf(&mut read) => {
                if count? == 0 {
                    return Ok(());
                }
                let mut start = 0;
                while let Some(length) = memchr(b'\n', &read[searched..]) {
                    let end = searched + length;
                    let response: Response = serde_json::from_slice(&read[start..end])?;
                    if let Some(to) = open.remove(&response.id) {
                        // Who does not wait any more needs nothing.
                        let _ = to.send(response.result);
                    }
                    (start, searched) = (end + 1, end + 1);
                }
                read.drain(..start);
                searched = read.len();
            }
        }
    }
}

/// Room for one read, as much as a pipe holds.
const ROOM: usize = 64 * 1024;

async fn call(calls: mpsc::UnboundedSender<Call>, times: usize) -> Result<(), &'static str> {
    let text = "0123456789abcdef".repeat(4);
    for _ in 0..times {
        let (to, result) = oneshot::channel();
        let arguments = json!({ "text": text });
        calls.send((arguments, to)).map_err(|_| "it has ended")?;
        let result = result.await.map_err(|_| "it has ended")?;
        match &*result.content {
            [content] if content.r#type == "text" && content.text == text && !result.is_error => {}
            _ => return Err("another result"),
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).ok_or("caller-floor SERVER")?;
    let mut command = Command::new(server);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let (Some(output), Some(input)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no pipes".into());
    };
    let (calls, asked) = mpsc::unbounded_channel();
    tokio::spawn(drive(asked, output, input));
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (times, depth) = line.split_once(' ').ok_or("CALLS DEPTH")?;
        let (times, depth): (usize, usize) = (times.parse()?, depth.parse()?);
        let mut callers = JoinSet::new();
        for _ in 0..depth {
            callers.spawn(call(calls.clone(), times / depth));
        }
        while let Some(done) = callers.join_next().await {
            done??;
        }
        writeln!(io::stdout(), "done")?;
    }
    Ok(())
}
