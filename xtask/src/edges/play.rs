//! Plays the steps of a case: as a client, to a server that is a process, or as a bad server, to the
//! client that has started this one.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cases::Opened;
use super::messages::{self, Heard, parse};
use super::pipes::{Pipes, Process, SOON, Silence};
use super::servers::Fit;

/// Whether a step went as it should; if not, what was instead.
pub(crate) type Step = Result<(), String>;

/// A step that did not go as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) step: String,
    pub(crate) why: String,
}

impl Wrong {
    pub(crate) fn new(step: &str, why: impl Into<String>) -> Self {
        Self {
            step: cut(step, 60),
            why: why.into(),
        }
    }
}

/// A conversation.
pub(crate) struct Play<'a> {
    pub(crate) pipes: Pipes,
    opened: Opened,
    side: Side<'a>,
    /// The id of the other side's last request.
    asked: Value,
    /// What was heard, but not yet expected.
    held: Option<Heard>,
    /// What was heard, in brief.
    pub(crate) heard: Vec<String>,
    /// When something was last done, and when something last came of it.
    did: Instant,
    came: Instant,
}

/// Who the steps are played to.
pub(crate) enum Side<'a> {
    Server {
        process: Process,
        capabilities: Value,
        /// What a tool is called there, and its arguments.
        fit: &'a dyn Fit,
    },
    Client,
}

impl<'a> Play<'a> {
    pub(crate) fn new(pipes: Pipes, opened: Opened, side: Side<'a>) -> Self {
        Self {
            pipes,
            opened,
            side,
            asked: Value::Null,
            held: None,
            heard: Vec::new(),
            did: Instant::now(),
            came: Instant::now(),
        }
    }

    /// Does what a client does first in the revision.
    pub(crate) fn open(&mut self) -> Result<(), Wrong> {
        self.try_open()
            .map_err(|why| Wrong::new("the handshake", why))
    }

    fn try_open(&mut self) -> Step {
        let (Opened::Legacy(version), Side::Server { capabilities, .. }) =
            (&self.opened, &self.side)
        else {
            return Ok(());
        };
        let version = *version;
        let initialize = messages::initialize(version, capabilities);
        self.write_line(&initialize.to_string())?;
        let reply = self.receive()?;
        if reply.message["result"]["protocolVersion"] != version {
            return Err(format!("heard {}", shortened(&reply.text)));
        }
        self.heard.clear();
        self.write_line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    pub(crate) fn play(&mut self, steps: &[String]) -> Result<(), Wrong> {
        let mut steps = steps.iter().peekable();
        while let Some(step) = steps.next() {
            let played = match step.strip_prefix("<* ") {
                Some(first) => {
                    let mut any = vec![first];
                    while let Some(next) = steps.next_if(|step| step.starts_with("<* ")) {
                        any.push(&next[3..]);
                    }
                    self.hear_in_any_order(any)
                }
                None => self.step(step),
            };
            played.map_err(|why| Wrong::new(step, why))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &str) -> Step {
        let (what, rest) = step.split_once(' ').unwrap_or((step, ""));
        let does = ["> ", ">> ", "! eof", "! gone", "! signal", "! wait"];
        if does.iter().any(|does| step.starts_with(does)) {
            self.did = Instant::now();
        }
        match what {
            ">" => self.say(rest, self.opened == Opened::Modern),
            ">>" => self.say(rest, true),
            "<" => self.hear(rest),
            "<?" => self.may_hear(rest),
            "-" if rest.is_empty() => self.fence(),
            "-" => self.silence(millis(rest)?),
            "!" => self.act(rest),
            _ => Err("no such step".to_owned()),
        }
    }

    fn write_line(&mut self, line: &str) -> Step {
        self.write(format!("{line}\n"))
    }

    fn write(&mut self, bytes: impl Into<Vec<u8>>) -> Step {
        let written = self.pipes.write(bytes);
        match self.side {
            // It may have what it wanted and be gone.
            Side::Client => Ok(()),
            Side::Server { .. } => written,
        }
    }

    fn say(&mut self, said: &str, is_modern: bool) -> Step {
        let (first, rest) = said.split_once(' ').unwrap_or((said, ""));
        match first {
            "raw" => self.write_line(rest),
            "part" => self.write(bytes(rest)?),
            "drip" => format!("{rest}\n")
                .bytes()
                .try_for_each(|byte| self.write([byte])),
            "ok" => self.reply("result", parse(rest)?),
            "text" => {
                let content = json!([{ "type": "text", "text": parse(rest)? }]);
                self.reply("result", json!({ "content": content }))
            }
            "error" => {
                let (code, members) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let mut error = parse(members)?;
                error["code"] = messages::id(code);
                error["message"] = json!("as the case has it");
                self.reply("error", error)
            }
            _ => {
                let message = match &self.side {
                    Side::Server {
                        fit, capabilities, ..
                    } => {
                        let message = messages::message(said, |tool, given| fit.fit(tool, given))?;
                        match is_modern {
                            true => messages::modern(message, capabilities),
                            false => message,
                        }
                    }
                    Side::Client => messages::message(said, |tool, given| ().fit(tool, given))?,
                };
                self.write_line(&message.to_string())
            }
        }
    }

    /// Answers what was asked last.
    fn reply(&mut self, member: &str, mut value: Value) -> Step {
        if matches!(self.side, Side::Client) && self.opened == Opened::Modern && member == "result"
        {
            value["resultType"] = json!("complete");
        }
        let reply = json!({ "jsonrpc": "2.0", "id": self.asked, member: value });
        self.write_line(&reply.to_string())
    }

    /// The next line, which has to be a message on a line of its own.
    pub(crate) fn receive(&mut self) -> Result<Heard, String> {
        match self.held.take() {
            Some(held) => Ok(held),
            None => self.receive_within(SOON),
        }
    }

    fn receive_within(&mut self, within: Duration) -> Result<Heard, String> {
        let (came, line) = match self.pipes.line(within) {
            Ok(Some(line)) => line,
            Ok(None) => return Err("the output has ended".to_owned()),
            Err(Silence) => return Err("nothing comes".to_owned()),
        };
        self.came = came;
        let text = String::from_utf8_lossy(&line).into_owned();
        let message = serde_json::from_slice(&line);
        match message {
            Ok(message @ (Value::Object(_) | Value::Array(_))) if !text.ends_with('\r') => {
                let heard = Heard { text, message };
                self.heard.push(heard.brief());
                Ok(heard)
            }
            _ => Err(format!(
                "no message on a line of its own: {}",
                shortened(&text)
            )),
        }
    }

    fn hear(&mut self, expected: &str) -> Step {
        loop {
            let heard = self.receive()?;
            if let (Some(_), Some(id)) = (heard.message.get("method"), heard.message.get("id")) {
                self.asked = id.clone();
            }
            if heard.fits(expected)? {
                return Ok(());
            }
            // What else a client asks first is its own affair.
            match self.side {
                Side::Client => self.serve(&heard)?,
                Side::Server { .. } => return Err(format!("heard {}", shortened(&heard.text))),
            }
        }
    }

    /// The next line, if it is this; the steps say what comes otherwise.
    fn may_hear(&mut self, expected: &str) -> Step {
        let heard = self.receive()?;
        if !heard.fits(expected)? {
            self.held = Some(heard);
        }
        Ok(())
    }

    fn hear_in_any_order(&mut self, mut expected: Vec<&str>) -> Step {
        while !expected.is_empty() {
            let heard = self.receive()?;
            let mut place = None;
            for (nth, one) in expected.iter().enumerate() {
                if place.is_none() && heard.fits(one)? {
                    place = Some(nth);
                }
            }
            match place {
                Some(place) => expected.remove(place),
                None => return Err(format!("heard {}", shortened(&heard.text))),
            };
        }
        Ok(())
    }

    /// Nothing is said before the answer to what is asked now, which comes at once, if only because
    /// it is no method in that era.
    fn fence(&mut self) -> Step {
        self.say("\"fence\" ping", false)?;
        let heard = self.receive()?;
        match heard.message["id"] == "fence" {
            true => Ok(()),
            false => Err(format!("heard {}", shortened(&heard.text))),
        }
    }

    fn silence(&mut self, time: Duration) -> Step {
        match self.pipes.line(time) {
            Err(Silence) => Ok(()),
            Ok(None) => Err("the output has ended".to_owned()),
            Ok(Some((_, line))) => Err(format!(
                "heard {}",
                shortened(&String::from_utf8_lossy(&line))
            )),
        }
    }

    fn act(&mut self, what: &str) -> Step {
        let (act, rest) = what.split_once(' ').unwrap_or((what, ""));
        match (act, &mut self.side) {
            ("wait", _) => std::thread::sleep(millis(rest)?),
            ("read", _) => self.pipes.read(),
            ("within", _) => return self.is_in_time(|took, time| took <= time, millis(rest)?),
            ("after", _) => return self.is_in_time(|took, time| took >= time, millis(rest)?),
            ("eof", Side::Server { .. }) => self.pipes.close(),
            ("gone", Side::Server { .. }) => self.pipes.leave(),
            ("signal", Side::Server { process, .. }) => process.signal(rest)?,
            ("memory", _) => {
                let most: u64 = rest.parse().map_err(|_| "no number of bytes")?;
                if let Some(peak) = self.peak_memory().filter(|peak| *peak > most) {
                    return Err(format!("{peak} bytes"));
                }
            }
            ("ends" | "fails" | "over", Side::Server { .. }) => {
                let (time, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let well = (act != "over").then_some(act == "ends");
                return self.ends(well, millis(time)?, text);
            }
            ("eof", Side::Client) => return self.is_left_alone(),
            ("stderr", Side::Client) => eprintln!("{rest}"),
            _ => return Err("no such act".to_owned()),
        }
        Ok(())
    }

    /// The most memory that the server has had so far, in bytes; nothing where that cannot be known.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        match &self.side {
            Side::Server { process, .. } => process.peak_memory(),
            Side::Client => None,
        }
    }

    fn is_in_time(&self, fits: fn(Duration, Duration) -> bool, time: Duration) -> Step {
        let took = self.came.saturating_duration_since(self.did);
        match fits(took, time) {
            true => Ok(()),
            false => Err(format!("{} ms", took.as_millis())),
        }
    }

    /// The process ends, well or not if that matters, in time and without another word, and says
    /// this on its standard error, or nothing there.
    fn ends(&mut self, well: Option<bool>, within: Duration, text: &str) -> Step {
        let begin = self.did;
        match self.pipes.line(within) {
            Ok(None) => {}
            Ok(Some((_, line))) => {
                let text = String::from_utf8_lossy(&line).into_owned();
                return Err(format!("heard {}", shortened(&text)));
            }
            Err(Silence) => return Err(format!("it still runs after {} ms", within.as_millis())),
        }
        let Side::Server { process, .. } = &mut self.side else {
            return Err("no such act".to_owned());
        };
        let status = process.end(within)?;
        self.came = Instant::now();
        self.heard.push(match status.code() {
            Some(code) => format!("exit {code}"),
            None => "killed by a signal".to_owned(),
        });
        let took = self.came.saturating_duration_since(begin);
        let stderr = process.stderr();
        if well.is_some_and(|well| status.success() != well) {
            return Err(format!("{status}"));
        }
        if took > within {
            return Err(format!("after {} ms", took.as_millis()));
        }
        let said = match text {
            "" => true,
            "quietly" => stderr.is_empty(),
            text => stderr.contains(text),
        };
        match said {
            true => Ok(()),
            false => Err(format!("its standard error: {}", shortened(&stderr))),
        }
    }

    /// The conversation is over: nothing more is said, and the process ends well.
    pub(crate) fn close(mut self) -> Result<Vec<String>, Wrong> {
        self.did = Instant::now();
        let closed = match &self.side {
            Side::Server { .. } if self.heard.last().is_some_and(|last| is_end(last)) => Ok(()),
            Side::Server { .. } => {
                self.pipes.close();
                let ended = self.ends(Some(true), SOON, "");
                self.heard.retain(|heard| heard != "exit 0");
                ended
            }
            Side::Client => self.is_left_alone(),
        };
        closed.map_err(|why| Wrong::new("the end", why))?;
        Ok(self.heard)
    }

    /// Until the client closes the pipe, it is served like any other.
    fn is_left_alone(&mut self) -> Step {
        loop {
            match self.receive_within(SOON) {
                Ok(heard) => self.serve(&heard)?,
                Err(why) if why == "the output has ended" => return Ok(()),
                Err(why) => return Err(why),
            }
        }
    }

    /// What a good server of the era would do; an answer that nobody has asked for is a mistake.
    fn serve(&mut self, heard: &Heard) -> Step {
        let Some(id) = heard.message.get("id") else {
            return Ok(());
        };
        let Some(method) = heard.message["method"].as_str() else {
            return Err(format!("heard {}", shortened(&heard.text)));
        };
        self.asked = id.clone();
        let info = json!({ "name": "edge-table", "version": "1" });
        let answer = match (method, &self.opened) {
            ("server/discover", Opened::Modern) => json!({
                "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "_meta": { "io.modelcontextprotocol/serverInfo": info },
                "ttlMs": 0, "cacheScope": "private",
            }),
            ("initialize", Opened::Legacy(version)) => json!({
                "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info,
            }),
            ("ping", Opened::Legacy(_)) => json!({}),
            ("tools/list", _) => {
                let text = json!({ "text": { "type": "string" } });
                let schema = json!({ "type": "object", "properties": text });
                let hints = json!({ "name": "echo", "inputSchema": schema });
                match self.opened {
                    Opened::Modern => {
                        json!({ "tools": [hints], "ttlMs": 0, "cacheScope": "private" })
                    }
                    _ => json!({ "tools": [hints] }),
                }
            }
            ("tools/call", _) => return self.say("text \"hello\"", false),
            _ => return self.say("error -32601", false),
        };
        self.reply("result", answer)
    }
}

fn is_end(heard: &str) -> bool {
    heard.starts_with("exit ") || heard.starts_with("killed ")
}

fn millis(text: &str) -> Result<Duration, String> {
    let number = text.parse().map_err(|_| "no number of milliseconds")?;
    Ok(Duration::from_millis(number))
}

/// `a\r\n\xFF`, without the escapes.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (byte, length) = match escape.as_bytes() {
            [b'r', ..] => (b'\r', 1),
            [b'n', ..] => (b'\n', 1),
            [b't', ..] => (b'\t', 1),
            [b'x', _, _, ..] if escape.is_char_boundary(3) => {
                let byte = u8::from_str_radix(&escape[1..3], 16);
                (byte.map_err(|why| why.to_string())?, 3)
            }
            _ => return Err("no such escape".to_owned()),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// The beginning of a text, on one line.
pub(crate) fn shortened(text: &str) -> String {
    cut(&text.trim_end().replace('\n', " / "), 160)
}

/// The beginning of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
