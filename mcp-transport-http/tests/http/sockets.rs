//! Over real sockets: what hyper adds, and many at once.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mcp_transport_http::{Http, Limits};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::support::{Call, Seen, modern, server, tool, watched_tool};

pub(crate) type Served = JoinHandle<()>;

pub(crate) async fn listen(
    describe: impl FnOnce(mcp_server::Server<Seen>) -> mcp_server::Server<Seen>,
) -> (SocketAddr, Http<Seen>, Seen, Served) {
    listen_within(describe, |_| {}).await
}

async fn listen_within(
    describe: impl FnOnce(mcp_server::Server<Seen>) -> mcp_server::Server<Seen>,
    limits: impl FnOnce(&mut Limits),
) -> (SocketAddr, Http<Seen>, Seen, Served) {
    let (server, seen) = server(describe);
    let http = Http::new(server).limits(limits);
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let served = tokio::spawn(http.clone().serve(listener));
    (address, http, seen, served)
}

/// One client's connection.
struct Socket {
    stream: TcpStream,
    read: String,
}

impl Socket {
    async fn post(address: SocketAddr, call: &Call) -> Self {
        let mut socket = Self {
            stream: TcpStream::connect(address).await.expect("somebody listens"),
            read: String::new(),
        };
        socket.write(call).await;
        socket
    }

    async fn write(&mut self, call: &Call) {
        let body = call.body.to_string();
        let mut text = format!("POST /mcp HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in &call.headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += "\r\n";
        text += &body;
        self.stream
            .write_all(text.as_bytes())
            .await
            .expect("it is read");
    }

    /// Reads until something has come; gives all that came up to it.
    async fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.read.find(end) {
                let rest = self.read.split_off(at + end.len());
                return std::mem::replace(&mut self.read, rest);
            }
            let mut bytes = [0; 4096];
            let read = self.stream.read(&mut bytes);
            let read = timeout(Duration::from_secs(60), read)
                .await
                .expect("it comes in time");
            let read = read.expect("the server is there");
            assert!(read > 0, "it ended with {:?}", self.read);
            self.read += std::str::from_utf8(&bytes[..read]).expect("it is text");
        }
    }

    /// One answer that is no stream: its status, and its message.
    async fn answer(&mut self) -> (u16, Value) {
        let head = self.until("\r\n\r\n").await;
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let length = head
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next());
        let length: usize = length
            .and_then(|length| length.parse().ok())
            .expect("it is whole");
        while self.read.len() < length {
            let mut bytes = [0; 4096];
            let read = self
                .stream
                .read(&mut bytes)
                .await
                .expect("the server is there");
            self.read += std::str::from_utf8(&bytes[..read]).expect("it is text");
        }
        let rest = self.read.split_off(length);
        let body = std::mem::replace(&mut self.read, rest);
        (
            status.expect("there is a status"),
            serde_json::from_str(&body).unwrap_or_default(),
        )
    }
}

fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    pages * 4096
}

pub(crate) async fn soon(mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < end, "it never came to be so");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Covers H01, H09.
#[tokio::test]
async fn a_client_that_goes_away_cancels_its_request() {
    let (address, http, seen, _served) = listen(|server| server).await;
    let mut socket = Socket::post(address, &tool(1, "echo", json!({ "text": "hi" }))).await;
    assert_eq!(socket.answer().await.0, 200);
    // The same connection again, with an answer that has not begun.
    socket.write(&tool(2, "wait", json!({}))).await;
    soon(|| seen.started() == 1).await;
    drop(socket);
    soon(|| seen.dropped() == 1).await;
    // And with one that has.
    let mut socket = Socket::post(address, &watched_tool(3, "wait", json!({}))).await;
    socket.until("notifications/progress").await;
    drop(socket);
    soon(|| seen.dropped() == 2).await;
    soon(|| http.server().stats().connections == 0).await;
}

/// Covers H09.
#[tokio::test]
async fn a_client_that_goes_away_is_missed_whatever_it_had_sent_meanwhile() {
    let (address, http, seen, _served) = listen(|server| server).await;
    let behind = [
        "\r\n".to_owned(),
        "GET /mcp HTTP/1.1\r\n\r\n".to_owned(),
        "x".repeat(50_000),
    ];
    for (gone, behind) in behind.iter().enumerate() {
        // What comes behind the body may come with it, or later.
        for socket in [
            tool(1, "wait", json!({})),
            watched_tool(1, "wait", json!({})),
        ] {
            let mut socket = Socket::post(address, &socket).await;
            soon(|| http.server().in_flight() == 1).await;
            let written = socket.stream.write_all(behind.as_bytes()).await;
            written.expect("it is read");
            drop(socket);
            soon(|| http.server().in_flight() == 0).await;
        }
        assert_eq!(seen.dropped(), 2 * (gone + 1));
    }
    let mut call = tool(1, "wait", json!({}));
    call.headers.push(("x-more".to_owned(), "1".to_owned()));
    let mut socket = Socket::post(address, &call).await;
    socket.write(&call).await;
    soon(|| seen.started() == 7).await;
    drop(socket);
    soon(|| seen.dropped() == 7).await;
    soon(|| http.server().stats().connections == 0).await;
}

#[tokio::test]
async fn requests_that_come_before_their_turn_are_answered_in_turn() {
    let (address, _http, seen, _served) = listen(|server| server).await;
    let mut socket = Socket::post(address, &tool(0, "wait", json!({}))).await;
    soon(|| seen.started() == 1).await;
    let text = "x".repeat(3_000);
    for id in 1..10 {
        let echo = tool(id, "echo", json!({ "text": text }));
        socket.write(&echo).await;
    }
    seen.release(1);
    for id in 0..10 {
        let (status, message) = socket.answer().await;
        assert_eq!((status, &message["id"]), (200, &json!(id)));
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up() {
    let limits = |limits: &mut Limits| limits.write_time = Duration::from_millis(100);
    let (address, http, _seen, _served) = listen_within(|server| server, limits).await;
    let steps = json!({ "steps": 1_000_000, "width": 10_000 });
    let socket = Socket::post(address, &watched_tool(1, "steps", steps)).await;
    soon(|| http.server().in_flight() == 1).await;
    soon(|| http.server().in_flight() == 0).await;
    drop(socket);
}

#[tokio::test]
async fn one_address_has_half_of_the_sockets() {
    let limits = |limits: &mut Limits| limits.open = 4;
    let (address, _http, _seen, _served) = listen_within(|server| server, limits).await;
    let echo = tool(1, "echo", json!({ "text": "hi" }));
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut socket = Socket::post(address, &echo).await;
        assert_eq!(socket.answer().await.0, 200);
        open.push(socket);
    }
    let mut more = TcpStream::connect(address).await.expect("somebody listens");
    let read = timeout(Duration::from_secs(5), more.read(&mut [0])).await;
    assert_eq!(read.expect("it is closed at once").ok(), Some(0));

    let elsewhere = TcpSocket::new_v4().expect("there are sockets");
    let other = "127.0.0.2:0".parse().expect("it is an address");
    if elsewhere.bind(other).is_err() {
        return; // Not every system has a second address of its own.
    }
    let stream = elsewhere.connect(address).await.expect("somebody listens");
    let mut socket = Socket {
        stream,
        read: String::new(),
    };
    socket.write(&echo).await;
    assert_eq!(socket.answer().await.0, 200);
}

/// Covers H07.
#[tokio::test]
async fn nothing_else_is_served() {
    let (address, _http, _seen, _served) = listen(|server| server).await;
    let call = tool(1, "echo", json!({ "text": "hi" }));
    let mut socket =
        Socket::post(address, &call.clone().and("origin", "http://evil.example")).await;
    assert_eq!(socket.answer().await.0, 403);
    socket
        .write(&call.clone().with("host", "evil.example"))
        .await;
    assert_eq!(socket.answer().await.0, 403);
    let request = "GET /other HTTP/1.1\r\nhost: localhost\r\n\r\n";
    socket
        .stream
        .write_all(request.as_bytes())
        .await
        .expect("it is read");
    assert_eq!(socket.answer().await.0, 404);
    let mut long = call.and("x-long", &"x".repeat(300_000));
    long.body = Value::Null;
    socket.write(&long).await;
    let refusal = socket.until("\r\n\r\n").await;
    assert!(refusal.starts_with("HTTP/1.1 431"), "{refusal}");
}

#[tokio::test]
async fn shutting_down_ends_all_and_answers_what_was_begun() {
    let (address, http, seen, served) = listen(|server| server).await;
    let mut waiting = Socket::post(address, &tool(1, "wait", json!({}))).await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listening = modern(2, "subscriptions/listen", params);
    let mut listening = Socket::post(address, &listening).await;
    listening.until("acknowledged").await;
    let mut idle = Socket::post(address, &tool(1, "echo", json!({ "text": "hi" }))).await;
    idle.answer().await;
    soon(|| seen.started() == 1).await;
    http.server().shut_down();
    seen.release(1);
    assert_eq!(waiting.answer().await.0, 200);
    listening.until("\"result\"").await;
    listening.until("\r\n0\r\n\r\n").await;
    let ended = timeout(Duration::from_secs(2), served)
        .await
        .expect("it ends at once");
    ended.expect("nothing panicked");
    assert!(TcpStream::connect(address).await.is_err());
}

/// Covers S12, S15.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_and_many_calls_are_served_at_once() {
    const STREAMS: usize = 1_000;
    const CALLS: usize = 2_000;

    let (address, http, seen, _served) = listen(|server| server).await;
    let before = resident();
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let listening = modern(1, "subscriptions/listen", params);
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(Socket::post(address, &listening).await);
    }
    for stream in &mut streams {
        stream.until("acknowledged").await;
    }

    let mut calls = JoinSet::new();
    for id in 0..CALLS {
        calls.spawn(async move {
            let mut socket = Socket::post(address, &tool(id, "wait", json!({}))).await;
            socket.answer().await
        });
    }
    // All that have no share are refused at once, while the others still wait.
    let (mut done, mut busy) = (0, 0);
    let mut released = false;
    while let Some(answer) = calls.join_next().await {
        let (status, message) = answer.expect("nothing panicked");
        assert_eq!(status, 200);
        match message["error"]["code"].as_i64() {
            Some(-31503) => busy += 1,
            None => done += 1,
            Some(code) => panic!("{code}"),
        }
        if busy == CALLS - 256 && !released {
            released = true;
            let grown = resident().saturating_sub(before);
            assert!(grown < 200 << 20, "{} MiB", grown >> 20);
            seen.release(256);
        }
    }
    assert_eq!((done, busy), (256, CALLS - 256));

    http.server().changes().tools();
    for stream in &mut streams {
        stream.until("list_changed").await;
    }
    drop(streams);
    soon(|| http.server().stats().connections == 0).await;
}
