//! A thread that reads, and one that writes, for streams that can only block.
//!
//! Nobody joins them: a thread that waits for a terminal goes when the process does.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// Reads on a thread of its own.
///
/// The thread is at most two chunks ahead: one is handed over, and with the next it waits.
pub(crate) struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    /// What is left of the last chunk.
    rest: Bytes,
}

impl ThreadReader {
    pub(crate) fn spawn(source: impl Read + Send + 'static) -> io::Result<Self> {
        let (hand_over, chunks) = mpsc::channel(1);
        thread::Builder::new()
            .name("mcp-input".to_owned())
            .spawn(move || read(source, &hand_over))?;
        Ok(Self {
            chunks,
            rest: Bytes::new(),
        })
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.rest = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let taken = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest.split_to(taken));
        Poll::Ready(Ok(()))
    }
}

/// Hands over what `source` has, until it ends or nobody wants it.
fn read(mut source: impl Read, hand_over: &mpsc::Sender<io::Result<Bytes>>) {
    let mut buffer = vec![0; READ];
    loop {
        let chunk = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        if hand_over.blocking_send(chunk).is_err() || failed {
            return;
        }
    }
}

/// Writes on a thread of its own.
///
/// One buffer goes back and forth, so the thread never has more than one chunk, and it has
/// been written when the buffer is back.
pub(crate) struct ThreadWriter {
    /// `None` while the thread has it.
    buffer: Option<Vec<u8>>,
    hand_over: mpsc::Sender<Vec<u8>>,
    written: mpsc::Receiver<io::Result<Vec<u8>>>,
}

impl ThreadWriter {
    pub(crate) fn spawn(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (hand_over, chunks) = mpsc::channel(1);
        let (hand_back, written) = mpsc::channel(1);
        thread::Builder::new()
            .name("mcp-output".to_owned())
            .spawn(move || write(sink, chunks, &hand_back))?;
        Ok(Self {
            buffer: Some(Vec::new()),
            hand_over,
            written,
        })
    }

    /// Waits until the thread has nothing to write, and takes the buffer.
    fn poll_buffer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Vec<u8>>> {
        if let Some(buffer) = self.buffer.take() {
            return Poll::Ready(Ok(buffer));
        }
        self.written
            .poll_recv(cx)
            .map(|buffer| buffer.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())))
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ready!(self.poll_buffer(cx))?;
        let bytes = bytes.chunks(WRITE).next().unwrap_or_default();
        let taken = bytes.len();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let handed_over = self.hand_over.try_send(buffer);
        Poll::Ready(
            handed_over
                .map(|()| taken)
                .map_err(|_| io::ErrorKind::BrokenPipe.into()),
        )
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.buffer = Some(ready!(self.poll_buffer(cx))?);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

/// Writes what is handed over, until writing fails or nothing more will come.
fn write(
    mut sink: impl Write,
    mut chunks: mpsc::Receiver<Vec<u8>>,
    hand_back: &mpsc::Sender<io::Result<Vec<u8>>>,
) {
    while let Some(chunk) = chunks.blocking_recv() {
        let written = sink.write_all(&chunk).and_then(|()| sink.flush());
        let failed = written.is_err();
        if hand_back.blocking_send(written.map(|()| chunk)).is_err() || failed {
            return;
        }
    }
}

/// Most bytes that are read at once.
const READ: usize = 8 * 1024;

/// Most bytes that are copied for the thread to write.
const WRITE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::sync::mpsc as blocking;
    use std::task::Waker;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Gives what it is told to.
    struct Script(blocking::Receiver<io::Result<Vec<u8>>>);

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Ok(bytes) = self.0.recv() else {
                return Ok(0);
            };
            let bytes = bytes?;
            buffer[..bytes.len()].copy_from_slice(&bytes);
            Ok(bytes.len())
        }
    }

    /// Passes on what is written, and waits each time until that is taken.
    struct Gate(blocking::SyncSender<Vec<u8>>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = self.0.send(bytes.to_vec());
            taken
                .map(|()| bytes.len())
                .map_err(|_| io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_reader_gives_what_the_source_has_and_then_its_end() {
        let (script, source) = blocking::channel();
        let mut reader = ThreadReader::spawn(Script(source)).expect("a thread is to be had");
        let mut buffer = [0; 3];
        for bytes in [
            Ok(b"one t".to_vec()),
            Err(io::ErrorKind::Interrupted.into()),
            Ok(b"wo".to_vec()),
        ] {
            script.send(bytes).expect("the thread reads");
        }
        drop(script);
        let mut text = Vec::new();
        while let length @ 1.. = reader.read(&mut buffer).await.expect("nothing fails") {
            text.extend_from_slice(&buffer[..length]);
        }
        assert_eq!(text, b"one two");
    }

    #[tokio::test]
    async fn a_reader_fails_as_the_source_does() {
        let (script, source) = blocking::channel();
        let mut reader = ThreadReader::spawn(Script(source)).expect("a thread is to be had");
        script
            .send(Err(io::ErrorKind::PermissionDenied.into()))
            .expect("the thread reads");
        let error = reader.read_u8().await.expect_err("the source fails");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_reader_is_two_chunks_ahead_at_most() {
        struct Endless(blocking::Sender<()>);

        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let _ = self.0.send(());
                Ok(buffer.len())
            }
        }

        let (count, reads) = blocking::channel();
        let reader = ThreadReader::spawn(Endless(count)).expect("a thread is to be had");
        assert!(reads.recv().is_ok() && reads.recv().is_ok());
        let third = reads.recv_timeout(Duration::from_millis(50));
        assert_eq!(third, Err(blocking::RecvTimeoutError::Timeout));

        drop(reader);
        assert_eq!(
            reads.recv(),
            Err(blocking::RecvError),
            "the thread ends, nobody wants more"
        );
    }

    #[tokio::test]
    async fn a_flush_waits_until_all_is_written() {
        let (gate, written) = blocking::sync_channel(0);
        let mut writer = ThreadWriter::spawn(Gate(gate)).expect("a thread is to be had");
        assert_eq!(writer.write(b"one").await.expect("the thread is idle"), 3);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(
            Pin::new(&mut writer).poll_flush(&mut cx).is_pending(),
            "nothing is written yet"
        );
        assert_eq!(written.recv().expect("the thread writes"), b"one");
        writer.flush().await.expect("all is written");
    }

    #[tokio::test]
    async fn a_writer_writes_everything_in_order() {
        let (gate, written) = blocking::sync_channel(1_000);
        let mut writer = ThreadWriter::spawn(Gate(gate)).expect("a thread is to be had");
        let text: Vec<u8> = (0..1_000_000_u32)
            .map(|number| number.to_le_bytes()[1])
            .collect();
        let taken = writer.write(&text).await.expect("the thread is idle");
        assert_eq!(taken, WRITE, "no more is copied at once");
        writer
            .write_all(&text[taken..])
            .await
            .expect("the thread writes");
        writer.flush().await.expect("the thread writes");
        drop(writer);
        assert!(written.iter().collect::<Vec<_>>().concat() == text);
    }

    #[tokio::test]
    async fn a_writer_fails_as_the_sink_does() {
        let (gate, written) = blocking::sync_channel(0);
        let mut writer = ThreadWriter::spawn(Gate(gate)).expect("a thread is to be had");
        drop(written);
        writer
            .write_all(b"one")
            .await
            .expect("it is only handed over");
        let error = writer.flush().await.expect_err("the sink fails");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let error = writer
            .write_all(b"two")
            .await
            .expect_err("the thread has ended");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
