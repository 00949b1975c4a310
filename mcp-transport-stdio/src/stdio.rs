//! The standard streams of this process, made its own.

pub(crate) mod thread;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use mcp_protocol::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[cfg(unix)]
use self::unix::Streams;
#[cfg(windows)]
use self::windows::Streams;
use crate::framed::{Framed, FramedReceiver, FramedSender};
use crate::lines::DEFAULT_MAX_FRAME;

/// Takes standard input and output as a transport, out of the reach of everything else.
///
/// To be called first in `main`. From then on, on Unix, the descriptors that carry the
/// protocol are known to nobody else and are closed in child processes. Descriptor 1 leads to
/// standard error, so that `println!`, a C library or a child process cannot write between
/// messages; descriptor 0 is the null device, so that none of them can take one away. On
/// Windows the two handles are duplicated, but what prints to standard output still reaches
/// the client.
///
/// May be called outside of a runtime. Reading and writing never block one, never use its
/// pool of blocking threads and never keep it from shutting down: `main` may return while a
/// read is waiting.
///
/// # Errors
///
/// When it was called before, or when one of the streams is closed. Note that the standard
/// library opens the null device for a stream that is closed when a Rust program starts:
/// such a program meets the end of its input instead.
pub fn stdio() -> io::Result<Stdio> {
    static TAKEN: AtomicBool = AtomicBool::new(false);

    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "stdio() was called before, and the process has only one standard input and output",
        ));
    }
    let streams = Streams::take().inspect_err(|_| TAKEN.store(false, Ordering::Relaxed))?;
    Ok(Stdio {
        streams,
        max_frame: DEFAULT_MAX_FRAME,
    })
}

/// The standard streams of this process, as [`stdio`] took them.
///
/// What they are decides how they are driven. On Unix a socket, and on Linux a pipe, is
/// non-blocking; a pipe is opened anew for that, so that whoever shares it sees no change.
/// Everything else (a terminal, a file, any stream on Windows) has a thread that reads or
/// writes.
#[derive(Debug)]
pub struct Stdio {
    streams: Streams,
    max_frame: usize,
}

impl Stdio {
    /// Longest message that is read, in bytes. Default 16 MiB ([`DEFAULT_MAX_FRAME`]). Stops
    /// a peer that never sends a line feed from filling the memory.
    #[must_use]
    pub fn max_frame(mut self, bytes: usize) -> Self {
        self.max_frame = bytes;
        self
    }
}

impl Transport for Stdio {
    type Receiver = FramedReceiver<Input>;
    type Sender = FramedSender<Output>;

    /// Takes the connection apart.
    ///
    /// A stream that cannot be driven fails when it is first used.
    ///
    /// # Panics
    ///
    /// On Unix, outside of a tokio runtime whose I/O is enabled.
    fn split(self) -> (Self::Receiver, Self::Sender) {
        let (input, output) = self.streams.open();
        let input = input.unwrap_or_else(|error| Box::new(Failed(Some(error))));
        let output = output.unwrap_or_else(|error| Box::new(Failed(Some(error))));
        Framed::new(input, output).max_frame(self.max_frame).split()
    }
}

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// A stream that could not be opened, and says so when it is used.
struct Failed(Option<io::Error>);

impl Failed {
    fn error<T>(&mut self) -> Poll<io::Result<T>> {
        Poll::Ready(Err(self
            .0
            .take()
            .unwrap_or_else(|| io::ErrorKind::NotConnected.into())))
    }
}

impl AsyncRead for Failed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.error()
    }
}

impl AsyncWrite for Failed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.error()
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.error()
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.error()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use mcp_protocol::transport::{Receiver, TransportError};

    use super::*;

    #[tokio::test]
    async fn a_stream_that_cannot_be_opened_fails_when_it_is_used() {
        let failed = || Failed(Some(io::ErrorKind::PermissionDenied.into()));
        let (mut receiver, _) = Framed::new(failed(), failed()).split();
        let received = poll_fn(|cx| receiver.poll_receive(cx)).await;
        assert!(matches!(
            received,
            Some(Err(TransportError::Io(error))) if error.kind() == io::ErrorKind::PermissionDenied
        ));
    }
}
