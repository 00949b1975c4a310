//! A peer that is played by hand: it writes bytes, and reads lines with the time they came.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long something may take that should happen at once: generous, as machines are busy.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// What the fixture is started with, and how its lines come.
pub(crate) struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<(Instant, Vec<u8>)>,
    stderr: Option<JoinHandle<String>>,
}

pub(crate) fn fixture(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture"));
    // A backtrace can take as long as what is being timed.
    command.args(args).env("RUST_BACKTRACE", "0");
    command
}

/// The fixture with both pipes in hand, and nobody reading.
pub(crate) fn unread(args: &[&str]) -> (Child, ChildStdin, ChildStdout) {
    let mut child = fixture(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the fixture starts");
    let stdin = child.stdin.take().expect("it was piped");
    let stdout = child.stdout.take().expect("it was piped");
    (child, stdin, stdout)
}

impl Peer {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the fixture starts");
        let stdout = child.stdout.take().expect("it was piped");
        let mut stderr = child.stderr.take().expect("it was piped");
        Self {
            stdin: child.stdin.take(),
            child,
            lines: lines_of(stdout),
            stderr: Some(thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })),
        }
    }

    pub(crate) fn shake_hands(&mut self, version: &str) {
        self.send(&initialize(version));
        let reply = self.receive();
        assert_eq!(reply["result"]["protocolVersion"], version, "{reply}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{message}").expect("the program reads");
    }

    pub(crate) fn receive(&mut self) -> Value {
        self.receive_timed().1
    }

    pub(crate) fn receive_timed(&mut self) -> (Instant, Value) {
        let (at, line) = self.receive_line().expect("a line comes");
        let value = serde_json::from_slice(&line);
        let text = String::from_utf8_lossy(&line);
        (
            at,
            value.unwrap_or_else(|why| panic!("not JSON: {why}: {text}")),
        )
    }

    /// The next line, or `None` at the end of the output.
    pub(crate) fn receive_line(&mut self) -> Option<(Instant, Vec<u8>)> {
        match self.lines.recv_timeout(SOON) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes"),
        }
    }

    /// Waits for the end of the process, which has to come within a time.
    pub(crate) fn ends_within(&mut self, time: Duration) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status;
            }
            assert!(begin.elapsed() < time, "still there after {time:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes stdin and expects that the process ends well.
    pub(crate) fn ends_well(mut self) -> String {
        self.stdin = None;
        let status = self.ends_within(SOON);
        let stderr = self.stderr();
        assert!(status.success(), "{status}: {stderr}");
        stderr
    }

    pub(crate) fn stderr(&mut self) -> String {
        let reader = self.stderr.take().expect("it is read once");
        reader.join().expect("reading does not fail")
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_none()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
pub(crate) fn signal(process: u32, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &process.to_string()])
        .status()
        .expect("there is a kill command");
    assert!(status.success());
}

#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("the process is there");
    let figure = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.and_then(|kib| kib.parse::<u64>().ok())
            .expect("a number of KiB")
            * 1024
    };
    // The pages of the program itself, of which a debug build has many, are nobody's data.
    figure("VmHWM:").saturating_sub(figure("RssFile:"))
}

/// Lines as they come, without their end.
pub(crate) fn lines_of(stream: impl Read + Send + 'static) -> Receiver<(Instant, Vec<u8>)> {
    let (to, lines) = channel();
    thread::spawn(move || {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        loop {
            let mut line = Vec::new();
            match stream.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            assert_eq!(line.pop(), Some(b'\n'), "every line ends");
            if to.send((Instant::now(), line)).is_err() {
                return;
            }
        }
    });
    lines
}

pub(crate) fn initialize(version: &str) -> Value {
    request(
        0,
        "initialize",
        json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "by hand", "version": "1" },
        }),
    )
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A call of a tool in the legacy era.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    )
}

pub(crate) fn sleep(id: impl Into<Value>, ms: u64) -> Value {
    call(id, "sleep", json!({ "ms": ms }))
}

pub(crate) fn echo(id: impl Into<Value>, text: &str) -> Value {
    call(id, "echo", json!({ "text": text }))
}

pub(crate) fn ping(id: impl Into<Value>) -> Value {
    request(id, "ping", json!({}))
}

pub(crate) fn cancel(id: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": id.into() },
    })
}

/// The same request as 2026-07-28 has it.
pub(crate) fn modern(mut request: Value) -> Value {
    let meta = &mut request["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request
}

pub(crate) fn discover(id: impl Into<Value>) -> Value {
    modern(request(id, "server/discover", json!({})))
}

/// The text of a tool's result.
pub(crate) fn text(reply: &Value) -> &str {
    let text = &reply["result"]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("no text: {reply}"))
}

pub(crate) fn code(reply: &Value) -> i64 {
    let code = reply["error"]["code"].as_i64();
    code.unwrap_or_else(|| panic!("no error: {reply}"))
}
