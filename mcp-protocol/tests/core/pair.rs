//! Both cores with nothing but frames between them, in every revision.
//!
//! Each side speaks the newest revision and lets `compat` fit that to the other's; what the
//! client decodes has to be what the server's side said, fitted in the same way. Whether that
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

/// A client and its server.
struct Pair {
    /// What they are to speak.
    version: ProtocolVersion,
    client: ClientConnection,
    server: ServerConnection,
    now: Instant,
    /// The methods of the client's requests, by their id.
    asked: HashMap<String, String>,
    /// What the client's driver was told.
    heard: VecDeque<ClientOutput>,
    /// What the server's driver was told.
    told: VecDeque<Output>,
}

fn client(spoken: &[ProtocolVersion]) -> ClientConnection {
    let mut config = ClientConfig::new(Implementation::new("client", "1"));
    config.capabilities = ClientCapabilities::new()
        .elicitation(ElicitationCapability::new())
        .into();
    config.versions = spoken.to_vec();
    ClientConnection::new(Arc::new(config))
}

impl Pair {
    fn new(version: ProtocolVersion, ours: &[ProtocolVersion], theirs: &[ProtocolVersion]) -> Self {
        let mut config = config();
        config.versions = theirs.to_vec();
        config.instructions = Some("Ask.".to_owned());
        Self {
            version,
            client: client(ours),
            server: ServerConnection::new(Arc::new(config)),
            now: Instant::now(),
            asked: HashMap::new(),
            heard: VecDeque::new(),
            told: VecDeque::new(),
        }
    }

    /// Carries messages back and forth until there are none.
    fn settle(&mut self) {
        loop {
            if let Some(output) = self.client.poll() {
                match output {
                    ClientOutput::Send(message) => self.carry(&message),
                    output => self.heard.push_back(output),
                }
            } else if let Some(output) = self.server.poll() {
                match output {
                    Output::Send(outgoing) => self.carry_back(&outgoing.message),
                    output => self.told.push_back(output),
                }
            } else {
                return;
            }
        }
    }

    fn carry(&mut self, message: &ClientMessage) {
        let (frame, wire) = frame(message);
        if let (Some(method), Some(id)) = (wire["method"].as_str(), wire.get("id")) {
            let before = self.asked.insert(id.to_string(), method.to_owned());
            assert_eq!(before, None, "an id was used again");
        }
        self.server.receive(Incoming::parse(&frame));
    }

    fn carry_back(&mut self, message: &ServerMessage) {
        let (frame, wire) = frame(message);
        let method = match wire["method"].as_str() {
            Some(method) => method,
            None => &self.asked[&wire["id"].to_string()],
        };
        self.check_shape(method, &wire);
        self.client.receive(Incoming::parse(&frame), self.now);
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

    fn call(&mut self, request: ClientRequest) -> CallId {
        let mut options = CallOptions::default();
        options.progress = true;
        options.log = Some(LoggingLevel::Info);
        let id = self.client.call(request, options, self.now);
        self.settle();
        id
    }

    /// Asks for work, which the server's driver is to start as it was asked for: the ids of
    /// both sides.
    fn start(&mut self, mut asked: ClientRequest) -> (CallId, CallId) {
        let id = self.call(asked.clone());
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

    /// Expects what the server's side has answered, as the revision has it.
    fn is_answered(&mut self, call: CallId, outcome: Result<ServerResult, ErrorObject>) {
        let outcome = outcome.map(|mut result| {
            if self.version.era() == Era::Modern {
                let signed = ResultMeta::new().server_info(config().info);
                result.edit_meta(|meta| *meta = Some(signed));
            }
            compat::fit_result(&mut result, self.version);
            (result, None)
        });
        let Some(ClientOutput::Done(id, heard)) = self.heard.pop_front() else {
            panic!("not done: {}", self.version);
        };
        let heard = heard.and_then(RawResult::read);
        let expected = outcome.map_err(CallError::Refused);
        assert_eq!((id, heard), (call, expected), "{}", self.version);
    }

    /// Expects what the server's side has notified of, as the revision has it.
    fn is_notified(&mut self, notification: ServerNotification, stream: Option<CallId>) {
        self.hears(ClientOutput::Heard {
            notification,
            stream,
        });
    }

    fn hears(&mut self, expected: ClientOutput) {
        assert_eq!(self.heard.pop_front(), Some(expected), "{}", self.version);
    }

    fn is_done(&self) {
        let left = (&self.heard, &self.told);
        assert!(left.0.is_empty() && left.1.is_empty(), "{left:?}");
    }
}

fn frame(message: &impl Encode) -> (Frame, Value) {
    let mut text = Vec::new();
    message.encode(&mut text);
    let wire = serde_json::from_slice(&text).expect("what is sent is JSON");
    (text.into(), wire)
}

fn echo(name: &str) -> ClientRequest {
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

fn opens(pair: &mut Pair) {
    pair.client.connect(pair.now);
    pair.settle();
    pair.hears(ClientOutput::Connected);
    let peer = pair.client.peer().expect("it is connected");
    assert_eq!(peer.version, pair.version);
    assert_eq!(peer.capabilities, config().capabilities);
    assert_eq!(peer.info, Some(config().info));
    assert_eq!(peer.instructions.as_deref(), Some("Ask."));
}

fn lists(pair: &mut Pair) {
    let tool = Tool::new("echo", json!({ "type": "object" }))
        .title("Echo")
        .icons(vec![Icon::new("https://example.org/icon.png")])
        .output_schema(json!({ "type": "array", "items": {} }));
    let list = Ok(ServerResult::ListTools(ListToolsResult::new(vec![tool])));
    let (id, call) = pair.start(ClientRequest::ListTools(PaginatedParams::new()));
    pair.reply(call, list.clone());
    pair.is_answered(id, list);
}

fn follows(pair: &mut Pair) {
    let (id, call) = pair.start(echo("echo"));
    let report = Progress {
        progress: 0.5,
        total: Some(1.0),
        message: Some("half".to_owned()),
    };
    pair.server.progress(call, report);
    let log = LogMessage {
        level: LoggingLevel::Info,
        logger: None,
        data: json!("going").into(),
    };
    pair.server.log(call, log);
    pair.reply(call, answer("done"));
    let Some(ClientOutput::Progress(of, mut progress)) = pair.heard.pop_front() else {
        panic!("{}: no progress", pair.version);
    };
    let expected = ProgressParams::new("token", 0.5).total(1.0).message("half");
    progress.progress_token = "token".into();
    assert_eq!((of, progress), (id, expected));
    let logged = LogMessageParams::new(LoggingLevel::Info, json!("going"));
    pair.is_notified(ServerNotification::LogMessage(logged), None);
    pair.is_answered(id, answer("done"));
}

fn cancels(pair: &mut Pair) {
    let (id, call) = pair.start(echo("slow"));
    pair.client.cancel(id, Some("enough".to_owned()), pair.now);
    pair.settle();
    pair.hears(ClientOutput::Done(id, Err(CallError::Cancelled)));
    assert!(matches!(pair.told.pop_front(), Some(Output::Stop(told)) if told == call));
    pair.reply(call, answer("late"));
}

/// Of two calls at once the second is done first, and fails.
fn overtakes(pair: &mut Pair) {
    let (first_id, first) = pair.start(echo("first"));
    let (second_id, second) = pair.start(echo("second"));
    let mut error = ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "no such resource");
    pair.reply(second, Err(error.clone()));
    pair.reply(first, answer("first"));
    if pair.version.era() == Era::Modern {
        error.code = ErrorCode::INVALID_PARAMS;
    }
    pair.is_answered(second_id, Err(error));
    pair.is_answered(first_id, answer("first"));
}

/// The server asks on behalf of a call: a legacy client only, and then what it can do.
fn asks(pair: &mut Pair) {
    let (id, call) = pair.start(echo("ask"));
    let form = ElicitParams::form("Sure?", RequestedSchema::new(Properties::default()));
    let question = ServerRequest::Elicit(form.clone());
    let ask = pair.server.ask(call, question, pair.now);
    pair.settle();
    let asked = matches!(pair.heard.front(), Some(ClientOutput::Ask(..)));
    assert_eq!(asked, ask.is_some());
    assert_eq!(asked, pair.version.era() == Era::Legacy, "{}", pair.version);
    if let Some(ClientOutput::Ask(theirs, request)) = pair.heard.pop_front() {
        assert!(
            matches!(*request, ServerRequest::Elicit(params) if params.message == form.message)
        );
        let declined = ClientResult::Elicit(ElicitResult::new(ElicitAction::Decline));
        pair.client.reply(theirs, Ok(declined.clone().into()));
        pair.settle();
        let Some(Output::Answer(answered, given)) = pair.told.pop_front() else {
            panic!("{}: no answer", pair.version);
        };
        assert_eq!(
            (Some(answered), given),
            (ask, Answer::Given(RawJson::encode(&declined).unwrap()))
        );
    }
    pair.reply(call, answer("asked"));
    pair.is_answered(id, answer("asked"));
}

/// Changes are heard of in the way of the era.
fn subscribes(pair: &mut Pair) {
    let stream = match pair.version.era() {
        Era::Legacy => {
            let params = SubscribeParams::new("file:///a");
            let id = pair.call(ClientRequest::Subscribe(params));
            pair.is_answered(id, Ok(ServerResult::Subscribe(EmptyResult::new())));
            None
        }
        Era::Modern => {
            let filter = SubscriptionFilter::new()
                .tools_list_changed(true)
                .resource_subscriptions(vec!["file:///a".to_owned()]);
            let params = ListenParams::new(filter.clone());
            let id = pair.call(ClientRequest::Listen(params));
            let granted = AcknowledgedParams::new(filter).meta(tag(pair));
            let granted = ServerNotification::SubscriptionsAcknowledged(granted);
            pair.is_notified(granted, Some(id));
            Some(id)
        }
    };
    pair.server.publish(&Change::Tools);
    pair.server
        .publish(&Change::Resource("file:///a".to_owned()));
    pair.server
        .publish(&Change::Resource("file:///b".to_owned()));
    pair.settle();
    let mut changed = EmptyNotificationParams::new();
    let mut updated = ResourceUpdatedParams::new("file:///a");
    if stream.is_some() {
        (changed.meta, updated.meta) = (Some(tag(pair)), Some(tag(pair)));
    }
    pair.is_notified(ServerNotification::ToolListChanged(changed), stream);
    pair.is_notified(ServerNotification::ResourceUpdated(updated), stream);
    if let Some(stream) = stream {
        pair.client.cancel(stream, None, pair.now);
        pair.server.publish(&Change::Tools);
        pair.settle();
        pair.hears(ClientOutput::Done(stream, Err(CallError::Cancelled)));
        // What was under way meanwhile.
        assert!(matches!(
            pair.heard.pop_front(),
            Some(ClientOutput::Ignored(_))
        ));
    }
}

/// The tag of what belongs to the request that was sent last.
fn tag(pair: &Pair) -> NotificationMeta {
    let last = pair
        .asked
        .keys()
        .map(|id| id.parse::<i64>().expect("ours are numbers"));
    NotificationMeta::new().subscription_id(last.max().expect("something was sent"))
}

/// What the client's side gives up is stopped, and both sides come to their end.
fn ends(pair: &mut Pair) {
    let (id, call) = pair.start(echo("last"));
    pair.client.shut_down(pair.now);
    pair.settle();
    pair.hears(ClientOutput::Done(id, Err(CallError::Lost)));
    pair.hears(ClientOutput::Close);
    assert!(matches!(pair.told.pop_front(), Some(Output::Stop(told)) if told == call));
    pair.server.input_closed(pair.now);
    pair.settle();
    assert!(matches!(pair.told.pop_front(), Some(Output::Close { .. })));
}

/// One revision, those of one era, or all.
fn sets() -> Vec<&'static [ProtocolVersion]> {
    let all = &ProtocolVersion::ALL;
    let (legacy, modern) = all.split_at(4);
    let mut sets: Vec<_> = legacy.chunks(1).collect();
    sets.extend([legacy, modern, all]);
    sets
}

fn newest_common(ours: &[ProtocolVersion], theirs: &[ProtocolVersion]) -> Option<ProtocolVersion> {
    let common = ours.iter().filter(|version| theirs.contains(version));
    common.max().copied()
}

/// Covers D16.
#[test]
fn the_conversation_is_the_same_in_every_revision_that_both_speak() {
    for ours in sets() {
        for theirs in sets() {
            let Some(version) = newest_common(ours, theirs) else {
                continue;
            };
            let mut pair = Pair::new(version, ours, theirs);
            for step in [
                opens, lists, follows, cancels, overtakes, asks, subscribes, ends,
            ] {
                step(&mut pair);
                pair.is_done();
            }
        }
    }
}

/// What the specification says of who can speak with whom.
const MATRIX: &str = "
    client  server  outcome
    dual    dual    modern
    dual    modern  modern
    dual    legacy  legacy
    modern  dual    modern
    modern  modern  modern
    modern  legacy  OnlyLegacy
    legacy  dual    legacy
    legacy  modern  NoCommonVersion
    legacy  legacy  legacy
";

/// Covers D07, D13.
#[test]
fn eras_meet_as_the_specification_says() {
    let set = |name| match name {
        "dual" => &ProtocolVersion::ALL[..],
        "modern" => &ProtocolVersion::ALL[4..],
        _ => &ProtocolVersion::ALL[..4],
    };
    for row in MATRIX.trim().lines().skip(1) {
        let row: Vec<_> = row.split_whitespace().collect();
        let mut pair = Pair::new(ProtocolVersion::LATEST_LEGACY, set(row[0]), set(row[1]));
        if row[2] == "modern" {
            pair.version = ProtocolVersion::LATEST;
        }
        pair.client.connect(pair.now);
        pair.settle();
        let outcome = match (pair.client.peer(), pair.heard.pop_front()) {
            (Some(peer), _) if peer.version.era() == Era::Modern => "modern".to_owned(),
            (Some(_), _) => "legacy".to_owned(),
            (None, heard) => format!("{heard:?}"),
        };
        assert!(outcome.contains(row[2]), "{row:?}: {outcome}");
    }
}

#[test]
fn without_a_common_revision_both_sides_know() {
    for ours in sets() {
        for theirs in sets() {
            if newest_common(ours, theirs).is_none() {
                let mut pair = Pair::new(theirs[0], ours, theirs);
                pair.client.connect(pair.now);
                pair.settle();
                assert!(matches!(
                    pair.heard.pop_front(),
                    Some(ClientOutput::Failed(_))
                ));
                pair.hears(ClientOutput::Close);
                pair.is_done();
            }
        }
    }
}

#[test]
fn a_client_of_the_other_era_is_refused_and_another_may_then_open_in_this_one() {
    let (legacy, modern) = ProtocolVersion::ALL.split_at(4);
    for (theirs, ours) in [(legacy, modern), (modern, legacy)] {
        let mut pair = Pair::new(*theirs.last().expect("there are some"), ours, theirs);
        pair.client.connect(pair.now);
        pair.settle();
        pair.heard.clear();
        pair.asked.clear();
        pair.client = client(theirs);
        opens(&mut pair);
        lists(&mut pair);
        pair.is_done();
    }
}
