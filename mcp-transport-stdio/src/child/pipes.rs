//! The server's input, which can be ended from elsewhere, and its output, which ends with it.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::process::{Gone, Pipe, Reader, Source, Writer, open_reader, open_writer, read_rest};

/// Reads what a process writes, until there is no more or the process is gone.
///
/// Something that escaped when the process was killed may hold the pipe for ever. So the
/// last that is read is what was in the pipe when the process was gone.
pub(super) struct Output<K = ()> {
    /// `None` behind the end.
    open: Option<(Reader, mpsc::Sender<Infallible>)>,
    gone: Gone,
    /// How much is read at most once the process is gone.
    left: usize,
    /// What must not be dropped before.
    _keeps: K,
}

/// The most that a pipe holds, unless the system was told otherwise.
const PIPE: usize = 1024 * 1024;

impl<K> Output<K> {
    pub(super) fn open(source: Source, keeps: K) -> io::Result<Self> {
        Ok(Self {
            open: Some((open_reader(source.pipe)?, source.reading)),
            gone: source.gone,
            left: PIPE,
            _keeps: keeps,
        })
    }
}

impl<K: Unpin> AsyncRead for Output<K> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let Some((reader, _)) = &mut this.open else {
            return Poll::Ready(Ok(()));
        };
        let before = buffer.filled().len();
        let read = if this.gone.poll(cx) {
            let read = match this.left {
                0 => Ok(()),
                _ => read_rest(reader, cx, buffer),
            };
            this.left = this.left.saturating_sub(buffer.filled().len() - before);
            Poll::Ready(read)
        } else {
            Pin::new(reader).poll_read(cx, buffer)
        };
        if read.is_ready() && buffer.filled().len() == before {
            this.open = None;
        }
        read
    }
}

/// What a server reads.
pub(super) struct Input(Mutex<Slot>);

struct Slot {
    /// `None` once it was ended.
    writer: Option<Writer>,
    /// Who waits until more can be written.
    waiting: Option<Waker>,
}

impl Input {
    pub(super) fn open(pipe: Pipe) -> io::Result<Arc<Self>> {
        let writer = Some(open_writer(pipe)?);
        Ok(Arc::new(Self(Mutex::new(Slot {
            writer,
            waiting: None,
        }))))
    }

    /// Ends the input. Who is writing fails.
    pub(super) fn end(&self) {
        let mut slot = self.lock();
        drop(slot.writer.take());
        let waiting = slot.waiting.take();
        drop(slot);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Writer>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut slot = self.lock();
        let Some(writer) = &mut slot.writer else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let polled = poll(Pin::new(writer), cx);
        if polled.is_pending() {
            slot.waiting = Some(cx.waker().clone());
        }
        polled
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes what a server reads, and ends it when dropped.
pub(super) struct InputWriter<K> {
    input: Arc<Input>,
    gone: Gone,
    /// What must not be dropped before.
    _keeps: K,
}

impl<K> InputWriter<K> {
    pub(super) fn new(input: Arc<Input>, gone: Gone, keeps: K) -> Self {
        Self {
            input,
            gone,
            _keeps: keeps,
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Writer>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        // Something that escaped may hold the other end, and never read.
        if self.gone.poll(cx) {
            self.input.end();
        }
        self.input.poll(cx, poll)
    }
}

impl<K: Unpin> AsyncWrite for InputWriter<K> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, |writer, cx| writer.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, |writer, cx| writer.poll_flush(cx).map_ok(|()| 0))
            .map_ok(|_| ())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.input.end();
        Poll::Ready(Ok(()))
    }
}

impl<K> Drop for InputWriter<K> {
    fn drop(&mut self) {
        self.input.end();
    }
}
