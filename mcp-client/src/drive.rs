//! The driver: turns a transport, a connection and what callers want into a client.
//!
//! The mirror of the server's. What relates messages to each other is the connection's
//! business: nothing here looks into one.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::hash::BuildHasherDefault;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use mcp_protocol::connection::{
    AskId, CallError, CallId, CallMap, ClientConnection, ClientMessage, ClientOutput, IdHasher,
    Ignored, NegotiationError, Peer, RawResult,
};
use mcp_protocol::transport::{NoAnswer, Receiver, RequestId, Sender, TransportError};
use mcp_protocol::{
    ClientRequest, ClientResult, ErrorObject, Frame, Method, ServerNotification, ServerRequest,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};

use crate::error::{ClientError, Closed};
use crate::feed::push_bounded;
use crate::host::{Host, answer};
use crate::hub::Hub;
use crate::link::{Command, Link, NewCall, Outcome, Reply, Takes, Ticket};
use crate::process::Process;
use crate::replies::Replies;
use crate::turns::Turns;

/// Bytes that are gathered before they are written although more is at hand.
const GATHER: usize = 64 << 10;

/// Bytes that may wait to be written. Beyond it no call begins and nothing is notified, and
/// beyond twice of it the server is not read, for it may ask: otherwise one that does not read
/// could fill the memory. What it takes to end a call is small and always taken.
const OUTPUT: usize = 64 << 20;

/// Reports of progress that wait to be taken. Beyond it the oldest go.
const REPORTS: usize = 64;

/// Messages and orders that are taken before replies are given, and the order to stop and the
/// clock are looked at again. Fewer if they are so long that they come to [`GATHER`].
const TURNS: u8 = 32;

/// How long a server that cannot be written to any more may still be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long the last messages to a server may take.
const FLUSH: Duration = Duration::from_secs(2);

/// All that can wake the driver.
enum Wake {
    Command(Command),
    Received(Frame),
    Skipped(usize),
    Unanswered(RequestId, NoAnswer),
    InputClosed,
    Stop,
    Deadline,
    /// Nothing, but callers that have heard something may want more.
    Pause,
}

/// What has come of a turn that the driver itself has no use for.
enum Event {
    Connected,
    Closed(Option<NegotiationError>),
}

/// One connection.
pub(crate) struct Driver<R, W> {
    connection: ClientConnection,
    process: Process,
    host: Arc<dyn Host>,
    hub: Arc<Hub>,
    calls: Calls,
    asks: Asks,
    commands: mpsc::UnboundedReceiver<Command>,
    /// Where the answers of the host come in.
    answers: mpsc::UnboundedSender<Command>,
    /// Whether the client is to end: what waits for it, until it has happened.
    stop: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    deadline: Option<(Instant, Pin<Box<Sleep>>)>,
    /// Whose turn it is: the server's messages, or the orders of callers.
    reads_next: bool,
    /// How many turns are left before [`poll_signals`](Self::poll_signals).
    turns: u8,
    /// Whether callers have been left time to add to what is to be written.
    has_paused: bool,
    /// Set when the server can be read only, and not for long.
    last_words: Option<Pin<Box<Sleep>>>,
    receiver: R,
    sender: W,
    /// Bytes that the transport has taken.
    written: u64,
    /// What was received last, for a warning.
    received: Frame,
    has_warned: bool,
    closed: Closed,
}

impl<R: Receiver, W: Sender> Driver<R, W> {
    pub(crate) fn new(
        connection: ClientConnection,
        (receiver, sender): (R, W),
        process: Process,
        host: Arc<dyn Host>,
        hub: Arc<Hub>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let (answers, commands) = mpsc::unbounded_channel();
        Self {
            connection,
            process,
            host,
            hub,
            calls: Calls::default(),
            asks: Asks::default(),
            commands,
            answers,
            stop: Some(Box::pin(stop)),
            deadline: None,
            reads_next: false,
            turns: TURNS,
            has_paused: false,
            last_words: None,
            receiver,
            sender,
            written: 0,
            received: Frame::new(),
            has_warned: false,
            closed: Closed::default(),
        }
    }

    /// Finds the revision that both sides speak.
    pub(crate) async fn connect(&mut self) -> Result<(), NegotiationError> {
        self.connection.connect(now());
        loop {
            match self.settle() {
                Some(Event::Connected) => return Ok(()),
                Some(Event::Closed(why)) => {
                    return Err(why.unwrap_or(NegotiationError::Failed {
                        method: Method::Discover,
                        error: CallError::Lost,
                    }));
                }
                None => self.turn().await,
            }
        }
    }

    /// The way to this connection.
    pub(crate) fn link(&self, server: Arc<Peer>) -> Link {
        Link::new(self.answers.clone(), server)
    }

    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.connection.peer()
    }

    /// Works until the connection ends.
    pub(crate) async fn run(&mut self) {
        while !matches!(self.settle(), Some(Event::Closed(_))) {
            self.turn().await;
        }
    }

    /// Ends the connection to a server that seems to be gone.
    pub(crate) fn give_up(&mut self, why: String) {
        self.closed.transport = Some(why);
        self.connection.input_closed(now());
        self.settle();
    }

    /// Writes what is left to write, and gives what is to be said to those who still wait.
    pub(crate) async fn end(mut self) -> (Closed, Bereaved) {
        self.calls.replies.give();
        if self.last_words.is_none() {
            // A server that does not read its last messages will miss nothing.
            let _ = timeout(FLUSH, poll_fn(|cx| self.poll_leave(cx))).await;
        }
        (self.closed, Bereaved(self.calls.lost))
    }

    async fn turn(&mut self) {
        // What holds it could not be read into again.
        self.received = Frame::new();
        let wake = poll_fn(|cx| self.poll_wake(cx)).await;
        match wake {
            Wake::Command(command) => self.apply(command),
            Wake::Received(frame) => {
                let more = frame.len() / (GATHER / usize::from(TURNS));
                self.turns = self.turns.saturating_sub(more.try_into().unwrap_or(TURNS));
                self.received = frame;
                let incoming = self.connection.parse(&self.received);
                self.connection.receive(incoming, now());
            }
            Wake::Skipped(limit) => self.connection.skipped(limit, now()),
            Wake::Unanswered(request, why) => self.connection.unanswered(&request, why, now()),
            Wake::InputClosed => self.connection.input_closed(now()),
            Wake::Stop => {
                self.closed.by_us = true;
                self.connection.shut_down(now());
            }
            Wake::Deadline => self.connection.timeout(now()),
            Wake::Pause => self.calls.replies.give_in_a_pause().await,
        }
        // Many messages can come of one read, and other tasks want their turn.
        consume_budget().await;
    }

    /// What happens next. What callers want and what the server says are taken in turn, so that
    /// neither can hold up the other, and what they lead to is told and written in one go when
    /// nothing is at hand. Before it is written, callers that were just answered have their
    /// turn, as they may call again.
    fn poll_wake(&mut self, cx: &mut Context<'_>) -> Poll<Wake> {
        if self.turns == 0 {
            if let Poll::Ready(wake) = self.poll_signals(cx) {
                return Poll::Ready(wake);
            }
            if !self.calls.replies.is_empty() {
                return Poll::Ready(Wake::Pause);
            }
        }
        self.turns -= 1;
        if self.sender.queued() >= GATHER {
            self.write(cx);
        }
        for _ in 0..2 {
            self.reads_next = !self.reads_next;
            if let Poll::Ready(wake) = self.poll_turn(cx) {
                return Poll::Ready(wake);
            }
        }
        if self.calls.replies.len() > 1 {
            return Poll::Ready(Wake::Pause);
        }
        self.calls.replies.give();
        if self.sender.queued() > 0 {
            if !self.has_paused && self.calls.open.len() > 1 {
                self.has_paused = true;
                return Poll::Ready(Wake::Pause);
            }
            let was_deaf = self.is_deaf();
            self.write(cx);
            if was_deaf && !self.is_deaf() {
                cx.waker().wake_by_ref();
            }
        }
        if let Poll::Ready(wake) = self.poll_signals(cx) {
            return Poll::Ready(wake);
        }
        match &mut self.last_words {
            Some(end) => end.as_mut().poll(cx).map(|()| Wake::InputClosed),
            None => Poll::Pending,
        }
    }

    /// The order to stop, and the clock. They wake the driver, so they need no look while there
    /// is work, but for [`TURNS`].
    fn poll_signals(&mut self, cx: &mut Context<'_>) -> Poll<Wake> {
        self.turns = TURNS;
        if let Some(stop) = &mut self.stop {
            if stop.as_mut().poll(cx).is_ready() {
                self.stop = None;
                return Poll::Ready(Wake::Stop);
            }
        }
        self.poll_deadline(cx).map(|()| Wake::Deadline)
    }

    /// Whether so much waits to be written that the server is not to be heard.
    fn is_deaf(&self) -> bool {
        self.sender.queued() >= 2 * OUTPUT
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Wake> {
        if !self.reads_next {
            return match ready!(self.commands.poll_recv(cx)) {
                Some(command) => Poll::Ready(Wake::Command(command)),
                None => Poll::Pending,
            };
        }
        if self.is_deaf() {
            return Poll::Pending;
        }
        Poll::Ready(match ready!(self.receiver.poll_receive(cx)) {
            Some(Ok(frame)) => Wake::Received(frame),
            Some(Err(TransportError::TooLong { limit })) => Wake::Skipped(limit),
            Some(Err(TransportError::NoAnswer { request, why })) => Wake::Unanswered(request, why),
            Some(Err(error)) => {
                self.closed.transport = Some(error.to_string());
                Wake::InputClosed
            }
            None => Wake::InputClosed,
        })
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.connection.deadline() else {
            self.deadline = None;
            return Poll::Pending;
        };
        let deadline = Instant::from_std(deadline);
        loop {
            // Each call that ends leaves a later one, which the alarm is set to when it has rung.
            let alarm = match &mut self.deadline {
                Some((set, alarm)) if *set <= deadline => alarm,
                slot => &mut slot.insert((deadline, Box::pin(sleep_until(deadline)))).1,
            };
            ready!(alarm.as_mut().poll(cx));
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.deadline = None;
        }
    }

    /// Writes as much as the server takes now. One that takes nothing any more may have said
    /// something before.
    fn write(&mut self, cx: &mut Context<'_>) {
        if self.last_words.is_some() {
            return;
        }
        match self.poll_flush(cx) {
            // While a server does not take all, its callers have no second pause: it would be a
            // turn without work, and another one would follow.
            Poll::Ready(Ok(())) => self.has_paused = false,
            Poll::Ready(Err(error)) => {
                self.closed.transport = Some(error.to_string());
                self.last_words = Some(Box::pin(sleep(LAST_WORDS)));
            }
            Poll::Pending => {}
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let queued = self.sender.queued();
        let flushed = self.sender.poll_flush(cx);
        self.written += queued.saturating_sub(self.sender.queued()) as u64;
        flushed
    }

    fn poll_leave(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        if self.sender.queued() > 0 {
            ready!(self.poll_flush(cx))?;
        }
        self.sender.poll_close(cx)
    }

    fn apply(&mut self, command: Command) {
        let waiting = self.sender.queued();
        match command {
            Command::Call(call) if waiting >= OUTPUT => {
                // Who does not wait any more need not be told.
                let _ = call.to.send(ClientError::Unread { waiting }.into());
            }
            Command::Notify(notification) if waiting >= OUTPUT => {
                let method = notification.method();
                tracing::warn!(
                    "`{method}` is not sent: {}",
                    ClientError::Unread { waiting }
                );
            }
            Command::Call(call) => self.call(call),
            Command::Cancel(ticket) => {
                if let Some(call) = self.calls.tickets.get(&ticket) {
                    self.connection.cancel(*call, None, now());
                }
            }
            Command::Notify(notification) => self.connection.notify(*notification),
            Command::LeftOut(why) => {
                let why = self.process.redact(&why);
                tracing::warn!("left out of a list of the server's: {why}");
            }
            Command::Answer(ask, outcome) => {
                self.asks.0.remove(&ask);
                self.connection.reply(ask, outcome);
            }
        }
    }

    fn call(&mut self, call: NewCall) {
        let method = call.request.method();
        let since = Instant::now();
        let id = self
            .connection
            .call(call.request, call.options, since.into_std());
        self.calls.tickets.insert(call.ticket, id);
        let waiting = Waiting {
            ticket: call.ticket,
            method,
            since,
            to: call.to,
            takes: call.takes,
            end: None,
            request: None,
        };
        self.calls.open.insert(id, waiting);
        self.calls.last = Some(id);
    }

    /// Does what the connection has decided.
    fn settle(&mut self) -> Option<Event> {
        while let Some(output) = self.connection.poll() {
            match output {
                ClientOutput::Send(message) => {
                    self.sender.send(&message, None);
                    let call = self.calls.last.take();
                    if let Some(call) = call.and_then(|call| self.calls.open.get_mut(&call)) {
                        call.end = Some(self.written + self.sender.queued() as u64);
                        if let ClientMessage::Request { mut request, .. } = message {
                            // Where all requests are made it costs least to let go of what they
                            // share, and the connection says it anew if one is made once more.
                            if let Some(meta) = request.meta_mut() {
                                meta.protocol_version = None;
                                meta.client_capabilities = None;
                                meta.client_info = None;
                            }
                            call.request = Some(request);
                        }
                    }
                }
                ClientOutput::Connected => return Some(Event::Connected),
                ClientOutput::Failed(why) => {
                    self.close();
                    return Some(Event::Closed(Some(why)));
                }
                ClientOutput::Progress(call, report) => {
                    let waiting = self.calls.open.get(&call);
                    if let Some(to) = waiting.and_then(|call| call.takes.progress.as_ref()) {
                        let size = self.received.len();
                        to.give(|reports| push_bounded(reports, report, size, REPORTS));
                    }
                }
                ClientOutput::Done(call, outcome) => self.calls.done(call, outcome, self.written),
                ClientOutput::Ask(ask, request) => self.ask(ask, *request),
                ClientOutput::Withdrawn(ask) => self.asks.withdraw(ask),
                ClientOutput::Heard {
                    notification,
                    stream,
                } => self.heard(notification, stream),
                ClientOutput::Ignored(what) => self.ignored(&what),
                ClientOutput::Close => {
                    self.close();
                    return Some(Event::Closed(None));
                }
            }
        }
        None
    }

    /// Takes no orders any more.
    fn close(&mut self) {
        self.commands.close();
        self.asks = Asks::default();
    }

    fn ask(&mut self, ask: AskId, request: ServerRequest) {
        let host = self.host.clone();
        let turn = self.hub.turns.as_ref().map(Turns::lend);
        let mut reply = ReplyOnDrop {
            ask,
            outcome: Err(ErrorObject::internal("internal error")),
            to: self.answers.clone(),
        };
        let task = tokio::spawn(async move {
            let _turn = turn;
            reply.give(answer(&*host, request).await);
        });
        self.asks.0.insert(ask, task.abort_handle());
    }

    fn heard(&mut self, notification: ServerNotification, stream: Option<CallId>) {
        let waiting = stream.and_then(|call| self.calls.open.get_mut(&call));
        let stream = waiting.and_then(|call| call.takes.stream.as_mut());
        match (notification, stream) {
            (ServerNotification::SubscriptionsAcknowledged(params), Some(stream)) => {
                if let Some(granted) = stream.granted.take() {
                    // Who does not wait any more will cancel the stream.
                    let _ = granted.send(params.notifications);
                }
            }
            (notification, stream) => {
                let changes = stream.map(|stream| &*stream.changes);
                self.hub.heard(notification, self.received.len(), changes);
            }
        }
    }

    fn ignored(&mut self, what: &Ignored) {
        const SHOWN: usize = 200;
        match what {
            Ignored::Junk(_) if !self.has_warned => {
                self.has_warned = true;
                let text = String::from_utf8_lossy(&self.received);
                let text = self.process.redact(&text);
                let text: String = text.chars().take(SHOWN).collect();
                tracing::warn!("the server writes what is no message to its output: {text:?}");
            }
            _ => tracing::debug!("ignored: {}", self.process.redact(&what.to_string())),
        }
    }
}

/// Who waits for a call.
struct Waiting {
    ticket: Ticket,
    method: Method,
    since: Instant,
    to: oneshot::Sender<Reply>,
    takes: Takes,
    /// As it was sent, if it was.
    request: Option<Box<ClientRequest>>,
    /// How many bytes had to be written before all of the request was, if it was sent at all.
    end: Option<u64>,
}

/// The calls in flight.
#[derive(Default)]
struct Calls {
    open: CallMap<Waiting>,
    tickets: HashMap<Ticket, CallId, BuildHasherDefault<IdHasher>>,
    /// The call whose request is to be sent next.
    last: Option<CallId>,
    replies: Replies,
    /// Who is to be told how the connection ended, and whether what he asked was written.
    lost: Vec<(oneshot::Sender<Reply>, bool)>,
}

impl Calls {
    fn done(&mut self, call: CallId, outcome: Result<RawResult, CallError>, written: u64) {
        self.last = None;
        let Some(waiting) = self.open.remove(&call) else {
            return;
        };
        self.tickets.remove(&waiting.ticket);
        let error = match outcome {
            Ok(result) => return self.reply(waiting, Ok(result)),
            Err(CallError::Lost | CallError::NotConnected) => {
                // All but the line feed is enough for a server that reads to the end of input.
                let reached = waiting.end.is_some_and(|end| written + 1 >= end);
                return self.lost.push((waiting.to, reached));
            }
            Err(CallError::Refused(error)) => ClientError::Rpc(error),
            Err(CallError::TimedOut) => ClientError::TimedOut {
                method: waiting.method.clone(),
                after: Duration::from_millis(waiting.since.elapsed().as_millis() as u64),
            },
            Err(CallError::Unreadable { why, result }) => ClientError::Protocol { why, result },
            Err(CallError::NoAnswer(why)) => ClientError::NoAnswer(why),
            Err(error) => ClientError::Unsupported(error.into()),
        };
        self.reply(waiting, Err(error));
    }

    fn reply(&mut self, waiting: Waiting, outcome: Outcome) {
        let Waiting { to, request, .. } = waiting;
        self.replies.add(to, Reply { outcome, request });
    }
}

/// Callers whose connection has ended, and whether what they asked may have been read.
#[derive(Default)]
pub(crate) struct Bereaved(Vec<(oneshot::Sender<Reply>, bool)>);

impl Bereaved {
    pub(crate) fn tell(self, report: &Arc<Closed>) {
        for (to, written) in self.0 {
            let report = report.clone();
            let _ = to.send(ClientError::Closed { written, report }.into());
        }
    }
}

/// The tasks that answer questions. They end with it.
#[derive(Default)]
struct Asks(HashMap<AskId, AbortHandle>);

impl Asks {
    fn withdraw(&mut self, ask: AskId) {
        if let Some(task) = self.0.remove(&ask) {
            task.abort();
        }
    }
}

impl Drop for Asks {
    fn drop(&mut self) {
        for task in self.0.values() {
            task.abort();
        }
    }
}

/// Replies to a question however its task ends. A host that panics costs its own answer only.
struct ReplyOnDrop {
    ask: AskId,
    outcome: Result<Box<ClientResult>, ErrorObject>,
    to: mpsc::UnboundedSender<Command>,
}

impl ReplyOnDrop {
    fn give(&mut self, outcome: Result<Box<ClientResult>, ErrorObject>) {
        self.outcome = outcome;
    }
}

impl Drop for ReplyOnDrop {
    fn drop(&mut self) {
        let internal = Err(ErrorObject::internal("internal error"));
        let outcome = std::mem::replace(&mut self.outcome, internal);
        let _ = self.to.send(Command::Answer(self.ask, outcome));
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}
