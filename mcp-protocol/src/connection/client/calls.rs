//! The requests that a client has made: exactly one outcome each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use super::super::after;
use super::super::calls::{CallId, CallMap};
use super::lists;
use crate::error::ErrorObject;
use crate::jsonrpc::{Outline, RawJson, RequestId};
use crate::meta::{Last, ResultMeta};
use crate::methods::{Method, ServerResult};
use crate::transport::NoAnswer;
use crate::types::{ListenResult, LoggingLevel};
use crate::version::{Era, ProtocolVersion};

/// How a call is made, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long to wait for the outcome, or for the next report of progress; while a legacy
    /// server asks something, for the answer too. A stream waits for its acknowledgement only.
    /// Default 60 s; `None` waits for ever.
    pub timeout: Option<Duration>,
    /// How long to wait in all, however much progress is reported. Default 10 minutes. Stops
    /// a server that reports progress and never ends.
    pub longest: Option<Duration>,
    /// Whether the server is asked to report progress. Default no. Each report starts
    /// [`timeout`](Self::timeout) again.
    pub progress: bool,
    /// The lowest level of log messages that are wanted. Default none. 2026-07-28 only: an
    /// older server is told by `logging/setLevel`, for all calls.
    pub log: Option<LoggingLevel>,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            timeout: Some(Duration::from_secs(60)),
            longest: Some(Duration::from_secs(600)),
            progress: false,
            log: None,
        }
    }
}

/// Why a call has no result. Only [`Refused`](Self::Refused) was said by the server.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server has answered with an error.
    #[error("the server refused: {0}")]
    Refused(ErrorObject),
    /// The server has answered with what is no result of this method.
    #[error("the answer is unreadable: {why}")]
    Unreadable {
        /// What is wrong with it.
        why: String,
        /// The result, if that much could be read.
        result: Option<RawJson>,
    },
    /// The transport has no answer. The connection goes on.
    #[error("no answer: {0}")]
    NoAnswer(NoAnswer),
    /// The server did not answer in time, and was told that the answer is not wanted any more.
    #[error("no answer in time")]
    TimedOut,
    /// [`ClientConnection::cancel`](super::ClientConnection::cancel) has ended the call. The
    /// server may have done what it was asked nevertheless.
    #[error("cancelled")]
    Cancelled,
    /// The connection has ended. The server may have done what it was asked nevertheless.
    #[error("the connection ended before the answer came")]
    Lost,
    /// Not sent: there is no connection yet, or none any more.
    #[error("not connected")]
    NotConnected,
    /// Not sent: the revision that the server speaks has no such method.
    #[error("{version} has no method `{method}`")]
    NoSuchMethod {
        /// What was called.
        method: Method,
        /// What the server speaks.
        version: ProtocolVersion,
    },
    /// Not sent: the server has not declared the capability that the method belongs to.
    #[error("the server does not offer `{0}`")]
    NotOffered(Method),
}

/// A request that waits for its outcome.
#[derive(Debug)]
pub(super) struct Call {
    method: Method,
    /// Whether the server has confirmed the stream that this is.
    acknowledged: bool,
    era: Era,
    options: CallOptions,
    /// When it has taken too long in all.
    end: Option<Instant>,
    deadline: Option<Instant>,
}

impl Call {
    pub(super) fn outcome(
        self,
        answer: Result<RawJson, CallError>,
        outline: Outline,
        last: &mut Last<ResultMeta>,
    ) -> Outcome {
        let result = answer?;
        let meta = outline.meta(result.as_bytes());
        let meta = meta.and_then(|text| last.read(text));
        Ok(RawResult {
            method: self.method,
            era: self.era,
            result,
            outline,
            meta,
        })
    }
}

/// The result of a call as the server has sent it. [`read`](Self::read) gives it its type,
/// which is best done by who wants it: a driver would keep all others waiting meanwhile.
///
/// It keeps all that was received along with it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawResult {
    method: Method,
    era: Era,
    result: RawJson,
    outline: Outline,
    /// What is the same as in the last result need not be read again.
    meta: Option<ResultMeta>,
}

impl RawResult {
    /// The result of a stream that has ended without one.
    pub(super) fn of_stream() -> Self {
        Self {
            method: Method::Listen,
            era: Era::Modern,
            result: RawJson::encode(&ListenResult::new()).expect("results always encode"),
            outline: Outline::default(),
            meta: None,
        }
    }

    /// Gives the result its type, and says what of it cannot be had. What is wrong with one
    /// item of a list costs that item only.
    ///
    /// # Errors
    ///
    /// [`CallError::Unreadable`], if it is no result of the method that was called.
    pub fn read(self) -> Result<(ServerResult, Option<String>), CallError> {
        let Self {
            method,
            era,
            result,
            outline,
            meta,
        } = self;
        if let Some(quick) = ServerResult::outlined(&method, &result, &outline, meta) {
            return Ok((quick, None));
        }
        let parse = |result: &RawJson| match era {
            Era::Legacy => ServerResult::parse_complete(&method, result),
            Era::Modern => ServerResult::parse(&method, result),
        };
        let error = match parse(&result) {
            Ok(parsed) => return Ok((parsed, None)),
            Err(error) => error,
        };
        let rest = lists::readable(&method, &result)
            .and_then(|(rest, why)| Some((parse(&rest).ok()?, Some(why))));
        rest.ok_or_else(|| CallError::Unreadable {
            why: error.to_string(),
            result: Some(result),
        })
    }
}

/// What comes of a call.
pub(in super::super) type Outcome = Result<RawResult, CallError>;

/// The requests that are open. Each has the number that it has on the wire.
#[derive(Default)]
pub(super) struct Calls {
    open: CallMap<Call>,
    /// The earliest on top, which always is one of an open call; below it there can be others.
    deadlines: BinaryHeap<Reverse<Deadline>>,
    minted: u64,
}

type Deadline = (Instant, CallId);

/// Deadlines among which those of no open call are not worth looking for.
const FEW: usize = 128;

impl Calls {
    /// The name of the next request. They begin with 1: there are servers that take 0 for
    /// none.
    pub(super) fn mint(&mut self) -> CallId {
        self.minted += 1;
        CallId::new(self.minted)
    }

    pub(super) fn open(
        &mut self,
        id: CallId,
        method: Method,
        era: Era,
        options: CallOptions,
        now: Instant,
    ) {
        let call = Call {
            method,
            acknowledged: false,
            era,
            options,
            end: options.longest.map(|longest| after(now, longest)),
            deadline: None,
        };
        self.open.insert(id, call);
        self.wait(id, now);
    }

    /// The open stream of this id.
    pub(super) fn stream(&self, id: &RequestId) -> Option<CallId> {
        let id = CallId::from_wire(id.as_integer())?;
        (self.open.get(&id)?.method == Method::Listen).then_some(id)
    }

    pub(super) fn is_acknowledged(&self, stream: CallId) -> bool {
        self.open.get(&stream).is_some_and(|call| call.acknowledged)
    }

    pub(super) fn close(&mut self, id: CallId) -> Option<Call> {
        let call = self.open.remove(&id)?;
        self.sweep();
        Some(call)
    }

    /// A report of progress has come. Whether anybody wants to hear of it.
    pub(super) fn progress(&mut self, id: CallId, now: Instant) -> bool {
        let call = self.open.get(&id);
        let wanted = call.is_some_and(|call| call.options.progress);
        if wanted {
            self.wait(id, now);
        }
        wanted
    }

    /// The server has confirmed a stream, which may last as long as it likes.
    pub(super) fn acknowledge(&mut self, id: CallId, now: Instant) {
        if let Some(call) = self.open.get_mut(&id) {
            call.acknowledged = true;
            (call.options.timeout, call.end) = (None, None);
            self.wait(id, now);
        }
    }

    /// The calls, oldest first.
    pub(super) fn all(&self) -> Vec<CallId> {
        let mut ids: Vec<_> = self.open.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// A call that has waited long enough.
    pub(super) fn late(&self, now: Instant) -> Option<CallId> {
        let Reverse((deadline, id)) = self.deadlines.peek()?;
        (*deadline <= now).then_some(*id)
    }

    /// Lets all calls wait as if they began to now.
    pub(super) fn wait_again(&mut self, now: Instant) {
        for id in self.all() {
            self.wait(id, now);
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines
            .peek()
            .map(|Reverse((deadline, _))| *deadline)
    }

    /// Sets the deadline of a call that from now on waits again.
    fn wait(&mut self, id: CallId, now: Instant) {
        let Some(call) = self.open.get_mut(&id) else {
            return;
        };
        let silence = call.options.timeout.map(|timeout| after(now, timeout));
        let deadline = silence.into_iter().chain(call.end).min();
        if call.deadline == deadline {
            // Whatever it waits for, it is not to be noted once more each time.
            return;
        }
        let had_one = std::mem::replace(&mut call.deadline, deadline).is_some();
        self.deadlines
            .extend(deadline.map(|deadline| Reverse((deadline, id))));
        if had_one {
            self.sweep();
        }
    }

    /// Forgets deadlines of calls that have ended or wait for another one: those on top, and all
    /// if they are too many.
    fn sweep(&mut self) {
        let open = &self.open;
        let is_set = |Reverse((deadline, id)): &Reverse<Deadline>| {
            open.get(id)
                .is_some_and(|call| call.deadline == Some(*deadline))
        };
        while self.deadlines.peek().is_some_and(|top| !is_set(top)) {
            self.deadlines.pop();
        }
        if self.deadlines.len() > FEW && self.deadlines.len() / 2 > open.len() {
            self.deadlines.retain(is_set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_have_ended_leave_no_more_than_a_few_deadlines() {
        let (mut calls, mut now) = (Calls::default(), Instant::now());
        let open = |calls: &mut Calls, now| {
            let id = calls.mint();
            calls.open(id, Method::Ping, Era::Legacy, CallOptions::default(), now);
            id
        };
        // Its deadline is the next one all the time.
        let first = open(&mut calls, now);
        let deadline = calls.deadline();
        for _ in 0..10 * FEW {
            now += Duration::from_millis(1);
            let id = open(&mut calls, now);
            calls.close(id);
            assert!(calls.deadlines.len() <= FEW + 1);
        }
        assert_eq!(calls.deadline(), deadline);
        calls.close(first);
        assert_eq!(calls.deadline(), None);
    }

    #[test]
    fn reports_without_end_leave_no_more_than_a_few_deadlines() {
        let (mut calls, mut now) = (Calls::default(), Instant::now());
        let id = calls.mint();
        let mut options = CallOptions::default();
        options.progress = true;
        options.longest = options.timeout;
        calls.open(id, Method::CallTool, Era::Legacy, options, now);
        for _ in 0..10 * FEW {
            now += Duration::from_millis(1);
            assert!(calls.progress(id, now));
            assert!(calls.deadlines.len() <= FEW + 1);
        }
    }
}
