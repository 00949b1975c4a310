//! Histories of a server's connection. The model of the protocol crate's own tests says whether a
//! promise was broken; in a history of raw lines, where it could not follow, what is counted is
//! answers.

#![no_main]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_protocol::connection::{CallId, Output, ServerConnection};
use mcp_protocol::types::CallToolResult;
use mcp_protocol::{
    BadMessage, Encode, ErrorObject, Incoming, Message, RequestId, Response, ServerResult,
};

#[allow(dead_code, reason = "the scripts need more of it")]
#[path = "../../../../mcp-protocol/tests/core/model.rs"]
mod model;
#[allow(dead_code, reason = "the scripts need more of it")]
#[path = "../../../../mcp-protocol/tests/core/support.rs"]
mod support;

use model::{Method, Model, Step};

#[derive(Arbitrary, Debug)]
enum History {
    Steps(Vec<Choice>),
    Lines(Vec<Act>),
}

fuzz_target!(|history: History| {
    match history {
        History::Steps(choices) => {
            let mut model = Model::new();
            choices
                .into_iter()
                .take(200)
                .filter_map(Choice::step)
                .for_each(|step| model.step(&step));
            model.end();
        }
        History::Lines(acts) => Lines::default().play(acts),
    }
});

/// A step, as far as numbers choose it.
#[derive(Arbitrary, Debug)]
enum Choice {
    Request(u8, bool, bool, u8, bool),
    Initialize(u8),
    Initialized,
    Cancel(u8, bool),
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

impl Choice {
    fn step(self) -> Option<Step> {
        const METHODS: [Method; 8] = [
            Method::Call,
            Method::Ping,
            Method::Discover,
            Method::Listen,
            Method::List,
            Method::Unknown,
            Method::SetLevel,
            Method::Malformed,
        ];
        Some(match self {
            Self::Request(id, text_id, modern, method, token) => Step::Request {
                id: id % 4,
                text_id,
                modern,
                method: METHODS[usize::from(method) % METHODS.len()],
                token,
            },
            Self::Initialize(version) => Step::Initialize(version % 6),
            Self::Initialized => Step::Initialized,
            Self::Cancel(id, text_id) => Step::Cancel {
                id: id % 4,
                text_id,
            },
            Self::Answer(which) => Step::Answer(which),
            Self::Batch(members) => Step::Batch(
                members
                    .into_iter()
                    .take(6)
                    .map(|(id, call)| (id % 4, call))
                    .collect(),
            ),
            Self::Junk(bytes) if is_junk(&bytes) => Step::Junk(bytes),
            Self::Junk(_) => return None,
            Self::TooLong => Step::TooLong,
            Self::Reply(which) => Step::Reply(which),
            Self::Fail(which) => Step::Fail(which),
            Self::Progress(which, to) => Step::Progress(which, to),
            Self::Log(which) => Step::Log(which),
            Self::Ask(which) => Step::Ask(which),
            Self::Publish(which) => Step::Publish(which % 5),
            Self::Wait(millis) => Step::Wait(millis),
            Self::Eof => Step::Eof,
            Self::ShutDown => Step::ShutDown,
        })
    }
}

fn is_junk(bytes: &[u8]) -> bool {
    matches!(
        Incoming::parse(&Bytes::copy_from_slice(bytes)),
        Incoming::Bad(_)
    )
}

/// What happens in a history of lines.
#[derive(Arbitrary, Debug)]
enum Act {
    Line(Vec<u8>),
    /// A request with any parameters.
    Request(u8, Word, Vec<u8>),
    Batch(Vec<Vec<u8>>),
    Initialize(bool),
    Reply(u8, bool),
    Wait(u16),
    Eof,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Word {
    CallTool,
    Complete,
    GetPrompt,
    ListTools,
    Listen,
    Read,
    SetLevel,
    Subscribe,
}

impl Word {
    fn method(self) -> &'static str {
        match self {
            Self::CallTool => "tools/call",
            Self::Complete => "completion/complete",
            Self::GetPrompt => "prompts/get",
            Self::ListTools => "tools/list",
            Self::Listen => "subscriptions/listen",
            Self::Read => "resources/read",
            Self::SetLevel => "logging/setLevel",
            Self::Subscribe => "resources/subscribe",
        }
    }
}

/// A connection that is sent lines, and what it owes.
struct Lines {
    connection: ServerConnection,
    now: Instant,
    open: Vec<CallId>,
    /// How many answers may still come with this id.
    owed: HashMap<RequestId, usize>,
    over: bool,
    closed: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            connection: ServerConnection::new(Arc::new(support::config())),
            now: Instant::now(),
            open: Vec::new(),
            owed: HashMap::new(),
            over: false,
            closed: false,
        }
    }
}

impl Lines {
    fn play(mut self, acts: Vec<Act>) {
        for act in acts.into_iter().take(100) {
            match act {
                Act::Line(bytes) => self.receive(&bytes),
                Act::Request(id, word, params) => self.receive(&request(id, word, &params)),
                Act::Batch(members) => {
                    let members: Vec<_> =
                        members.iter().map(|m| String::from_utf8_lossy(m)).collect();
                    self.receive(format!("[{}]", members.join(",")).as_bytes());
                }
                Act::Initialize(batches) => {
                    let version = if batches { "2025-03-26" } else { "2025-11-25" };
                    let params = format!(
                        r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"x","version":"1"}}}}"#
                    );
                    self.receive(format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{params}}}"#).as_bytes());
                }
                Act::Reply(which, good) => self.reply(which.into(), good),
                Act::Wait(millis) => {
                    self.now += Duration::from_millis(millis.into());
                    if self.connection.deadline().is_some_and(|at| at <= self.now) {
                        self.connection.timeout(self.now);
                    }
                    self.drain();
                }
                Act::Eof => self.end(),
            }
        }
        self.end();
        while !self.open.is_empty() {
            self.reply(0, true);
        }
        assert!(self.closed, "the connection does not end");
    }

    fn receive(&mut self, bytes: &[u8]) {
        let incoming = Incoming::parse(&Bytes::copy_from_slice(bytes));
        let (requests, most) = match &incoming {
            Incoming::Message(Message::Request(request)) => (vec![request.id.clone()], 1),
            // To cancel a call may complete the answers to a batch.
            Incoming::Message(_) => (Vec::new(), usize::MAX),
            Incoming::Batch(batch) => (
                batch.members().into_iter().filter_map(id).collect(),
                usize::MAX,
            ),
            Incoming::Bad(bad) => (Vec::from_iter(bad.id.clone()), 1),
        };
        let is_request = matches!(incoming, Incoming::Message(Message::Request(_)));
        let least = usize::from(is_request && !self.over);
        for id in requests {
            *self.owed.entry(id).or_default() += usize::from(!self.over);
        }
        self.connection.receive(incoming);
        let came = self.drain();
        assert!((least..=most).contains(&came), "{came} answers");
    }

    fn reply(&mut self, which: usize, good: bool) {
        if self.open.is_empty() {
            return;
        }
        let call = self.open.remove(which % self.open.len());
        let outcome = match good {
            true => Ok(ServerResult::CallTool(CallToolResult::new()).into()),
            false => Err(ErrorObject::internal("failed")),
        };
        self.connection.reply(call, outcome);
        self.drain();
    }

    fn end(&mut self) {
        self.over = true;
        self.connection.input_closed(self.now);
        self.drain();
    }

    /// How many requests were answered, begun or refused.
    fn drain(&mut self) -> usize {
        let mut came = 0;
        while let Some(output) = self.connection.poll() {
            assert!(!self.closed, "something came after the end");
            match output {
                Output::Send(outgoing) => {
                    let mut text = Vec::new();
                    outgoing.message.encode(&mut text);
                    match Incoming::parse(&Bytes::from(text)) {
                        Incoming::Message(message) => came += self.sent(message),
                        Incoming::Batch(replies) => {
                            let replies = replies.members().into_iter();
                            let sent = replies.map(|reply| self.sent(reply.expect("a reply")));
                            came += sent.sum::<usize>();
                        }
                        // Of what could not be read there is no id, in some revisions.
                        Incoming::Bad(bad) => panic!("sent {bad:?}"),
                    }
                }
                Output::Start { call, .. } => {
                    came += 1;
                    self.open.push(call);
                }
                Output::Stop(call) => self.open.retain(|open| *open != call),
                Output::Close { .. } => self.closed = true,
                Output::Answer(..) | Output::Heard(_) => {}
            }
        }
        came
    }

    /// Whether it is an answer, or begins one.
    fn sent(&mut self, message: Message) -> usize {
        match message {
            Message::Response(Response { id: Some(id), .. }) => {
                let owed = self.owed.get_mut(&id).expect("somebody has asked");
                *owed = owed.checked_sub(1).expect("each request is answered once");
                1
            }
            Message::Response(response) => {
                assert!(response.outcome.is_err());
                1
            }
            Message::Notification(notice) => {
                usize::from(notice.method.as_str() == "notifications/subscriptions/acknowledged")
            }
            Message::Request(request) => panic!("nobody is asked: {request:?}"),
        }
    }
}

/// A request's own id, or the one that what is wrong with it was found to have.
fn id(member: Result<Message, BadMessage>) -> Option<RequestId> {
    match member {
        Ok(Message::Request(request)) => Some(request.id),
        Ok(_) => None,
        Err(bad) => bad.id,
    }
}

fn request(id: u8, word: Word, params: &[u8]) -> Vec<u8> {
    let method = word.method();
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":"#);
    [head.as_bytes(), params, b"}"].concat()
}
