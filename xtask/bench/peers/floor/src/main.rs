//! The floor: the least that an echo costs if handlers are typed and async.
//!
//! One thread on tokio, and nothing of an SDK. A line is parsed once, straight into the arguments
//! of the tools; a handler is polled where lines are read, and gets a task if it has to wait; all
//! that was answered goes out in one write. Both eras are spoken, as far as `echo` and `sleep`
//! need it.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fs::File;
use std::future::{Future, poll_fn};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream as Socket;
use std::task::Poll;
use std::time::Duration;

use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinSet;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    arguments: Option<Arguments>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

/// Those of all tools, so that they are parsed where they stand.
#[derive(Deserialize)]
struct Arguments {
    text: Option<String>,
    ms: Option<u64>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
}

enum Call {
    Echo(String),
    Sleep(u64),
}

/// What the user of an SDK would write.
async fn handler(call: Call) -> String {
    match call {
        Call::Echo(text) => text,
        Call::Sleep(ms) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            "slept".to_owned()
        }
    }
}

/// A call that waits, and what its reply needs.
type Waiting = JoinSet<(String, bool, String)>;

/// Answers one line, unless its call has to wait.
async fn answer(line: &[u8], out: &mut Vec<u8>, waiting: &mut Waiting) -> io::Result<()> {
    let Ok(request) = serde_json::from_slice::<Request<'_>>(line) else {
        return error("null", -32700, out);
    };
    let Some(id) = request.id else {
        return Ok(());
    };
    let params = request.params;
    let meta = params.as_ref().and_then(|params| params.meta.as_ref());
    let modern = meta.is_some_and(|meta| meta.version.as_deref() == Some("2026-07-28"));
    let call = match (&*request.method, params) {
        ("tools/call", Some(params)) => called(params),
        (method, _) => return about(method, id.get(), out),
    };
    let Some(call) = call else {
        return error(id.get(), -32602, out);
    };
    let mut running = Box::pin(handler(call));
    match poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await {
        Poll::Ready(text) => reply(id.get(), modern, &text, out)?,
        Poll::Pending => {
            let id = id.get().to_owned();
            waiting.spawn(async move { (id, modern, running.await) });
        }
    }
    Ok(())
}

fn called(params: Params<'_>) -> Option<Call> {
    let arguments = params.arguments?;
    match params.name?.as_ref() {
        "echo" => arguments.text.map(Call::Echo),
        "sleep" => arguments.ms.map(Call::Sleep),
        _ => None,
    }
}

fn reply(id: &str, modern: bool, text: &str, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":{"content":[{"type":"text","text":"#);
    serde_json::to_writer(&mut *out, text)?;
    out.extend_from_slice(match modern {
        true => br#"}],"resultType":"complete"}}"#.as_slice(),
        false => br#"}]}}"#,
    });
    out.push(b'\n');
    Ok(())
}

/// What a client asks before it calls a tool.
fn about(method: &str, id: &str, out: &mut Vec<u8>) -> io::Result<()> {
    let about = r#""capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1.0.0"}"#;
    let result = match method {
        "initialize" => format!(r#"{{"protocolVersion":"2025-06-18",{about}}}"#),
        "server/discover" => format!(
            r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private",{about}}}"#
        ),
        "ping" => "{}".to_owned(),
        _ => return error(id, -32601, out),
    };
    writeln!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn error(id: &str, code: i32, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(
        out,
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"refused"}}}}"#
    )
}

async fn serve() -> io::Result<()> {
    let (mut input, mut output) = (input()?, output()?);
    let mut waiting = Waiting::new();
    let (mut read, mut out) = (Vec::with_capacity(ROOM), Vec::new());
    let mut searched = 0;
    loop {
        read.reserve(ROOM);
        tokio::select! {
            biased;
            Some(done) = waiting.join_next() => {
                let (id, modern, text) = done.map_err(io::Error::other)?;
                reply(&id, modern, &text, &mut out)?;
            }
            count = input.read_buf(&mut read) => if count? == 0 {
                break;
            },
        }
        while let Some(done) = waiting.try_join_next() {
            let (id, modern, text) = done.map_err(io::Error::other)?;
            reply(&id, modern, &text, &mut out)?;
        }
        let mut start = 0;
        while let Some(length) = memchr(b'\n', &read[searched..]) {
            let end = searched + length;
            answer(&read[start..end], &mut out, &mut waiting).await?;
            (start, searched) = (end + 1, end + 1);
        }
        read.drain(..start);
        searched = read.len();
        output.write_all(&out).await?;
        out.clear();
    }
    Ok(())
}

/// Room for one read, as much as a pipe holds.
const ROOM: usize = 64 * 1024;

fn input() -> io::Result<Box<dyn AsyncRead + Unpin>> {
    let descriptor = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(match is_socket(&descriptor)? {
        true => Box::new(socket(descriptor)?),
        false => Box::new(pipe::Receiver::from_owned_fd(descriptor)?),
    })
}

fn output() -> io::Result<Box<dyn AsyncWrite + Unpin>> {
    let descriptor = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match is_socket(&descriptor)? {
        true => Box::new(socket(descriptor)?),
        false => Box::new(pipe::Sender::from_owned_fd(descriptor)?),
    })
}

fn is_socket(descriptor: &OwnedFd) -> io::Result<bool> {
    let file = File::from(descriptor.try_clone()?);
    Ok(file.metadata()?.file_type().is_socket())
}

fn socket(descriptor: OwnedFd) -> io::Result<UnixStream> {
    let socket = Socket::from(descriptor);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn main() -> io::Result<()> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(serve())
}
