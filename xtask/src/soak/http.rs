//! Clients that speak HTTP, of both eras.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{PATIENCE, Shared};
use crate::random::Random;
use crate::requests::{call, cancel, initialize, modern, modern_call, notification, request};

/// One client after another.
pub(super) fn come_and_go(
    shared: &Shared,
    mut random: Random,
    address: SocketAddr,
) -> Result<(), String> {
    while !shared.is_over() {
        let acts = 1 + random.below(100);
        let mut client = Client::new(shared, random, address)?;
        for _ in 0..acts {
            client.act()?;
        }
        random = client.leave()?;
    }
    Ok(())
}

struct Client<'a> {
    shared: &'a Shared,
    random: Random,
    address: SocketAddr,
    stream: BufReader<TcpStream>,
    /// Of a client of an older revision.
    session: Option<String>,
    last: u64,
}

/// What was answered: of messages, the replies only.
struct Reply {
    status: u16,
    session: Option<String>,
    replies: Vec<Value>,
}

impl<'a> Client<'a> {
    fn new(shared: &'a Shared, random: Random, address: SocketAddr) -> Result<Self, String> {
        let mut client = Self {
            shared,
            random,
            address,
            stream: connect(address)?,
            session: None,
            last: 0,
        };
        if client.random.is_one_in(2) {
            client.post("", &initialize("2025-06-18"))?;
            let reply = client.read()?;
            let session = reply.session.ok_or("the handshake gives no session")?;
            client.session = Some(session);
            client.post("", &notification("notifications/initialized", "{}"))?;
            client.read()?;
            shared.count("sessions");
        }
        Ok(client)
    }

    fn act(&mut self) -> Result<(), String> {
        match self.random.below(100) {
            0..40 => self.call("echo", r#"{"text":"hello"}"#)?,
            40..50 => {
                let ms = self.random.below(50);
                self.call("sleep", &format!(r#"{{"ms":{ms}}}"#))?;
            }
            50..55 => {
                let bytes = self.random.below(100_000);
                self.call("big", &format!(r#"{{"bytes":{bytes},"ms":1}}"#))?;
            }
            55..59 => self.call("boom", "{}")?,
            59..62 => self.call("no-such-tool", "{}")?,
            62..65 => self.call("ask", "{}")?,
            65..68 => self.call("chatter", r#"{"times":20,"logs":true}"#)?,
            68..71 => self.call("stats", "{}")?,
            71..75 => self.list()?,
            75..80 => self.bad_body()?,
            80..84 => self.half_a_body()?,
            84..91 => self.give_up()?,
            91..94 => self.read_slowly()?,
            94..97 => self.stream()?,
            _ => thread::sleep(self.random.millis(1..20)),
        }
        thread::sleep(Duration::from_micros(500));
        Ok(())
    }

    /// The headers of a request, without the end of them.
    fn head(&self, verb: &str, more: &str) -> String {
        let session = match &self.session {
            Some(session) => format!("mcp-session-id: {session}\r\n"),
            None => String::new(),
        };
        format!(
            "{verb} /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{session}{more}",
            self.address
        )
    }

    fn post(&mut self, more: &str, body: &str) -> Result<(), String> {
        let head = self.head("POST", more);
        let length = body.len();
        self.write(&format!("{head}content-length: {length}\r\n\r\n{body}"))
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        let written = self.stream.get_mut().write_all(text.as_bytes());
        written.map_err(|error| format!("write: {error}"))
    }

    fn read(&mut self) -> Result<Reply, String> {
        read(&mut self.stream).map_err(|error| format!("read: {error}"))
    }

    fn reconnect(&mut self) -> Result<(), String> {
        self.stream = connect(self.address)?;
        Ok(())
    }

    /// Sends a call and does not wait for what comes of it.
    fn ask(&mut self, tool: &str, arguments: &str) -> Result<u64, String> {
        self.shared.count("calls");
        self.last += 1;
        let id = self.last;
        match self.session {
            Some(_) => self.post("", &call(id, tool, arguments))?,
            None => {
                let headers = modern_headers("tools/call") + &format!("mcp-name: {tool}\r\n");
                self.post(&headers, &modern_call(id, tool, arguments))?;
            }
        }
        Ok(id)
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<(), String> {
        let id = self.ask(tool, arguments)?;
        self.answered(id)
    }

    /// Reads the one answer there has to be.
    fn answered(&mut self, id: u64) -> Result<(), String> {
        let reply = self.read()?;
        let [message] = &reply.replies[..] else {
            let (status, replies) = (reply.status, reply.replies);
            return Err(format!("{id} is answered {status} with {replies:?}"));
        };
        if message["id"] != id {
            return Err(format!("{id} is answered {message}"));
        }
        let told = &message["result"]["structuredContent"]["tasks"];
        if let Some(tasks) = told.as_u64() {
            self.shared.tasks.store(tasks, Ordering::Relaxed);
        }
        let is_refused = message["error"]["data"]["error"] == "server_busy";
        self.shared
            .count(if is_refused { "refused" } else { "answers" });
        Ok(())
    }

    fn list(&mut self) -> Result<(), String> {
        self.last += 1;
        let id = self.last;
        match self.session {
            Some(_) => self.post("", &request(id, "tools/list", "{}"))?,
            None => {
                let body = modern(id, "tools/list", r#"{"x":1}"#);
                self.post(&modern_headers("tools/list"), &body)?;
            }
        }
        self.answered(id)
    }

    fn bad_body(&mut self) -> Result<(), String> {
        self.shared.count("bad bodies");
        let body = self.random.pick(&["nonsense", "{", "17", "{}", "[]", ""]);
        self.post("", body)?;
        let Reply { replies, .. } = self.read()?;
        match &replies[..] {
            [reply] if reply["error"].is_object() => Ok(()),
            _ => Err(format!("{body:?} is answered with {replies:?}")),
        }
    }

    fn half_a_body(&mut self) -> Result<(), String> {
        self.shared.count("half bodies");
        let head = self.head("POST", "content-length: 1000\r\n\r\n{\"jsonrpc\"");
        self.write(&head)?;
        thread::sleep(self.random.millis(0..5));
        self.reconnect()
    }

    /// Cancels a call that has no end: by going away, or by saying so.
    fn give_up(&mut self) -> Result<(), String> {
        self.shared.count("cancels");
        let arguments = r#"{"ms":3600000}"#;
        if self.session.is_none() {
            self.ask("sleep", arguments)?;
            thread::sleep(self.random.millis(0..20));
            return self.reconnect();
        }
        self.shared.count("calls");
        self.last += 1;
        let id = self.last;
        let params = format!(
            r#"{{"name":"sleep","arguments":{arguments},"_meta":{{"progressToken":{id}}}}}"#
        );
        self.post("", &request(id, "tools/call", &params))?;
        // A cancel that takes another connection must not come before its call: that is there
        // once it reports.
        let failed = |error| format!("read of {id}: {error}");
        self.stream.fill_buf().map_err(failed)?;
        let mut asked = std::mem::replace(&mut self.stream, connect(self.address)?);
        let stays = self.random.is_one_in(2);
        if !stays {
            // Whoever has asked goes away, and what it has asked goes on.
            asked.get_ref().shutdown(Shutdown::Both).map_err(failed)?;
        }
        self.post("", &cancel(id))?;
        self.read()?;
        if stays && !read(&mut asked).map_err(failed)?.replies.is_empty() {
            return Err(format!("{id} is cancelled and answered"));
        }
        Ok(())
    }

    fn read_slowly(&mut self) -> Result<(), String> {
        self.shared.count("slow readers");
        let id = self.ask("big", r#"{"bytes":500000,"ms":0}"#)?;
        thread::sleep(self.random.millis(20..200));
        self.answered(id)
    }

    /// Listens for a moment to what a session has to tell.
    fn stream(&mut self) -> Result<(), String> {
        if self.session.is_none() {
            return Ok(());
        }
        self.shared.count("streams");
        let head = self.head("GET", "\r\n");
        self.write(&head)?;
        thread::sleep(self.random.millis(0..20));
        self.reconnect()
    }

    fn leave(mut self) -> Result<Random, String> {
        if self.session.is_some() && self.random.is_one_in(2) {
            let head = self.head("DELETE", "\r\n");
            self.write(&head)?;
            self.read()?;
            self.shared.count("sessions ended");
        }
        Ok(self.random)
    }
}

fn modern_headers(method: &str) -> String {
    format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n")
}

fn connect(address: SocketAddr) -> Result<BufReader<TcpStream>, String> {
    let stream = TcpStream::connect(address).and_then(|stream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    });
    let stream = stream.map_err(|error| format!("connect: {error}"))?;
    Ok(BufReader::new(stream))
}

/// Reads one answer to its end.
fn read(stream: &mut impl BufRead) -> std::io::Result<Reply> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    let header = |name: &str| {
        let mut lines = head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    let mut body = Vec::new();
    if header("transfer-encoding") == Some("chunked") {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim_end(), 16);
            let length = length.map_err(std::io::Error::other)?;
            let start = body.len();
            body.resize(start + length + 2, 0);
            stream.read_exact(&mut body[start..])?;
            body.truncate(start + length);
            if length == 0 {
                break;
            }
        }
    } else if let Some(length) = header("content-length").and_then(|text| text.parse().ok()) {
        body.resize(length, 0);
        stream.read_exact(&mut body)?;
    }
    let text = String::from_utf8_lossy(&body);
    let is_stream = header("content-type") == Some("text/event-stream");
    let messages: Vec<&str> = match is_stream {
        true => text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .collect(),
        false => vec![&text],
    };
    let messages = messages
        .into_iter()
        .filter_map(|text| serde_json::from_str::<Value>(text).ok());
    Ok(Reply {
        status: status.unwrap_or_default(),
        session: header("mcp-session-id").map(str::to_owned),
        replies: messages
            .filter(|message| message.get("method").is_none())
            .collect(),
    })
}
