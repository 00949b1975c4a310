//! The example that is a part of a web application, over real sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::*;

/// One exchange: the status, and the body.
fn exchange(address: SocketAddr, head: &str, body: &str) -> (u16, String) {
    let begin = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) => assert!(begin.elapsed() < SOON, "{error}"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    let length = body.len();
    let head =
        format!("{head}host: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let sent = stream.write_all((head + body).as_bytes());
    sent.expect("the server reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("there are headers");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.expect("there is a status"), body.to_owned())
}

/// Covers H01, H07.
#[test]
fn a_server_is_mounted_behind_a_layer_that_knows_its_users() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.expect("a port is free");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mounted"));
    let mut server = Peer::spawn(command.arg(address.to_string()));

    let (status, page) = exchange(address, "GET / HTTP/1.1\r\n", "");
    assert_eq!((status, &*page), (200, "There is a server at /mcp."));

    let body = modern(call(1, "greet", json!({ "name": "Ann" }))).to_string();
    let head = "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\n\
        accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
        mcp-method: tools/call\r\nmcp-name: greet\r\n";
    assert_eq!(exchange(address, head, &body).0, 401);
    let head = format!("{head}authorization: Bearer ann\r\n");
    let (status, reply) = exchange(address, &head, &body);
    let reply: Value = serde_json::from_str(&reply).expect("it is JSON");
    assert_eq!((status, text(&reply)), (200, "Hello, Ann!"));
    let foreign = format!("{head}origin: http://elsewhere.example\r\n");
    assert_eq!(exchange(address, &foreign, &body).0, 403);

    #[cfg(unix)]
    {
        server.signal("TERM");
        assert!(server.ends_within(SOON).success());
    }
    #[cfg(not(unix))]
    assert!(server.is_alive());
}
