//! What all exchanges have read, in one queue.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use mcp_protocol::transport::{Frame, NoAnswer, Receiver, RequestId, TransportError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Bytes of messages that wait to be taken. Beyond it exchanges are not read, so that a server
/// cannot fill the memory.
const ROOM: usize = 1 << 20;

type Read = (Result<Frame, TransportError>, Option<OwnedSemaphorePermit>);

/// Where exchanges bring what they have read.
#[derive(Clone)]
pub(super) struct Inlet {
    queue: mpsc::UnboundedSender<Read>,
    room: Arc<Semaphore>,
}

impl Inlet {
    pub(super) fn new() -> (Self, HttpReceiver) {
        let (queue, reads) = mpsc::unbounded_channel();
        let room = Arc::new(Semaphore::new(ROOM));
        (Self { queue, room }, HttpReceiver(reads))
    }

    /// Brings a message, when there is room for it.
    pub(super) async fn frame(&self, frame: Frame) {
        let bytes = frame.len().min(ROOM) as u32;
        let room = self.room.clone().acquire_many_owned(bytes).await;
        let room = room.expect("it is never closed");
        self.bring(Ok(frame), Some(room));
    }

    pub(super) fn no_answer(&self, request: RequestId, why: NoAnswer) {
        self.bring(Err(TransportError::NoAnswer { request, why }), None);
    }

    /// Ends the connection.
    pub(super) fn end(&self, why: &'static str) {
        let error = io::Error::new(io::ErrorKind::ConnectionAborted, why);
        self.bring(Err(error.into()), None);
    }

    fn bring(&self, what: Result<Frame, TransportError>, room: Option<OwnedSemaphorePermit>) {
        // Who does not receive any more wants none of it.
        let _ = self.queue.send((what, room));
    }
}

/// The half of an [`HttpTransport`](crate::HttpTransport) that receives.
pub struct HttpReceiver(mpsc::UnboundedReceiver<Read>);

impl Receiver for HttpReceiver {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame, TransportError>>> {
        let read = ready!(self.0.poll_recv(cx));
        Poll::Ready(read.map(|(what, _room)| what))
    }
}
