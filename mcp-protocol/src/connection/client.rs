//! The client's side of a connection.

mod calls;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

pub use self::calls::{CallOptions, CallOutcome, NotSent};
use super::asks::AskId;
use super::calls::CallId;
use super::config::ClientConfig;
use super::messages::ClientMessage;
use super::negotiate::{NegotiationError, Peer};
use crate::error::ErrorObject;
use crate::jsonrpc::{BadMessage, Incoming, RequestId};
use crate::methods::{
    ClientNotification, ClientRequest, ClientResult, Method, ServerNotification, ServerRequest,
};
use crate::types::ProgressParams;

/// What the driver of a client is to do next.
#[derive(Debug)]
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
    Done(CallId, CallOutcome),
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
    /// Not a message.
    #[error("not a message: {}", .0.error.message)]
    Junk(BadMessage),
    /// An array, where there are none: they are 2025-03-26's only.
    #[error("a batch of {0} messages")]
    Batch(usize),
    /// An answer to nothing that waits for one: it is late, or its id is not one of this
    /// side's.
    #[error("an answer to no open request (id {})", .0.as_ref().map_or("none".to_owned(), ToString::to_string))]
    Answer(Option<RequestId>),
    /// A request, which a modern server must not send.
    #[error("a request of a modern server: `{0}`")]
    Request(Method),
    /// A notification that is malformed, or that belongs to nothing that is open.
    #[error("`{method}`: {why}")]
    Notification {
        /// Its name.
        method: Method,
        /// What is wrong with it.
        why: String,
    },
}

/// One server, as the client sees it.
///
/// See the [module](crate::connection) for the contract.
pub struct ClientConnection {
    config: Arc<ClientConfig>,
    output: VecDeque<ClientOutput>,
}

/// What happened.
impl ClientConnection {
    /// A connection on which nothing has happened yet.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            config,
            output: VecDeque::new(),
        }
    }

    /// The server has sent something.
    pub fn receive(&mut self, incoming: Incoming, now: Instant) {}

    /// The server will send nothing more. Open calls are lost.
    pub fn input_closed(&mut self) {}

    /// The [`deadline`](Self::deadline) has passed.
    pub fn timeout(&mut self, now: Instant) {}

    /// A question of a legacy server has its answer. Ignored if it was withdrawn.
    pub fn reply(&mut self, ask: AskId, outcome: Result<Box<ClientResult>, ErrorObject>) {}
}

/// What the application wants.
impl ClientConnection {
    /// Begins: finds the revision that both sides speak. Ends in
    /// [`ClientOutput::Connected`] or [`ClientOutput::Failed`].
    pub fn connect(&mut self, now: Instant) {}

    /// Asks the server for something. Ends in [`ClientOutput::Done`].
    ///
    /// `_meta` is filled in as the revision wants it; the progress token is the connection's.
    pub fn call(&mut self, request: ClientRequest, options: CallOptions, now: Instant) -> CallId {
        todo!()
    }

    /// Gives a call up, and tells the server so. Ignored if the call has ended.
    pub fn cancel(&mut self, call: CallId, reason: Option<String>) {}

    /// Tells the server something, if its revision has such a notification.
    pub fn notify(&mut self, notification: ClientNotification) {}

    /// Ends the connection from this side: open calls are given up.
    pub fn shut_down(&mut self) {}
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
        None
    }

    /// The server, once [`ClientOutput::Connected`] has said that it is known.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        None
    }
}
