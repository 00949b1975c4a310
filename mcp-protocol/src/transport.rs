//! What moves messages between two peers.
//!
//! A transport knows frames and bytes, and neither methods nor revisions. It is split into a
//! [`Receiver`] and a [`Sender`] that one task polls side by side, so that reading never
//! waits for writing. Both are poll-based: a driver may drop what it awaits at any time and
//! nothing is lost.

use std::io;
use std::task::{Context, Poll};

pub use crate::jsonrpc::{Encode, Frame, RequestId};

/// A connection to one peer, before it is used.
///
/// Implemented for stdio, for any pair of byte streams and for an in-memory pair by
/// `mcp-transport-stdio`; implement it to carry MCP over anything else. `serve` and `connect`
/// call it once. A transport that frames messages itself, such as one over a WebSocket, needs
/// nothing but these three traits.
///
/// A transport that gives what was recorded, and writes down what is sent:
///
/// ```
/// use std::collections::VecDeque;
/// use std::task::{Context, Poll};
///
/// use mcp_protocol::transport::{
///     Encode, Frame, Receiver, RequestId, Sender, Transport, TransportError,
/// };
///
/// struct Replay(VecDeque<Frame>);
/// struct Reader(VecDeque<Frame>);
/// struct Writer(Vec<u8>);
///
/// impl Transport for Replay {
///     type Receiver = Reader;
///     type Sender = Writer;
///
///     fn split(self) -> (Reader, Writer) {
///         (Reader(self.0), Writer(Vec::new()))
///     }
/// }
///
/// impl Receiver for Reader {
///     fn poll_receive(
///         &mut self,
///         _: &mut Context<'_>,
///     ) -> Poll<Option<Result<Frame, TransportError>>> {
///         Poll::Ready(self.0.pop_front().map(Ok))
///     }
/// }
///
/// impl Sender for Writer {
///     fn send(&mut self, message: &dyn Encode, _: Option<&RequestId>) {
///         message.encode(&mut self.0);
///         self.0.push(b'\n');
///     }
///
///     fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
///         print!("{}", String::from_utf8_lossy(&self.0));
///         self.0.clear();
///         Poll::Ready(Ok(()))
///     }
///
///     fn queued(&self) -> usize {
///         self.0.len()
///     }
/// }
/// ```
pub trait Transport: Send + 'static {
    /// The half that reads.
    type Receiver: Receiver;
    /// The half that writes.
    type Sender: Sender;

    /// What carries it, in the words of OpenTelemetry's [`network.transport`]: `pipe`, `unix`,
    /// `tcp`. `None`, the default, if there is no word for it.
    ///
    /// [`network.transport`]: https://opentelemetry.io/docs/specs/semconv/registry/attributes/network/
    fn network(&self) -> Option<&'static str> {
        None
    }

    /// Another connection to the same peer, for when this one has ended. `None`, the default,
    /// if there can be none.
    fn again(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Takes the connection apart.
    fn split(self) -> (Self::Receiver, Self::Sender);
}

/// The half of a transport that reads.
pub trait Receiver: Send + 'static {
    /// The next message of the peer, or `None` when it will send no more.
    ///
    /// # Errors
    ///
    /// [`TransportError::TooLong`] and [`TransportError::NoAnswer`] concern one message: the next
    /// call goes on behind it. After any other error, as after `None`, this is not called again.
    fn poll_receive(&mut self, cx: &mut Context<'_>)
    -> Poll<Option<Result<Frame, TransportError>>>;
}

/// The half of a transport that writes.
pub trait Sender: Send + 'static {
    /// Takes a message to be written by the next [`poll_flush`](Self::poll_flush).
    ///
    /// Never waits: how much is queued is for the driver to watch. `about` names the request
    /// of the peer that the message belongs to, for transports that answer each request on a
    /// stream of its own; others ignore it.
    fn send(&mut self, message: &dyn Encode, about: Option<&RequestId>);

    /// Writes what is queued until nothing is left.
    ///
    /// # Errors
    ///
    /// When the peer can no longer be written to.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>>;

    /// Bytes that were taken and not yet written. Not zero before everything was flushed:
    /// while it is, [`poll_flush`](Self::poll_flush) is not called.
    fn queued(&self) -> usize;

    /// Takes leave of the peer, after everything was flushed. A client's driver calls it last.
    ///
    /// # Errors
    ///
    /// When the peer can no longer be told. The connection has ended all the same.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }
}

/// Why a transport cannot deliver a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The peer sent a message that is longer than this side takes. It was skipped, and
    /// reading goes on with the next one.
    #[error("a message is longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A request of this side gets no answer, and reading goes on. Of transports that carry
    /// each request by itself.
    #[error("request {request} has no answer: {why}")]
    NoAnswer {
        /// The request.
        request: RequestId,
        /// Why not.
        why: NoAnswer,
    },
    /// The stream failed; the connection has ended.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why a transport has no answer to a request. This side has found it out; nothing of it is an
/// answer of the peer's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The peer could not be reached, or the way to it broke off. It may have done what it was
    /// asked nevertheless.
    #[error("{0}")]
    Unreachable(String),
    /// Whoever is there wants to be shown another authorization.
    #[error("{0}")]
    Unauthorized(String),
    /// Something came that is no answer: from who does not speak MCP, or not this revision.
    #[error("{0}")]
    Unusable(String),
}
