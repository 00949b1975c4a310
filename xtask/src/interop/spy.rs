//! Stands between a client and a server and notes what the client would not show.
//!
//! It handles no signal: a spy that is ended by one leaves a record without an exit status, which says that the server
//! did not end by itself in the time that the client gave it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::flags::SpyFlags;

/// Longest time from the end of input to the server's exit.
const CLOSE: Duration = Duration::from_secs(2);

/// Runs the server and ends as it ended. The record is written when it starts and again when it has ended.
pub(crate) fn run(flags: &SpyFlags) -> ExitCode {
    match spy(flags) {
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            eprintln!("interop-spy: {}: {error}", flags.server.display());
            ExitCode::FAILURE
        }
    }
}

fn spy(flags: &SpyFlags) -> std::io::Result<ExitStatus> {
    let mut command = Command::new(&flags.server);
    if flags.wire {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let file = flags.records.join(format!("{}.json", child.id()));
    fs::write(&file, json!({ "pid": child.id() }).to_string())?;
    let traffic = Arc::new(Mutex::new(Traffic::default()));
    let status = if flags.wire {
        relay(&mut child, &traffic)?
    } else {
        child.wait()?
    };
    let (after_end, faults) = locked(&traffic).outcome();
    let record = json!({ "pid": child.id(), "status": status.code(), "after_end_ms": after_end, "faults": faults });
    fs::write(&file, record.to_string())?;
    Ok(status)
}

/// Passes every line on in both directions until the server has ended.
fn relay(child: &mut Child, traffic: &Arc<Mutex<Traffic>>) -> std::io::Result<ExitStatus> {
    let mut stdin = child.stdin.take().expect("stdin was asked for as a pipe");
    let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
    let asked = Arc::clone(traffic);
    // Nobody waits for this thread: it reads until the client closes, and a server may end before that.
    thread::spawn(move || {
        pass(std::io::stdin(), &mut stdin, |line| {
            locked(&asked).asked(line)
        });
        // Before `stdin` is dropped, which is what the server takes for the end.
        locked(&asked).ended = Some(Instant::now());
        drop(stdin);
    });
    let told = Arc::clone(traffic);
    let answers =
        thread::spawn(move || pass(stdout, std::io::stdout(), |line| locked(&told).told(line)));
    let status = child.wait();
    locked(traffic).exited = Some(Instant::now());
    // The last answers may still be on their way to the client.
    answers.join().expect("nothing in `pass` panics");
    status
}

/// Hands on line by line; each is looked at before it goes on.
fn pass(from: impl Read, mut to: impl Write, mut look: impl FnMut(&[u8])) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from
        .read_until(b'\n', &mut line)
        .is_ok_and(|length| length > 0)
    {
        look(&line);
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
        line.clear();
    }
}

fn locked(traffic: &Mutex<Traffic>) -> MutexGuard<'_, Traffic> {
    traffic.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What went over the wire, as far as it is judged.
#[derive(Default)]
struct Traffic {
    /// Requests of the client by their id as JSON text.
    requests: BTreeMap<String, Request>,
    faults: Vec<String>,
    ended: Option<Instant>,
    exited: Option<Instant>,
}

struct Request {
    method: String,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Answered,
    Cancelled,
}

impl Traffic {
    /// A line of the client.
    fn asked(&mut self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        if method == "notifications/cancelled" {
            let id = message["params"]["requestId"].to_string();
            if let Some(request) = self.requests.get_mut(&id) {
                request.state = State::Cancelled;
            }
        } else if !method.is_empty() && !message["id"].is_null() {
            let request = Request {
                method: method.to_owned(),
                state: State::Open,
            };
            self.requests.insert(message["id"].to_string(), request);
        }
    }

    /// A line of the server.
    fn told(&mut self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if message["jsonrpc"] != "2.0" {
            let start = String::from_utf8_lossy(&line[..line.len().min(80)]);
            self.faults
                .push(format!("no message on its standard output: {start:?}"));
        } else if message["method"].is_null() {
            let id = message["id"].to_string();
            self.answered(&id);
        }
    }

    fn answered(&mut self, id: &str) {
        let Some(request) = self.requests.get_mut(id) else {
            self.faults
                .push(format!("a reply to {id}, which nobody asked"));
            return;
        };
        let method = &request.method;
        match request.state {
            State::Open => request.state = State::Answered,
            State::Answered => self
                .faults
                .push(format!("a second reply to {id}, {method}")),
            State::Cancelled => self
                .faults
                .push(format!("a reply to {id}, {method}, after its cancel")),
        }
    }

    /// Milliseconds from the end of input to the exit, and all that was wrong.
    fn outcome(&mut self) -> (Option<u128>, Vec<String>) {
        let silent = self
            .requests
            .iter()
            .filter(|(_, request)| request.state == State::Open);
        let silent = silent.map(|(id, request)| format!("no reply to {id}, {}", request.method));
        self.faults.extend(silent);
        if self.exited.is_some() && self.ended.is_none() {
            self.faults
                .push("ended before the end of its input".to_owned());
        }
        let took = self
            .ended
            .zip(self.exited)
            .map(|(ended, exited)| exited.saturating_duration_since(ended));
        (
            took.map(|took| took.as_millis()),
            std::mem::take(&mut self.faults),
        )
    }
}

/// Lines about the records in this folder. `throwaway` processes may have been ended by the client itself.
pub(super) fn judge(records: &Path, throwaway: usize) -> Vec<String> {
    let files = fs::read_dir(records).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let records: Vec<Value> = texts
        .filter_map(|text| serde_json::from_str(&text).ok())
        .collect();
    let (ended, signalled): (Vec<_>, Vec<_>) = records
        .iter()
        .partition(|record| !record["faults"].is_null());
    let mut wrong: Vec<String> = ended.iter().flat_map(|record| faults(record)).collect();
    if signalled.len() > throwaway {
        wrong.push("ended only by a signal".to_owned());
    }
    if ended.is_empty() && wrong.is_empty() {
        wrong.push("no server ended by itself".to_owned());
    }
    wrong.extend(signalled.iter().filter_map(|record| left_behind(record)));
    const CHECK: &str = "the server keeps to the protocol and ends by itself with status 0";
    if wrong.is_empty() {
        return vec![format!("PASS {CHECK}")];
    }
    wrong
        .iter()
        .map(|why| format!("FAIL {CHECK}: {why}"))
        .collect()
}

fn faults(record: &Value) -> Vec<String> {
    let texts = record["faults"].as_array().into_iter().flatten();
    let mut faults: Vec<String> = texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect();
    if record["status"] != 0 {
        faults.push(format!("ended with status {}", record["status"]));
    }
    let took = record["after_end_ms"].as_u64().unwrap_or_default();
    if Duration::from_millis(took) > CLOSE {
        faults.push(format!("ended {took} ms after the end of its input"));
    }
    faults
}

/// Ends a server that outlived its spy.
fn left_behind(record: &Value) -> Option<String> {
    let pid = record["pid"].as_u64()?;
    let alive = || Path::new(&format!("/proc/{pid}")).exists();
    let limit = Instant::now() + CLOSE;
    while alive() && Instant::now() < limit {
        thread::sleep(Duration::from_millis(20));
    }
    if !alive() {
        return None;
    }
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
    Some(format!("process {pid} lived on with its input closed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(lines: &[&str]) -> Vec<String> {
        let mut traffic = Traffic::default();
        for line in lines {
            match line.split_at(2) {
                ("> ", line) => traffic.asked(line.as_bytes()),
                (_, line) => traffic.told(line.as_bytes()),
            }
        }
        traffic.outcome().1
    }

    const CALL: &str = r#"> {"jsonrpc":"2.0","id":7,"method":"tools/call"}"#;
    const CANCEL: &str =
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    const REPLY: &str = r#"< {"jsonrpc":"2.0","id":7,"result":{}}"#;

    #[test]
    fn one_reply_per_request_is_right() {
        assert_eq!(faults_of(&[CALL, REPLY]), [""; 0]);
        assert_eq!(faults_of(&[CALL, CANCEL]), [""; 0]);
        let notice = r#"< {"jsonrpc":"2.0","method":"notifications/message"}"#;
        assert_eq!(faults_of(&[CALL, notice, REPLY]), [""; 0]);
    }

    #[test]
    fn anything_else_is_a_fault() {
        assert_eq!(faults_of(&[CALL]), ["no reply to 7, tools/call"]);
        assert_eq!(
            faults_of(&[CALL, REPLY, REPLY]),
            ["a second reply to 7, tools/call"]
        );
        assert_eq!(
            faults_of(&[CALL, CANCEL, REPLY]),
            ["a reply to 7, tools/call, after its cancel"]
        );
        assert_eq!(faults_of(&[REPLY]), ["a reply to 7, which nobody asked"]);
        let text = r#"< {"jsonrpc":"2.0","id":"7","result":{}}"#;
        assert_eq!(
            faults_of(&[CALL, text, REPLY]),
            [r#"a reply to "7", which nobody asked"#]
        );
        assert_eq!(
            faults_of(&["< hello"]),
            [r#"no message on its standard output: "hello""#]
        );
    }

    #[test]
    fn a_record_tells_how_the_server_ended() {
        let of = |status: Value, took: Value| {
            faults(&json!({ "faults": [], "status": status, "after_end_ms": took }))
        };
        assert_eq!(of(json!(0), json!(5)), [""; 0]);
        assert_eq!(of(json!(0), json!(null)), [""; 0]);
        assert_eq!(of(json!(3), json!(5)), ["ended with status 3"]);
        assert_eq!(
            of(json!(0), json!(2500)),
            ["ended 2500 ms after the end of its input"]
        );
    }
}
