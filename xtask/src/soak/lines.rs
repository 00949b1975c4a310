//! Clients that write lines, to pipes or to a socket.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ledger::{Ledger, Open};
use super::{PATIENCE, Shared};
use crate::random::Random;
use crate::requests::{call, cancel, initialize, modern, modern_call, notification, ping, request};

/// Requests that may be owed an answer at once.
const OWED: usize = 64;

/// Calls without an end at once.
const ENDLESS: usize = 20;

/// What is no message.
const BAD: &[&[u8]] = &[
    b"nonsense\n",
    b"{\n",
    b"\"text\"\n",
    b"17\n",
    b"[]\n",
    b"{}\n",
    b"\xff\xfe\n",
];

/// Both ends of a connection.
pub(super) struct Ends {
    to: Box<dyn Write>,
    from: Box<dyn Read + Send>,
    /// What can be shut down.
    socket: Option<UnixStream>,
}

impl Ends {
    pub(super) fn pipes(to: ChildStdin, from: ChildStdout) -> Self {
        Self {
            to: Box::new(to),
            from: Box::new(from),
            socket: None,
        }
    }

    fn socket(path: &Path) -> std::io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        Ok(Self {
            to: Box::new(stream.try_clone()?),
            from: Box::new(stream.try_clone()?),
            socket: Some(stream),
        })
    }
}

/// One client that stays until it is over.
pub(super) fn last(shared: &Shared, random: Random, ends: Ends) -> Result<(), String> {
    let mut client = Client::new(shared, random, ends)?;
    while !shared.is_over() {
        client.act()?;
    }
    client.finish()
}

/// One client after another, which leave in one way or another.
pub(super) fn come_and_go(shared: &Shared, mut random: Random, path: &Path) -> Result<(), String> {
    while !shared.is_over() {
        let ends = Ends::socket(path).map_err(|error| format!("connect: {error}"))?;
        let acts = 1 + random.below(400);
        let mut client = Client::new(shared, random, ends)?;
        for _ in 0..acts {
            client.act()?;
        }
        let is_killed = client.random.is_one_in(2);
        random = match is_killed {
            true => client.kill(),
            false => client.leave()?,
        };
    }
    Ok(())
}

struct Client<'a> {
    shared: &'a Shared,
    random: Random,
    ledger: Ledger,
    to: Box<dyn Write>,
    lines: Receiver<Vec<u8>>,
    socket: Option<UnixStream>,
}

impl<'a> Client<'a> {
    fn new(shared: &'a Shared, random: Random, ends: Ends) -> Result<Self, String> {
        // With little room, so that who does not take from it does not read.
        let (sender, lines) = sync_channel(4);
        thread::spawn(move || {
            let mut from = BufReader::new(ends.from);
            let mut line = Vec::new();
            while from
                .read_until(b'\n', &mut line)
                .is_ok_and(|length| length > 0)
            {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        let mut client = Self {
            shared,
            random,
            ledger: Ledger::default(),
            to: ends.to,
            lines,
            socket: ends.socket,
        };
        client.write(initialize("2025-06-18"))?;
        let line = client.lines.recv_timeout(PATIENCE);
        line.map_err(|_| "the handshake is not answered")?;
        client.write(notification("notifications/initialized", "{}"))?;
        shared.count("connections");
        Ok(client)
    }

    fn write(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), String> {
        let written = self.to.write_all(bytes.as_ref());
        written
            .and_then(|()| self.to.flush())
            .map_err(|error| format!("write: {error}"))
    }

    /// Does something, and hears what there is to be heard.
    fn act(&mut self) -> Result<(), String> {
        match self.random.below(100) {
            0..30 => self.call("echo", r#"{"text":"hello"}"#)?,
            30..40 => self.wait_with_progress()?,
            40..46 => {
                let bytes = self.random.below(100_000);
                self.call("big", &format!(r#"{{"bytes":{bytes},"ms":1}}"#))?;
            }
            46..50 => self.call("boom", "{}")?,
            50..53 => self.call("no-such-tool", "{}")?,
            53..56 => self.call("ask", "{}")?,
            56..59 => self.call("chatter", r#"{"times":20,"logs":true}"#)?,
            59..63 => {
                let line = ping(self.ledger.open(Open::Call));
                self.write(line)?;
            }
            63..66 => self.list()?,
            66..69 => self.call("stats", "{}")?,
            69..75 => {
                self.shared.count("bad lines");
                self.ledger.bad_line();
                let line = self.random.pick(BAD);
                self.write(line)?;
            }
            75..80 => self.half_a_line()?,
            80..88 => self.cancel_one()?,
            88..95 => self.endless()?,
            95..98 => {
                self.shared.count("pauses of reading");
                let pause = self.random.millis(20..200);
                thread::sleep(pause);
            }
            _ => thread::sleep(self.random.millis(1..20)),
        }
        thread::sleep(Duration::from_micros(500));
        while let Ok(line) = self.lines.try_recv() {
            self.hear(&line)?;
        }
        self.hear_until(|ledger| ledger.owed() < OWED)
    }

    fn line_of(&mut self, id: u64, tool: &str, arguments: &str) -> String {
        match self.random.is_one_in(2) {
            true => call(id, tool, arguments),
            false => modern_call(id, tool, arguments),
        }
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<(), String> {
        self.shared.count("calls");
        let id = self.ledger.open(Open::Call);
        let line = self.line_of(id, tool, arguments);
        self.write(line)
    }

    fn wait_with_progress(&mut self) -> Result<(), String> {
        self.shared.count("calls");
        let id = self.ledger.open(Open::Call);
        let ms = self.random.below(50);
        let params = format!(
            r#"{{"name":"sleep","arguments":{{"ms":{ms}}},"_meta":{{"progressToken":{id}}}}}"#
        );
        self.write(request(id, "tools/call", &params))
    }

    fn list(&mut self) -> Result<(), String> {
        let id = self.ledger.open(Open::Call);
        let line = match self.random.is_one_in(2) {
            true => request(id, "tools/list", "{}"),
            false => modern(id, "tools/list", r#"{"x":1}"#),
        };
        self.write(line)
    }

    fn half_a_line(&mut self) -> Result<(), String> {
        self.shared.count("half lines");
        let id = self.ledger.open(Open::Call);
        let line = self.line_of(id, "echo", r#"{"text":"halves"}"#);
        let half = self.random.below(line.len() as u64) as usize;
        self.write(&line[..half])?;
        let pause = self.random.millis(0..5);
        thread::sleep(pause);
        self.write(&line[half..])
    }

    fn endless(&mut self) -> Result<(), String> {
        self.shared.count("calls without an end");
        let id = self.ledger.open(Open::Endless);
        let line = self.line_of(id, "sleep", r#"{"ms":3600000}"#);
        self.write(line)?;
        match *self.ledger.all(Open::Endless) {
            [oldest, .., _] if self.ledger.all(Open::Endless).len() > ENDLESS => {
                self.cancel(oldest)
            }
            _ => Ok(()),
        }
    }

    /// Cancels a call, which may be over by then.
    fn cancel_one(&mut self) -> Result<(), String> {
        let kind = if self.random.is_one_in(2) {
            Open::Call
        } else {
            Open::Endless
        };
        let open = self.ledger.all(kind);
        if open.is_empty() {
            return Ok(());
        }
        let which = self.random.below(open.len() as u64) as usize;
        self.cancel(open[which])
    }

    fn cancel(&mut self, id: u64) -> Result<(), String> {
        self.shared.count("cancels");
        let fence = self.ledger.cancel(id);
        self.write(cancel(id) + &ping(fence))
    }

    fn hear(&mut self, line: &[u8]) -> Result<(), String> {
        let message: Value = serde_json::from_slice(line)
            .map_err(|error| format!("{error}: {:.200}", String::from_utf8_lossy(line)))?;
        if message.get("method").is_some() {
            self.shared.count("notifications");
            return Ok(());
        }
        let told = &message["result"]["structuredContent"]["tasks"];
        if let Some(tasks) = told.as_u64() {
            self.shared.tasks.store(tasks, Ordering::Relaxed);
        }
        let is_refused = message["error"]["data"]["error"] == "server_busy";
        self.shared
            .count(if is_refused { "refused" } else { "answers" });
        self.ledger.answer(&message)
    }

    fn hear_until(&mut self, holds: impl Fn(&Ledger) -> bool) -> Result<(), String> {
        let begin = Instant::now();
        while !holds(&self.ledger) {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.hear(&line)?,
                Err(RecvTimeoutError::Timeout) => {
                    let open = self.ledger.all(Open::Call);
                    return Err(format!("never answered: {:?}", &open[..open.len().min(9)]));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!(
                        "{} answers are missing at the end",
                        self.ledger.owed()
                    ));
                }
            }
        }
        Ok(())
    }

    /// Cancels what has no end, and waits for all else.
    fn finish(&mut self) -> Result<(), String> {
        for id in self.ledger.all(Open::Endless) {
            self.cancel(id)?;
        }
        self.hear_until(|ledger| ledger.owed() == 0)
    }

    /// Ends its input; what it has asked is still answered.
    fn leave(mut self) -> Result<Random, String> {
        for id in self.ledger.all(Open::Endless) {
            self.cancel(id)?;
        }
        if let Some(socket) = &self.socket {
            let shut = socket.shutdown(Shutdown::Write);
            shut.map_err(|error| format!("shut down: {error}"))?;
        }
        self.hear_until(|ledger| ledger.owed() == 0)?;
        Ok(self.random)
    }

    /// Goes away at once.
    fn kill(self) -> Random {
        self.shared.count("connections killed");
        if let Some(socket) = &self.socket {
            // It may be gone already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.random
    }
}
