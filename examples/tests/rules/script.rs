//! Conversations with a process, as text.
//!
//! ```text
//! > 1 tools/list {…}             a request, as the client's era has it
//! > 1 call echo {…}              … a call of a tool; without arguments there are none
//! >> 1 tools/list {…}            … always as 2026-07-28 has it
//! > notifications/cancelled {…}  a notification
//! > raw …                        any line
//! < 1 ok {…}                     the next line is a result that has at least these members
//! < 1 text "…"                   … the result of a tool with this text
//! < 1 failed "…"                 … the same, but it says that it failed, and nothing else
//! < 1 error -32602 {…}           … an error
//! < notifications/progress {…}   … a notification
//! < elicitation/create {…}       … a request, to which `> answer {…}` is the answer
//! -                              nothing: the next line answers what is asked now
//! ```
//!
//! A member that is `"absent"` there is not in the line; a text that begins with `~` is part of
//! that in the line.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Peer, initialize, modern};

/// How the client has opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Opened {
    /// Not at all.
    Not,
    Legacy(&'static str),
    Modern,
}

pub(crate) const BOTH: [Opened; 2] = [Opened::Legacy("2025-11-25"), Opened::Modern];

pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Plays a script against the fixture, in either era.
pub(crate) fn check(script: &str) {
    for opened in BOTH {
        check_as(opened, &[], script);
    }
}

/// Plays a script against the fixture, which has to end well.
pub(crate) fn check_as(opened: Opened, args: &[&str], script: &str) {
    let mut play = Play::new(&mut crate::support::fixture(args), opened, json!({}));
    play.play(script);
    play.peer.ends_well();
}

/// A program and the client that talks to it.
pub(crate) struct Play {
    pub(crate) peer: Peer,
    opened: Opened,
    capabilities: Value,
    /// The id of the last request of the server.
    asked: Value,
}

type Check = Result<(), String>;

impl Play {
    pub(crate) fn new(program: &mut Command, opened: Opened, capabilities: Value) -> Self {
        let mut peer = Peer::spawn(program);
        if let Opened::Legacy(version) = opened {
            let mut handshake = initialize(version);
            handshake["params"]["capabilities"] = capabilities.clone();
            peer.send(&handshake);
            assert_eq!(peer.receive()["result"]["protocolVersion"], version);
            peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        Self {
            peer,
            opened,
            capabilities,
            asked: Value::Null,
        }
    }

    pub(crate) fn play(&mut self, script: &str) {
        for (at, line) in (1..).zip(script.lines().map(str::trim)) {
            let played = match line.split_once(' ') {
                _ if line.is_empty() => Ok(()),
                Some((">", said)) => self.say(said, self.opened == Opened::Modern),
                Some((">>", said)) => self.say(said, true),
                Some(("<", expected)) => self.hear(expected),
                _ if line == "-" => self.silence(),
                _ => Err("no such line".to_owned()),
            };
            played.unwrap_or_else(|why| panic!("{:?}, line {at}: {line}\n  {why}", self.opened));
        }
    }

    fn say(&mut self, said: &str, is_modern: bool) -> Check {
        if let Some(raw) = said.strip_prefix("raw ") {
            self.peer.write(format!("{raw}\n").as_bytes());
            return Ok(());
        }
        if let Some(answer) = said.strip_prefix("answer ") {
            let result = parse(answer);
            let answer = json!({ "jsonrpc": "2.0", "id": self.asked, "result": result });
            self.peer.send(&answer);
            return Ok(());
        }
        let mut message = json!({ "jsonrpc": "2.0" });
        let (first, rest) = said.split_once(' ').unwrap_or((said, ""));
        let (method, params) = match first.contains('/') {
            true => (first, rest),
            false => {
                message["id"] = id(first);
                rest.split_once(' ').unwrap_or((rest, ""))
            }
        };
        message["method"] = json!(method);
        if method == "call" {
            let (tool, arguments) = params.split_once(' ').unwrap_or((params, ""));
            message["method"] = json!("tools/call");
            message["params"]["name"] = json!(tool);
            if !arguments.is_empty() {
                message["params"]["arguments"] = parse(arguments);
            }
        } else if !params.is_empty() {
            message["params"] = parse(params);
        }
        let takes_metadata = message
            .get("params")
            .is_none_or(|params| params.is_object() && !params["_meta"].is_number());
        if is_modern && takes_metadata && message.get("id").is_some() {
            message = modern(message);
            let meta = &mut message["params"]["_meta"];
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.peer.send(&message);
        Ok(())
    }

    fn hear(&mut self, expected: &str) -> Check {
        let heard = self.peer.receive();
        let (first, rest) = expected.split_once(' ').unwrap_or((expected, "{}"));
        let fits = if first.contains('/') {
            self.asked = heard["id"].clone();
            heard["method"] == first && contains(&heard["params"], &parse(rest))
        } else {
            let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            heard["id"] == id(first) && is(verb, rest, &heard)?
        };
        if fits {
            return Ok(());
        }
        Err(format!("heard instead: {heard}"))
    }

    fn silence(&mut self) -> Check {
        // What nobody may ask any more is answered at once as well.
        self.say("\"fence\" ping", false)?;
        let heard = self.peer.receive();
        if heard["id"] == "fence" {
            return Ok(());
        }
        Err(format!("heard: {heard}"))
    }
}

/// Whether a reply is what was expected of it.
fn is(verb: &str, expected: &str, reply: &Value) -> Result<bool, String> {
    let result = &reply["result"];
    Ok(match verb {
        "ok" if expected.is_empty() => result.is_object(),
        "ok" => result.is_object() && contains(result, &parse(expected)),
        "text" => {
            let text = json!({ "content": [{ "text": parse(expected) }], "isError": "absent" });
            contains(result, &text)
        }
        "failed" => {
            let content = json!([{ "text": parse(expected) }]);
            let failed =
                json!({ "content": content, "isError": true, "structuredContent": "absent" });
            contains(result, &failed)
        }
        "error" => {
            let (code, members) = expected.split_once(' ').unwrap_or((expected, "{}"));
            let code: i64 = code.parse().map_err(|_| "no code")?;
            reply["error"]["code"] == code && contains(&reply["error"], &parse(members))
        }
        _ => return Err("no such expectation".to_owned()),
    })
}

fn id(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| json!(word))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// Whether a value has at least the members of another.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| match whole.get(key) {
                Some(whole) => contains(whole, part),
                None => part == "absent",
            })
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(a, b)| contains(a, b))
        }
        (Value::String(whole), Value::String(part)) => match part.strip_prefix('~') {
            Some(part) => whole.contains(part),
            None => whole == part,
        },
        (whole, part) => whole == part,
    }
}
