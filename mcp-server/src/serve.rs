//! The driver: turns a transport, a connection and a service into a running server.
//!
//! One task reads, decides and writes; each admitted call that is not answered at once is a task
//! of its own. What relates messages to each other is the connection's business: nothing here
//! looks into one.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use mcp_protocol::connection::{Answer, AskId, CallId, CallMap, Caller, Output, ServerConnection};
use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_protocol::{BadMessage, ClientRequest, Incoming};
use tokio::sync::{oneshot, watch};
use tokio::task::coop::consume_budget;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use tower::{Layer, Service};
use tracing::{Instrument, Span};

use crate::attempt::Attempt;
use crate::context::Call;
use crate::custom::Heard;
use crate::error::{ServeError, ServiceDown};
use crate::events::{Event, Events};
use crate::handle::{Parts, Stop};
use crate::limit::{Limit, LimitLayer, Share};
use crate::pace::{Paces, Place};
use crate::rounds::Rounds;
use crate::span::{CallSpan, ConnectionSpan, id_text};
use crate::stats::{Connected, Counters};
use crate::work::{Work, panic_message};

/// Bytes that are gathered before they are written although more messages are at hand.
const GATHER: usize = 64 << 10;

/// A connection that is being served, until it ends or this is dropped.
///
/// In a task of its own, so that it runs on the same threads as the calls that it starts, and
/// not on the one that waits for the end of the program.
#[must_use = "dropping it ends the connection"]
pub struct Serving {
    driver: JoinHandle<Result<(), ServeError>>,
    span: Option<ConnectionSpan>,
}

impl Serving {
    pub(crate) fn start(
        parts: Arc<Parts>,
        transport: impl Transport,
        share: Share,
        output_bytes: usize,
    ) -> Self {
        let span = ConnectionSpan::new(transport.network());
        let driving = async move {
            let driver = Driver::new(parts, transport, share, output_bytes);
            driver.run().await
        };
        Self {
            driver: tokio::spawn(driving.instrument(span.span())),
            span: Some(span),
        }
    }

    fn end(&mut self, served: &Result<(), ServeError>) {
        if let Some(span) = self.span.take() {
            span.end(served);
        }
    }
}

impl Future for Serving {
    type Output = Result<(), ServeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let served = match ready!(Pin::new(&mut self.driver).poll(cx)) {
            Ok(served) => served,
            Err(error) => Err(match error.try_into_panic() {
                Ok(panic) => ServeError::Panicked(panic_message(panic)),
                Err(cancelled) => ServeError::Panicked(cancelled.to_string()),
            }),
        };
        self.end(&served);
        Poll::Ready(served)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.driver.abort();
        self.end(&Ok(()));
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Serving")
    }
}

/// All that can wake the driver.
enum Wake {
    Event(Event),
    /// The connection has received something.
    Received,
    InputClosed,
    Stop(Stop),
    Deadline,
}

struct Driver<R, W> {
    parts: Arc<Parts>,
    connection: ServerConnection,
    service: Limit,
    calls: Calls,
    heard: Heard,
    events: Events,
    /// Who waits for an answer of the client. The connection answers each of them.
    asks: HashMap<AskId, oneshot::Sender<Answer>>,
    /// Whose turn it is: the client's messages, or the calls' events.
    reads_next: bool,
    stop: StopSignal,
    /// Whether this task is within a span, which calls without one must not take for theirs.
    within_span: bool,
    /// What carries the connection.
    network: Option<&'static str>,
    deadline: Option<(Instant, Pin<Box<Sleep>>)>,
    /// `None` once the client has sent all that it will.
    receiver: Option<R>,
    sender: W,
    /// Bytes in `sender` beyond which nothing more is taken.
    output_bytes: usize,
    _connected: Connected,
}

impl<R: Receiver, W: Sender> Driver<R, W> {
    fn new<T: Transport<Receiver = R, Sender = W>>(
        parts: Arc<Parts>,
        transport: T,
        share: Share,
        output_bytes: usize,
    ) -> Self {
        let network = transport.network();
        let (receiver, sender) = transport.split();
        let events = Events::default();
        parts.changes.add(&events);
        let principal = share.owner();
        let rounds = Rounds::new(parts.service.clone(), parts.rules.clone(), principal);
        Self {
            connection: ServerConnection::new(parts.config.clone()),
            heard: Heard::new(parts.handlers.clone(), share.clone(), network),
            service: LimitLayer::new(share).layer(Arc::new(rounds)),
            calls: Calls::counted_by(parts.counters.clone()),
            events,
            asks: HashMap::new(),
            reads_next: false,
            stop: StopSignal::of(&parts),
            within_span: !Span::current().is_disabled(),
            network,
            deadline: None,
            receiver: Some(receiver),
            sender,
            output_bytes,
            _connected: parts.counters.connected(),
            parts,
        }
    }

    async fn run(mut self) -> Result<(), ServeError> {
        loop {
            let wake = poll_fn(|cx| self.poll_wake(cx)).await;
            let handled = match wake {
                Ok(wake) => self.handle(wake),
                Err(error) => {
                    // If it is reading that has failed, the client may still be there.
                    let _ = self.flush().await;
                    return gone(error);
                }
            };
            if let Err(down) = handled {
                self.parts.stop(Stop::Down(down.clone()));
                // What was finished before is still the client's, as far as it reads.
                self.settle();
                let _ = self.flush().await;
                return Err(ServeError::Down(down));
            }
            if let Some(end) = self.settle() {
                end.log();
                let flushed = self.flush().await;
                self.heard.finish(self.parts.config.limits.grace).await;
                return flushed;
            }
            // Many messages can come of one read, and other tasks want their turn.
            consume_budget().await;
        }
    }

    fn handle(&mut self, wake: Wake) -> Result<(), ServiceDown> {
        match wake {
            Wake::Event(event) => self.apply(event)?,
            Wake::Received => {}
            Wake::InputClosed => {
                self.receiver = None;
                self.apply_all()?;
                self.connection.input_closed(now());
            }
            Wake::Stop(Stop::Down(down)) => return Err(down),
            Wake::Stop(_) => {
                self.apply_all()?;
                self.connection.shut_down(now());
            }
            Wake::Deadline => {
                self.apply_all()?;
                self.connection.timeout(now());
            }
        }
        Ok(())
    }

    /// What happens next. Outcomes and messages that are at hand are taken in turn, so that
    /// neither a busy handler nor a busy client can hold up the other, and what they lead to is
    /// written in one go when none is left.
    fn poll_wake(&mut self, cx: &mut Context<'_>) -> Poll<Result<Wake, TransportError>> {
        // First, or a client that never stops sending could put it off for ever.
        if let Poll::Ready(stop) = self.stop.poll(cx) {
            return Poll::Ready(Ok(Wake::Stop(stop)));
        }
        if self.poll_deadline(cx).is_ready() {
            return Poll::Ready(Ok(Wake::Deadline));
        }
        loop {
            if self.sender.queued() >= GATHER {
                if let Poll::Ready(Err(error)) = self.sender.poll_flush(cx) {
                    return Poll::Ready(Err(error));
                }
            }
            let has_room = self.sender.queued() < self.output_bytes;
            if has_room {
                for _ in 0..2 {
                    self.reads_next = !self.reads_next;
                    if let Poll::Ready(wake) = self.poll_turn(cx) {
                        return Poll::Ready(wake);
                    }
                }
            }
            match self.sender.queued() {
                0 => return Poll::Pending,
                _ => match ready!(self.sender.poll_flush(cx)) {
                    Err(error) => return Poll::Ready(Err(error)),
                    Ok(()) if has_room => return Poll::Pending,
                    Ok(()) => {}
                },
            }
        }
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Result<Wake, TransportError>> {
        if !self.reads_next {
            return self
                .events
                .poll_next(cx)
                .map(|event| Ok(Wake::Event(event)));
        }
        let Some(receiver) = &mut self.receiver else {
            return Poll::Pending;
        };
        Poll::Ready(Ok(match ready!(receiver.poll_receive(cx)) {
            Some(Ok(frame)) => {
                let incoming = self.connection.parse(&frame);
                if let Incoming::Bad(bad) = &incoming {
                    log_bad(bad, Some(frame.len()));
                }
                self.connection.receive(incoming);
                Wake::Received
            }
            Some(Err(TransportError::TooLong { limit })) => {
                let bad = BadMessage::too_long(limit);
                log_bad(&bad, None);
                self.connection.receive(Incoming::Bad(bad));
                Wake::Received
            }
            Some(Err(error)) => return Poll::Ready(Err(error)),
            None => Wake::InputClosed,
        }))
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.connection.deadline() else {
            self.deadline = None;
            return Poll::Pending;
        };
        let deadline = Instant::from_std(deadline);
        let sleep = match &mut self.deadline {
            Some((set, sleep)) if *set == deadline => sleep,
            slot => &mut slot.insert((deadline, Box::pin(sleep_until(deadline)))).1,
        };
        sleep.as_mut().poll(cx)
    }

    fn apply(&mut self, event: Event) -> Result<(), ServiceDown> {
        match event {
            Event::Progress(call, report) => self.connection.progress(call, report),
            Event::Log(call, message) => self.connection.log(call, message),
            Event::Notify(call, method, params) => self.connection.notify(call, &method, params),
            Event::Done(call, outcome) => {
                self.calls.forget(call);
                self.connection.reply(call, outcome);
            }
            Event::Down(down) => return Err(down),
            Event::Ask(call, question, to) => {
                // A question that cannot be asked is gone, which is what dropping `to` says.
                if let Some(ask) = self.connection.ask(call, *question, now()) {
                    self.asks.insert(ask, to);
                }
            }
            Event::Changed(change) => self.connection.publish(&change),
        }
        Ok(())
    }

    /// Applies what has happened already, before the connection begins to end: what was
    /// finished by now is still answered.
    fn apply_all(&mut self) -> Result<(), ServiceDown> {
        let mut waiting = self.events.take_all().into_iter();
        waiting.try_for_each(|event| self.apply(event))
    }

    /// Does what the connection has decided.
    fn settle(&mut self) -> Option<End> {
        while let Some(output) = self.connection.poll() {
            match output {
                Output::Send(outgoing) => {
                    self.sender.send(&outgoing.message, outgoing.about.as_ref());
                }
                Output::Start {
                    call,
                    request,
                    caller,
                    size,
                } => self.start(call, request, caller, size),
                Output::Stop(call) => self.calls.stop(call),
                Output::Answer(ask, answer) => {
                    if let Some(to) = self.asks.remove(&ask) {
                        // Whoever does not wait any more has been stopped.
                        let _ = to.send(answer);
                    }
                }
                Output::Heard(notification) => self.heard.hear(*notification),
                Output::Close { cut_off } => return Some(End { cut_off }),
            }
        }
        None
    }

    fn start(&mut self, id: CallId, request: Arc<ClientRequest>, caller: Caller, size: usize) {
        let call = Arc::new(Call::new(id, request, caller, size, self.events.clone()));
        let attempt = Attempt { call: call.clone() };
        let mut span = self.span(id, &attempt);
        let place = Paces::place(&attempt);
        match self.service.call(attempt).into_inner() {
            Ok(running) => {
                self.parts.counters.started();
                self.work(id, Work::new(call, running, span), place);
            }
            Err(busy) => {
                self.parts.counters.refused();
                let busy = Err(busy);
                span.end(Some("busy"), Ok(&busy));
                self.connection.reply(id, busy);
            }
        }
    }

    /// Works on a call: here, if it is likely to be done at once, else in a task of its own.
    fn work(&mut self, id: CallId, mut work: Work, place: Place) {
        let paces = &self.parts.paces;
        let tried = paces.is_quick(place) && (!self.within_span || work.has_span());
        if tried {
            // Whatever it waits for it learns of by the first poll of its task.
            let mut cx = Context::from_waker(Waker::noop());
            let polled = paces.poll(place, true, || work.poll(self.service.rounds(), &mut cx));
            if let Poll::Ready(end) = polled {
                return self.tried(end);
            }
        }
        let (paces, rounds) = (paces.clone(), self.service.rounds().clone());
        let mut first = !tried;
        let work = poll_fn(move |cx| match mem::take(&mut first) {
            true => paces.poll(place, false, || work.poll(&rounds, cx)),
            false => work.poll(&rounds, cx),
        });
        let events = self.events.clone();
        let task = tokio::spawn(async move { events.push(work.await) });
        self.calls.tasks.insert(id, task.abort_handle());
    }

    fn tried(&mut self, end: Event) {
        match end {
            Event::Done(call, outcome) if self.events.is_empty() => {
                self.connection.reply(call, outcome);
            }
            end => {
                if let Event::Down(_) = end {
                    self.calls.counters.cancelled();
                }
                // What the call has told before comes first.
                self.events.push(end);
            }
        }
    }

    fn span(&self, id: CallId, attempt: &Attempt) -> CallSpan {
        let id = || self.connection.request_id(id).map(id_text);
        let span = CallSpan::new(attempt, id, self.network);
        span.show(attempt, self.parts.on_span.as_ref());
        span
    }

    /// The last writes, which the peer has but so long to read.
    async fn flush(&mut self) -> Result<(), ServeError> {
        let flushed = poll_fn(|cx| self.sender.poll_flush(cx));
        match timeout(self.parts.flush, flushed).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => gone(error),
            Err(_) => {
                tracing::warn!("the client did not read the last replies");
                Ok(())
            }
        }
    }
}

/// Nothing of the message: it may hold what is for nobody's log.
fn log_bad(bad: &BadMessage, bytes: Option<usize>) {
    let reason = &*bad.error.message;
    tracing::debug!(bytes, reason, "the client has sent a bad message");
}

/// Orders to stop, each of them once.
struct StopSignal {
    last: watch::Receiver<Stop>,
    next: Pin<Box<dyn Future<Output = Stop> + Send>>,
    /// Whether `next` will wake the task, so that it need not be polled on every turn.
    armed: bool,
}

impl StopSignal {
    fn of(parts: &Parts) -> Self {
        Self::after(parts.stop.subscribe(), Stop::No)
    }

    fn after(mut last: watch::Receiver<Stop>, order: Stop) -> Self {
        last.borrow_and_update();
        let mut orders = last.clone();
        let next = async move {
            let next = orders.wait_for(|next| *next != order).await;
            match next.map(|next| next.clone()) {
                Ok(next) => next,
                // The server is gone, so nobody is left who could stop it.
                Err(_) => std::future::pending().await,
            }
        };
        Self {
            last,
            next: Box::pin(next),
            armed: false,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Stop> {
        if self.armed && !self.last.has_changed().unwrap_or(false) {
            return Poll::Pending;
        }
        self.armed = true;
        let order = ready!(self.next.as_mut().poll(cx));
        *self = Self::after(self.last.clone(), order.clone());
        Poll::Ready(order)
    }
}

/// How a connection has ended.
struct End {
    cut_off: usize,
}

impl End {
    fn log(&self) {
        if self.cut_off > 0 {
            tracing::warn!(
                calls = self.cut_off,
                "calls were cut off: their time was up"
            );
        }
    }
}

/// The tasks of the calls in flight. They end with it.
struct Calls {
    tasks: CallMap<AbortHandle>,
    counters: Arc<Counters>,
}

impl Calls {
    fn counted_by(counters: Arc<Counters>) -> Self {
        Self {
            tasks: CallMap::default(),
            counters,
        }
    }

    fn forget(&mut self, call: CallId) {
        self.tasks.remove(&call);
    }

    fn stop(&mut self, call: CallId) {
        if let Some(task) = self.tasks.remove(&call) {
            self.counters.cancelled();
            task.abort();
        }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        for task in self.tasks.values() {
            self.counters.cancelled();
            task.abort();
        }
    }
}

/// The end of a connection whose client can no longer be reached, which is no failure unless
/// it is the stream that failed.
fn gone(error: TransportError) -> Result<(), ServeError> {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};

    match &error {
        TransportError::Io(io)
            if matches!(
                io.kind(),
                BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected
            ) =>
        {
            tracing::debug!(%error, "the client is gone");
            Ok(())
        }
        _ => Err(ServeError::Transport(error)),
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}
