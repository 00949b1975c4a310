//! Conversations of a client's core as text, as `support` has them for a server's.
//!
//! ```text
//! ? connect                       the client begins
//! < 1 server/discover {…}         we send a request with at least these parameters
//! < notifications/initialized {…} … a notification
//! < "q" ok {…} | "q" error -32601 … an answer
//! < batch "q" "r"                 … one array with the answers to these
//! > 1 ok {…} | 1 error -32601 {…} the server answers (`data` may follow)
//! > "q" roots/list {…}            … asks
//! > notifications/message {…}     … notifies
//! > raw […]                       … sends any bytes
//! ? call a tools/call {…}         the application calls; the call is `a` from now on
//! ? follow a 500 900 tools/call   … wants progress, waits 500 ms for each and 900 in all
//! ? log a tools/call              … wants log messages
//! ? cancel a | notify notifications/x {…}
//! ? answer q | sample q | refuse q    a question has its answer
//! ? skip                          the transport has skipped a long line
//! ? unanswered 1 unusable | 1 unreachable | 1 unauthorized    … has no answer to a request
//! ? eof | shutdown | wait 500     the input ends; we end; milliseconds pass
//! ! connected 2025-11-25          what the driver is told
//! ! failed NoCommonVersion        … with this in it
//! ! done a ok {…} | ok {…} but 1 of 2     … with at least these members; what was left out
//! ! done a TimedOut               … with this in it
//! ! progress a 0.5 | ask q roots/list | withdrawn q
//! ! heard notifications/message | heard notifications/x of a
//! ! ignored late | close          … with this in it
//! -                               nothing (what is not listed must not happen anyway)
//! ```

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_protocol::connection::{
    AskId, CallId, CallOptions, ClientConfig, ClientConnection, ClientOutput, RawResult,
};
use mcp_protocol::transport::NoAnswer;
use mcp_protocol::types::*;
use mcp_protocol::{
    ClientNotification, ClientRequest, ClientResult, Encode, ErrorObject, Frame, Incoming, RawJson,
};
use serde_json::{Value, json};

use crate::support::{Check, contains, id, message, parse};

/// A client that can be asked everything, and small limits.
pub(crate) fn config() -> ClientConfig {
    let mut config = ClientConfig::new(Implementation::new("scripted", "1.0.0"));
    config.capabilities = serde_json::from_value(json!({
        "elicitation": {},
        "roots": { "listChanged": true },
        "sampling": {},
    }))
    .expect("these are capabilities");
    config.limits.batch = 4;
    config.limits.asks = 2;
    config
}

/// Plays a script against a new connection.
pub(crate) fn check(script: &str) {
    check_with(config(), script);
}

/// Plays a script against a new connection of this client.
pub(crate) fn check_with(config: ClientConfig, script: &str) {
    let mut play = Play {
        connection: ClientConnection::new(Arc::new(config)),
        now: Instant::now(),
        calls: HashMap::new(),
        asks: HashMap::new(),
        outputs: VecDeque::new(),
    };
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
    connection: ClientConnection,
    now: Instant,
    calls: HashMap<String, CallId>,
    asks: HashMap<String, AskId>,
    outputs: VecDeque<ClientOutput>,
}

impl Play {
    fn line(&mut self, line: &str) -> Check {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        match sign {
            ">" => {
                self.silence()?;
                let incoming = Incoming::parse(&Frame::from(said(rest)));
                self.connection.receive(incoming, self.now);
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
        self.outputs
            .extend(std::iter::from_fn(|| self.connection.poll()));
        Ok(())
    }

    fn silence(&self) -> Check {
        match self.outputs.front() {
            None => Ok(()),
            Some(ClientOutput::Send(message)) => Err(format!("unexpected: {}", encoded(message))),
            Some(output) => Err(format!("unexpected: {output:?}")),
        }
    }

    fn act(&mut self, action: &str) -> Check {
        let words: Vec<&str> = action.splitn(3, ' ').collect();
        let mut options = CallOptions::default();
        match words[..] {
            ["connect"] => self.connection.connect(self.now),
            ["call", name, request] => self.call(name, request, options),
            ["log", name, request] => {
                options.log = Some(LoggingLevel::Warning);
                self.call(name, request, options);
            }
            ["follow", name, rest] => {
                let rest: Vec<&str> = rest.splitn(3, ' ').collect();
                options.progress = true;
                options.timeout = Some(millis(rest[0]));
                options.longest = Some(millis(rest[1]));
                self.call(name, rest[2], options);
            }
            ["cancel", name] => {
                let (call, reason) = (self.named(name)?, Some("enough".to_owned()));
                self.connection.cancel(call, reason, self.now);
            }
            ["notify", method] => self.notify(method, None),
            ["notify", method, params] => self.notify(method, Some(parse(params).into())),
            ["answer", name] => {
                let result = ListRootsResult::new(vec![Root::new("file:///a")]);
                let result = ClientResult::ListRoots(result);
                self.connection.reply(self.asks[name], Ok(result.into()));
            }
            ["sample", name] => {
                let result = json!({
                    "role": "assistant",
                    "model": "m",
                    "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }],
                });
                let result = serde_json::from_value(result).expect("it is a result");
                let result = ClientResult::CreateMessage(result);
                self.connection.reply(self.asks[name], Ok(result.into()));
            }
            ["refuse", name] => {
                let error = ErrorObject::internal("failed");
                self.connection.reply(self.asks[name], Err(error));
            }
            ["unanswered", request, why] => {
                let why = match why {
                    "unreachable" => NoAnswer::Unreachable("x".to_owned()),
                    "unauthorized" => NoAnswer::Unauthorized("x".to_owned()),
                    _ => NoAnswer::Unusable("x".to_owned()),
                };
                let request = serde_json::from_value(id(request)).expect("it is an id");
                self.connection.unanswered(&request, why, self.now);
            }
            ["skip"] => self.connection.skipped(10, self.now),
            ["eof"] => self.connection.input_closed(self.now),
            ["shutdown"] => self.connection.shut_down(self.now),
            ["wait", time] => {
                self.now += millis(time);
                if self.connection.deadline().is_some_and(|at| at <= self.now) {
                    self.connection.timeout(self.now);
                }
            }
            _ => return Err("no such action".to_owned()),
        }
        Ok(())
    }

    fn notify(&mut self, method: &str, params: Option<RawJson>) {
        let notification = ClientNotification::parse(method.into(), params);
        self.connection
            .notify(notification.expect("it fits the method"));
    }

    fn call(&mut self, name: &str, request: &str, options: CallOptions) {
        let (method, params) = request.split_once(' ').unwrap_or((request, "{}"));
        let params = Some(RawJson::from(parse(params)));
        let request = ClientRequest::parse(method.into(), params).expect("it fits the method");
        let call = self.connection.call(request, options, self.now);
        self.calls.insert(name.to_owned(), call);
    }

    fn sent(&mut self, expected: &str) -> Check {
        let text = match self.outputs.pop_front() {
            Some(ClientOutput::Send(message)) => encoded(&message),
            other => return Err(format!("not sent, but {other:?}")),
        };
        let sent: Value = serde_json::from_str(&text).expect("what is sent is JSON");
        let (first, rest) = expected.split_once(' ').unwrap_or((expected, ""));
        let (second, third) = rest.split_once(' ').unwrap_or((rest, ""));
        let members = |text: &str| parse(if text.is_empty() { "{}" } else { text });
        let is_id = || sent.get("id") == Some(&id(first));
        let fits = match (first, second) {
            ("batch", _) => {
                let ids: Vec<_> = rest.split_whitespace().map(id).collect();
                let replies = sent.as_array().into_iter().flatten();
                replies.map(|reply| reply["id"].clone()).collect::<Vec<_>>() == ids
            }
            (method, _) if method.starts_with("notifications/") => {
                sent["method"] == method
                    && sent.get("id").is_none()
                    && contains(&sent["params"], &members(rest))
            }
            (_, "ok") => is_id() && contains(&sent["result"], &members(third)),
            (_, "error") => {
                let error = &sent["error"];
                is_id() && error["code"] == parse(third) && error["message"].is_string()
            }
            (_, method) => {
                let exact = members(third.trim_start_matches("= "));
                let params = match third.starts_with("= ") {
                    true => sent["params"] == exact,
                    false => contains(&sent["params"], &exact),
                };
                is_id() && sent["method"] == method && params
            }
        };
        if fits {
            Ok(())
        } else {
            Err(format!("sent instead: {text}"))
        }
    }

    fn told(&mut self, expected: &str) -> Check {
        let output = self.outputs.pop_front().ok_or("nothing was told")?;
        let words: Vec<&str> = expected.splitn(4, ' ').collect();
        let fits = match (&words[..], &output) {
            (["connected", version], ClientOutput::Connected) => {
                let peer = self.connection.peer().expect("it is connected");
                peer.version.as_str() == *version
            }
            (["failed", what], ClientOutput::Failed(error)) => format!("{error:?}").contains(what),
            (["done", name, ..], ClientOutput::Done(call, outcome)) => {
                let read = outcome.clone().and_then(RawResult::read);
                let fits = match (&words[2..], read) {
                    (["ok", rest @ ..], Ok((result, left_out))) => {
                        let result = serde_json::to_value(result).expect("a result encodes");
                        let rest = rest.first().copied().unwrap_or("{}");
                        let (members, but) = match rest.split_once(" but ") {
                            Some((members, but)) => (members, Some(but)),
                            None => (rest, None),
                        };
                        let starts = |(what, but): (&String, &str)| what.starts_with(but);
                        contains(&result, &parse(members))
                            && left_out.is_some() == but.is_some()
                            && left_out.as_ref().zip(but).is_none_or(starts)
                    }
                    ([what, ..], Err(error)) => format!("{error:?}").contains(what),
                    _ => false,
                };
                self.named(name)? == *call && fits
            }
            (["progress", name, progress], ClientOutput::Progress(call, params)) => {
                self.named(name)? == *call && json!(params.progress) == parse(progress)
            }
            (["ask", name, method], ClientOutput::Ask(ask, request)) => {
                let before = self.asks.insert((*name).to_owned(), *ask);
                before.is_none() && request.method().as_str() == *method
            }
            (["withdrawn", name], ClientOutput::Withdrawn(ask)) => self.asks[*name] == *ask,
            (
                ["heard", method, of @ ..],
                ClientOutput::Heard {
                    notification,
                    stream,
                },
            ) => {
                let of = of.get(1).map(|name| self.named(name)).transpose()?;
                notification.method().as_str() == *method && *stream == of
            }
            (["ignored", ..], ClientOutput::Ignored(what)) => {
                let part = expected.strip_prefix("ignored ").unwrap_or_default();
                what.to_string().contains(part)
            }
            (["close"], ClientOutput::Close) => true,
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(format!("told instead: {output:?}"))
        }
    }

    fn named(&self, name: &str) -> Result<CallId, String> {
        let call = self.calls.get(name).copied();
        call.ok_or_else(|| format!("no call is named {name}"))
    }
}

/// The text of what the server sends.
fn said(line: &str) -> String {
    let (wire, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match kind {
        "ok" => {
            let result = parse(if rest.is_empty() { "{}" } else { rest });
            json!({ "jsonrpc": "2.0", "id": id(wire), "result": result }).to_string()
        }
        "error" => {
            let (code, data) = rest.split_once(' ').unwrap_or((rest, ""));
            let mut error = json!({ "code": parse(code), "message": "no" });
            if !data.is_empty() {
                error["data"] = parse(data);
            }
            json!({ "jsonrpc": "2.0", "id": id(wire), "error": error }).to_string()
        }
        _ => message(line, false),
    }
}

fn encoded(message: &impl Encode) -> String {
    let mut text = Vec::new();
    message.encode(&mut text);
    String::from_utf8(text).expect("what is sent is text")
}

fn millis(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("milliseconds"))
}
