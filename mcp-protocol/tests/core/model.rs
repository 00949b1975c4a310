//! What a server's side has promised, beside it: a model that knows only what was sent and what
//! came out, and says after every step whether a promise was broken.
//!
//! Histories come from the property in `promises` and from a fuzzer of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_protocol::connection::{
    AskId, CallId, Caller, Change, LogMessage, Output, Progress, ServerConnection,
};
use mcp_protocol::types::*;
use mcp_protocol::{
    BadMessage, ErrorObject, Frame, Incoming, ProtocolVersion, RawJson, ServerRequest, ServerResult,
};
use serde_json::{Value, json};

/// One step. Numbers choose among what there is: an open call, an open question.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Request {
        id: u8,
        text_id: bool,
        modern: bool,
        method: Method,
        token: bool,
    },
    Initialize(u8),
    Initialized,
    Cancel {
        id: u8,
        text_id: bool,
    },
    Answer(u8),
    Batch(Vec<(u8, bool)>),
    Junk(Vec<u8>),
    TooLong,
    Reply(u8),
    Fail(u8),
    Progress(u8, i8),
    Log(u8),
    Ask(u8),
    Publish(u8),
    Wait(u16),
    Eof,
    ShutDown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    Call,
    Ping,
    Discover,
    Listen,
    List,
    Unknown,
    SetLevel,
    Malformed,
}

/// A call that the driver works on.
#[derive(Clone, Debug)]
struct Open {
    id: Value,
    modern: bool,
    token: Option<u64>,
    batch: Option<usize>,
}

/// A batch: the members that run, and the ids that were answered.
#[derive(Debug, Default)]
struct BatchOpen {
    running: BTreeSet<CallId>,
    answered: Vec<Value>,
}

/// What came out of one step.
#[derive(Debug, Default)]
struct Came {
    /// Responses outside of batches.
    replies: Vec<Value>,
    /// Arrays of responses.
    arrays: Vec<Vec<Value>>,
    acknowledged: Vec<Value>,
    started: Vec<CallId>,
    /// What was said of the size of those.
    sizes: Vec<usize>,
    stopped: Vec<CallId>,
    answered: Vec<AskId>,
    closed: bool,
}

impl Came {
    fn nothing(&self) -> bool {
        self.replies.is_empty()
            && self.arrays.is_empty()
            && self.acknowledged.is_empty()
            && self.started.is_empty()
            && self.stopped.is_empty()
            && self.answered.is_empty()
            && !self.closed
    }
}

pub(crate) struct Model {
    connection: ServerConnection,
    now: Instant,
    open: BTreeMap<CallId, Open>,
    used: BTreeSet<CallId>,
    /// Streams, by the text of their id.
    streams: BTreeSet<String>,
    batches: Vec<BatchOpen>,
    asks: BTreeMap<AskId, CallId>,
    asked: BTreeSet<AskId>,
    progress: HashMap<u64, f64>,
    tokens: u64,
    /// What the session is spoken in.
    version: String,
    over: bool,
    closed: bool,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self {
            connection: ServerConnection::new(Arc::new(crate::support::config())),
            now: Instant::now(),
            open: BTreeMap::new(),
            used: BTreeSet::new(),
            streams: BTreeSet::new(),
            batches: Vec::new(),
            asks: BTreeMap::new(),
            asked: BTreeSet::new(),
            progress: HashMap::new(),
            tokens: 0,
            version: String::new(),
            over: false,
            closed: false,
        }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Request {
                id,
                text_id,
                modern,
                method,
                token,
            } => self.request(&wire_id(*id, *text_id), *modern, *method, *token),
            Step::Initialize(version) => self.initialize(usize::from(*version)),
            Step::Initialized => {
                self.receive(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
                assert!(self.drain().nothing());
            }
            Step::Cancel { id, text_id } => self.cancel(&wire_id(*id, *text_id)),
            Step::Answer(which) => self.answer(*which),
            Step::Batch(members) => self.batch(members),
            Step::Junk(bytes) => {
                let incoming = Incoming::parse(&Frame::copy_from_slice(bytes));
                self.connection.receive(incoming);
                self.at_most_one_error();
            }
            Step::TooLong => {
                let bad = BadMessage::too_long(10);
                self.connection.receive(Incoming::Bad(bad));
                self.at_most_one_error();
            }
            Step::Reply(which) => self.reply(*which, Ok(done())),
            Step::Fail(which) => self.reply(*which, Err(ErrorObject::internal("failed"))),
            Step::Progress(which, to) => {
                if let Some(call) = self.pick_call(*which) {
                    let report = Progress {
                        progress: f64::from(*to),
                        total: Some(if to % 2 == 0 { 200.0 } else { f64::INFINITY }),
                        message: Some("going".to_owned()),
                    };
                    self.connection.progress(call, report);
                    assert!(self.drain().nothing());
                }
            }
            Step::Log(which) => {
                if let Some(call) = self.pick_call(*which) {
                    let message = LogMessage {
                        level: LoggingLevel::Error,
                        logger: Some("part".to_owned()),
                        data: RawJson::from(json!("text")),
                    };
                    self.connection.log(call, message);
                    assert!(self.drain().nothing());
                }
            }
            Step::Ask(which) => self.ask(*which),
            Step::Publish(which) => {
                let change = [
                    Change::Tools,
                    Change::Prompts,
                    Change::Resources,
                    Change::Resource("x:1".to_owned()),
                    Change::Everything,
                ];
                self.connection.publish(&change[usize::from(*which)]);
                assert!(self.drain().nothing());
            }
            Step::Wait(millis) => self.wait(u64::from(*millis)),
            Step::Eof => self.end_begins(ServerConnection::input_closed),
            Step::ShutDown => self.end_begins(ServerConnection::shut_down),
        }
    }

    fn request(&mut self, id: &Value, modern: bool, method: Method, token: bool) {
        let (name, mut params) = match method {
            Method::Call => ("tools/call", json!({ "name": "x" })),
            Method::Ping => ("ping", json!({})),
            Method::Discover => ("server/discover", json!({})),
            Method::Listen => (
                "subscriptions/listen",
                json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["x:1"] } }),
            ),
            Method::List => ("tools/list", json!({})),
            Method::Unknown => ("no/such", json!({})),
            Method::SetLevel => ("logging/setLevel", json!({ "level": "info" })),
            Method::Malformed => ("tools/call", json!([])),
        };
        let token = (token && params.is_object()).then(|| {
            self.tokens += 1;
            self.tokens
        });
        if params.is_object() && modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
                "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "1" },
            });
        }
        if let Some(token) = token {
            params["_meta"]["progressToken"] = json!(token);
        }
        let taken = self.is_open(id);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": name, "params": params });
        self.receive(&message);
        let came = self.drain();
        if self.over {
            return assert!(came.nothing());
        }
        let size = message.to_string().len() + id.as_str().map_or(0, str::len);
        assert!(came.sizes.iter().all(|told| *told == size), "{came:?}");
        // Exactly one of: a reply at once, a call, a stream.
        assert_eq!(
            came.replies.len() + came.started.len() + came.acknowledged.len(),
            1,
            "{came:?}"
        );
        if taken {
            assert_eq!(came.replies[0]["error"]["code"], -32600);
        }
        for reply in &came.replies {
            assert_eq!(reply["id"], *id);
        }
        for call in &came.started {
            self.opened(*call, id, modern, token, None);
        }
        for stream in &came.acknowledged {
            assert_eq!(stream, id);
        }
    }

    fn initialize(&mut self, version: usize) {
        let versions = [
            "2024-11-05",
            "2025-03-26",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "x",
        ];
        self.receive(&json!({
            "jsonrpc": "2.0",
            "id": "init",
            "method": "initialize",
            "params": {
                "protocolVersion": versions[version],
                "capabilities": { "elicitation": {} },
                "clientInfo": { "name": "model", "version": "1" },
            },
        }));
        let came = self.drain();
        assert_eq!(came.replies.len(), usize::from(!self.over));
        for reply in &came.replies {
            if let Some(version) = reply["result"]["protocolVersion"].as_str() {
                self.version = version.to_owned();
            }
        }
    }

    fn batch(&mut self, members: &[(u8, bool)]) {
        let members: Vec<Value> = members
            .iter()
            .map(|(id, call)| {
                let method = if *call { "tools/call" } else { "ping" };
                json!({ "jsonrpc": "2.0", "id": wire_id(*id, false), "method": method, "params": { "name": "x" } })
            })
            .collect();
        self.receive(&Value::Array(members.clone()));
        let came = self.drain();
        if self.over {
            return assert!(came.nothing());
        }
        if let [refusal] = &came.replies[..] {
            assert!(refusal["id"].is_null() && refusal["error"]["code"] == -32600);
            return assert!(came.started.is_empty() && came.arrays.is_empty());
        }
        let batch = self.batches.len();
        self.batches.push(BatchOpen::default());
        let mut started = came.started.into_iter();
        let mut ids = BTreeSet::new();
        for member in &members {
            let id = &member["id"];
            let runs =
                member["method"] == "tools/call" && !self.is_open(id) && ids.insert(id.to_string());
            if runs {
                let call = started.next().expect("each call of the batch is started");
                self.opened(call, id, false, None, Some(batch));
            } else {
                self.batches[batch].answered.push(id.clone());
            }
        }
        assert_eq!(started.next(), None);
        self.check_batch(batch, &came.arrays);
    }

    /// A batch is answered when its last member has ended, and not before.
    fn check_batch(&mut self, batch: usize, arrays: &[Vec<Value>]) {
        let batch = &self.batches[batch];
        let due = batch.running.is_empty() && !batch.answered.is_empty();
        assert_eq!(arrays.len(), usize::from(due), "{batch:?}");
        if let [array] = arrays {
            let ids: Vec<_> = array.iter().map(|reply| reply["id"].clone()).collect();
            assert_eq!(ids, batch.answered);
        }
    }

    fn reply(&mut self, which: u8, outcome: Result<Box<ServerResult>, ErrorObject>) {
        let Some(call) = self.pick_call(which) else {
            return;
        };
        self.connection.reply(call, outcome);
        let came = self.drain();
        let Some(open) = self.open.remove(&call) else {
            return assert!(came.nothing(), "a reply after the end: {came:?}");
        };
        self.asks_are_gone(call, &came.answered);
        match open.batch {
            None => {
                assert_eq!(came.replies.len(), 1);
                assert_eq!(came.replies[0]["id"], open.id);
                let result = &came.replies[0]["result"];
                assert!(!open.modern || result.is_null() || result["resultType"] == "complete");
            }
            Some(batch) => {
                self.batches[batch].running.remove(&call);
                self.batches[batch].answered.push(open.id);
                self.check_batch(batch, &came.arrays);
            }
        }
        self.check_close();
    }

    fn cancel(&mut self, id: &Value) {
        self.receive(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": id },
        }));
        let came = self.drain();
        if self.over {
            return assert!(came.nothing());
        }
        assert!(came.replies.is_empty());
        let call = self.open.iter().find(|(_, open)| open.id == *id);
        let call = call.map(|(call, _)| *call);
        assert_eq!(came.stopped, Vec::from_iter(call));
        self.streams.remove(&id.to_string());
        if let Some(call) = call {
            self.asks_are_gone(call, &came.answered);
            self.stopped(call, &came.arrays);
        }
    }

    fn stopped(&mut self, call: CallId, arrays: &[Vec<Value>]) {
        let open = self
            .open
            .remove(&call)
            .expect("only an open call is stopped");
        if let Some(batch) = open.batch {
            self.batches[batch].running.remove(&call);
            self.check_batch(batch, arrays);
        }
    }

    fn asks_are_gone(&mut self, call: CallId, answered: &[AskId]) {
        let of_call: Vec<_> = self
            .asks
            .iter()
            .filter_map(|(ask, asker)| (*asker == call).then_some(*ask))
            .collect();
        assert_eq!(answered, of_call);
        self.asks.retain(|_, asker| *asker != call);
    }

    fn answer(&mut self, which: u8) {
        let open: Vec<_> = self.asks.keys().copied().collect();
        let ask = pick(&open, which);
        let wire = ask.map_or("ask-999".to_owned(), |ask| {
            format!("{ask:?}")
                .replace("AskId(", "ask-")
                .replace(')', "")
        });
        self.receive(&json!({ "jsonrpc": "2.0", "id": wire, "result": { "action": "decline" } }));
        let came = self.drain();
        let expected = ask.filter(|_| !self.over);
        assert_eq!(came.answered, Vec::from_iter(expected));
        if let Some(ask) = expected {
            self.asks.remove(&ask);
        }
    }

    fn ask(&mut self, which: u8) {
        let Some(call) = self.pick_call(which) else {
            return;
        };
        let question =
            json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
        let question = ServerRequest::Elicit(serde_json::from_value(question).unwrap());
        let ask = self.connection.ask(call, question, self.now);
        assert!(self.drain().nothing());
        if let Some(ask) = ask {
            let open = self.open.get(&call).expect("only an open call may ask");
            assert!(!open.modern, "a modern caller was asked");
            assert!(self.asked.insert(ask), "a question's id was used again");
            self.asks.insert(ask, call);
        }
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        if self.connection.deadline().is_some_and(|at| at <= self.now) {
            self.connection.timeout(self.now);
        }
        let came = self.drain();
        assert!(came.replies.is_empty());
        for ask in &came.answered {
            self.asks.remove(ask);
        }
        assert!(self.over || came.stopped.is_empty());
        // What is cut off of a batch is left out of it.
        let mut arrays = came.arrays.iter();
        for call in &came.stopped {
            let open = self
                .open
                .remove(call)
                .expect("only an open call is stopped");
            if let Some(batch) = open.batch {
                self.batches[batch].running.remove(call);
                let batch = &self.batches[batch];
                if batch.running.is_empty() && !batch.answered.is_empty() {
                    assert_eq!(arrays.next().map(Vec::len), Some(batch.answered.len()));
                }
            }
        }
        self.check_close();
    }

    fn end_begins(&mut self, end: fn(&mut ServerConnection, Instant)) {
        end(&mut self.connection, self.now);
        let came = self.drain();
        if self.over {
            return assert!(came.nothing());
        }
        self.over = true;
        let streams: BTreeSet<_> = came.replies.iter().map(|r| r["id"].to_string()).collect();
        assert_eq!(streams, std::mem::take(&mut self.streams));
        assert_eq!(came.answered.len(), self.asks.len());
        let askers: BTreeSet<_> = self.asks.values().copied().collect();
        assert_eq!(BTreeSet::from_iter(came.stopped.iter().copied()), askers);
        self.asks.clear();
        for call in &came.stopped {
            let open = self
                .open
                .remove(call)
                .expect("only an open call is stopped");
            if let Some(batch) = open.batch {
                self.batches[batch].running.remove(call);
            }
        }
        self.check_close();
    }

    fn check_close(&self) {
        assert_eq!(self.closed, self.over && self.open.is_empty());
    }

    fn at_most_one_error(&mut self) {
        let came = self.drain();
        assert!(came.started.is_empty() && came.stopped.is_empty());
        assert!(came.replies.len() <= usize::from(!self.over));
        assert!(came.replies.iter().all(|reply| reply["error"].is_object()));
    }

    fn opened(
        &mut self,
        call: CallId,
        id: &Value,
        modern: bool,
        token: Option<u64>,
        batch: Option<usize>,
    ) {
        assert!(self.used.insert(call), "a call's id was used again");
        let open = Open {
            id: id.clone(),
            modern,
            token,
            batch,
        };
        self.open.insert(call, open);
        if let Some(batch) = batch {
            self.batches[batch].running.insert(call);
        }
    }

    fn is_open(&self, id: &Value) -> bool {
        self.streams.contains(&id.to_string()) || self.open.values().any(|open| open.id == *id)
    }

    /// An open call, or now and then one that has ended.
    fn pick_call(&self, which: u8) -> Option<CallId> {
        let open: Vec<_> = self.open.keys().copied().collect();
        let ended = self.used.iter().find(|call| !self.open.contains_key(call));
        ended
            .copied()
            .filter(|_| which % 8 == 0)
            .or_else(|| pick(&open, which))
    }

    fn receive(&mut self, message: &Value) {
        let frame = Frame::from(message.to_string());
        self.connection.receive(Incoming::parse(&frame));
    }

    /// Takes what there is to do, checking what holds of each output whatever the step was.
    fn drain(&mut self) -> Came {
        let mut came = Came::default();
        while let Some(output) = self.connection.poll() {
            assert!(!self.closed, "something came after the end: {output:?}");
            match output {
                Output::Send(outgoing) => {
                    let text = crate::support::encoded(&outgoing.message);
                    let sent: Value = serde_json::from_str(&text).expect("what is sent is JSON");
                    let about = outgoing.about.map_or(Value::Null, |id| json!(id));
                    match sent {
                        Value::Array(members) => {
                            let ids = members.iter().map(|member| &member["id"]);
                            assert!(
                                about.is_null() || ids.clone().any(|id| *id == about),
                                "a batch without {about} is about it"
                            );
                            came.arrays.push(members);
                        }
                        sent => self.sent(sent, &about, &mut came),
                    }
                }
                Output::Start {
                    call, caller, size, ..
                } => {
                    came.started.push(call);
                    came.sizes.push(size);
                    self.introduced(&caller);
                }
                Output::Stop(call) => came.stopped.push(call),
                Output::Answer(ask, _) => came.answered.push(ask),
                Output::Heard(_) => {}
                Output::Close { .. } => {
                    came.closed = true;
                    self.closed = true;
                }
            }
        }
        came
    }

    /// A caller is who it said it was, in its request or in the handshake.
    fn introduced(&self, caller: &Caller) {
        let modern = caller.version() == ProtocolVersion::V2026_07_28;
        let name = caller.client().map(|client| &*client.name);
        assert_eq!(name, Some(if modern { "modern" } else { "model" }));
        assert!(modern || caller.version().as_str() == self.version);
        assert!(caller.capabilities().elicitation.is_some());
        assert_eq!(caller.log_level().is_some(), !modern);
    }

    fn sent(&mut self, sent: Value, about: &Value, came: &mut Came) {
        assert_eq!(sent["jsonrpc"], "2.0");
        match sent["method"].as_str() {
            None => {
                assert_eq!(sent["id"], *about);
                if sent["error"]["code"] == -31503 {
                    assert_eq!(sent["error"]["data"]["scope"], "connection");
                }
                assert!(
                    sent.get("result").is_some() != sent.get("error").is_some(),
                    "neither a result nor an error, or both: {sent}"
                );
                came.replies.push(sent);
            }
            Some("elicitation/create") => {
                assert!(sent["id"].as_str().is_some_and(|id| id.starts_with("ask-")));
                let asker = self.open.values().find(|call| call.id == *about);
                assert!(asker.is_some_and(|call| !call.modern), "nobody asks this");
            }
            Some(method) => {
                assert!(sent.get("id").is_none());
                self.notified(method, &sent["params"], about, came);
            }
        }
    }

    fn notified(&mut self, method: &str, params: &Value, about: &Value, came: &mut Came) {
        let stream = params["_meta"].get("io.modelcontextprotocol/subscriptionId");
        if let Some(stream) = stream {
            assert_eq!(stream, about);
        }
        match method {
            "notifications/progress" => {
                let token = params["progressToken"].as_u64().expect("our tokens");
                let call = self.open.values().find(|call| call.token == Some(token));
                let call = call.expect("progress is of a call that is open");
                assert_eq!(call.id, *about);
                assert!(params.get("message").is_some());
                assert!(params.get("total").is_none_or(|total| total == 200.0));
                let progress = params["progress"].as_f64().expect("a number");
                let before = self.progress.insert(token, progress);
                assert!(
                    before.is_none_or(|before| before < progress),
                    "progress fell"
                );
            }
            "notifications/message" => {
                let call = self.open.values().find(|call| call.id == *about);
                assert!(
                    call.is_some_and(|call| !call.modern),
                    "a log message that nobody asked for"
                );
                assert_eq!(params["logger"], "part");
            }
            "notifications/subscriptions/acknowledged" => {
                let stream = stream.expect("an acknowledgement names its stream");
                assert!(
                    self.streams.insert(stream.to_string()),
                    "acknowledged twice"
                );
                came.acknowledged.push(stream.clone());
            }
            "notifications/cancelled" => {
                let ask = params["requestId"].as_str();
                assert!(ask.is_some_and(|ask| ask.starts_with("ask-")));
            }
            _ => {
                let acknowledged =
                    stream.is_none_or(|stream| self.streams.contains(&stream.to_string()));
                assert!(acknowledged, "a stream that is not open was told something");
            }
        }
    }

    /// Whatever has happened, it can be brought to an end, and then nothing is left.
    pub(crate) fn end(mut self) {
        while let Some(call) = self.open.keys().next().copied() {
            self.connection.reply(call, Ok(done()));
            self.open.remove(&call);
            let came = self.drain();
            assert!(came.replies.len() + came.arrays.len() <= 1);
            for ask in came.answered {
                self.asks.remove(&ask);
            }
        }
        if !self.over {
            self.connection.input_closed(self.now);
            self.drain();
        }
        assert!(self.closed, "the connection does not end");
        assert!(
            self.asks.is_empty(),
            "questions without an answer: {:?}",
            self.asks
        );
        assert_eq!(self.connection.deadline(), None);
    }
}

fn done() -> Box<ServerResult> {
    ServerResult::CallTool(CallToolResult::new()).into()
}

fn wire_id(id: u8, text: bool) -> Value {
    if text {
        json!(id.to_string())
    } else {
        json!(id)
    }
}

fn pick<T: Copy>(from: &[T], which: u8) -> Option<T> {
    let at = usize::from(which).checked_rem(from.len())?;
    from.get(at).copied()
}
