//! Conversations as text: the one place where the core's tests touch its API.
//!
//! A script has one line for each thing that happens.
//!
//! ```text
//! > 1 ping                        the peer sends a request, legacy (params may follow as JSON)
//! >> 1 tools/list {}              … or modern: `_meta` is filled in
//! > notifications/cancelled {…}   … a notification
//! > raw […]                       … any bytes
//! ? reply a hello                 the handler of call `a` ends with this text
//! ? fail a                        … with an error
//! ? progress a 0.5                … reports progress
//! ? log a info hello              … logs
//! ? notify a notifications/x {…}  … notifies of something of its own
//! ? ask a q                       … asks for a confirmation, called `q` from now on
//! ? ask a q roots/list            … asks something else
//! ? publish tools                 something changed: tools, prompts, resources, everything or a URI
//! ? eof | shutdown | wait 500     the input ends; we end; milliseconds pass
//! < 1 ok {…}                      we send a result that has at least these members
//! < 1 error -32600 {…}            … an error with this code and at least these members
//!                                 (`null` and `absent` are ids, too)
//! < batch 1 2                     … one array with the replies to these
//! < notifications/progress {…}    … a notification
//! < ask q elicitation/create      … a request
//! ! start 1 a                     the driver is to start request 1, called `a` from now on
//! ! stop a | answer q gone | heard notifications/x | close 1
//! -                               nothing (what is not listed must not happen anyway)
//! ```

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_protocol::connection::{
    Answer, AskId, CallId, Change, LogMessage, Output, Progress, ServerConfig, ServerConnection,
    ServerMessage,
};
use mcp_protocol::types::*;
use mcp_protocol::{Encode, ErrorObject, Frame, Incoming, RawJson, ServerRequest, ServerResult};
use serde_json::{Value, json};

/// A server with everything on offer and small limits.
pub(crate) fn config() -> ServerConfig {
    let mut config = ServerConfig::new(Implementation::new("scripted", "1.0.0"));
    config.capabilities = serde_json::from_value(json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "logging": {},
        "completions": {},
    }))
    .expect("these are capabilities");
    config.limits.batch = 4;
    config.limits.listens = 2;
    config.limits.subscriptions = 3;
    config.limits.asks = 2;
    config
}

/// Plays a script against a new connection.
pub(crate) fn check(script: &str) {
    check_with(config(), script);
}

/// Plays a script against a new connection of this server.
pub(crate) fn check_with(config: ServerConfig, script: &str) {
    let mut play = Play::new(config);
    for (at, line) in script.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() {
            play.line(line)
                .unwrap_or_else(|why| panic!("line {}: {line}\n  {why}", at + 1));
        }
    }
    play.silence()
        .unwrap_or_else(|why| panic!("at the end of the script: {why}"));
}

struct Play {
    connection: ServerConnection,
    now: Instant,
    calls: HashMap<String, CallId>,
    asks: HashMap<String, AskId>,
    outputs: VecDeque<Output>,
}

pub(crate) type Check = Result<(), String>;

impl Play {
    fn new(config: ServerConfig) -> Self {
        Self {
            connection: ServerConnection::new(Arc::new(config)),
            now: Instant::now(),
            calls: HashMap::new(),
            asks: HashMap::new(),
            outputs: VecDeque::new(),
        }
    }

    fn line(&mut self, line: &str) -> Check {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        match sign {
            ">" | ">>" => {
                self.silence()?;
                let text = message(rest, sign == ">>");
                self.connection.receive(Incoming::parse(&Frame::from(text)));
            }
            "?" => {
                self.silence()?;
                self.act(rest)?;
            }
            "<" => return self.sent(rest),
            "!" => return self.told(rest),
            "-" => return self.silence(),
            _ => return Err("no such line".to_owned()),
        }
        while let Some(output) = self.connection.poll() {
            self.outputs.push_back(output);
        }
        Ok(())
    }

    fn silence(&self) -> Check {
        match self.outputs.front() {
            None => Ok(()),
            Some(Output::Send(outgoing)) => {
                Err(format!("unexpected: {}", encoded(&outgoing.message)))
            }
            Some(output) => Err(format!("unexpected: {output:?}")),
        }
    }

    fn act(&mut self, action: &str) -> Check {
        let words: Vec<&str> = action.splitn(4, ' ').collect();
        match words[..] {
            ["reply", call, text] => {
                let result = CallToolResult::new().content(vec![ContentBlock::text(text)]);
                let result = ServerResult::CallTool(result);
                self.connection.reply(self.call(call)?, Ok(result.into()));
            }
            ["fail", call] => {
                let error = ErrorObject::internal("failed");
                self.connection.reply(self.call(call)?, Err(error));
            }
            ["progress", call, progress] => {
                let report = Progress {
                    progress: progress.parse().expect("a number"),
                    total: None,
                    message: Some("going".to_owned()),
                };
                self.connection.progress(self.call(call)?, report);
            }
            ["log", call, level, text] => {
                let message = LogMessage {
                    level: serde_json::from_value(json!(level)).expect("a level"),
                    logger: None,
                    data: RawJson::from(json!(text)),
                };
                self.connection.log(self.call(call)?, message);
            }
            ["notify", call, method, params] => {
                let params = RawJson::from(parse(params));
                self.connection.notify(self.call(call)?, method, params);
            }
            ["ask", call, name, ref rest @ ..] => {
                let method = *rest.first().unwrap_or(&"elicitation/create");
                // What any question has to say.
                let params = json!({
                    "message": "Sure?",
                    "requestedSchema": { "type": "object", "properties": {} },
                    "messages": [],
                    "maxTokens": 1,
                });
                let question = ServerRequest::parse(method.into(), Some(params.into()));
                let question = question.expect("a question");
                let call = self.call(call)?;
                if let Some(ask) = self.connection.ask(call, question, self.now) {
                    self.asks.insert(name.to_owned(), ask);
                }
            }
            ["publish", change] => self.connection.publish(&match change {
                "tools" => Change::Tools,
                "prompts" => Change::Prompts,
                "resources" => Change::Resources,
                "everything" => Change::Everything,
                uri => Change::Resource(uri.to_owned()),
            }),
            ["eof"] => self.connection.input_closed(self.now),
            ["shutdown"] => self.connection.shut_down(self.now),
            ["wait", millis] => {
                self.now += Duration::from_millis(millis.parse().expect("milliseconds"));
                if self.connection.deadline().is_some_and(|at| at <= self.now) {
                    self.connection.timeout(self.now);
                }
            }
            _ => return Err("no such action".to_owned()),
        }
        Ok(())
    }

    fn sent(&mut self, expected: &str) -> Check {
        let Some(Output::Send(outgoing)) = self.outputs.pop_front() else {
            return Err("nothing was sent".to_owned());
        };
        let text = encoded(&outgoing.message);
        let sent: Value = serde_json::from_str(&text).expect("what is sent is JSON");
        let wrong = || Err(format!("sent instead: {text}"));
        let words: Vec<&str> = expected.splitn(3, ' ').collect();
        match words[..] {
            ["batch", ..] => {
                let ids: Vec<Value> = expected[5..].split_whitespace().map(id).collect();
                let replies = sent.as_array().into_iter().flatten();
                if replies.map(|reply| reply["id"].clone()).collect::<Vec<_>>() != ids {
                    return wrong();
                }
            }
            ["ask", name, method] => {
                let ask = self.asks.get(name).ok_or("no such question")?;
                let wire = json!(
                    format!("{ask:?}")
                        .replace("AskId(", "ask-")
                        .replace(')', "")
                );
                if sent["method"] != method || sent["id"] != wire {
                    return wrong();
                }
            }
            [method, ref rest @ ..] if method.starts_with("notifications/") => {
                let expected = rest.join(" ");
                let expected = if expected.is_empty() { "{}" } else { &expected };
                if sent["method"] != method
                    || sent.get("id").is_some()
                    || !contains(&sent["params"], &parse(expected))
                {
                    return wrong();
                }
            }
            [wire, "error", code] => {
                let is_id = match wire {
                    "absent" => sent.get("id").is_none(),
                    "null" => sent.get("id") == Some(&Value::Null),
                    wire => sent["id"] == id(wire),
                };
                let (code, members) = code.split_once(' ').unwrap_or((code, "{}"));
                let expected: i64 = code.parse().expect("a code");
                if !is_id
                    || sent["error"]["code"] != expected
                    || !contains(&sent["error"], &parse(members))
                {
                    return wrong();
                }
            }
            [wire, ok] | [wire, ok, _] => {
                let result = words.get(2).map_or(json!({}), |text| parse(text));
                if ok != "ok" || sent["id"] != id(wire) || !contains(&sent["result"], &result) {
                    return wrong();
                }
            }
            _ => return Err("no such expectation".to_owned()),
        }
        Ok(())
    }

    fn told(&mut self, expected: &str) -> Check {
        let output = self.outputs.pop_front().ok_or("nothing was told")?;
        let words: Vec<&str> = expected.split_whitespace().collect();
        let fits = match (&words[..], &output) {
            (["start", _, name], Output::Start { call, .. }) => {
                self.calls.insert((*name).to_owned(), *call);
                true
            }
            (["stop", name], Output::Stop(call)) => self.call(name)? == *call,
            (["answer", name, what], Output::Answer(ask, answer)) => {
                let is = match answer {
                    Answer::Given(_) => "given",
                    Answer::Refused(_) => "refused",
                    Answer::TimedOut => "late",
                    Answer::Gone => "gone",
                };
                self.asks.get(*name) == Some(ask) && *what == is
            }
            (["heard", method], Output::Heard(notification)) => {
                notification.method().as_str() == *method
            }
            (["close", number], Output::Close { cut_off }) => *number == cut_off.to_string(),
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(format!("told instead: {output:?}"))
        }
    }

    fn call(&self, name: &str) -> Result<CallId, String> {
        let call = self.calls.get(name).copied();
        call.ok_or_else(|| format!("no call is named {name}"))
    }
}

/// The text of what the peer sends.
pub(crate) fn message(line: &str, modern: bool) -> String {
    if let Some(raw) = line.strip_prefix("raw ") {
        return raw.to_owned();
    }
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (wire, method, params) = if first.starts_with("notifications/") {
        (None, first, rest)
    } else {
        let (method, params) = rest.split_once(' ').unwrap_or((rest, ""));
        (Some(id(first)), method, params)
    };
    let mut params = if params.is_empty() {
        json!({})
    } else {
        parse(params)
    };
    if method == "initialize" && params.is_string() {
        params = json!({
            "protocolVersion": params,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "script", "version": "1" },
        });
    }
    if method == "tools/call" && params.is_string() {
        params = json!({ "name": params });
    }
    if modern {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if let Some(wire) = wire {
        message["id"] = wire;
    }
    message.to_string()
}

pub(crate) fn encoded(message: &ServerMessage) -> String {
    let mut text = Vec::new();
    message.encode(&mut text);
    String::from_utf8(text).expect("what is sent is text")
}

pub(crate) fn id(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| json!(word))
}

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// Whether a value has at least the members of another; one that is "absent" there must not be here.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| match whole.get(key) {
                Some(whole) => contains(whole, part),
                None => part == "absent",
            })
        }
        (whole, part) => whole == part,
    }
}
