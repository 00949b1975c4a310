//! One connection floods the server, and the others do not notice.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::*;

/// The fixture on a Unix socket.
pub(crate) struct SocketServer {
    child: Child,
    path: PathBuf,
}

impl SocketServer {
    pub(crate) fn start(args: &[&str]) -> Self {
        static STARTED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let nth = STARTED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("mcp-fixture-{}-{nth}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let child = fixture(args)
            .arg("--socket")
            .arg(&path)
            .stdin(Stdio::null())
            .spawn()
            .expect("the fixture starts");
        let begin = Instant::now();
        while !path.exists() {
            assert!(begin.elapsed() < SOON, "the fixture does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        Self { child, path }
    }

    /// A connection, with the handshake done.
    pub(crate) fn connect(&self) -> Connection {
        let mut connection = self.connect_without_reading();
        connection.start_reading();
        connection.send_all(&[initialize("2025-06-18")]);
        assert_eq!(connection.receive()["id"], 0);
        connection
    }

    fn connect_without_reading(&self) -> Connection {
        // The socket's file is there a moment before anybody listens.
        let begin = Instant::now();
        let stream = loop {
            match UnixStream::connect(&self.path) {
                Ok(stream) => break stream,
                Err(error) => assert!(begin.elapsed() < SOON, "{error}"),
            }
        };
        Connection {
            stream,
            lines: None,
        }
    }

    fn peak_memory(&self) -> u64 {
        peak_memory(self.child.id())
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

pub(crate) struct Connection {
    stream: UnixStream,
    lines: Option<Receiver<(Instant, Vec<u8>)>>,
}

impl Connection {
    fn start_reading(&mut self) {
        let stream = self.stream.try_clone().expect("a socket can be cloned");
        self.lines = Some(lines_of(stream));
    }

    pub(crate) fn send_all(&mut self, messages: &[Value]) {
        let text: String = messages.iter().map(|m| format!("{m}\n")).collect();
        self.stream
            .write_all(text.as_bytes())
            .expect("the fixture reads");
    }

    pub(crate) fn receive(&mut self) -> Value {
        let lines = self.lines.as_ref().expect("it reads");
        let (_, line) = lines.recv_timeout(SOON).expect("a line comes");
        serde_json::from_slice(&line).expect("only JSON is written")
    }
}

/// Covers A-05, SE06.
#[test]
fn a_flooded_connection_harms_nobody_else_and_recovers() {
    const CALLS: u64 = 100_000;
    const SHARE: u64 = 256;

    let server = SocketServer::start(&[]);
    let mut polite = server.connect();
    let mut flooder = server.connect_without_reading();
    let idle = server.peak_memory();

    flooder.send_all(&[initialize("2025-06-18")]);
    let mut writer = flooder.stream.try_clone().expect("a socket can be cloned");
    let flood = thread::spawn(move || {
        for id in 1..=CALLS {
            let line = format!("{}\n", sleep(id, 120_000));
            writer
                .write_all(line.as_bytes())
                .expect("the fixture reads");
        }
    });

    // Not one call of the polite connection is refused, or waits for the flood.
    let mut times = Vec::new();
    let mut calls = 0;
    while !flood.is_finished() || calls < 200 {
        calls += 1;
        let begin = Instant::now();
        polite.send_all(&[echo(calls, "hello")]);
        assert_eq!(text(&polite.receive()), "hello");
        times.push(begin.elapsed());
    }
    flood.join().expect("the flood is taken");
    times.sort_unstable();
    // The slowest few are as slow as a busy machine makes them.
    let most = times[times.len() * 95 / 100];
    assert!(
        most < Duration::from_millis(50),
        "of 100 echoes, 5 took more than {most:?}"
    );

    let grown = server.peak_memory() - idle;
    assert!(grown < 64 << 20, "the flood took {grown} bytes");

    // Once the flooder reads, it hears of each call beyond its share, and is heard.
    flooder.start_reading();
    assert_eq!(flooder.receive()["id"], 0);
    for nth in 1..=CALLS - SHARE {
        let reply = flooder.receive();
        assert_eq!(reply["id"], SHARE + nth);
        assert_eq!(reply["error"]["data"]["scope"], "connection");
        assert_eq!(reply["error"]["data"]["limit"], SHARE);
    }
    flooder.send_all(&[ping("ping"), cancel(1), echo("after", "hello")]);
    assert_eq!(flooder.receive()["id"], "ping");
    let reply = flooder.receive();
    assert_eq!(reply["id"], "after");
    // The cancelled call's slot may be given back a moment after the cancel was read.
    if reply.get("error").is_some() {
        thread::sleep(Duration::from_millis(100));
        flooder.send_all(&[echo("later", "hello")]);
        assert_eq!(text(&flooder.receive()), "hello");
    }
}

/// Covers C10.
#[test]
fn the_outcome_of_a_cancelled_call_never_answers_the_next_one_with_its_id() {
    let server = SocketServer::start(&[]);
    let mut peer = server.connect();
    for round in 0..200 {
        // The first call may or may not end before its cancel is read: if it does, its reply
        // comes first, and never twice.
        peer.send_all(&[echo(7, "old"), cancel(7), echo(7, "new"), ping("fence")]);
        let mut replies = Vec::new();
        loop {
            let reply = peer.receive();
            let is_new = reply["id"] == 7 && reply.get("result").is_some() && text(&reply) == "new";
            let fenced = reply["id"] == "fence";
            if !fenced {
                replies.push(reply);
            }
            if is_new {
                break;
            }
            assert!(replies.len() < 3, "round {round}: {replies:?}");
        }
        let texts: Vec<_> = replies.iter().map(text).collect();
        assert!(texts == ["new"] || texts == ["old", "new"], "{texts:?}");
        // Whatever is left is the fence.
        peer.send_all(&[ping("end")]);
        while peer.receive()["id"] != "end" {}
    }
}
