//! A connection as a value: messages in, decisions out.
//!
//! Everything that relates one message to another lives here, for every transport and both
//! eras: which ids are open, who is calling, what may be sent to whom and when. Nothing here
//! does I/O, awaits, spawns, locks, logs or reads a clock; time comes in as an argument.
//!
//! # The contract
//!
//! There are five kinds of methods. Those of [`ClientConnection`] are the mirror image of those
//! of [`ServerConnection`], and have their names where they do the same.
//!
//! | kind | of [`ServerConnection`] | of [`ClientConnection`] |
//! |---|---|---|
//! | it happened | [`receive`], [`input_closed`], [`timeout`], [`reply`] | the same, [`skipped`] |
//! | we want | [`progress`], [`log`], [`notify`], [`ask`], [`publish`], [`shut_down`] | [`connect`], [`call`], [`cancel`], `notify`, `shut_down` |
//! | what next | [`poll`] | the same |
//! | when | [`deadline`] | the same |
//! | which | [`request_id`] | [`peer`] |
//!
//! After each call of the first two kinds, drain [`poll`] and do what it says, in order. Call
//! [`timeout`] when [`deadline`] has passed.
//!
//! ```text
//!            receive ┌──────────────────┐ poll
//!  frames ──────────►│                  ├──────► Send    to the transport
//!                    │ ServerConnection ├──────► Start   a call
//!  outcomes ────────►│                  ├──────► Stop    a call
//!              reply └──────────────────┘        Answer, Heard, Close
//!
//!            receive ┌──────────────────┐ poll
//!  frames ──────────►│                  ├──────► Send       to the transport
//!                    │ ClientConnection ├──────► Connected  or Failed
//!  calls ───────────►│                  ├──────► Done       with a call
//!               call └──────────────────┘        Progress, Ask, Heard, Close
//! ```
//!
//! # What a server's side promises, whatever a peer sends
//!
//! * Each request gets at most one reply, and exactly one unless it is cancelled or the
//!   connection ends. A call that is open always has a task or a question behind it.
//! * Nothing about a request is sent after its reply or its cancellation.
//! * An id can be used again as soon as its call has ended or was cancelled; what comes late of
//!   the old call cannot answer the new one, for inside calls go by [`CallId`].
//! * A subscription is acknowledged before it is told anything.
//! * Progress is sent only to who asked for it, and only rising.
//! * Log messages are sent only at the level that was asked for: of a legacy client that has
//!   not asked, `info` and above.
//! * A modern caller is never sent a request; a legacy one only on behalf of its own
//!   call, and only what it has declared that it can answer.
//! * Each question is answered exactly once, if only by [`Answer::Gone`].
//! * Once the end has begun, by [`input_closed`] or [`shut_down`], nothing more is taken: a
//!   request is neither started nor answered. A call that waits for an answer of its client ends
//!   at once and without a reply; the others have [`grace`](Limits::grace).
//! * [`receive`] answers what it is given or ignores it; it never fails.
//!
//! # What a client's side promises, whatever a peer sends
//!
//! * Each call is [`Done`](ClientOutput::Done) exactly once: answered, refused, late, cancelled
//!   or lost. What a server has said and what has gone wrong here are different outcomes.
//! * No id is used twice, and an answer counts only with the id and its type.
//! * A call that is cancelled or late is told to the server once; `initialize` never is.
//! * What comes after a call's end is ignored, and so is junk. Neither is answered.
//! * A stream is heard of only between its acknowledgement and its end.
//! * A legacy server's question is answered at most once, and not when it was withdrawn; a
//!   modern server is sent no answer at all.
//! * A call that the server could not serve is not sent: its revision has to have the method,
//!   and it has to have declared the capability. Only completion needs none in 2024-11-05, and
//!   methods outside of the table have none.
//! * After [`Close`](ClientOutput::Close) nothing is sent.
//!
//! [`receive`]: ServerConnection::receive
//! [`input_closed`]: ServerConnection::input_closed
//! [`timeout`]: ServerConnection::timeout
//! [`reply`]: ServerConnection::reply
//! [`progress`]: ServerConnection::progress
//! [`log`]: ServerConnection::log
//! [`notify`]: ServerConnection::notify
//! [`ask`]: ServerConnection::ask
//! [`publish`]: ServerConnection::publish
//! [`shut_down`]: ServerConnection::shut_down
//! [`poll`]: ServerConnection::poll
//! [`deadline`]: ServerConnection::deadline
//! [`request_id`]: ServerConnection::request_id
//! [`skipped`]: ClientConnection::skipped
//! [`connect`]: ClientConnection::connect
//! [`call`]: ClientConnection::call
//! [`cancel`]: ClientConnection::cancel
//! [`peer`]: ClientConnection::peer

mod asks;
mod batches;
mod calls;
mod classify;
mod client;
mod config;
mod messages;
mod negotiate;
mod server;
mod session;
mod subscriptions;

use std::time::{Duration, Instant};

pub use self::asks::{Answer, AskId};
pub use self::calls::{CallId, CallMap, IdHasher, LogMessage, Progress};
pub use self::classify::Caller;
pub use self::client::{
    CallError, CallOptions, ClientConnection, ClientOutput, Ignored, RawResult,
};
pub use self::config::{ClientConfig, ClientLimits, ServerConfig};
pub use self::messages::{ClientMessage, Outgoing, ServerMessage};
pub use self::negotiate::{NegotiationError, Peer};
pub use self::server::{Output, ServerConnection};
pub use self::subscriptions::Change;

/// What one connection may hold, and how long it waits.
///
/// Each bound is there because a peer could otherwise make this side hold ever more. Zero is
/// a configuration error for all of them but [`grace`](Self::grace).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Members of a batch. Default 1,000. Stops one line from starting any number of calls.
    pub batch: usize,
    /// `subscriptions/listen` streams open at once. Default 16. A stream takes no slot of the
    /// calls in flight and never ends by itself; one more is `server_busy`.
    pub listens: usize,
    /// Resources subscribed to: by `resources/subscribe`, and in each listen stream. Default
    /// 1,000. Stops a client from filling memory with URIs.
    pub subscriptions: usize,
    /// Questions to the client that are open at once; one more ends its call. Default 256, as
    /// many as there may be calls of one connection. Stops handlers from piling up questions
    /// that nobody answers.
    pub asks: usize,
    /// How long a question waits for its answer. Default 60 s. Stops a silent user from
    /// holding a call's slot for ever.
    pub ask: Duration,
    /// How long running calls may go on once the connection ends. Default 1 s; zero cancels
    /// them at once. Stops a stuck handler from keeping the process alive.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            batch: 1_000,
            listens: 16,
            subscriptions: 1_000,
            asks: 256,
            ask: Duration::from_secs(60),
            grace: Duration::from_secs(1),
        }
    }
}

/// The time after a while, which may be as good as never.
fn after(now: Instant, time: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    now.checked_add(time).unwrap_or_else(|| now + NEVER)
}
