//! What a client's side has promised, beside it: as `model` has it for a server's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_protocol::connection::{
    AskId, CallId, CallOptions, ClientConnection, ClientMessage, ClientOutput,
};
use mcp_protocol::transport::NoAnswer;
use mcp_protocol::types::*;
use mcp_protocol::{
    ClientNotification, ClientRequest, ClientResult, Encode, Era, Frame, Incoming, Message,
    ProtocolVersion,
};
use serde_json::{Value, json};

use crate::client_support::config;

/// One step. Numbers choose among what there is: an id, an open call, a question.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Connect,
    Answer {
        which: u8,
        text_id: bool,
        answer: usize,
    },
    Ask {
        id: u8,
        method: usize,
    },
    Withdraw(u8),
    Notify {
        which: u8,
        method: usize,
    },
    Batch(Vec<(u8, usize)>),
    Junk(Vec<u8>),
    Skip,
    Unanswered(u8),
    Call {
        method: usize,
        follow: bool,
    },
    Cancel(u8),
    Reply(u8),
    Tell,
    Wait(u16),
    Eof,
    ShutDown,
}

pub(crate) const ANSWERS: &[&str] = &[
    r#""result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}}}"#,
    r#""result": {"supportedVersions": ["2025-06-18"], "capabilities": {}}"#,
    r#""result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}"#,
    r#""result": {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}"#,
    r#""result": {"tools": [], "content": []}"#,
    r#""result": {"tools": 5, "content": 5}"#,
    r#""result": 5"#,
    r#""error": {"code": -32601, "message": "no"}"#,
    r#""error": {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"], "requested": "x"}}"#,
    r#""error": {"code": -32022, "message": "no", "data": {"supported": ["2025-03-26"], "requested": "x"}}"#,
    r#""error": {"code": -32021, "message": "no"}"#,
    r#""error": 5"#,
];

/// How the first requests are answered.
pub(crate) const OPENINGS: &[&[usize]] = &[
    &[],
    &[0],
    &[0],
    &[2],
    &[3],
    &[7, 2],
    &[7, 3],
    &[8, 0],
    &[7, 8, 7, 8, 7, 8],
];

pub(crate) const QUESTIONS: &[&str] = &["roots/list", "ping", "elicitation/create", "no/such"];

pub(crate) const NOTICES: &[&str] = &[
    "notifications/progress",
    "notifications/tools/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/cancelled",
    "notifications/message",
    "notifications/own",
];

pub(crate) const CALLS: &[(&str, &str)] = &[
    ("tools/call", r#"{"name": "x"}"#),
    ("tools/list", "{}"),
    ("subscriptions/listen", r#"{"notifications": {}}"#),
    ("prompts/list", "{}"),
    ("ping", "{}"),
];

/// A call that has not ended.
#[derive(Debug)]
struct Open {
    /// Its id on the wire, if it was sent.
    id: Option<u64>,
    follow: bool,
    acknowledged: bool,
}

pub(crate) struct Model {
    connection: ClientConnection,
    now: Instant,
    /// The id of the request that was sent last: they rise.
    sent: u64,
    /// Opening requests, which are never cancelled.
    opening: BTreeSet<u64>,
    open: BTreeMap<CallId, Open>,
    made: BTreeSet<CallId>,
    /// Cancelled on the wire, in this step.
    cancelled: Vec<u64>,
    asks: BTreeSet<AskId>,
    asked: BTreeSet<AskId>,
    /// How many answers the server may still get, by the text of their id.
    owed: BTreeMap<String, usize>,
    connected: bool,
    failed: bool,
    closed: bool,
}

impl Model {
    pub(crate) fn new(era: Option<Era>) -> Self {
        let config = match era {
            Some(era) => config().only(era),
            None => config(),
        };
        Self {
            connection: ClientConnection::new(Arc::new(config)),
            now: Instant::now(),
            sent: 0,
            opening: BTreeSet::new(),
            open: BTreeMap::new(),
            made: BTreeSet::new(),
            cancelled: Vec::new(),
            asks: BTreeSet::new(),
            asked: BTreeSet::new(),
            owed: BTreeMap::new(),
            connected: false,
            failed: false,
            closed: false,
        }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Connect => self.connection.connect(self.now),
            Step::Answer {
                which,
                text_id,
                answer,
            } => {
                let id = self.some_id(*which);
                let id = if *text_id {
                    json!(id.to_string())
                } else {
                    json!(id)
                };
                let text = format!(r#"{{"jsonrpc": "2.0", "id": {id}, {}}}"#, ANSWERS[*answer]);
                self.receive(text);
            }
            Step::Ask { id, method } => {
                let question = self.question(*id, *method);
                self.receive(question.to_string());
            }
            Step::Withdraw(id) => {
                self.notice(
                    "notifications/cancelled",
                    &json!({ "requestId": question_id(*id) }),
                );
            }
            Step::Notify { which, method } => {
                let id = self.some_id(*which);
                let params = json!({
                    "progressToken": id,
                    "progress": 1,
                    "requestId": id,
                    "level": "info",
                    "data": null,
                    "notifications": {},
                    "_meta": { "io.modelcontextprotocol/subscriptionId": id },
                });
                self.notice(NOTICES[*method], &params);
            }
            Step::Batch(members) => {
                let members = members
                    .iter()
                    .map(|(id, method)| self.question(*id, *method));
                let members = members.collect::<Vec<_>>();
                self.receive(Value::Array(members).to_string());
            }
            Step::Junk(bytes) => {
                let incoming = Incoming::parse(&Frame::copy_from_slice(bytes));
                self.owe(&incoming);
                self.connection.receive(incoming, self.now);
            }
            Step::Skip => self.connection.skipped(10, self.now),
            Step::Unanswered(which) => {
                let id = (self.some_id(*which) as i64).into();
                let why = NoAnswer::Unusable("x".to_owned());
                self.connection.unanswered(&id, why, self.now);
            }
            Step::Call { method, follow } => self.call(*method, *follow),
            Step::Cancel(which) => return self.cancel(*which),
            Step::Reply(which) => return self.reply(*which),
            Step::Tell => {
                let params = EmptyNotificationParams::new();
                let notification = ClientNotification::RootsListChanged(params);
                self.connection.notify(notification);
            }
            Step::Wait(millis) => {
                self.now += Duration::from_millis(u64::from(*millis));
                self.connection.timeout(self.now);
                let deadline = self.connection.deadline();
                assert!(deadline.is_none_or(|at| at > self.now), "it is late");
            }
            Step::Eof => self.connection.input_closed(self.now),
            Step::ShutDown => self.connection.shut_down(self.now),
        }
        self.drain();
    }

    /// The id of a request that was sent, open or not, or of one that was not.
    fn some_id(&self, which: u8) -> u64 {
        // The newest is the one that is most often open.
        (self.sent + 1).saturating_sub(u64::from(which % 8))
    }

    fn question(&mut self, id: u8, method: usize) -> Value {
        let id = question_id(id);
        *self.owed.entry(id.to_string()).or_default() += 1;
        let params =
            json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
        json!({ "jsonrpc": "2.0", "id": id, "method": QUESTIONS[method], "params": params })
    }

    /// What was made up may be a question, too.
    fn owe(&mut self, incoming: &Incoming) {
        let members = match incoming {
            Incoming::Message(message) => vec![Ok(message.clone())],
            Incoming::Batch(batch) => batch.members(),
            Incoming::Bad(_) => Vec::new(),
        };
        for member in members {
            if let Ok(Message::Request(question)) = member {
                let id = serde_json::to_string(&question.id).expect("an id can be written");
                *self.owed.entry(id).or_default() += 1;
            }
        }
    }

    fn notice(&mut self, method: &str, params: &Value) {
        let notice = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.receive(notice.to_string());
    }

    fn receive(&mut self, text: String) {
        let incoming = Incoming::parse(&Frame::from(text));
        self.connection.receive(incoming, self.now);
    }

    fn call(&mut self, method: usize, follow: bool) {
        let (method, params) = CALLS[method];
        let params = serde_json::from_str(params).expect("it is JSON");
        let request = ClientRequest::parse(method.into(), Some(params)).expect("it fits");
        let mut options = CallOptions::default();
        options.progress = follow;
        let call = self.connection.call(request, options, self.now);
        assert!(self.made.insert(call), "a call's id was used again");
        let open = Open {
            id: None,
            follow,
            acknowledged: false,
        };
        self.open.insert(call, open);
    }

    /// An open call that is cancelled ends at once, with one message; any other gives nothing.
    fn cancel(&mut self, which: u8) {
        let made: Vec<_> = self.made.iter().copied().collect();
        let Some(call) = pick(&made, which) else {
            return;
        };
        let open = self.open.get(&call).and_then(|open| open.id);
        self.connection.cancel(call, None, self.now);
        self.drain();
        assert_eq!(self.cancelled, Vec::from_iter(open));
        assert!(!self.open.contains_key(&call));
    }

    /// A question gets the answer, if it is open and outside of a batch at once.
    fn reply(&mut self, which: u8) {
        let asked: Vec<_> = self.asked.iter().copied().collect();
        let Some(ask) = pick(&asked, which) else {
            return;
        };
        let owed: usize = self.owed.values().sum();
        let open = self.asks.remove(&ask);
        let declined = ClientResult::Elicit(ElicitResult::new(ElicitAction::Decline));
        self.connection.reply(ask, Ok(declined.into()));
        self.drain();
        let still: usize = self.owed.values().sum();
        assert!(open || still == owed, "answered twice");
        let batches = self.version() == Some(ProtocolVersion::V2025_03_26);
        assert!(!open || still < owed || batches, "not answered");
    }

    fn version(&self) -> Option<ProtocolVersion> {
        self.connection.peer().map(|peer| peer.version)
    }

    /// Takes what there is to do, checking what holds of each output whatever the step was.
    fn drain(&mut self) {
        self.cancelled.clear();
        while let Some(output) = self.connection.poll() {
            let late = matches!(output, ClientOutput::Done(..));
            assert!(
                !self.closed || late,
                "something came after the end: {output:?}"
            );
            match output {
                ClientOutput::Send(message) => self.send(&message),
                ClientOutput::Connected => {
                    assert!(!self.connected && !self.failed);
                    self.connected = true;
                }
                ClientOutput::Failed(_) => {
                    assert!(!self.connected && !self.failed);
                    self.failed = true;
                }
                ClientOutput::Progress(call, _) => {
                    assert!(self.open[&call].follow, "progress that nobody asked for");
                }
                ClientOutput::Done(call, _) => {
                    self.open.remove(&call).expect("a call ends once");
                }
                ClientOutput::Ask(ask, _) => {
                    assert!(self.asked.insert(ask), "a question's id was used again");
                    self.asks.insert(ask);
                }
                ClientOutput::Withdrawn(ask) => {
                    assert!(self.asks.remove(&ask), "withdrawn twice");
                }
                ClientOutput::Heard {
                    notification,
                    stream: Some(stream),
                } => {
                    let stream = self.open.get_mut(&stream).expect("the stream is open");
                    let method = notification.method();
                    stream.acknowledged |= method.as_str() == NOTICES[2];
                    assert!(stream.acknowledged, "a notice before the acknowledgement");
                }
                ClientOutput::Heard { .. } | ClientOutput::Ignored(_) => {}
                ClientOutput::Close => {
                    assert!(self.open.is_empty() && self.asks.is_empty());
                    self.closed = true;
                }
            }
        }
        assert!(!self.failed || self.closed, "failed, and not closed");
    }

    fn send(&mut self, message: &ClientMessage) {
        let mut text = Vec::new();
        message.encode(&mut text);
        let sent: Value = serde_json::from_slice(&text).expect("what is sent is JSON");
        if let Some(members) = sent.as_array() {
            assert_eq!(self.version(), Some(ProtocolVersion::V2025_03_26));
            members.iter().for_each(|reply| self.answered(reply));
        } else if sent.get("method").is_none() {
            self.answered(&sent);
        } else if sent["method"] == "notifications/cancelled" {
            let id = sent["params"]["requestId"].as_u64().expect("one of ours");
            assert!(!self.opening.contains(&id) && !self.cancelled.contains(&id));
            assert!(self.open.values().any(|open| open.id == Some(id)));
            self.cancelled.push(id);
        } else if let Some(id) = sent.get("id") {
            let token = sent["params"].pointer("/_meta/progressToken");
            assert!(token.is_none_or(|token| token == id), "a token of another");
            let id = id.as_u64().expect("ours are numbers");
            assert!(id > self.sent, "an id was used again");
            self.sent = id;
            if matches!(
                sent["method"].as_str(),
                Some("server/discover" | "initialize")
            ) {
                assert!(self.opening.insert(id) && !self.connected);
                assert!(self.opening.len() <= 5, "it never ends");
            } else {
                assert!(self.connected, "a call before the server is known");
                let newest = self.made.last().expect("it was made");
                let open = self.open.get_mut(newest).expect("it is open");
                assert!(open.id.replace(id).is_none(), "sent twice");
            }
        }
    }

    fn answered(&mut self, reply: &Value) {
        let version = self.version();
        assert!(version.is_none_or(|version| version.era() == Era::Legacy));
        assert_eq!(reply.get("method"), None, "a batch is of answers only");
        if let Some(error) = reply.get("error") {
            let code = error["code"].as_i64();
            assert!(matches!(code, Some(-32603..=-32600)) && error["message"].is_string());
        }
        let owed = self.owed.get_mut(&reply["id"].to_string());
        let owed = owed.expect("the server has asked");
        *owed = owed.checked_sub(1).expect("each is answered once");
    }

    /// Whatever has happened, it can be brought to an end, and then nothing is left.
    pub(crate) fn end(mut self) {
        self.connection.input_closed(self.now);
        self.drain();
        assert!(self.closed && self.open.is_empty() && self.asks.is_empty());
        assert_eq!(self.connection.deadline(), None);
    }
}

fn question_id(id: u8) -> Value {
    match id {
        0 => json!("1"),
        id => json!(id),
    }
}

fn pick<T: Copy>(from: &[T], which: u8) -> Option<T> {
    let at = usize::from(which).checked_rem(from.len())?;
    from.get(at).copied()
}
