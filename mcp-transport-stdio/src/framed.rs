//! The transport over any pair of byte streams: one read buffer, one write buffer.

use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_protocol::{Encode, Frame, RequestId};
use memchr::memchr2;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use crate::lines::{DEFAULT_MAX_FRAME, Lines, TooLong};

/// Newline-delimited messages over a reader and a writer.
///
/// Neither needs a buffer of its own: everything that is queued is written in one go.
///
/// ```
/// # fn connect(stream: tokio::net::TcpStream) -> impl mcp_protocol::transport::Transport {
/// use mcp_transport_stdio::Framed;
///
/// let (reader, writer) = stream.into_split();
/// Framed::new(reader, writer).max_frame(1024 * 1024)
/// # }
/// ```
#[derive(Debug)]
pub struct Framed<R, W> {
    reader: R,
    writer: W,
    max_frame: usize,
}

impl<R, W> Framed<R, W> {
    /// Reads messages from `reader` and writes messages to `writer`.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            writer,
            max_frame: DEFAULT_MAX_FRAME,
        }
    }

    /// Longest message that is read, in bytes. Default 16 MiB ([`DEFAULT_MAX_FRAME`]). Stops
    /// a peer that never sends a line feed from filling the memory.
    #[must_use]
    pub fn max_frame(mut self, bytes: usize) -> Self {
        self.max_frame = bytes;
        self
    }
}

impl<R, W> Transport for Framed<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Receiver = FramedReceiver<R>;
    type Sender = FramedSender<W>;

    fn split(self) -> (Self::Receiver, Self::Sender) {
        let receiver = FramedReceiver {
            reader: self.reader,
            lines: Lines::new(self.max_frame),
            ended: false,
        };
        let sender = FramedSender {
            writer: self.writer,
            buffer: Vec::new(),
            written: 0,
            flushed: true,
        };
        (receiver, sender)
    }
}

/// The half of [`Framed`] that reads.
#[derive(Debug)]
pub struct FramedReceiver<R> {
    reader: R,
    lines: Lines,
    ended: bool,
}

impl<R: AsyncRead + Send + Unpin + 'static> Receiver for FramedReceiver<R> {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame, TransportError>>> {
        loop {
            if let Some(frame) = self.lines.next_frame() {
                let refused = |TooLong { limit }| TransportError::TooLong { limit };
                return Poll::Ready(Some(frame.map_err(refused)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            // The future holds nothing, so it may be dropped while it waits.
            match ready!(pin!(self.reader.read_buf(self.lines.buffer())).poll(cx)) {
                Ok(0) => {
                    self.ended = true;
                    return Poll::Ready(self.lines.finish().map(Ok));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }
}

/// The half of [`Framed`] that writes.
///
/// A line break inside a message is written as a space, which means the same in JSON.
/// Dropping the sender drops what is queued.
#[derive(Debug)]
pub struct FramedSender<W> {
    writer: W,
    buffer: Vec<u8>,
    /// How many bytes at the front of `buffer` the writer has taken.
    written: usize,
    /// Whether the writer was flushed since it last took something.
    flushed: bool,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Sender for FramedSender<W> {
    fn send(&mut self, message: &dyn Encode, _about: Option<&RequestId>) {
        self.compact();
        let start = self.buffer.len();
        message.encode(&mut self.buffer);
        put_on_one_line(&mut self.buffer[start..]);
        self.buffer.push(b'\n');
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        while self.written < self.buffer.len() {
            let rest = &self.buffer[self.written..];
            match ready!(Pin::new(&mut self.writer).poll_write(cx, rest)) {
                Ok(0) => return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero).into())),
                Ok(taken) => {
                    self.written += taken;
                    self.flushed = false;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        self.empty();
        if !self.flushed {
            ready!(Pin::new(&mut self.writer).poll_flush(cx))?;
            self.flushed = true;
        }
        Poll::Ready(Ok(()))
    }

    fn queued(&self) -> usize {
        // What the writer has taken may still be in a buffer of its own.
        (self.buffer.len() - self.written).max(usize::from(!self.flushed))
    }
}

impl<W> FramedSender<W> {
    /// Forgets what was written, once that is most of the buffer: so each byte is moved at
    /// most once on average, however slowly the peer reads.
    fn compact(&mut self) {
        if self.written > self.buffer.len() / 2 {
            self.buffer.drain(..self.written);
            self.written = 0;
        }
    }

    fn empty(&mut self) {
        self.written = 0;
        if self.buffer.capacity() > KEPT {
            self.buffer = Vec::new();
        } else {
            self.buffer.clear();
        }
    }
}

/// Replaces line breaks, which stand only between the tokens of a JSON text, by spaces: a
/// value that is passed on as it came may contain some. Carriage returns too, since there
/// are peers to which they end a line.
fn put_on_one_line(message: &mut [u8]) {
    let mut rest = message;
    while let Some(found) = memchr2(b'\n', b'\r', rest) {
        let Some([broken, behind @ ..]) = mem::take(&mut rest).get_mut(found..) else {
            return;
        };
        *broken = b' ';
        rest = behind;
    }
}

/// A write buffer of more bytes than this is not kept when it has been written.
const KEPT: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::task::Waker;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    struct Text<'a>(&'a str);

    impl Encode for Text<'_> {
        fn encode(&self, out: &mut Vec<u8>) {
            out.extend_from_slice(self.0.as_bytes());
        }
    }

    /// What a stream does when it is read or written next.
    #[derive(Clone, Debug)]
    enum Step {
        Give(&'static [u8]),
        Take(usize),
        Wait,
        Fail(io::ErrorKind),
    }
    use Step::{Fail, Give, Take, Wait};

    /// Follows a script; behind it, input has ended and output takes everything.
    #[derive(Default)]
    struct Stream {
        steps: VecDeque<Step>,
        output: Vec<u8>,
        writes: usize,
        flushes: usize,
    }

    impl Stream {
        fn new(steps: impl IntoIterator<Item = Step>) -> Self {
            Self {
                steps: steps.into_iter().collect(),
                ..Self::default()
            }
        }
    }

    impl AsyncRead for Stream {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            match self.steps.pop_front() {
                None => Poll::Ready(Ok(())),
                Some(Wait) => Poll::Pending,
                Some(Fail(kind)) => Poll::Ready(Err(kind.into())),
                Some(Give(bytes)) => {
                    buffer.put_slice(bytes);
                    Poll::Ready(Ok(()))
                }
                Some(Take(_)) => unreachable!("a reader gives"),
            }
        }
    }

    impl AsyncWrite for Stream {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let taken = match self.steps.pop_front() {
                None => bytes.len(),
                Some(Wait) => return Poll::Pending,
                Some(Fail(kind)) => return Poll::Ready(Err(kind.into())),
                Some(Take(most)) => most.min(bytes.len()),
                Some(Give(_)) => unreachable!("a writer takes"),
            };
            self.writes += 1;
            self.output.extend_from_slice(&bytes[..taken]);
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            if let Some(Wait) = self.steps.front() {
                self.steps.pop_front();
                return Poll::Pending;
            }
            self.flushes += 1;
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn sender(steps: impl IntoIterator<Item = Step>) -> FramedSender<Stream> {
        Framed::new(Stream::default(), Stream::new(steps)).split().1
    }

    fn flush(sender: &mut FramedSender<Stream>) -> Poll<Result<(), io::ErrorKind>> {
        let flushed = sender.poll_flush(&mut Context::from_waker(Waker::noop()));
        flushed.map_err(|error| match error {
            TransportError::Io(error) => error.kind(),
            error => panic!("a sender has no such error: {error}"),
        })
    }

    fn flush_until_done(sender: &mut FramedSender<Stream>) {
        while flush(sender) == Poll::Pending {}
        assert_eq!(sender.queued(), 0);
    }

    /// Everything that comes out, as text; `Wait`s are polled over.
    fn receive(max_frame: usize, steps: impl IntoIterator<Item = Step>) -> Vec<String> {
        let reader = Stream::new(steps);
        let (mut receiver, _) = Framed::new(reader, Stream::default())
            .max_frame(max_frame)
            .split();
        let mut received = Vec::new();
        loop {
            match receiver.poll_receive(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => received.push("..".to_owned()),
                Poll::Ready(None) => return received,
                Poll::Ready(Some(Ok(frame))) => {
                    received.push(String::from_utf8_lossy(&frame).into_owned());
                }
                Poll::Ready(Some(Err(TransportError::TooLong { limit }))) => {
                    received.push(format!("over {limit}"));
                }
                Poll::Ready(Some(Err(TransportError::Io(error)))) => {
                    received.push(format!("{:?}", error.kind()));
                    return received;
                }
                Poll::Ready(Some(Err(error))) => panic!("not an error of this transport: {error}"),
            }
        }
    }

    #[test]
    fn all_messages_are_written_at_once_and_flushed() {
        let mut sender = sender([]);
        sender.send(&Text("one"), None);
        sender.send(&Text("two"), None);
        assert_eq!(sender.queued(), 8);
        assert_eq!(flush(&mut sender), Poll::Ready(Ok(())));
        assert_eq!(sender.queued(), 0);
        assert_eq!(sender.writer.output, b"one\ntwo\n");
        assert_eq!((sender.writer.writes, sender.writer.flushes), (1, 1));
    }

    #[test]
    fn nothing_to_write_is_not_written_or_flushed() {
        let mut sender = sender([]);
        assert_eq!(flush(&mut sender), Poll::Ready(Ok(())));
        assert_eq!((sender.writer.writes, sender.writer.flushes), (0, 0));
    }

    #[test]
    fn a_flush_that_waited_goes_on_where_it_stopped() {
        let mut sender = sender([Take(2), Wait, Take(1), Wait, Take(9), Wait]);
        sender.send(&Text("one"), None);
        assert_eq!(flush(&mut sender), Poll::Pending);
        assert_eq!(sender.queued(), 2);
        sender.send(&Text("two"), None);
        assert_eq!(flush(&mut sender), Poll::Pending);
        assert_eq!(
            flush(&mut sender),
            Poll::Pending,
            "the writer's own flush waits"
        );
        assert_eq!((sender.queued(), sender.writer.flushes), (1, 0));
        assert_eq!(flush(&mut sender), Poll::Ready(Ok(())));
        assert_eq!(sender.queued(), 0);
        assert_eq!(sender.writer.output, b"one\ntwo\n");
        assert_eq!((sender.writer.writes, sender.writer.flushes), (3, 1));
    }

    #[test]
    fn an_interrupted_write_is_tried_again() {
        let mut sender = sender([Fail(io::ErrorKind::Interrupted)]);
        sender.send(&Text("one"), None);
        assert_eq!(flush(&mut sender), Poll::Ready(Ok(())));
        assert_eq!(sender.writer.output, b"one\n");
    }

    #[test]
    fn a_peer_that_vanished_is_an_error() {
        for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset] {
            let mut sender = sender([Take(1), Fail(kind)]);
            sender.send(&Text("one"), None);
            assert_eq!(flush(&mut sender), Poll::Ready(Err(kind)));
        }
    }

    #[test]
    fn a_writer_that_takes_nothing_is_an_error() {
        let mut sender = sender([Take(0)]);
        sender.send(&Text("one"), None);
        assert_eq!(
            flush(&mut sender),
            Poll::Ready(Err(io::ErrorKind::WriteZero))
        );
    }

    /// Covers T01, T01c.
    #[test]
    fn line_breaks_between_tokens_are_written_as_spaces() {
        let mut sender = sender([]);
        sender.send(&Text("{\r\n\"a\u{2028}\":\n1\r}\n"), None);
        flush_until_done(&mut sender);
        assert_eq!(sender.writer.output, "{  \"a\u{2028}\": 1 } \n".as_bytes());
    }

    #[test]
    fn a_huge_buffer_is_not_kept() {
        let mut sender = sender([]);
        sender.send(&Text(&"x".repeat(1_000_000)), None);
        flush_until_done(&mut sender);
        assert!(sender.buffer.capacity() <= KEPT);
    }

    #[test]
    fn the_buffer_for_small_messages_is_kept() {
        let mut sender = sender([]);
        sender.send(&Text("one"), None);
        flush_until_done(&mut sender);
        assert!(sender.buffer.capacity() > 0);
    }

    #[test]
    fn a_peer_that_never_catches_up_costs_what_is_queued() {
        let message = "x".repeat(999);
        let mut sender = sender([]);
        for _ in 0..50 {
            sender.send(&Text(&message), None);
        }
        for _ in 0..10_000 {
            sender.send(&Text(&message), None);
            sender.writer.steps.extend([Take(1_000), Wait]);
            assert_eq!(flush(&mut sender), Poll::Pending);
            assert_eq!(sender.queued(), 50_000);
            assert!(sender.buffer.len() <= 2 * 50_000 + 2_000);
        }
    }

    #[test]
    fn a_receive_that_waited_loses_nothing() {
        let steps = [
            Give(b"o"),
            Wait,
            Give(b"ne"),
            Wait,
            Give(b"\ntw"),
            Wait,
            Give(b"o\n"),
        ];
        assert_eq!(receive(100, steps), ["..", "..", "one", "..", "two"]);
    }

    #[test]
    fn frames_that_came_together_are_given_one_by_one() {
        assert_eq!(
            receive(100, [Give(b"one\ntwo\nthree")]),
            ["one", "two", "three"]
        );
    }

    #[test]
    fn input_that_ends_gives_its_last_line_and_then_none() {
        // A terminal may go on after it ended.
        let steps = [Give(b"one"), Give(b""), Give(b"two\n")];
        let (mut receiver, _) = Framed::new(Stream::new(steps), Stream::default()).split();
        let mut next = || receiver.poll_receive(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(next(), Poll::Ready(Some(Ok(frame))) if frame == "one"));
        assert!(matches!(next(), Poll::Ready(None)));
        assert!(matches!(next(), Poll::Ready(None)));
    }

    #[test]
    fn an_interrupted_read_is_tried_again() {
        let steps = [Fail(io::ErrorKind::Interrupted), Give(b"one\n")];
        assert_eq!(receive(100, steps), ["one"]);
    }

    #[test]
    fn a_read_that_fails_is_an_error_and_not_an_end() {
        let steps = [Give(b"one\ntw"), Fail(io::ErrorKind::ConnectionReset)];
        assert_eq!(receive(100, steps), ["one", "ConnectionReset"]);
    }

    #[test]
    fn a_line_over_the_limit_is_refused_before_it_ends_and_the_next_is_taken() {
        let steps = [
            Give(b"one\nabcd"),
            Wait,
            Give(b"ef"),
            Wait,
            Give(b"g\ntwo\n"),
        ];
        assert_eq!(receive(3, steps), ["one", "over 3", "..", "..", "two"]);
    }

    proptest! {
        /// Covers T14, T14c.
        #[test]
        fn any_sequence_of_writes_gives_the_same_bytes(
            script in vec(
                (
                    "[a-z]{0,40}",
                    vec(prop_oneof![Just(Wait), (1_usize..30).prop_map(Take)], 0..6),
                ),
                0..30,
            ),
        ) {
            let mut sender = sender([]);
            let mut expected = String::new();
            for (message, steps) in script {
                sender.send(&Text(&message), None);
                expected.push_str(&message);
                expected.push('\n');
                sender.writer.steps.extend(steps);
                let flushed = flush(&mut sender);
                prop_assert_eq!(flushed.is_ready(), sender.queued() == 0 && sender.flushed);
            }
            flush_until_done(&mut sender);
            prop_assert_eq!(String::from_utf8_lossy(&sender.writer.output), expected);
        }
    }
}
