//! The server's side of a connection.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::asks::{Answer, AskId, Asks};
use super::batches::{BatchId, Batches};
use super::calls::{Call, CallId, Calls, Kind, LogMessage, Progress};
use super::classify::{Caller, classify};
use super::config::{ServerConfig, of_era};
use super::messages::{Outgoing, ServerMessage};
use super::session::{Session, Terms};
use super::subscriptions::{Change, Notice, Subscriptions};
use super::{Limits, after};
use crate::busy::{BusyData, BusyScope, SERVER_BUSY};
use crate::compat;
use crate::error::ErrorObject;
use crate::jsonrpc::{
    Batch, Frame, Incoming, Message, Notification, RawJson, ReplyId, Request, RequestId,
};
use crate::meta::{LastMeta, NotificationMeta, ResultMeta};
use crate::methods::{
    ClientNotification, ClientRequest, Method, ServerNotification, ServerRequest, ServerResult,
};
use crate::types::*;
use crate::version::{Era, ProtocolVersion};

/// What the driver is to do next.
#[derive(Debug)]
pub enum Output {
    /// Send a message.
    Send(Outgoing),
    /// Start to work on a request. [`ServerConnection::reply`] ends it.
    Start {
        /// The name of this call from now on.
        call: CallId,
        /// What is asked for.
        request: Arc<ClientRequest>,
        /// Who asks.
        caller: Caller,
        /// Bytes that the request keeps in memory.
        size: usize,
    },
    /// Stop working on a call. Whatever comes of it will not be sent.
    Stop(CallId),
    /// A question has been answered, as every question is, once.
    Answer(AskId, Answer),
    /// The client has notified this side of something that the connection does not deal with.
    Heard(Box<ClientNotification>),
    /// Nothing more will come. Flush what was sent and end.
    Close {
        /// How many calls were cut off because their time was up.
        cut_off: usize,
    },
}

/// Where the connection stands between its beginning and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Nothing new is started; running calls have until the deadline.
    Ending {
        deadline: Instant,
    },
    Closed,
}

/// One client, as the server sees it.
///
/// See the [module](crate::connection) for the contract.
pub struct ServerConnection {
    config: Arc<ServerConfig>,
    session: Session,
    meta: LastMeta,
    calls: Calls,
    asks: Asks,
    subscriptions: Subscriptions,
    batches: Batches<ServerMessage>,
    /// Whether a request was accepted of a revision whose schema knows no `"id":null`.
    omits_unreadable_id: bool,
    phase: Phase,
    output: VecDeque<Output>,
}

/// What happened.
impl ServerConnection {
    /// A connection on which nothing has happened yet.
    #[must_use]
    pub fn new(config: Arc<ServerConfig>) -> Self {
        Self {
            config,
            session: Session::default(),
            meta: LastMeta::default(),
            calls: Calls::default(),
            asks: Asks::default(),
            subscriptions: Subscriptions::default(),
            batches: Batches::new(),
            omits_unreadable_id: false,
            phase: Phase::Open,
            output: VecDeque::new(),
        }
    }

    /// Reads a frame, to be [received](Self::receive): as [`Incoming::parse`] does, and sooner
    /// where the client says of itself what it has said before.
    #[must_use]
    pub fn parse(&self, frame: &Frame) -> Incoming {
        Incoming::parse_after(frame, self.meta.text())
    }

    /// The client has sent something.
    pub fn receive(&mut self, incoming: Incoming) {
        if self.phase != Phase::Open {
            return;
        }
        match incoming {
            Incoming::Message(message) => self.message(message, None),
            Incoming::Batch(batch) => self.batch(&batch),
            Incoming::Bad(bad) if bad.expects_no_answer => {}
            Incoming::Bad(bad) => self.refuse(bad.id, bad.error, None),
        }
    }

    /// The client will send nothing more.
    pub fn input_closed(&mut self, now: Instant) {
        self.end(now);
    }

    /// The [`deadline`](Self::deadline) has passed.
    pub fn timeout(&mut self, now: Instant) {
        for (ask, call) in self.asks.expire(now) {
            let about = self.calls.get(call).map(|call| call.id.clone());
            self.withdraw(ask, about);
            self.output.push_back(Output::Answer(ask, Answer::TimedOut));
        }
        if matches!(self.phase, Phase::Ending { deadline } if deadline <= now) {
            self.cut_off();
        }
    }

    /// A call has come to its end. Ignored if the call was cancelled.
    pub fn reply(&mut self, call: CallId, outcome: Result<Box<ServerResult>, ErrorObject>) {
        let Some(call) = self.close(call) else {
            return;
        };
        self.finish(call, outcome);
        self.close_if_idle(0);
    }
}

/// What the application wants.
impl ServerConnection {
    /// Tells the caller how far its call has got, if it asked to be told and this is further
    /// than before.
    pub fn progress(&mut self, call: CallId, report: Progress) {
        let Some(open) = self.calls.get_mut(call) else {
            return;
        };
        let Some(token) = open.caller.progress_token() else {
            return;
        };
        if report.progress.partial_cmp(&open.progress) != Some(Ordering::Greater)
            || !report.progress.is_finite()
        {
            return;
        }
        open.progress = report.progress;
        let mut params = ProgressParams::new(token.clone(), report.progress);
        params.total = report.total.filter(|total| total.is_finite());
        params.message = report.message;
        let id = open.id.clone();
        self.send_notification(ServerNotification::Progress(params), Some(id));
    }

    /// Sends the caller a log message, if it wants messages of that level.
    pub fn log(&mut self, call: CallId, message: LogMessage) {
        let Some(open) = self.calls.get(call) else {
            return;
        };
        let wanted = match open.caller.era() {
            // The level may have been set since the call began.
            Era::Legacy => self.session.terms().map(|terms| terms.log),
            Era::Modern => open.caller.log_level(),
        };
        if self.config.capabilities.logging.is_none()
            || wanted.is_none_or(|wanted| message.level < wanted)
        {
            return;
        }
        let mut params = LogMessageParams::new(message.level, message.data);
        params.logger = message.logger;
        let id = open.id.clone();
        self.send_notification(ServerNotification::LogMessage(params), Some(id));
    }

    /// Tells the caller something that only it and the application know of. Ignored if the
    /// specification has this method, or `params` is not an object.
    pub fn notify(&mut self, call: CallId, method: &str, params: RawJson) {
        let Some(open) = self.calls.get(call) else {
            return;
        };
        let id = open.id.clone();
        let method = Method::from(method);
        if let (Method::Other(_), Ok(params)) = (&method, params.decode()) {
            self.send_notification(ServerNotification::Custom(method, params), Some(id));
        }
    }

    /// Asks the client something on behalf of a call.
    ///
    /// `None` when it cannot be asked: the call has ended, its caller is modern or has not
    /// declared that it can be asked this, or [`Limits::asks`] are open. Its revision does not
    /// matter: who can answer declares it.
    pub fn ask(
        &mut self,
        call: CallId,
        mut question: ServerRequest,
        now: Instant,
    ) -> Option<AskId> {
        let open = self.calls.get(call)?;
        let version = open.caller.version();
        if open.caller.era() == Era::Modern
            || !open.caller.capabilities().answers(&question.method())
            || self.asks.len() >= self.config.limits.asks
        {
            return None;
        }
        let about = Some(open.id.clone());
        let deadline = after(now, self.config.limits.ask);
        let ask = self.asks.open(call, deadline);
        compat::fit_server_request(&mut question, version);
        if let ServerRequest::Elicit(params) = &mut question {
            name_page(params, ask, version);
        }
        self.send(
            ServerMessage::Request {
                id: ask.to_wire(),
                request: question.into(),
            },
            about,
        );
        Some(ask)
    }

    /// Tells who has asked to be told that something has changed.
    pub fn publish(&mut self, change: &Change) {
        if self.phase != Phase::Open {
            return;
        }
        self.publish_to_session(change);
        for stream in self.subscriptions.streams() {
            self.publish_to_stream(stream, change);
        }
    }

    /// Ends the connection from this side, as [`input_closed`](Self::input_closed) does from
    /// the other.
    pub fn shut_down(&mut self, now: Instant) {
        self.end(now);
    }
}

/// What next.
impl ServerConnection {
    /// The next thing to do, until there is nothing left to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.output.pop_front()
    }

    /// What the client calls an open call: for a log, as it may name another call soon.
    #[must_use]
    pub fn request_id(&self, call: CallId) -> Option<&RequestId> {
        self.calls.get(call).map(|call| &call.id)
    }

    /// When to call [`timeout`](Self::timeout), if nothing else happens.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let ending = match self.phase {
            Phase::Ending { deadline } => Some(deadline),
            Phase::Open | Phase::Closed => None,
        };
        self.asks.deadline().into_iter().chain(ending).min()
    }
}

/// Requests.
impl ServerConnection {
    fn message(&mut self, message: Message, batch: Option<BatchId>) {
        match message {
            Message::Request(request) => self.request(request, batch),
            Message::Notification(notification) => self.notification(notification),
            Message::Response(response) => {
                if let Some((ask, answer)) = self.asks.answer(response) {
                    self.output.push_back(Output::Answer(ask, answer));
                }
            }
        }
    }

    fn request(&mut self, request: Request, batch: Option<BatchId>) {
        let Request {
            id,
            method,
            params,
            size,
            outline,
        } = request;
        if self.calls.is_open(&id) {
            let error = ErrorObject::invalid_request(
                "Invalid request: a request with this id is still open",
            );
            return self.refuse(Some(id), error, batch);
        }
        let classified = classify(
            &method,
            params,
            &outline,
            &self.session,
            &self.config,
            &mut self.meta,
        );
        let (caller, request) = match classified {
            Ok(_) if !self.config.offers(&method) => {
                let error = ErrorObject::method_not_found(method.as_str());
                return self.refuse(Some(id), error, batch);
            }
            Ok(classified) => classified,
            Err(error) => return self.refuse(Some(id), error, batch),
        };
        self.accepted(&caller, &method);
        if is_work(&request) {
            let call = self.open(id, caller.unnamed(), batch, Kind::Running);
            return self.output.push_back(Output::Start {
                call,
                request,
                caller,
                size,
            });
        }
        match Arc::unwrap_or_clone(request) {
            ClientRequest::Initialize(params) => self.initialize(id, *params, batch),
            ClientRequest::Ping(_) => {
                let result = ServerResult::Ping(EmptyResult::new());
                self.respond(id, caller.version(), Ok(result.into()), batch);
            }
            ClientRequest::Discover(_) => {
                let result = ServerResult::Discover(self.discover().into());
                self.respond(id, caller.version(), Ok(result.into()), batch);
            }
            ClientRequest::SetLevel(params) => {
                self.session.set_log_level(params.level);
                let result = ServerResult::SetLevel(EmptyResult::new());
                self.respond(id, caller.version(), Ok(result.into()), batch);
            }
            ClientRequest::Subscribe(params) if params.uri.len() > MAX_URI => {
                self.refuse(Some(id), uri_too_long(), batch);
            }
            ClientRequest::Subscribe(params) => {
                let limit = self.config.limits.subscriptions;
                let outcome = self
                    .subscriptions
                    .subscribe(params.uri, limit)
                    .map(|()| ServerResult::Subscribe(EmptyResult::new()).into())
                    .map_err(|limit| self.busy(limit, &method));
                self.respond(id, caller.version(), outcome, batch);
            }
            ClientRequest::Unsubscribe(params) => {
                self.subscriptions.unsubscribe(&params.uri);
                let result = ServerResult::Unsubscribe(EmptyResult::new());
                self.respond(id, caller.version(), Ok(result.into()), batch);
            }
            ClientRequest::Listen(params) => self.listen(id, caller, params, batch),
            _ => unreachable!("anything else is work"),
        }
    }

    /// A request was good enough to be served, which says something about its sender.
    fn accepted(&mut self, caller: &Caller, method: &Method) {
        match caller.era() {
            Era::Modern => self.omits_unreadable_id = true,
            Era::Legacy if *method != Method::Ping => self.session.initialized(),
            Era::Legacy => {}
        }
    }

    fn initialize(&mut self, id: RequestId, params: InitializeParams, batch: Option<BatchId>) {
        if self.session.terms().is_some() {
            let error = ErrorObject::invalid_request("Invalid request: already initialized");
            return self.refuse(Some(id), error, batch);
        }
        let requested = of_era(&self.config.versions, Era::Legacy)
            .find(|version| version.as_str() == params.protocol_version);
        let newest = of_era(&self.config.versions, Era::Legacy).max();
        let version = requested
            .or(newest)
            .expect("without a legacy revision, initialize is refused when it is classified");
        self.session.initialize(Terms {
            version,
            capabilities: params.capabilities.into(),
            client: params.client_info.into(),
            log: LoggingLevel::Info,
        });
        self.omits_unreadable_id |= version >= ProtocolVersion::V2025_11_25;
        let mut result = InitializeResult::new(
            version.as_str(),
            self.config.capabilities.clone(),
            (*self.config.info).clone(),
        );
        result.instructions.clone_from(&self.config.instructions);
        let result = ServerResult::Initialize(result.into());
        self.respond(id, version, Ok(result.into()), batch);
    }

    fn discover(&self) -> DiscoverResult {
        let versions: Vec<_> = of_era(&self.config.versions, Era::Modern)
            .map(|version| version.as_str().to_owned())
            .collect();
        let mut result = DiscoverResult::new(versions, self.config.capabilities.clone());
        result.instructions.clone_from(&self.config.instructions);
        result
    }

    fn listen(
        &mut self,
        id: RequestId,
        caller: Caller,
        params: ListenParams,
        batch: Option<BatchId>,
    ) {
        let Limits {
            listens,
            subscriptions,
            ..
        } = self.config.limits;
        let uris = params.notifications.resource_subscriptions.as_ref();
        let error = if batch.is_some() {
            // It would hold back the answers to all the others.
            Some(ErrorObject::invalid_request(
                "Invalid request: a stream in a batch",
            ))
        } else if self.calls.count(Kind::Listening) >= listens {
            Some(self.busy(listens, &Method::Listen))
        } else if uris.is_some_and(|uris| uris.len() > subscriptions) {
            Some(self.busy(subscriptions, &Method::Listen))
        } else if uris.is_some_and(|uris| uris.iter().any(|uri| uri.len() > MAX_URI)) {
            Some(uri_too_long())
        } else {
            None
        };
        if let Some(error) = error {
            return self.refuse(Some(id), error, batch);
        }
        let call = self.open(id.clone(), caller, None, Kind::Listening);
        let granted = params.notifications.granted_by(&self.config.capabilities);
        self.subscriptions.open(call, granted.clone());
        let meta = NotificationMeta::new().subscription_id(id.clone());
        let acknowledged = AcknowledgedParams::new(granted).meta(meta);
        self.send_notification(
            ServerNotification::SubscriptionsAcknowledged(acknowledged),
            Some(id),
        );
    }

    fn notification(&mut self, notification: Notification) {
        // A notification is never answered, and so a malformed one is as good as none.
        let parsed = ClientNotification::parse(notification.method, notification.params);
        match parsed {
            Ok(ClientNotification::Initialized(_)) => self.session.initialized(),
            Ok(ClientNotification::Cancelled(params)) => {
                let call = params.request_id.and_then(|id| self.calls.find(&id));
                if let Some(call) = call {
                    self.cancel(call);
                }
            }
            Ok(notification) => self.output.push_back(Output::Heard(notification.into())),
            Err(_) => {}
        }
    }

    fn batch(&mut self, batch: &Batch) {
        let version = self.session.terms().map(|terms| terms.version);
        let refusal = if version != Some(ProtocolVersion::V2025_03_26) {
            Some("Invalid request: only 2025-03-26 has batches")
        } else if batch.is_empty() {
            Some("Invalid request: an empty batch")
        } else if batch.len() > self.config.limits.batch {
            Some("Invalid request: too many messages in a batch")
        } else {
            None
        };
        if let Some(reason) = refusal {
            return self.refuse(None, ErrorObject::invalid_request(reason), None);
        }
        let members = batch.members();
        let initializes = |message: &Message| matches!(message, Message::Request(request) if request.method == Method::Initialize);
        if members.iter().flatten().any(initializes) {
            let error = ErrorObject::invalid_request("Invalid request: initialize in a batch");
            return self.refuse(None, error, None);
        }
        let id = self.batches.begin();
        for member in members {
            match member {
                Ok(message) => self.message(message, Some(id)),
                Err(bad) if bad.expects_no_answer => {}
                Err(bad) => self.refuse(bad.id, bad.error, Some(id)),
            }
        }
        self.batch_member_done(id);
    }
}

/// Ends: of a call, of a question, of the connection.
impl ServerConnection {
    fn open(
        &mut self,
        id: RequestId,
        caller: Caller,
        batch: Option<BatchId>,
        kind: Kind,
    ) -> CallId {
        if let Some(batch) = batch {
            self.batches.wait_for_one_more(batch);
        }
        self.calls.open(Call {
            id,
            caller,
            batch,
            progress: f64::NEG_INFINITY,
            kind,
        })
    }

    /// Forgets a call and whatever hangs on it. What is due to its batch is the caller's.
    fn close(&mut self, id: CallId) -> Option<Call> {
        let call = self.calls.close(id)?;
        for (ask, _) in self.asks.close(id) {
            self.withdraw(ask, Some(call.id.clone()));
            self.output.push_back(Output::Answer(ask, Answer::Gone));
        }
        self.subscriptions.close(id);
        Some(call)
    }

    /// Ends a call with its reply.
    fn finish(&mut self, call: Call, outcome: Result<Box<ServerResult>, ErrorObject>) {
        self.respond(call.id, call.caller.version(), outcome, call.batch);
        if let Some(batch) = call.batch {
            self.batch_member_done(batch);
        }
    }

    /// Ends a call without a reply.
    fn cancel(&mut self, id: CallId) {
        let Some(call) = self.close(id) else {
            return;
        };
        if call.kind == Kind::Running {
            self.output.push_back(Output::Stop(id));
        }
        if let Some(batch) = call.batch {
            self.batch_member_done(batch);
        }
    }

    /// One member less to wait for; the last one sends the answers to all.
    fn batch_member_done(&mut self, id: BatchId) {
        if let Some(replies) = self.batches.one_done(id) {
            let batch = ServerMessage::Batch(replies);
            let about = batch.answers().cloned();
            self.send(batch, about);
        }
    }

    /// Tells the client that a question need not be answered any more.
    fn withdraw(&mut self, ask: AskId, about: Option<RequestId>) {
        if self.phase == Phase::Open {
            let params = CancelledParams::new().request_id(ask.to_wire());
            self.send_notification(ServerNotification::Cancelled(params), about);
        }
    }

    fn end(&mut self, now: Instant) {
        if self.phase != Phase::Open {
            return;
        }
        self.phase = Phase::Ending {
            deadline: after(now, self.config.limits.grace),
        };
        for call in self.asks.calls() {
            self.cancel(call);
        }
        for stream in self.calls.of(Kind::Listening) {
            let Some(call) = self.close(stream) else {
                continue;
            };
            let meta = ResultMeta::new().subscription_id(call.id.clone());
            let result = ServerResult::Listen(ListenResult::new().meta(meta));
            self.finish(call, Ok(result.into()));
        }
        if self.config.limits.grace.is_zero() {
            self.cut_off();
        } else {
            self.close_if_idle(0);
        }
    }

    fn cut_off(&mut self) {
        let running = self.calls.of(Kind::Running);
        for call in &running {
            self.cancel(*call);
        }
        self.close_if_idle(running.len());
    }

    fn close_if_idle(&mut self, cut_off: usize) {
        if matches!(self.phase, Phase::Ending { .. }) && self.calls.count(Kind::Running) == 0 {
            self.phase = Phase::Closed;
            self.output.push_back(Output::Close { cut_off });
        }
    }
}

/// The way out.
impl ServerConnection {
    /// Answers what could not be accepted.
    fn refuse(&mut self, id: Option<RequestId>, error: ErrorObject, batch: Option<BatchId>) {
        let reply = match &id {
            Some(id) => ReplyId::Known(id.clone()),
            None if self.omits_unreadable_id => ReplyId::Absent,
            None => ReplyId::Null,
        };
        let message = ServerMessage::Response {
            id: reply,
            outcome: Err(error),
        };
        self.answer(message, id, batch);
    }

    /// Answers a request, in the words of its caller's revision.
    fn respond(
        &mut self,
        id: RequestId,
        version: ProtocolVersion,
        mut outcome: Result<Box<ServerResult>, ErrorObject>,
        batch: Option<BatchId>,
    ) {
        match &mut outcome {
            Ok(result) => {
                compat::fit_result(result, version);
                if version.era() == Era::Modern {
                    self.sign(result);
                }
            }
            Err(error) => compat::fit_error(error, version),
        }
        let message = ServerMessage::Response {
            id: ReplyId::Known(id.clone()),
            outcome,
        };
        self.answer(message, Some(id), batch);
    }

    /// Says whose result it is, unless it says so itself.
    fn sign(&self, result: &mut ServerResult) {
        result.edit_meta(|meta| {
            let meta = meta.get_or_insert_default();
            meta.server_info
                .get_or_insert_with(|| self.config.info.clone());
        });
    }

    fn answer(&mut self, message: ServerMessage, about: Option<RequestId>, batch: Option<BatchId>) {
        match batch {
            Some(batch) => self.batches.reply(batch, message, ServerMessage::failed),
            None => self.send(message, about),
        }
    }

    fn send_notification(&mut self, notification: ServerNotification, about: Option<RequestId>) {
        self.send(ServerMessage::Notification(notification.into()), about);
    }

    fn publish_to_session(&mut self, change: &Change) {
        if self.session.ready().is_none() {
            return;
        }
        let told = self
            .subscriptions
            .session_hears(change, &self.config.capabilities);
        for change in told {
            self.send_notification(notice(change, None), None);
        }
    }

    fn publish_to_stream(&mut self, stream: CallId, change: &Change) {
        let Some(call) = self.calls.get(stream) else {
            return;
        };
        let id = call.id.clone();
        for change in self.subscriptions.stream_hears(stream, change) {
            let meta = NotificationMeta::new().subscription_id(id.clone());
            self.send_notification(notice(change, Some(meta)), Some(id.clone()));
        }
    }

    fn send(&mut self, message: ServerMessage, about: Option<RequestId>) {
        self.output
            .push_back(Output::Send(Outgoing { message, about }));
    }

    fn busy(&self, limit: usize, method: &Method) -> ErrorObject {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        BusyData::new(SERVER_BUSY, BusyScope::Connection, limit, method.as_str())
            .into_error(self.config.busy_code)
    }
}

/// Whether a request is for the application, and not for the connection itself.
fn is_work(request: &ClientRequest) -> bool {
    !matches!(
        request,
        ClientRequest::Initialize(_)
            | ClientRequest::Ping(_)
            | ClientRequest::Discover(_)
            | ClientRequest::SetLevel(_)
            | ClientRequest::Subscribe(_)
            | ClientRequest::Unsubscribe(_)
            | ClientRequest::Listen(_)
    )
}

/// The longest URI that is subscribed to, in bytes. No resource is named by a longer one; it
/// bounds what [`Limits::subscriptions`] URIs may take.
const MAX_URI: usize = 8 << 10;

/// Gives a web page the id that 2025-11-25 wants, for a later notification that the user is done
/// with it; handlers of the newest revision send none.
fn name_page(params: &mut ElicitParams, ask: AskId, version: ProtocolVersion) {
    let by_page = params.mode == Some(ElicitMode::Url);
    if version == ProtocolVersion::V2025_11_25 && by_page {
        let id = &mut params.elicitation_id;
        id.get_or_insert_with(|| ask.text());
    }
}

fn uri_too_long() -> ErrorObject {
    ErrorObject::invalid_params("Invalid params: a URI is too long")
}

/// What a change is called on the wire.
fn notice(change: Notice, meta: Option<NotificationMeta>) -> ServerNotification {
    let mut params = EmptyNotificationParams::new();
    params.meta.clone_from(&meta);
    match change {
        Notice::Tools => ServerNotification::ToolListChanged(params),
        Notice::Prompts => ServerNotification::PromptListChanged(params),
        Notice::Resources => ServerNotification::ResourceListChanged(params),
        Notice::Resource(uri) => {
            let mut params = ResourceUpdatedParams::new(uri);
            params.meta = meta;
            ServerNotification::ResourceUpdated(params)
        }
    }
}
