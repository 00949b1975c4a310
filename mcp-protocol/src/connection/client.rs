//! The client's side of a connection.

mod calls;
mod lists;
mod questions;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

pub use self::calls::{CallError, CallOptions, RawResult};
use self::calls::{Calls, Outcome};
use self::questions::admit;
use super::after;
use super::asks::AskId;
use super::batches::{BatchId, Batches};
use super::calls::CallId;
use super::config::{ClientConfig, of_era, offers};
use super::messages::ClientMessage;
use super::negotiate::{self, NegotiationError, Next, Peer, Stage, Waiting};
use crate::compat;
use crate::error::ErrorObject;
use crate::jsonrpc::{
    BadMessage, Batch, Frame, Incoming, Message, Notification, Outline, ProgressToken, RawJson,
    ReplyId, Request, RequestId,
};
use crate::meta::{Last, ResultMeta};
use crate::methods::{
    ClientNotification, ClientRequest, ClientResult, Method, ServerNotification, ServerRequest,
    ServerResult,
};
use crate::transport::NoAnswer;
use crate::types::{CancelledParams, EmptyNotificationParams, EmptyResult, ProgressParams};
use crate::version::{Era, ProtocolVersion};

/// What the driver of a client is to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientOutput {
    /// Send a message.
    Send(ClientMessage),
    /// The server and this client have agreed on how to speak:
    /// [`ClientConnection::peer`] says what is known of it, and calls can be made.
    Connected,
    /// They have not, and [`Close`](Self::Close) follows.
    Failed(NegotiationError),
    /// A call that asked for it has got further.
    Progress(CallId, ProgressParams),
    /// A call has come to its end, as every call does, once.
    Done(CallId, Result<RawResult, CallError>),
    /// A legacy server asks something. [`ClientConnection::reply`] answers it.
    Ask(AskId, Box<ServerRequest>),
    /// A question need not be answered any more.
    Withdrawn(AskId),
    /// The server has notified this side of something.
    Heard {
        /// Of what.
        notification: ServerNotification,
        /// The `subscriptions/listen` call that it belongs to, of a modern server.
        stream: Option<CallId>,
    },
    /// Something came that could not be made use of. For a log.
    Ignored(Ignored),
    /// Nothing more will come. Flush what was sent and end.
    Close,
}

/// What came and could not be made use of. A client answers none of it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Ignored {
    /// Not a message: whatever runs there prints something else.
    #[error("not a message: {}", .0.error.message)]
    Junk(BadMessage),
    /// A message that has nothing to do with what is open, or that the server must not send.
    /// What is late is so too.
    #[error("{0}")]
    OutOfPlace(String),
}

/// A question that waits for its answer.
struct Question {
    id: RequestId,
    batch: Option<BatchId>,
    /// What the server calls reports of progress by, and how far the last one was.
    progress: Option<(ProgressToken, f64)>,
}

impl Question {
    /// Takes note of a report of progress. Whether it belongs to this question and says more
    /// than the last.
    fn goes_on(&mut self, report: &ProgressParams) -> bool {
        match &mut self.progress {
            Some((token, last)) if *token == report.progress_token && report.progress > *last => {
                *last = report.progress;
                true
            }
            _ => false,
        }
    }
}

/// One server, as the client sees it.
///
/// See the [module](crate::connection) for the contract.
pub struct ClientConnection {
    config: Arc<ClientConfig>,
    stage: Stage,
    opens_until: Option<Instant>,
    calls: Calls,
    questions: BTreeMap<AskId, Question>,
    asked: u64,
    /// Whether a question was open since the calls began to wait.
    was_asked: bool,
    batches: Batches<ClientMessage>,
    last_meta: Last<ResultMeta>,
    /// The revision that the last request was written in.
    version: Arc<str>,
    output: VecDeque<ClientOutput>,
}

/// What happened.
impl ClientConnection {
    /// A connection on which nothing has happened yet.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            config,
            stage: Stage::New,
            opens_until: None,
            calls: Calls::default(),
            questions: BTreeMap::new(),
            asked: 0,
            was_asked: false,
            batches: Batches::new(),
            last_meta: Last::default(),
            version: Arc::default(),
            output: VecDeque::new(),
        }
    }

    /// Reads a frame, to be [received](Self::receive): as [`Incoming::parse`] does, and sooner
    /// where the server says of itself what it has said before.
    #[must_use]
    pub fn parse(&self, frame: &Frame) -> Incoming {
        Incoming::parse_after(frame, self.last_meta.text())
    }

    /// The server has sent something.
    pub fn receive(&mut self, incoming: Incoming, now: Instant) {
        if matches!(self.stage, Stage::Closed) {
            return;
        }
        match incoming {
            Incoming::Message(message) => self.message(message, None, now),
            Incoming::Batch(batch) => self.batch(&batch, now),
            Incoming::Bad(bad) => self.bad(bad, now),
        }
    }

    /// The transport has skipped a message of the server that was longer than this many
    /// bytes.
    ///
    /// Nobody can say whose answer is lost with it, so all who wait for one are told; streams
    /// go on.
    pub fn skipped(&mut self, limit: usize, now: Instant) {
        for call in self.calls.all() {
            if !self.calls.is_acknowledged(call) {
                let why =
                    format!("the server sent a message that exceeds the limit of {limit} bytes");
                self.give_up(call, None, unreadable(why), now);
            }
        }
    }

    /// The transport has found out that a request gets no answer. The others go on.
    pub fn unanswered(&mut self, request: &RequestId, why: NoAnswer, now: Instant) {
        if !matches!(self.stage, Stage::Closed) {
            let why = CallError::NoAnswer(why);
            self.answered(Some(request.clone()), Err(why), Outline::default(), now);
        }
    }

    /// The server will send nothing more: open calls are lost.
    pub fn input_closed(&mut self, now: Instant) {
        self.end(now);
    }

    /// The [`deadline`](Self::deadline) has passed.
    ///
    /// While a legacy server waits for the answer to a question, none of its calls has been
    /// silent for too long: nobody can say which of them waits for a person. They wait again
    /// from here, though never beyond [`CallOptions::longest`].
    pub fn timeout(&mut self, now: Instant) {
        if self.was_asked && self.calls.late(now).is_some() {
            self.calls.wait_again(now);
            self.was_asked = !self.questions.is_empty();
        }
        while let Some(call) = self.calls.late(now) {
            let reason = Some("timed out".to_owned());
            self.give_up(call, reason, CallError::TimedOut, now);
        }
    }

    /// A question of a legacy server has its answer. Ignored if it was withdrawn.
    pub fn reply(&mut self, ask: AskId, mut outcome: Result<Box<ClientResult>, ErrorObject>) {
        let (Some(question), Some(peer)) = (self.questions.remove(&ask), self.peer()) else {
            return;
        };
        if let Ok(result) = &mut outcome {
            compat::fit_client_result(result, peer.version);
        }
        self.answer(question.id, outcome, question.batch);
        self.batch_member_done(question.batch);
    }
}

/// What the application wants.
impl ClientConnection {
    /// Begins: finds the revision that both sides speak. Ends in
    /// [`ClientOutput::Connected`] or [`ClientOutput::Failed`].
    pub fn connect(&mut self, now: Instant) {
        if matches!(self.stage, Stage::New) {
            let limits = &self.config.limits;
            self.opens_until = Some(after(now, limits.probe.saturating_add(limits.initialize)));
            let next = negotiate::begin(&self.config);
            self.proceed(next, now);
        }
    }

    /// Asks the server for something. Ends in [`ClientOutput::Done`].
    ///
    /// `_meta` is filled in as the revision wants it; the progress token is the connection's.
    pub fn call(
        &mut self,
        request: impl Into<Box<ClientRequest>>,
        options: CallOptions,
        now: Instant,
    ) -> CallId {
        let request = request.into();
        let id = self.calls.mint();
        let method = request.method();
        match self.sendable(&method) {
            Ok(version) => self.request(id, request, version, options, now),
            Err(why) => self.output.push_back(ClientOutput::Done(id, Err(why))),
        }
        id
    }

    /// Gives a call up, and tells the server so. Ignored if the call has ended.
    pub fn cancel(&mut self, call: CallId, reason: Option<String>, now: Instant) {
        self.give_up(call, reason, CallError::Cancelled, now);
    }

    /// Tells the server something, if its revision has such a notification.
    ///
    /// That a call is cancelled and that the session has begun is told without being asked to.
    /// A report of progress is passed on if an open question has asked for it and it says more
    /// than the one before.
    pub fn notify(&mut self, notification: ClientNotification) {
        let fits = match &notification {
            ClientNotification::Progress(report) => {
                let mut questions = self.questions.values_mut();
                questions.any(|question| question.goes_on(report))
            }
            ClientNotification::Initialized(_) | ClientNotification::Cancelled(_) => false,
            ClientNotification::Custom(..) => self.era().is_some(),
            _ => self.era() == Some(Era::Legacy),
        };
        if fits {
            self.send(ClientMessage::Notification(notification.into()));
        }
    }

    /// Ends the connection from this side: open calls are given up.
    pub fn shut_down(&mut self, now: Instant) {
        for call in self.calls.all() {
            self.give_up(call, None, CallError::Lost, now);
        }
        self.end(now);
    }
}

/// What next.
impl ClientConnection {
    /// The next thing to do, until there is nothing left to do.
    pub fn poll(&mut self) -> Option<ClientOutput> {
        self.output.pop_front()
    }

    /// When to call [`timeout`](Self::timeout), if nothing else happens.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.calls.deadline()
    }

    /// The server, once [`ClientOutput::Connected`] has said that it is known.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        match &self.stage {
            Stage::Ready(peer) => Some(peer),
            _ => None,
        }
    }
}

/// What the server says.
impl ClientConnection {
    fn message(&mut self, message: Message, batch: Option<BatchId>, now: Instant) {
        match message {
            Message::Request(request) => self.asked(request, batch),
            Message::Notification(notification) => self.notified(notification, now),
            Message::Response(response) => {
                let answer = response.outcome.map_err(CallError::Refused);
                self.answered(response.id, answer, response.outline, now);
            }
        }
    }

    fn bad(&mut self, bad: BadMessage, now: Instant) {
        if bad.is_response && bad.id.is_some() {
            let why = bad.error.message.into_owned();
            self.answered(bad.id, Err(unreadable(why)), Outline::default(), now);
        } else {
            self.output
                .push_back(ClientOutput::Ignored(Ignored::Junk(bad)));
        }
    }

    fn batch(&mut self, batch: &Batch, now: Instant) {
        let version = self.peer().map(|peer| peer.version);
        if version != Some(ProtocolVersion::V2025_03_26) || batch.len() > self.config.limits.batch {
            return self.ignore(format_args!("a batch of {} messages", batch.len()));
        }
        let id = self.batches.begin();
        for member in batch.members() {
            match member {
                Ok(message) => self.message(message, Some(id), now),
                Err(bad) => self.bad(bad, now),
            }
        }
        self.batch_member_done(Some(id));
    }

    fn answered(
        &mut self,
        id: Option<RequestId>,
        answer: Result<RawJson, CallError>,
        outline: Outline,
        now: Instant,
    ) {
        let call = match (&self.stage, &id) {
            // Many a server that cannot read the probe cannot tell its id.
            (Stage::Opening(waiting), None) if waiting.opening.is_probe() => Some(waiting.call),
            (_, id) => CallId::from_wire(id.as_ref().and_then(RequestId::as_integer)),
        };
        match call.and_then(|call| Some((call, self.calls.close(call)?))) {
            Some((id, call)) => {
                let outcome = call.outcome(answer, outline, &mut self.last_meta);
                self.done(id, outcome, now);
            }
            None => {
                self.late(call, answer);
                let id = id.map_or("none".to_owned(), |id| id.to_string());
                self.ignore(format_args!("an answer to no open request, id {id}"));
            }
        }
    }

    /// A request that was given up has an answer. If it was the probe, and it is still open
    /// which era it is, that may be of use.
    fn late(&mut self, call: Option<CallId>, answer: Result<RawJson, CallError>) {
        if let (Stage::Opening(waiting), Some(_), Ok(result)) = (&mut self.stage, call, answer) {
            if waiting.opening.silent == call {
                let result = ServerResult::parse(&Method::Discover, &result);
                waiting.late = result.ok().map(Box::new);
            }
        }
    }

    fn asked(&mut self, request: Request, batch: Option<BatchId>) {
        let Request {
            id, method, params, ..
        } = request;
        let era = self.era();
        let legacy = of_era(&self.config.versions, Era::Legacy).next();
        if era == Some(Era::Modern) || legacy.is_none() {
            return self.ignore(format_args!("a request of a modern server: `{method}`"));
        }
        let admitted = if self.question(&id).is_some() {
            Err(ErrorObject::invalid_request(
                "Invalid request: a request with this id is still open",
            ))
        } else if era.is_none() && method != Method::Ping {
            Err(ErrorObject::invalid_request(
                "Invalid request: there is no session yet",
            ))
        } else {
            admit(method, params, &self.config.capabilities)
        };
        match admitted {
            Ok(ServerRequest::Ping(_)) => {
                let result = ClientResult::Ping(EmptyResult::new());
                self.answer(id, Ok(result.into()), batch);
            }
            Ok(_) if self.questions.len() >= self.config.limits.asks => {
                let error = ErrorObject::internal("too many questions are open");
                self.answer(id, Err(error), batch);
            }
            Ok(request) => {
                if let Some(batch) = batch {
                    self.batches.wait_for_one_more(batch);
                }
                let ask = AskId::new(self.asked);
                self.asked += 1;
                self.was_asked = true;
                let token = request.meta().and_then(|meta| meta.progress_token.clone());
                let question = Question {
                    id,
                    batch,
                    progress: token.map(|token| (token, f64::NEG_INFINITY)),
                };
                self.questions.insert(ask, question);
                self.output
                    .push_back(ClientOutput::Ask(ask, request.into()));
            }
            Err(error) => self.answer(id, Err(error), batch),
        }
    }

    fn notified(&mut self, notification: Notification, now: Instant) {
        let Notification { method, params } = notification;
        let heard = ServerNotification::parse(method.clone(), params)
            .map_err(|error| error.message)
            .and_then(|notification| self.heard(notification, now).map_err(Into::into));
        if let Err(why) = heard {
            self.ignore(format_args!("`{method}`: {why}"));
        }
    }

    /// Passes a notification on, or says why not.
    fn heard(
        &mut self,
        notification: ServerNotification,
        now: Instant,
    ) -> Result<(), &'static str> {
        match notification {
            ServerNotification::Progress(params) => {
                let call = CallId::from_wire(params.progress_token.as_integer())
                    .filter(|call| self.calls.progress(*call, now))
                    .ok_or("no open call has this token")?;
                self.output.push_back(ClientOutput::Progress(call, params));
            }
            ServerNotification::Cancelled(params) => {
                let id = params.request_id.ok_or("it names no request")?;
                self.cancelled(&id, now)?;
            }
            _ => {
                let stream = self.stream(&notification, now)?;
                self.output.push_back(ClientOutput::Heard {
                    notification,
                    stream,
                });
            }
        }
        Ok(())
    }

    /// The stream that a notification belongs to.
    fn stream(
        &mut self,
        notification: &ServerNotification,
        now: Instant,
    ) -> Result<Option<CallId>, &'static str> {
        let meta = notification.meta();
        let tag = meta.and_then(|meta| meta.subscription_id.as_ref());
        let Some(tag) = tag.filter(|_| self.era() == Some(Era::Modern)) else {
            return Ok(None);
        };
        let stream = self.calls.stream(tag).ok_or("no such stream is open")?;
        match notification {
            ServerNotification::SubscriptionsAcknowledged(_) => self.calls.acknowledge(stream, now),
            _ if self.calls.is_acknowledged(stream) => {}
            _ => return Err("the stream has not been acknowledged"),
        }
        Ok(Some(stream))
    }

    /// The server wants no answer to its question any more, or ends a stream.
    fn cancelled(&mut self, id: &RequestId, now: Instant) -> Result<(), &'static str> {
        if let Some(ask) = self.question(id) {
            self.withdraw(ask);
            return Ok(());
        }
        let stream = self.calls.stream(id);
        let stream = stream.ok_or("nothing of that id can be cancelled")?;
        self.calls.close(stream);
        self.done(stream, Ok(RawResult::of_stream()), now);
        Ok(())
    }

    fn question(&self, id: &RequestId) -> Option<AskId> {
        let mut questions = self.questions.iter();
        questions.find_map(|(ask, question)| (question.id == *id).then_some(*ask))
    }

    fn era(&self) -> Option<Era> {
        self.peer().map(|peer| peer.version.era())
    }
}

/// Beginning and end.
impl ClientConnection {
    fn proceed(&mut self, next: Next, now: Instant) {
        match next {
            Next::Open(opening) => {
                let (call, version) = (self.calls.mint(), opening.version);
                let limits = &self.config.limits;
                let left = self.opens_until.map(|until| until.duration_since(now));
                let time = match (opening.is_probe(), left) {
                    (true, Some(left)) => limits.probe.min(left),
                    (true, None) => limits.probe,
                    (false, _) => limits.initialize,
                };
                let options = CallOptions {
                    timeout: Some(time),
                    longest: None,
                    ..CallOptions::default()
                };
                self.stage = Stage::Opening(Waiting {
                    call,
                    opening,
                    late: None,
                });
                let request = negotiate::request(&self.config, version);
                self.request(call, request.into(), version, options, now);
            }
            Next::Ready(peer) => {
                if peer.version.era() == Era::Legacy {
                    let initialized = EmptyNotificationParams::new();
                    let initialized = ClientNotification::Initialized(initialized);
                    self.send(ClientMessage::Notification(initialized.into()));
                }
                self.stage = Stage::Ready(peer);
                self.output.push_back(ClientOutput::Connected);
            }
            Next::Fail(error) => {
                self.output.push_back(ClientOutput::Failed(error));
                self.close();
            }
        }
    }

    /// Ends a call before it is answered.
    fn give_up(&mut self, call: CallId, reason: Option<String>, why: CallError, now: Instant) {
        if self.calls.close(call).is_none() {
            return;
        }
        // `initialize` must not be cancelled, and a probe means nothing to who does not answer.
        if matches!(self.stage, Stage::Ready(_)) {
            let mut params = CancelledParams::new().request_id(call.to_wire());
            params.reason = reason;
            let cancelled = ClientNotification::Cancelled(params);
            self.send(ClientMessage::Notification(cancelled.into()));
        }
        self.done(call, Err(why), now);
    }

    /// Passes on what has come of a call, which is closed.
    fn done(&mut self, call: CallId, outcome: Outcome, now: Instant) {
        match &mut self.stage {
            Stage::Opening(waiting) => {
                let result = outcome.and_then(RawResult::read);
                let result = result.map(|(result, _)| result);
                let next = negotiate::next(&self.config, waiting, result);
                self.proceed(next, now);
            }
            _ => self.output.push_back(ClientOutput::Done(call, outcome)),
        }
    }

    fn withdraw(&mut self, ask: AskId) {
        if let Some(question) = self.questions.remove(&ask) {
            self.output.push_back(ClientOutput::Withdrawn(ask));
            self.batch_member_done(question.batch);
        }
    }

    fn end(&mut self, now: Instant) {
        for call in self.calls.all() {
            self.calls.close(call);
            self.done(call, Err(CallError::Lost), now);
        }
        while let Some((ask, _)) = self.questions.pop_first() {
            self.output.push_back(ClientOutput::Withdrawn(ask));
        }
        self.close();
    }

    fn close(&mut self) {
        if !matches!(self.stage, Stage::Closed) {
            self.stage = Stage::Closed;
            self.output.push_back(ClientOutput::Close);
        }
    }
}

/// The way out.
impl ClientConnection {
    /// The revision in which a request of this method can be sent.
    fn sendable(&self, method: &Method) -> Result<ProtocolVersion, CallError> {
        let Some(Peer {
            version,
            capabilities,
            ..
        }) = self.peer()
        else {
            return Err(CallError::NotConnected);
        };
        match method.versions() {
            Some(versions) if !versions.contains(version) => Err(CallError::NoSuchMethod {
                method: method.clone(),
                version: *version,
            }),
            // The first revision has completion and no capability to declare it by.
            Some(_) if *method == Method::Complete && *version == ProtocolVersion::V2024_11_05 => {
                Ok(*version)
            }
            Some(_) if !offers(capabilities, method) => Err(CallError::NotOffered(method.clone())),
            _ => Ok(*version),
        }
    }

    /// Sends a request that says of itself what its revision wants to know.
    fn request(
        &mut self,
        id: CallId,
        mut request: Box<ClientRequest>,
        version: ProtocolVersion,
        options: CallOptions,
        now: Instant,
    ) {
        let (method, era) = (request.method(), version.era());
        self.calls.open(id, method, era, options, now);
        let meta = request.meta_mut();
        if era == Era::Modern {
            if *self.version != *version.as_str() {
                self.version = version.as_str().into();
            }
            let meta = meta.get_or_insert_default();
            meta.protocol_version = Some(self.version.clone());
            meta.client_capabilities = Some(self.config.capabilities.clone());
            meta.client_info = self.config.names_itself.then(|| self.config.info.clone());
            meta.log_level = options.log;
        }
        if options.progress {
            meta.get_or_insert_default().progress_token = Some(id.to_wire().into());
        } else if let Some(meta) = meta {
            meta.progress_token = None;
        }
        compat::fit_client_request(&mut request, version);
        self.send(ClientMessage::Request {
            id: id.to_wire(),
            request,
        });
    }

    fn answer(
        &mut self,
        id: RequestId,
        outcome: Result<Box<ClientResult>, ErrorObject>,
        batch: Option<BatchId>,
    ) {
        let id = ReplyId::Known(id);
        let message = ClientMessage::Response { id, outcome };
        match batch {
            Some(batch) => self.batches.reply(batch, message, ClientMessage::failed),
            None => self.send(message),
        }
    }

    /// One member less to wait for; the last one sends the answers to all.
    fn batch_member_done(&mut self, batch: Option<BatchId>) {
        let replies = batch.and_then(|batch| self.batches.one_done(batch));
        if let Some(replies) = replies {
            self.send(ClientMessage::Batch(replies));
        }
    }

    fn send(&mut self, message: ClientMessage) {
        self.output.push_back(ClientOutput::Send(message));
    }

    fn ignore(&mut self, what: std::fmt::Arguments<'_>) {
        let what = Ignored::OutOfPlace(what.to_string());
        self.output.push_back(ClientOutput::Ignored(what));
    }
}

fn unreadable(why: String) -> CallError {
    CallError::Unreadable { why, result: None }
}
