//! The example that listens on a Unix socket.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::*;

struct Client {
    stream: UnixStream,
    lines: Receiver<(Instant, Vec<u8>)>,
}

fn path(name: &str) -> PathBuf {
    let path = format!("mcp-sockets-{name}-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(path);
    let _ = std::fs::remove_file(&path);
    path
}

fn sockets(path: &Path) -> Peer {
    Peer::spawn(Command::new(env!("CARGO_BIN_EXE_sockets")).arg(path))
}

impl Client {
    fn connect(path: &Path) -> Self {
        let begin = Instant::now();
        let stream = loop {
            match UnixStream::connect(path) {
                Ok(stream) => break stream,
                Err(error) => assert!(begin.elapsed() < SOON, "{error}"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        let lines = lines_of(stream.try_clone().expect("it can be cloned"));
        Self { stream, lines }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stream, "{message}").expect("the server reads");
    }

    fn receive(&self) -> Value {
        let (_, line) = self.lines.recv_timeout(SOON).expect("a line comes");
        serde_json::from_slice(&line).expect("only JSON is written")
    }

    fn count(&mut self, id: u64) {
        self.send(&request(
            id,
            "tools/call",
            json!({ "name": "count", "arguments": {}, "_meta": { "progressToken": id } }),
        ));
    }

    /// Once it has come, the call is in flight.
    fn expect_progress(&self, id: u64) {
        let report = self.receive();
        assert_eq!(report["params"]["progressToken"], id, "{report}");
    }
}

#[test]
fn clients_share_a_server_that_answers_them_before_it_ends() {
    let path = path("shared");
    let mut server = sockets(&path);
    let mut clients = [Client::connect(&path), Client::connect(&path)];
    for client in &mut clients {
        client.send(&initialize("2025-06-18"));
        assert_eq!(client.receive()["id"], 0);
    }

    for (nth, client) in (1..).zip(&mut clients) {
        client.count(1);
        client.expect_progress(1);
        assert_eq!(text(&client.receive()), format!("{nth}"));
    }

    clients.iter_mut().for_each(|client| client.count(2));
    clients.iter().for_each(|client| client.expect_progress(2));
    server.signal("TERM");
    let mut counts = clients.each_ref().map(|client| {
        let reply = client.receive();
        assert!(client.lines.recv_timeout(SOON).is_err(), "it ends");
        text(&reply).to_owned()
    });
    counts.sort();
    assert_eq!(counts, ["3", "4"]);
    let status = server.ends_within(SOON);
    assert!(status.success(), "{status}: {}", server.stderr());
    assert!(!path.exists(), "the socket is left behind");
}

#[test]
fn a_socket_that_nobody_listens_on_is_taken_over_and_nothing_else_is() {
    let path = path("left");
    let killed = sockets(&path);
    drop(Client::connect(&path));
    drop(killed);
    assert!(path.exists(), "whoever is killed cannot tidy up");

    let mut server = sockets(&path);
    let mut client = Client::connect(&path);
    let mut second = sockets(&path);
    assert!(!second.ends_within(SOON).success());
    assert!(second.stderr().contains("in use"));
    client.send(&initialize("2025-06-18"));
    assert_eq!(client.receive()["id"], 0);
    server.signal("TERM");
    assert!(server.ends_within(SOON).success());

    std::fs::write(&path, "a file of somebody's").expect("it can be written");
    assert!(!sockets(&path).ends_within(SOON).success());
    assert!(path.exists(), "it is removed");
    let _ = std::fs::remove_file(&path);
}
