//! A socket of our own listener: it notices that the client has gone, or reads nothing.
//!
//! While a request is answered, hyper looks whether the client is still there only as long as
//! nothing of the next request has come. What has, is read and kept here, so that the end behind
//! it is seen.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A client's connection.
pub(super) struct Socket {
    stream: TcpStream,
    /// What has been read before it was asked for.
    ahead: BytesMut,
    /// Everything has been read.
    ended: bool,
    /// How long a write may make no progress.
    patience: Duration,
    /// When a write has made none for that long.
    stalled: Option<Pin<Box<Sleep>>>,
}

/// Most that is read ahead, in bytes. A client that sends more behind its request is missed only
/// when something is written to it.
const AHEAD: usize = 64 << 10;

impl Socket {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self {
            stream,
            ahead: BytesMut::new(),
            ended: false,
            patience,
            stalled: None,
        }
    }

    /// Reads on, to see whether the client is there.
    fn look_ahead(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while !self.ended && self.ahead.len() < AHEAD {
            let mut bytes = [0; 1024];
            let mut read = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
                Poll::Pending => break,
                Poll::Ready(done) => done?,
            }
            if read.filled().is_empty() {
                self.ended = true;
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            self.ahead.extend_from_slice(read.filled());
            // Who waits for the socket would wait for what has been taken from it.
            cx.waker().wake_by_ref();
        }
        Ok(())
    }

    fn in_time(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let bytes = self.ahead.len().min(into.remaining());
            into.put_slice(&self.ahead.split_to(bytes));
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        self.ended = into.filled().len() == before;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Comes whenever hyper has nothing more to write, whether it reads or not.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look_ahead(cx)?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
