//! The connection of a client, and all that has come of it. Whoever waits drives it.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use mcp_protocol::connection::{
    CallError, CallId, CallMap, CallOptions, ClientConfig, ClientConnection, ClientOutput,
    NegotiationError, Peer, RawResult,
};
use mcp_protocol::transport::{Receiver, Sender, Transport};
use mcp_protocol::types::{InputRequest, LoggingLevel};
use mcp_protocol::{
    ClientRequest, ErrorObject, Incoming, RawJson, ServerNotification, ServerResult,
};
use mcp_transport_stdio::memory::Memory;

use super::Error;
use super::setup::Answers;

pub(super) struct State {
    connection: ClientConnection,
    answers: Answers,
    connected: Option<Result<(), NegotiationError>>,
    done: CallMap<Result<RawResult, CallError>>,
    heard: VecDeque<ServerNotification>,
    /// `None` once the server has said all that it will.
    receiver: Option<<Memory as Transport>::Receiver>,
    sender: <Memory as Transport>::Sender,
}

impl State {
    pub(super) fn new(config: ClientConfig, transport: Memory, answers: Answers) -> Self {
        let (receiver, sender) = transport.split();
        let mut connection = ClientConnection::new(Arc::new(config));
        connection.connect(Instant::now());
        Self {
            connection,
            answers,
            connected: None,
            done: CallMap::default(),
            heard: VecDeque::new(),
            receiver: Some(receiver),
            sender,
        }
    }

    /// Does all that can be done now. Whether the server has said something.
    pub(super) fn drive(&mut self, waker: &Waker) -> bool {
        let mut cx = Context::from_waker(waker);
        let mut has_received = false;
        loop {
            while let Some(output) = self.connection.poll() {
                self.apply(output);
            }
            if self.sender.queued() > 0 {
                // A server that reads no more will write no more either, which is seen below.
                let _ = self.sender.poll_flush(&mut cx);
            }
            let Some(receiver) = &mut self.receiver else {
                return has_received;
            };
            match receiver.poll_receive(&mut cx) {
                Poll::Pending => return has_received,
                Poll::Ready(Some(Ok(frame))) => {
                    self.connection
                        .receive(Incoming::parse(&frame), Instant::now());
                }
                Poll::Ready(_) => {
                    self.receiver = None;
                    self.connection.input_closed(Instant::now());
                }
            }
            has_received = true;
        }
    }

    fn apply(&mut self, output: ClientOutput) {
        match output {
            ClientOutput::Send(message) => self.sender.send(&message, None),
            ClientOutput::Connected => self.connected = Some(Ok(())),
            ClientOutput::Failed(error) => self.connected = Some(Err(error)),
            ClientOutput::Done(call, outcome) => {
                self.done.insert(call, outcome);
            }
            ClientOutput::Ask(ask, question) => {
                let answer = self.answers.answer(*question).map(Box::new);
                self.connection.reply(ask, answer);
            }
            ClientOutput::Progress(_, report) => {
                self.heard.push_back(ServerNotification::Progress(report));
            }
            ClientOutput::Heard { notification, .. } => self.heard.push_back(notification),
            ClientOutput::Withdrawn(_) | ClientOutput::Ignored(_) | ClientOutput::Close => {}
        }
    }

    pub(super) fn is_connected(&mut self) -> Option<Result<(), NegotiationError>> {
        self.connected.clone()
    }

    pub(super) fn server(&self) -> Peer {
        let peer = self.connection.peer();
        peer.expect("it was connected to").clone()
    }

    pub(super) fn call(&mut self, request: ClientRequest) -> CallId {
        let mut options = CallOptions::default();
        (options.timeout, options.longest) = (None, None);
        (options.progress, options.log) = (true, Some(LoggingLevel::Debug));
        self.connection.call(request, options, Instant::now())
    }

    pub(super) fn cancel(&mut self, call: CallId) {
        self.connection.cancel(call, None, Instant::now());
    }

    pub(super) fn take_outcome(&mut self, call: CallId) -> Option<Result<ServerResult, CallError>> {
        let outcome = self.done.remove(&call)?;
        Some(outcome.and_then(RawResult::read).map(|(result, _)| result))
    }

    /// The answer to a question that has come in a result.
    pub(super) fn answer_input(&mut self, question: InputRequest) -> Result<RawJson, Error> {
        let method = question.method();
        let unknown = || ErrorObject::method_not_found(method.as_str());
        let question = question.into_request().ok_or_else(unknown);
        let answer = question.and_then(|question| self.answers.answer(question));
        Ok(RawJson::encode(&answer.map_err(Error::Unanswered)?)?)
    }

    pub(super) fn take_heard(&mut self) -> impl Iterator<Item = ServerNotification> {
        take(&mut self.heard).into_iter()
    }

    /// The next notification, or `None` if there will be no more.
    pub(super) fn next_heard(&mut self) -> Option<Option<ServerNotification>> {
        let next = self.heard.pop_front();
        (next.is_some() || self.receiver.is_none()).then_some(next)
    }
}

/// All who wait for the server. It is not known whose the next message will be.
#[derive(Default)]
pub(super) struct Wakers(Mutex<Vec<Waker>>);

impl Wakers {
    pub(super) fn add(&self, waker: &Waker) {
        let mut wakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|other| other.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        let wakers = take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().for_each(Waker::wake);
    }
}
