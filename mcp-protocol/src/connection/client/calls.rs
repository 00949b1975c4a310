//! The requests that a client has made: exactly one outcome each.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::super::after;
use super::super::calls::{CallId, CallMap};
use crate::error::ErrorObject;
use crate::jsonrpc::RawJson;
use crate::methods::{Method, ResultError, ServerResult};
use crate::types::LoggingLevel;
use crate::version::ProtocolVersion;

/// How a call is made, and how long it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long to wait for the outcome, or for the next report of progress. A stream waits
    /// for its acknowledgement only. Default 60 s; `None` waits for ever.
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

/// What came of a call. Only [`Error`](Self::Error) was said by the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The server's result. Of `subscriptions/listen`: the server has ended the stream.
    Result(Box<ServerResult>),
    /// The server's refusal.
    Error(ErrorObject),
    /// The server has answered with what is no result of this method.
    Unreadable {
        /// What is wrong with it.
        why: String,
        /// The result, if that much could be read.
        result: Option<RawJson>,
    },
    /// The server did not answer in time, and was told that the answer is not wanted any more.
    TimedOut,
    /// [`ClientConnection::cancel`](super::ClientConnection::cancel) has ended the call. The
    /// server may have done what it was asked nevertheless.
    Cancelled,
    /// The connection has ended. The server may have done what it was asked nevertheless.
    Lost,
    /// Nothing was sent.
    NotSent(NotSent),
}

/// Why a call was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// There is no connection yet, or none any more.
    #[error("not connected")]
    NotConnected,
    /// The revision that the server speaks has no such method.
    #[error("{version} has no method `{method}`")]
    NoSuchMethod {
        /// What was called.
        method: Method,
        /// What the server speaks.
        version: ProtocolVersion,
    },
    /// The server has not declared the capability that the method belongs to.
    #[error("the server does not offer `{0}`")]
    NotOffered(Method),
}
