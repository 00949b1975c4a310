//! What callers tell the driver of one connection.

use std::borrow::Borrow;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_protocol::connection::{AskId, CallError, CallOptions, Peer, RawResult};
use mcp_protocol::types::{ProgressParams, SubscriptionFilter};
use mcp_protocol::{
    ClientNotification, ClientRequest, ClientResult, ErrorObject, Method, ServerResult,
};
use tokio::sync::{mpsc, oneshot};

use crate::error::ClientError;
use crate::feed::Feeder;
use crate::hub::Changes;

/// What comes of a call. A result is read in the task of who wants it: the driver has others to
/// serve, and what is made of a result in another thread costs more to take apart.
pub(crate) type Outcome = Result<RawResult, ClientError>;

/// The outcome, and the request again if it was sent: it may have to be made once more.
pub(crate) struct Reply {
    pub(crate) outcome: Outcome,
    pub(crate) request: Option<Box<ClientRequest>>,
}

impl From<ClientError> for Reply {
    fn from(error: ClientError) -> Self {
        Self {
            outcome: Err(error),
            request: None,
        }
    }
}

/// Gives a result its type, and says what of it cannot be had.
pub(crate) fn read(result: RawResult) -> Result<(ServerResult, Option<String>), ClientError> {
    result.read().map_err(|error| match error {
        CallError::Unreadable { why, result } => ClientError::Protocol { why, result },
        error => ClientError::Unsupported(error.into()),
    })
}

/// Something that a driver is to do.
pub(crate) enum Command {
    Call(NewCall),
    /// Warns of items that were left out of a list.
    LeftOut(String),
    /// Nobody waits for this call any more.
    Cancel(Ticket),
    Notify(Box<ClientNotification>),
    /// The host has answered.
    Answer(AskId, Result<Box<ClientResult>, ErrorObject>),
}

/// The name of a call before it has one on the connection.
pub(crate) type Ticket = u64;

pub(crate) struct NewCall {
    pub(crate) ticket: Ticket,
    pub(crate) request: Box<ClientRequest>,
    pub(crate) options: CallOptions,
    pub(crate) to: oneshot::Sender<Reply>,
    pub(crate) takes: Takes,
}

/// Who takes what comes before the outcome of a call.
#[derive(Default)]
pub(crate) struct Takes {
    pub(crate) progress: Option<Arc<Feeder<ProgressParams>>>,
    pub(crate) stream: Option<Stream>,
}

/// Who listens.
pub(crate) struct Stream {
    pub(crate) changes: Arc<Changes>,
    /// Is told what was granted.
    pub(crate) granted: Option<oneshot::Sender<SubscriptionFilter>>,
}

/// The way to one connection.
///
/// The queue needs no bound: the driver takes from it at every turn, whatever the server does,
/// and refuses what it has no room for.
#[derive(Clone)]
pub(crate) struct Link(Arc<Ends>);

struct Ends {
    commands: mpsc::UnboundedSender<Command>,
    server: Arc<Peer>,
}

impl Link {
    pub(crate) fn new(commands: mpsc::UnboundedSender<Command>, server: Arc<Peer>) -> Self {
        Self(Arc::new(Ends { commands, server }))
    }

    pub(crate) fn server(&self) -> &Arc<Peer> {
        &self.0.server
    }

    /// Whether the driver takes nothing any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.commands.is_closed()
    }

    pub(crate) async fn closed(&self) {
        self.0.commands.closed().await;
    }

    /// Whether the revision that the server speaks has this method.
    pub(crate) fn has(&self, method: &Method) -> bool {
        let versions = method.versions();
        versions.is_none_or(|versions| versions.contains(&self.0.server.version))
    }

    pub(crate) fn notify(&self, notification: ClientNotification) {
        // When the driver is gone there is nobody to notify.
        let _ = self.0.commands.send(Command::Notify(notification.into()));
    }

    pub(crate) fn left_out(&self, why: String) {
        // When the driver is gone there is nobody who knows what must not be in a warning.
        let _ = self.0.commands.send(Command::LeftOut(why));
    }
}

/// A call that was made. Dropping it cancels the call.
pub(crate) struct Pending<L: Borrow<Link>> {
    reply: oneshot::Receiver<Reply>,
    cancel: Option<(Ticket, L)>,
}

impl<L: Borrow<Link>> Pending<L> {
    /// Makes a call.
    pub(crate) fn new(
        link: L,
        request: impl Into<Box<ClientRequest>>,
        options: CallOptions,
        takes: Takes,
    ) -> Self {
        let ticket = mint();
        let (to, reply) = oneshot::channel();
        let call = NewCall {
            ticket,
            request: request.into(),
            options,
            to,
            takes,
        };
        // When the driver is gone, `to` is dropped, which is what tells.
        let _ = link.borrow().0.commands.send(Command::Call(call));
        Self {
            reply,
            cancel: Some((ticket, link)),
        }
    }

    /// What comes of it, or `None` if the driver was gone before it heard of the call.
    pub(crate) async fn outcome(&mut self) -> Option<Outcome> {
        self.reply().await.map(|reply| reply.outcome)
    }

    /// The same, and the request.
    pub(crate) async fn reply(&mut self) -> Option<Reply> {
        let reply = (&mut self.reply).await;
        self.cancel = None;
        reply.ok()
    }

    /// Lets it go on, and does not wait for it.
    pub(crate) fn forget(mut self) {
        self.cancel = None;
    }
}

impl<L: Borrow<Link>> Drop for Pending<L> {
    fn drop(&mut self) {
        if let Some((ticket, link)) = self.cancel.take() {
            let _ = link.borrow().0.commands.send(Command::Cancel(ticket));
        }
    }
}

/// A ticket that no other call has.
fn mint() -> Ticket {
    /// Tickets that a thread takes at a time: what all threads count up costs each of them.
    const BLOCK: u64 = 1 << 10;
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NEXT: Cell<Ticket> = const { Cell::new(0) };
    }
    NEXT.with(|next| {
        let ticket = match next.get() {
            used if used % BLOCK == 0 => TAKEN.fetch_add(BLOCK, Ordering::Relaxed),
            next => next,
        };
        next.set(ticket.wrapping_add(1));
        ticket
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use super::*;

    #[test]
    fn no_two_calls_have_the_same_ticket() {
        const EACH: usize = 3_000;
        let threads = [(); 4].map(|()| thread::spawn(|| [(); EACH].map(|()| mint())));
        let all = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        assert_eq!(all.collect::<HashSet<_>>().len(), 4 * EACH);
    }
}
