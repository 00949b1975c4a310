//! Requests that this side made: who waits for what, and until when.

use std::time::Instant;

use super::calls::CallId;
use crate::error::ErrorObject;
use crate::jsonrpc::{RawJson, RequestId, Response};

/// One question to the client. Minted by the connection and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(u64);

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The client's answer: to be decoded as the result of what was asked, which it may not fit.
    /// [`ClientResult::parse_complete`](crate::ClientResult::parse_complete) does that for any
    /// method.
    Given(RawJson),
    /// The client answered with an error.
    Refused(ErrorObject),
    /// The client did not answer in time.
    TimedOut,
    /// There will be no answer: the call that asked has ended, or the connection has.
    Gone,
}

struct Ask {
    id: AskId,
    call: CallId,
    deadline: Instant,
}

/// The questions that are open.
#[derive(Default)]
pub(super) struct Asks {
    /// The oldest first. There are no more than [`Limits::asks`](super::Limits::asks).
    open: Vec<Ask>,
    minted: u64,
}

impl Asks {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn open(&mut self, call: CallId, deadline: Instant) -> AskId {
        let id = AskId(self.minted);
        self.minted += 1;
        self.open.push(Ask { id, call, deadline });
        id
    }

    /// What a response answers, if it answers anything that is open.
    pub(super) fn answer(&mut self, response: Response) -> Option<(AskId, Answer)> {
        let id = AskId::from_wire(response.id.as_ref()?)?;
        let at = self.open.iter().position(|ask| ask.id == id)?;
        self.open.remove(at);
        let answer = match response.outcome {
            Ok(result) => Answer::Given(result),
            Err(error) => Answer::Refused(error),
        };
        Some((id, answer))
    }

    /// Closes the questions of a call.
    pub(super) fn close(&mut self, call: CallId) -> Vec<(AskId, CallId)> {
        self.take(|ask| ask.call == call)
    }

    /// Closes the questions that have waited long enough.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<(AskId, CallId)> {
        self.take(|ask| ask.deadline <= now)
    }

    /// The calls that wait for an answer, some perhaps more than once.
    pub(super) fn calls(&self) -> Vec<CallId> {
        let mut calls: Vec<_> = self.open.iter().map(|ask| ask.call).collect();
        calls.dedup();
        calls
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.open.iter().map(|ask| ask.deadline).min()
    }

    fn take(&mut self, which: impl Fn(&Ask) -> bool) -> Vec<(AskId, CallId)> {
        let mut taken = Vec::new();
        self.open.retain(|ask| {
            let take = which(ask);
            if take {
                taken.push((ask.id, ask.call));
            }
            !take
        });
        taken
    }
}

/// Text, so that no peer takes an id of this side for one of its own numbers.
const PREFIX: &str = "ask-";

impl AskId {
    pub(super) fn new(number: u64) -> Self {
        Self(number)
    }

    pub(super) fn text(self) -> String {
        format!("{PREFIX}{}", self.0)
    }

    pub(super) fn to_wire(self) -> RequestId {
        self.text().into()
    }

    fn from_wire(id: &RequestId) -> Option<Self> {
        let number = id.as_str()?.strip_prefix(PREFIX)?;
        let ask = Self(number.parse().ok()?);
        // "ask-01" and "ask-+1" are numbers too, but not ids of this side.
        (ask.to_wire() == *id).then_some(ask)
    }
}
