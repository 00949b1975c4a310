//! A server at a URL, in place of one that is started.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::{ERAS, EVERYTHING, run};

/// Killed at the end.
struct Listening(Child, SocketAddr);

impl Listening {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a port is free");
        let mut command = Command::new(EVERYTHING);
        command.args(["--http", &address.to_string()]);
        let server = Self(command.spawn().expect("the server starts"), address);
        let began = Instant::now();
        while let Err(error) = TcpStream::connect(address) {
            assert!(began.elapsed() < Duration::from_secs(30), "{error}");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_at_a_url_is_asked_the_same() {
    let server = Listening::start();
    let url = format!("http://{}/mcp", server.1);
    for era in ERAS {
        let args = ["call", "interop_echo", r#"{ "text": "Hello!" }"#];
        let called = run(&[&args[..], &["--era", era, "--", &url]].concat()).ends_with(0);
        called.prints("Hello!\n");
    }
    let elsewhere = format!("http://{}/none", server.1);
    let lost = run(&["tools", "--", &elsewhere]).ends_with(3);
    lost.says("404 Not Found");
}

#[test]
fn a_url_that_nobody_listens_at_is_told_from_one_that_is_none() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let url = format!("http://{}/mcp", free.expect("a port is free"));
    run(&["tools", "--", &url]).ends_with(3).says("refused");
    let nowhere = run(&["tools", "--", "http://"]).ends_with(2);
    nowhere.says("inspect: not a URL: ");
}
