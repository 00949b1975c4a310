//! A client and the server's core with nothing but frames between them, in every revision.
//!
//! The client is a model. It writes the newest revision and lets `compat` fit that to its own;
//! what it decodes has to be what the server's side said, fitted in the same way. Whether that
//! is what a revision wants is said by hand, in `SHAPES`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use mcp_protocol::{connection::*, types::*, *};
use serde_json::{Value, json};

use crate::support::config;

/// Members of a method's result or of a notification; the first and last revision with them.
const SHAPES: &str = "
    initialize       2024-11-05 2025-11-25  /result/capabilities/completions
    initialize       2026-07-28 2026-07-28  /result/resultType /result/_meta
    server/discover  2026-07-28 2026-07-28  /result/resultType /result/_meta /result/ttlMs
    tools/list       2024-11-05 2026-07-28  /result/tools/0/title /result/tools/0/icons
    tools/list       2024-11-05 2025-11-25  /result/tools/0/outputSchema/properties/result/items
    tools/list       2026-07-28 2026-07-28  /result/tools/0/outputSchema/items
    tools/list       2026-07-28 2026-07-28  /result/resultType /result/_meta /result/ttlMs
    tools/call       2024-11-05 2026-07-28  /result/content/1/data
    tools/call       2024-11-05 2025-03-26  /result/content/2/text
    tools/call       2025-06-18 2026-07-28  /result/content/2/uri
    tools/call       2024-11-05 2025-11-25  /result/structuredContent/result/0
    tools/call       2026-07-28 2026-07-28  /result/resultType /result/structuredContent/0
    notifications/progress  2024-11-05 2026-07-28  /params/message
";

/// What a client has heard, decoded.
#[derive(Debug, PartialEq)]
enum Heard {
    Answer(RequestId, Result<ServerResult, ErrorObject>),
    Notice(ServerNotification),
}

/// A client of one revision, and its server.
struct Pair {
    version: ProtocolVersion,
    server: ServerConnection,
    /// The client's requests that wait for an answer.
    open: HashMap<RequestId, Method>,
    asked: i64,
    heard: VecDeque<Heard>,
    /// What the server's driver was told.
    told: VecDeque<Output>,
}

impl Pair {
    fn new(version: ProtocolVersion, spoken: &[ProtocolVersion]) -> Self {
        let mut config = config();
        config.versions = spoken.to_vec();
        Self {
            version,
            server: ServerConnection::new(Arc::new(config)),
            open: HashMap::new(),
            asked: 0,
            heard: VecDeque::new(),
            told: VecDeque::new(),
        }
    }

    fn send(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        let mut frame = Vec::new();
        encode(&mut frame);
        self.server.receive(Incoming::parse(&Frame::from(frame)));
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(output) = self.server.poll() {
            match output {
                Output::Send(outgoing) => self.hear(&outgoing.message),
                output => self.told.push_back(output),
            }
        }
    }

    fn hear(&mut self, message: &ServerMessage) {
        let mut frame = Vec::new();
        message.encode(&mut frame);
        let wire: Value = serde_json::from_slice(&frame).expect("what is sent is JSON");
        let (method, heard) = match Incoming::parse(&frame.into()) {
            Incoming::Message(Message::Response(Response { id, outcome })) => {
                let id = id.expect("each request had a readable id");
                let method = self.open.remove(&id).expect("it waits for an answer");
                let parse = |result| ServerResult::parse(&method, &result).expect("it fits");
                let heard = Heard::Answer(id, outcome.map(parse));
                (method, heard)
            }
            Incoming::Message(Message::Notification(Notification { method, params })) => {
                let notice = ServerNotification::parse(method.clone(), params);
                (method, Heard::Notice(notice.expect("it fits")))
            }
            other => panic!("{}: {other:?}", self.version),
        };
        self.check_shape(method.as_str(), &wire);
        self.heard.push_back(heard);
    }

    fn check_shape(&self, method: &str, wire: &Value) {
        let version = self.version.as_str();
        let is_about = |row: &&str| wire.get("error").is_none() && row.trim().starts_with(method);
        for row in SHAPES.lines().filter(is_about) {
            let row: Vec<_> = row.split_whitespace().collect();
            let has = (row[1]..=row[2]).contains(&version);
            for member in &row[3..] {
                let is = wire.pointer(member).is_some();
                assert_eq!(is, has, "{version}: {member} of {wire}");
            }
        }
    }

    fn request(&mut self, mut request: ClientRequest) -> RequestId {
        let meta = request.meta_mut().get_or_insert_default();
        meta.protocol_version = Some(self.version.to_string());
        meta.client_capabilities = Some(Arc::default());
        meta.log_level = Some(LoggingLevel::Info);
        compat::fit_client_request(&mut request, self.version);
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.open.insert(id.clone(), request.method());
        self.send(|frame| request.encode(&id, frame));
        id
    }

    /// Asks for work, which the server's driver is to start as it was asked for.
    fn start(&mut self, mut asked: ClientRequest) -> (RequestId, CallId) {
        let id = self.request(asked.clone());
        let Some(Output::Start { call, request, .. }) = self.told.pop_front() else {
            panic!("{}: not started, but {:?}", self.version, self.heard);
        };
        let mut started = request;
        let started = Arc::make_mut(&mut started);
        (*asked.meta_mut(), *started.meta_mut()) = (None, None);
        assert_eq!(*started, asked, "{}", self.version);
        (id, call)
    }

    fn reply(&mut self, call: CallId, outcome: Result<ServerResult, ErrorObject>) {
        self.server.reply(call, outcome.map(Box::new));
        self.settle();
    }

    /// Expects what the server's side said, as the client's revision has it.
    fn hears(&mut self, mut expected: Heard) {
        match &mut expected {
            Heard::Answer(_, Ok(result)) => {
                if self.version.era() == Era::Modern {
                    let signed = ResultMeta::new().server_info(config().info);
                    result.edit_meta(|meta| *meta = Some(signed));
                }
                compat::fit_result(result, self.version);
            }
            Heard::Answer(_, Err(_)) | Heard::Notice(_) => {}
        }
        assert_eq!(self.heard.pop_front(), Some(expected), "{}", self.version);
    }

    fn is_done(&self) {
        let left = (self.heard.len(), self.told.len(), self.open.len());
        assert_eq!(left, (0, 0, 0), "{}", self.version);
    }
}

fn call(name: &str) -> ClientRequest {
    ClientRequest::CallTool(CallToolParams::new(name).arguments(json!({ "text": "\u{2028}\n" })))
}

fn answer(text: &str) -> Result<ServerResult, ErrorObject> {
    let audio = ContentBlock::audio("AAAA", "audio/wav");
    let link = ContentBlock::resource_link("file:///a", "a");
    let mut result = CallToolResult::new().content(vec![text.into(), audio, link]);
    result.structured_content = Some(json!([text]).into());
    result.result_type = Some(ResultType::Complete);
    Ok(ServerResult::CallTool(result))
}

/// How a conversation begins, and what is said to that.
fn opening(version: ProtocolVersion) -> (ClientRequest, ServerResult) {
    let (offers, date) = (config().capabilities, version.as_str());
    if version.era() == Era::Modern {
        let result = DiscoverResult::new(vec![date.to_owned()], offers);
        let request = ClientRequest::Discover(EmptyParams::new());
        return (request, ServerResult::Discover(result.into()));
    }
    let client = Implementation::new("client", "1");
    let params = InitializeParams::new(date, ClientCapabilities::new(), client);
    let result = InitializeResult::new(date, offers, (*config().info).clone());
    let request = ClientRequest::Initialize(params.into());
    (request, ServerResult::Initialize(result.into()))
}

fn opens(pair: &mut Pair) {
    let (request, result) = opening(pair.version);
    let id = pair.request(request);
    pair.hears(Heard::Answer(id, Ok(result)));
    if pair.version.era() == Era::Legacy {
        let params = EmptyNotificationParams::new();
        pair.send(|frame| ClientNotification::Initialized(params).encode(frame));
    }
}

fn lists(pair: &mut Pair) {
    let tool = Tool::new("echo", json!({ "type": "object" }))
        .title("Echo")
        .icons(vec![Icon::new("https://example.org/icon.png")])
        .output_schema(json!({ "type": "array", "items": {} }));
    let list = Ok(ServerResult::ListTools(ListToolsResult::new(vec![tool])));
    let (id, call) = pair.start(ClientRequest::ListTools(PaginatedParams::new()));
    pair.reply(call, list.clone());
    pair.hears(Heard::Answer(id, list));
}

fn follows(pair: &mut Pair) {
    let mut request = call("echo");
    request.meta_mut().get_or_insert_default().progress_token = Some("token".into());
    let (id, call) = pair.start(request);
    let report = Progress {
        progress: 0.5,
        total: Some(1.0),
        message: Some("half".to_owned()),
    };
    pair.server.progress(call, report);
    let progress = ProgressParams::new("token", 0.5).total(1.0).message("half");
    let log = LogMessage {
        level: LoggingLevel::Info,
        logger: None,
        data: json!("going").into(),
    };
    pair.server.log(call, log);
    let logged = LogMessageParams::new(LoggingLevel::Info, json!("going"));
    pair.reply(call, answer("done"));
    pair.hears(Heard::Notice(ServerNotification::Progress(progress)));
    pair.hears(Heard::Notice(ServerNotification::LogMessage(logged)));
    pair.hears(Heard::Answer(id, answer("done")));
}

fn cancels(pair: &mut Pair) {
    let (id, call) = pair.start(call("slow"));
    pair.open.remove(&id);
    let params = CancelledParams::new().request_id(id).reason("enough");
    pair.send(|frame| ClientNotification::Cancelled(params).encode(frame));
    assert!(matches!(pair.told.pop_front(), Some(Output::Stop(told)) if told == call));
    pair.reply(call, answer("late"));
}

/// Of two calls at once the second is done first, and fails.
fn overtakes(pair: &mut Pair) {
    let (first_id, first) = pair.start(call("first"));
    let (second_id, second) = pair.start(call("second"));
    let mut error = ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "no such resource");
    pair.reply(second, Err(error.clone()));
    pair.reply(first, answer("first"));
    if pair.version.era() == Era::Modern {
        error.code = ErrorCode::INVALID_PARAMS;
    }
    pair.hears(Heard::Answer(second_id, Err(error)));
    pair.hears(Heard::Answer(first_id, answer("first")));
}

fn ends(pair: &mut Pair) {
    let (id, call) = pair.start(call("last"));
    pair.server.input_closed(Instant::now());
    pair.reply(call, answer("last"));
    pair.hears(Heard::Answer(id, answer("last")));
    assert!(matches!(pair.told.pop_front(), Some(Output::Close { .. })));
}

/// Covers D16.
#[test]
fn the_conversation_is_the_same_in_every_revision_that_both_speak() {
    let (legacy, modern) = ProtocolVersion::ALL.split_at(4);
    for spoken in [&ProtocolVersion::ALL, legacy, modern] {
        for version in spoken {
            let mut pair = Pair::new(*version, spoken);
            for step in [opens, lists, follows, cancels, overtakes, ends] {
                step(&mut pair);
                pair.is_done();
            }
        }
    }
}

#[test]
fn a_client_of_the_other_era_is_refused_and_may_then_open_in_this_one() {
    let (legacy, modern) = ProtocolVersion::ALL.split_at(4);
    for (spoken, refused) in [(legacy, modern), (modern, legacy)] {
        for version in refused {
            let mut pair = Pair::new(*version, spoken);
            pair.request(opening(*version).0);
            let heard = pair.heard.pop_front();
            assert!(matches!(heard, Some(Heard::Answer(_, Err(_)))));
            pair.version = spoken[0];
            opens(&mut pair);
            lists(&mut pair);
            pair.is_done();
        }
    }
}
