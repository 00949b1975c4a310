//! One connection, whose messages come and go in HTTP exchanges.
//!
//! A connection does not know that its messages travel apart from each other: here every
//! message finds its stream. The driver reads what was posted, in order, and sends; readers,
//! each the body of a response, take what is sent on their stream.
//!
//! ```text
//!  POST ── ask ──► posts ──► Inbox ──► driver ──► Outbox ──► streams ──► Reader ── body ──►
//!                                                               │  ▲
//!                                                               ▼  │ resume
//!                                                              replay
//! ```
//!
//! The reader of a stream may go away and come back. What it may not have received meanwhile is
//! kept in the replay, which is bounded; a connection of a single exchange has none.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io::Write as _;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use mcp_protocol::connection::ServerMessage;
use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_protocol::{Encode, ErrorCode, ErrorObject, Frame, ReplyId, RequestId};
use tokio::time::Instant;

use super::replay::Replay;
use super::visitors::Charge;

/// The connection. Clones are the same one.
#[derive(Clone)]
pub(super) struct Exchange(Arc<Mutex<State>>);

/// One stream of messages to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StreamId(u64);

impl StreamId {
    /// The stream of what is not about any request.
    pub(super) const GENERAL: Self = Self(0);
}

/// A message on its way, written as an event.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) number: u64,
    /// As an event of a stream.
    pub(super) text: Bytes,
    json: Range<usize>,
    /// What came of the request, if this is the response.
    pub(super) outcome: Option<Result<(), ErrorCode>>,
}

impl Event {
    fn new(stream: StreamId, number: Option<u64>, message: &dyn Encode) -> Self {
        let mut text = Vec::new();
        if let Some(number) = number {
            let _ = writeln!(text, "id: {}-{number}", stream.0);
        }
        text.extend_from_slice(b"data: ");
        let begin = text.len();
        message.encode(&mut text);
        let json = begin..text.len();
        text.extend_from_slice(b"\n\n");
        Self {
            number: number.unwrap_or_default(),
            text: text.into(),
            json,
            outcome: message.outcome(),
        }
    }

    /// The message alone.
    pub(super) fn json(&self) -> Bytes {
        self.text.slice(self.json.clone())
    }
}

/// The event that tells a client how to come back before there is anything to receive. Its id is
/// where the reader begins: what was read before is not sent again.
pub(super) fn priming(reader: &Reader, retry: std::time::Duration) -> Bytes {
    let (stream, after, retry) = (reader.stream.0, reader.after, retry.as_millis());
    format!("id: {stream}-{after}\nretry: {retry}\ndata: \n\n").into()
}

/// Reads the id of an event as it was sent.
pub(super) fn parse_event_id(text: &str) -> Option<(StreamId, u64)> {
    let (stream, number) = text.split_once('-')?;
    Some((StreamId(stream.parse().ok()?), number.parse().ok()?))
}

struct State {
    /// What the driver has not taken yet. Bounded by what bodies may hold.
    posts: VecDeque<Post>,
    driver: Option<Waker>,
    streams: HashMap<StreamId, Stream>,
    /// The streams on which open requests are answered.
    answered_on: HashMap<RequestId, StreamId>,
    /// The stream of what the driver is dealing with: refusals without an id go there.
    current: Option<StreamId>,
    replay: Replay,
    /// Bytes that wait for readers which are there.
    queued: usize,
    flushing: Option<Waker>,
    /// Streams, readers and events are numbered.
    minted: u64,
    used: Instant,
    /// Nothing more will be posted.
    closed: bool,
    /// The driver is gone.
    over: bool,
}

struct Post {
    frame: Frame,
    /// Requests that are answered on the stream.
    ids: Vec<RequestId>,
    stream: Option<StreamId>,
    cancels: Option<RequestId>,
    _charge: Charge,
}

#[derive(Default)]
struct Stream {
    pending: VecDeque<Event>,
    /// The reader that is there. The newest one is.
    reader: Option<u64>,
    waker: Option<Waker>,
    /// Older readers of the general stream, in case the newest goes away.
    standby: Vec<(u64, Option<Waker>)>,
    /// Nothing will be added.
    done: bool,
}

impl Exchange {
    /// A connection that keeps this many bytes for readers that come back.
    pub(super) fn new(replay: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            posts: VecDeque::new(),
            driver: None,
            streams: HashMap::new(),
            answered_on: HashMap::new(),
            current: None,
            replay: Replay::new(replay),
            queued: 0,
            flushing: None,
            minted: 0,
            used: Instant::now(),
            closed: false,
            over: false,
        })))
    }

    /// Posts what asks for answers, and gives the stream on which they will be.
    pub(super) fn ask(&self, frame: Frame, ids: Vec<RequestId>, charge: Charge) -> Reader {
        let mut state = self.lock();
        let stream = StreamId(state.mint());
        state.streams.insert(stream, Stream::default());
        state.post(Post {
            frame,
            ids,
            stream: Some(stream),
            cancels: None,
            _charge: charge,
        });
        self.attach(&mut state, stream, None)
    }

    /// Posts what asks for nothing. `cancels` is the request that it cancels.
    pub(super) fn tell(&self, frame: Frame, cancels: Option<RequestId>, charge: Charge) {
        self.lock().post(Post {
            frame,
            ids: Vec::new(),
            stream: None,
            cancels,
            _charge: charge,
        });
    }

    /// Says that nothing more will be posted.
    pub(super) fn close(&self) {
        self.lock().closed = true;
    }

    /// Goes on with a stream behind an event; without one, behind what was ever delivered.
    /// `None` if there is nothing to go on with.
    pub(super) fn resume(&self, stream: StreamId, after: Option<u64>) -> Option<Reader> {
        let mut state = self.lock();
        let missed = state.replay.take(stream, after);
        let done = stream != StreamId::GENERAL && !state.streams.contains_key(&stream);
        if done && missed.is_empty() {
            return None;
        }
        state.streams.entry(stream).or_default().done |= done;
        for event in missed.into_iter().rev() {
            state.queue(stream, event, VecDeque::push_front);
        }
        Some(self.attach(&mut state, stream, after))
    }

    fn attach(&self, state: &mut State, stream: StreamId, after: Option<u64>) -> Reader {
        let reader = state.mint();
        let mut begins = reader;
        state.used = Instant::now();
        if let Some(open) = state.streams.get_mut(&stream) {
            // All that was read of it has a lower number than what waits.
            begins = open
                .pending
                .front()
                .map_or(reader, |event| event.number.saturating_sub(1));
            match open.reader.replace(reader) {
                // It would come back, as clients do to a general stream, and end this one.
                Some(older) if stream == StreamId::GENERAL => {
                    open.standby.push((older, open.waker.take()));
                }
                // Whoever read it before learns that it is somebody else's.
                _ => wake(&mut open.waker),
            }
        }
        Reader {
            exchange: self.clone(),
            stream,
            reader,
            after: after.unwrap_or(begins),
        }
    }

    /// Since when nothing has happened; `None` while something happens.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        let read = |stream: &Stream| stream.reader.is_some();
        let busy = !state.posts.is_empty()
            || !state.answered_on.is_empty()
            || state.streams.values().any(read);
        (!busy).then_some(state.used)
    }

    /// Whether the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

impl State {
    fn mint(&mut self) -> u64 {
        self.minted += 1;
        self.minted
    }

    fn post(&mut self, post: Post) {
        self.used = Instant::now();
        self.posts.push_back(post);
        wake(&mut self.driver);
    }

    /// The next frame for the driver, whose replies find their stream from now on.
    fn take(&mut self) -> Option<Frame> {
        if let Some(stream) = self.current.take() {
            // What was posted there has been dealt with, and may have asked for no answer.
            self.finish_unless_awaited(stream);
        }
        loop {
            let post = self.posts.pop_front()?;
            if let Some(stream) = post.cancels.and_then(|id| self.answered_on.remove(&id)) {
                self.finish_unless_awaited(stream);
            }
            let Some(stream) = post.stream else {
                return Some(post.frame);
            };
            if let [id] = &*post.ids {
                if self.answered_on.contains_key(id) {
                    // The connection would answer it where the first is to be answered.
                    self.refuse_repeated(stream, id.clone());
                    continue;
                }
            }
            for id in post.ids {
                self.answered_on.entry(id).or_insert(stream);
            }
            self.current = Some(stream);
            return Some(post.frame);
        }
    }

    fn finish_unless_awaited(&mut self, stream: StreamId) {
        if !self.answered_on.values().any(|other| *other == stream) {
            self.finish(stream);
        }
    }

    fn refuse_repeated(&mut self, stream: StreamId, id: RequestId) {
        let reason = "Invalid request: a request with this id is still open";
        let refusal = ServerMessage::Response {
            id: ReplyId::Known(id),
            outcome: Err(ErrorObject::invalid_request(reason)),
        };
        self.deliver(stream, &refusal);
    }

    fn send(&mut self, message: &dyn Encode, about: Option<&RequestId>) {
        let answers = message.outcome().is_some();
        let stream = match about.map(|id| self.answered_on.get(id)) {
            Some(Some(stream)) => Some(*stream),
            None if answers => self.current,
            // Of a request that has been cancelled, this is the withdrawal of a question.
            _ => Some(StreamId::GENERAL).filter(|_| !answers),
        };
        if let Some(stream) = stream {
            self.deliver(stream, message);
        }
    }

    fn deliver(&mut self, stream: StreamId, message: &dyn Encode) {
        let number = self.replay.is_on().then(|| self.mint());
        let event = Event::new(stream, number, message);
        let last = event.outcome.is_some();
        match self.streams.get(&stream) {
            Some(open) if open.reader.is_some() => self.queue(stream, event, VecDeque::push_back),
            Some(_) => self.replay.push(stream, event, false),
            None if stream == StreamId::GENERAL => self.replay.push(stream, event, false),
            None => {}
        }
        if last {
            self.answered_on.retain(|_, other| *other != stream);
            self.finish(stream);
        }
    }

    /// Adds an event to what a reader will take.
    fn queue(
        &mut self,
        id: StreamId,
        event: Event,
        push: impl FnOnce(&mut VecDeque<Event>, Event),
    ) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        self.queued += cost(id, &event);
        push(&mut stream.pending, event);
        if id == StreamId::GENERAL && stream.pending.len() > MOST_GENERAL {
            stream.pending.pop_front();
        }
        wake(&mut stream.waker);
    }

    /// Nothing will be added to a stream.
    fn finish(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        self.used = Instant::now();
        stream.done = true;
        wake(&mut stream.waker);
        if stream.reader.is_none() {
            self.streams.remove(&id);
        }
    }

    fn poll_next(&mut self, id: StreamId, reader: u64, cx: &Context<'_>) -> Poll<Option<Event>> {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Poll::Ready(None);
        };
        if stream.reader != Some(reader) {
            let mut standby = stream.standby.iter_mut();
            return match standby.find(|(older, _)| *older == reader) {
                Some((_, waker)) if !self.over => {
                    *waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                _ => Poll::Ready(None),
            };
        }
        let next = stream.pending.pop_front();
        let ends = stream.pending.is_empty() && (stream.done || self.over);
        if next.is_none() && !ends {
            stream.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if ends {
            self.streams.remove(&id);
        }
        if let Some(event) = &next {
            self.read(cost(id, event));
            self.replay.push(id, event.clone(), true);
        }
        Poll::Ready(next)
    }

    /// A reader has gone away.
    fn detach(&mut self, id: StreamId, reader: u64) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        stream.standby.retain(|(older, _)| *older != reader);
        if stream.reader != Some(reader) {
            return;
        }
        self.used = Instant::now();
        if let Some((older, waker)) = stream.standby.pop() {
            (stream.reader, stream.waker) = (Some(older), waker);
            wake(&mut stream.waker);
            return;
        }
        stream.reader = None;
        let pending = std::mem::take(&mut stream.pending);
        if stream.done || !self.replay.is_on() {
            self.streams.remove(&id);
        }
        for event in pending {
            self.read(cost(id, &event));
            self.replay.push(id, event, false);
        }
    }

    fn read(&mut self, bytes: usize) {
        self.queued -= bytes;
        if self.queued == 0 {
            wake(&mut self.flushing);
        }
    }
}

/// Messages about no request that wait for a reader. They are hints, so beyond it the oldest
/// ones go, and a reader that takes its time holds nothing else up.
const MOST_GENERAL: usize = 256;

fn cost(stream: StreamId, event: &Event) -> usize {
    match stream {
        StreamId::GENERAL => 0,
        _ => event.text.len(),
    }
}

/// Takes what is sent on one stream. Dropping it leaves the stream to the next one.
pub(super) struct Reader {
    exchange: Exchange,
    stream: StreamId,
    reader: u64,
    /// The number of the event that it begins behind.
    after: u64,
}

impl Reader {
    /// The next event; `None` when there will be no more.
    pub(super) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Event>> {
        self.exchange.lock().poll_next(self.stream, self.reader, cx)
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.exchange.lock().detach(self.stream, self.reader);
    }
}

/// The driver's end of what is posted.
pub(super) struct Inbox(Exchange);

/// The driver's end of what is sent.
pub(super) struct Outbox(Exchange);

impl Transport for Exchange {
    type Receiver = Inbox;
    type Sender = Outbox;

    fn network(&self) -> Option<&'static str> {
        Some("tcp")
    }

    fn split(self) -> (Inbox, Outbox) {
        (Inbox(self.clone()), Outbox(self))
    }
}

impl Receiver for Inbox {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame, TransportError>>> {
        let mut state = self.0.lock();
        match state.take() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None if state.closed => Poll::Ready(None),
            None => {
                state.driver = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Sender for Outbox {
    fn send(&mut self, message: &dyn Encode, about: Option<&RequestId>) {
        self.0.lock().send(message, about);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let mut state = self.0.lock();
        if state.queued == 0 {
            return Poll::Ready(Ok(()));
        }
        state.flushing = Some(cx.waker().clone());
        Poll::Pending
    }

    fn queued(&self) -> usize {
        self.0.lock().queued
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.over = true;
        for stream in state.streams.values_mut() {
            wake(&mut stream.waker);
            stream.standby.iter_mut().for_each(|(_, waker)| wake(waker));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_reader_comes_although_nothing_is_numbered() {
        let exchange = Exchange::new(0);
        let first = exchange.resume(StreamId::GENERAL, None);
        let message = Frame::from_static(b"{}");
        exchange.lock().deliver(StreamId::GENERAL, &message);
        let second = exchange.resume(StreamId::GENERAL, None);
        assert!(first.is_some() && second.is_some_and(|reader| reader.after == 0));
    }
}
