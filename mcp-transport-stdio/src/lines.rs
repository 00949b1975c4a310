//! Bytes in, frames out. This module never reads, writes or awaits.

use std::{fmt, mem};

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

/// Longest line that is taken unless [told otherwise](Lines::new), in bytes: 16 MiB.
pub const DEFAULT_MAX_FRAME: usize = 16 * 1024 * 1024;

/// Cuts a stream of bytes into lines, each the text of one message.
///
/// Only a line feed ends a line: U+2028 and a lone carriage return are part of it. A carriage
/// return before the line feed is dropped, and so is one byte order mark at the start of the
/// stream. Lines that hold nothing but white space are skipped. Whether a line is UTF-8, or
/// JSON, is not looked at.
///
/// A frame is a slice of the buffer that was read into, without a copy, so the memory around
/// it lives as long as the frame does. Once all frames are dropped, the buffer is used again.
///
/// ```
/// use mcp_transport_stdio::Lines;
///
/// let mut lines = Lines::default();
/// lines.buffer().extend_from_slice(b"{\"a\":1}\r\n\n{\"b\":");
/// assert_eq!(lines.next_frame().unwrap().unwrap(), "{\"a\":1}");
/// assert!(lines.next_frame().is_none());
///
/// lines.buffer().extend_from_slice(b"2}");
/// assert!(lines.next_frame().is_none());
/// assert_eq!(lines.finish().unwrap(), "{\"b\":2}");
/// ```
pub struct Lines {
    buffer: BytesMut,
    /// How many bytes at the front of `buffer` are known to hold no line feed.
    scanned: usize,
    max_frame: usize,
    line: Line,
    /// Whether the memory behind `buffer` was made for a line of more than [`KEPT`] bytes.
    outgrown: bool,
    /// The largest that the buffer has been, since it was a new one.
    whole: usize,
}

/// Which line the front of the buffer belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    /// The first of the stream, which may begin with a byte order mark.
    First,
    /// Any other.
    Next,
    /// One that was refused already, and whose rest is thrown away.
    Refused,
}

impl Lines {
    /// Takes lines of up to `max_frame` bytes, without the line feed. The limit is for what
    /// is buffered of a peer that never sends one: memory stays below about twice as much.
    #[must_use]
    pub fn new(max_frame: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            max_frame,
            line: Line::First,
            outgrown: false,
            whole: 0,
        }
    }

    /// The buffer to append what was read to, with room for at least 4 KiB.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.outgrown && self.buffer.len() <= KEPT {
            self.outgrown = false;
            let rest = mem::take(&mut self.buffer);
            self.buffer.reserve(FIRST.max(rest.len() + ROOM));
            self.buffer.extend_from_slice(&rest);
            self.whole = 0;
        }
        if self.buffer.capacity() - self.buffer.len() < ROOM {
            // While earlier frames are in use this is a new buffer. With no more than `ROOM`
            // asked for, there would be a new one for each frame.
            let len = self.buffer.len();
            self.buffer.reserve(ROOM.max(FIRST.saturating_sub(len)));
        }
        self.whole = self.whole.max(self.buffer.capacity());
        &mut self.buffer
    }

    /// The next complete line, or `None` until more was read.
    ///
    /// # Errors
    ///
    /// Once for a line that is longer than the limit, as soon as so much of it was read. The
    /// next call goes on behind it.
    pub fn next_frame(&mut self) -> Option<Result<Bytes, TooLong>> {
        while let Some(line) = self.cut() {
            match mem::replace(&mut self.line, Line::Next) {
                Line::Refused => {}
                _ if line.len() > self.max_frame => return Some(Err(self.too_long())),
                place => {
                    let frame = content(line, place);
                    if frame.is_some() {
                        return frame.map(Ok);
                    }
                }
            }
        }
        if self.line == Line::Refused {
            self.scanned = 0;
            self.buffer.clear();
        } else if self.buffer.len() > self.max_frame {
            self.scanned = 0;
            self.buffer = BytesMut::new();
            self.line = Line::Refused;
            return Some(Err(self.too_long()));
        }
        None
    }

    /// The last line, if the stream ended without a line feed behind it.
    ///
    /// To be called at the end of the stream, when [`next_frame`](Self::next_frame) has
    /// nothing left.
    pub fn finish(&mut self) -> Option<Bytes> {
        self.scanned = 0;
        let line = mem::take(&mut self.buffer).freeze();
        content(line, mem::replace(&mut self.line, Line::Next))
    }

    /// Takes the bytes up to the next line feed off the buffer, and that with them.
    fn cut(&mut self) -> Option<Bytes> {
        let Some(found) = memchr(b'\n', self.buffer.get(self.scanned..)?) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + found;
        self.scanned = 0;
        self.outgrown |= end > KEPT;
        if self.whole > KEPT && end < self.whole / 4 {
            // A slice of it would keep all of a large buffer for as long as a small line is used.
            let line = Bytes::copy_from_slice(self.buffer.get(..end)?);
            self.buffer.advance(end + 1);
            return Some(line);
        }
        let mut line = self.buffer.split_to(end + 1).freeze();
        line.truncate(end);
        Some(line)
    }

    fn too_long(&self) -> TooLong {
        TooLong {
            limit: self.max_frame,
        }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_FRAME)
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("buffered", &self.buffer.len())
            .field("max_frame", &self.max_frame)
            .finish_non_exhaustive()
    }
}

/// A line was longer than the limit and is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line is longer than {} bytes", self.limit)
    }
}

impl std::error::Error for TooLong {}

/// What a line says, or `None` if it is blank.
fn content(mut line: Bytes, place: Line) -> Option<Bytes> {
    if place == Line::First && line.starts_with(BYTE_ORDER_MARK) {
        line.advance(BYTE_ORDER_MARK.len());
    }
    if let Some(len) = line.strip_suffix(b"\r").map(<[u8]>::len) {
        line.truncate(len);
    }
    (!line.trim_ascii().is_empty()).then_some(line)
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Bytes in the buffer of a stream whose messages are small.
const FIRST: usize = 8 * 1024;

/// Bytes to have room for before each read. Half of `FIRST`, so that the buffer is used again
/// from its front instead of growing while a message lies across its middle.
const ROOM: usize = FIRST / 2;

/// A line of more bytes than this leaves no buffer of its size behind.
const KEPT: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What comes out when the chunks are read one by one; `Err` for a refused line.
    fn cut(max_frame: usize, chunks: &[&[u8]]) -> Vec<Result<Vec<u8>, TooLong>> {
        let mut lines = Lines::new(max_frame);
        let mut frames = Vec::new();
        for chunk in chunks {
            lines.buffer().extend_from_slice(chunk);
            while let Some(frame) = lines.next_frame() {
                frames.push(frame.map(|frame| frame.to_vec()));
            }
        }
        frames.extend(lines.finish().map(|frame| Ok(frame.to_vec())));
        frames
    }

    /// The same, said as simply as possible and with everything at hand.
    fn model(max_frame: usize, stream: &[u8]) -> Vec<Result<Vec<u8>, TooLong>> {
        let mut frames = Vec::new();
        for (number, line) in stream.split(|&byte| byte == b'\n').enumerate() {
            if line.len() > max_frame {
                frames.push(Err(TooLong { limit: max_frame }));
                continue;
            }
            let mut line = line;
            if number == 0 {
                line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            }
            line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.iter().all(u8::is_ascii_whitespace) {
                frames.push(Ok(line.to_vec()));
            }
        }
        frames
    }

    fn check(stream: &str, expected: &[&str]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|text| Ok(text.as_bytes().to_vec()))
            .collect();
        assert_eq!(cut(100, &[stream.as_bytes()]), expected, "in one piece");
        let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
        assert_eq!(cut(100, &bytes), expected, "byte by byte");
    }

    #[test]
    fn a_line_feed_ends_a_frame() {
        check("one\ntwo\n", &["one", "two"]);
    }

    /// Covers T01, T01c, B-158, B-158c.
    #[test]
    fn nothing_else_ends_a_frame() {
        check(
            "a\rb\u{2028}c\u{2029}d\u{85}e\x0bf\n",
            &["a\rb\u{2028}c\u{2029}d\u{85}e\x0bf"],
        );
    }

    /// Covers T12, T12c, B-145.
    #[test]
    fn one_carriage_return_before_the_line_feed_is_dropped() {
        check("one\r\ntwo\r\r\n", &["one", "two\r"]);
    }

    /// Covers T12, T12c, B-149.
    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_of_the_stream_only() {
        check(
            "\u{feff}\u{feff}one\n\u{feff}two\n",
            &["\u{feff}one", "\u{feff}two"],
        );
        check("\n\u{feff}one\n", &["\u{feff}one"]);
        check("\u{feff}\r\none", &["one"]);
        check("\u{feff}", &[]);
    }

    /// Covers T12, T12c.
    #[test]
    fn blank_lines_are_skipped() {
        check("\n\r\n \t\r\none\n \n\ntwo\n  ", &["one", "two"]);
    }

    #[test]
    fn white_space_around_a_message_stays() {
        check(" {} \t\n", &[" {} \t"]);
    }

    /// Covers T13, T13c.
    #[test]
    fn the_last_line_needs_no_line_feed() {
        check("one\ntwo", &["one", "two"]);
        check("one\ntwo\r", &["one", "two"]);
    }

    #[test]
    fn a_line_as_long_as_the_limit_is_taken() {
        assert_eq!(
            cut(3, &[b"abc\nabc"]),
            [Ok(b"abc".to_vec()), Ok(b"abc".to_vec())]
        );
    }

    /// Covers T15, T15c.
    #[test]
    fn a_longer_line_is_refused_once_and_the_next_is_taken() {
        let check = |chunks: &[&[u8]], expected: &[&str]| {
            let frames = cut(3, chunks).into_iter().map(|frame| match frame {
                Ok(frame) => String::from_utf8(frame).expect("all of it is text"),
                Err(TooLong { limit }) => format!("over {limit}"),
            });
            assert_eq!(frames.collect::<Vec<_>>(), expected);
        };
        check(&[b"abcd\none\n"], &["over 3", "one"]);
        check(&[b"ab", b"cd", b"efgh", b"ij\none\n"], &["over 3", "one"]);
        check(&[b"abcdefg"], &["over 3"]);
        check(&[b"abcd", b"e\nfghi\none"], &["over 3", "over 3", "one"]);
    }

    #[test]
    fn a_line_is_refused_before_it_ends() {
        let mut lines = Lines::new(3);
        lines.buffer().extend_from_slice(b"abcd");
        assert_eq!(lines.next_frame(), Some(Err(TooLong { limit: 3 })));
        assert_eq!(lines.next_frame(), None);
    }

    /// Covers T15, T15c, B-087.
    #[test]
    fn a_refused_line_is_not_kept() {
        let mut lines = Lines::new(100_000);
        let mut refused = 0;
        for _ in 0..1_000 {
            lines.buffer().extend_from_slice(&[b'x'; 10_000]);
            refused += usize::from(lines.next_frame().is_some());
            assert!(lines.buffer.capacity() <= 200_000);
        }
        assert_eq!(refused, 1);
        assert!(
            lines.buffer().capacity() <= 2 * FIRST,
            "nothing but the last read is there"
        );
    }

    #[test]
    fn frames_share_the_memory_they_were_read_into() {
        let mut lines = Lines::default();
        lines.buffer().extend_from_slice(b"one\ntwo\n");
        let memory = lines.buffer.as_ptr_range();
        for _ in 0..2 {
            let frame = lines
                .next_frame()
                .expect("a line is there")
                .expect("it is short");
            assert!(memory.contains(&frame.as_ptr()));
        }
    }

    #[test]
    fn small_frames_one_after_another_need_one_buffer() {
        let mut lines = Lines::default();
        lines.buffer();
        let memory = lines.buffer.as_ptr()..lines.buffer.as_ptr().wrapping_add(FIRST);
        for _ in 0..10_000 {
            lines.buffer().extend_from_slice(&[b'x'; 64]);
            assert_eq!(lines.next_frame(), None);
            lines.buffer().extend_from_slice(b"y\n");
            let frame = lines
                .next_frame()
                .expect("the line has ended")
                .expect("it is short");
            assert!(
                memory.contains(&frame.as_ptr()),
                "the first buffer is used again"
            );
        }
    }

    #[test]
    fn a_small_frame_does_not_keep_a_huge_buffer() {
        let mut lines = Lines::default();
        for _ in 0..100 {
            lines.buffer().extend_from_slice(&[b'x'; 4_000]);
            assert_eq!(lines.next_frame(), None);
        }
        lines.buffer().extend_from_slice(b"\nsmall\n");
        let whole = lines.buffer.as_ptr_range();
        let huge = lines.next_frame();
        assert!(huge.is_some_and(|frame| frame.is_ok_and(|frame| frame.len() == 400_000)));
        let small = lines.next_frame().expect("a line").expect("it is short");
        assert_eq!(small, "small");
        assert!(!whole.contains(&small.as_ptr()));
    }

    #[test]
    fn a_huge_frame_leaves_a_small_buffer() {
        let mut lines = Lines::default();
        for _ in 0..1_000 {
            lines.buffer().extend_from_slice(&[b'x'; 4_000]);
            assert_eq!(lines.next_frame(), None);
        }
        lines.buffer().extend_from_slice(b"\nnext");
        assert_eq!(
            lines
                .next_frame()
                .map(|frame| frame.map(|frame| frame.len())),
            Some(Ok(4_000_000))
        );
        assert!(lines.buffer().capacity() <= FIRST);
        lines.buffer().extend_from_slice(b" line\n");
        assert_eq!(
            lines.next_frame(),
            Some(Ok(Bytes::from_static(b"next line")))
        );
    }

    #[test]
    fn what_came_behind_a_huge_frame_is_not_moved_while_it_is_huge() {
        let mut lines = Lines::default();
        lines.buffer().reserve(1_000_000);
        lines.buffer().extend_from_slice(&[b'x'; 300_000]);
        lines.buffer()[100_000] = b'\n';
        assert!(lines.next_frame().is_some());
        let rest = lines.buffer.as_ptr();
        assert_eq!(lines.buffer().as_ptr(), rest);
    }

    #[test]
    fn a_growing_line_is_scanned_and_moved_a_constant_number_of_times() {
        let mut lines = Lines::default();
        let mut moved = 0;
        let mut at = lines.buffer().as_ptr();
        for _ in 0..10_000 {
            lines.buffer().extend_from_slice(&[b'x'; 1_000]);
            assert_eq!(lines.next_frame(), None);
            assert_eq!(lines.scanned, lines.buffer.len());
            moved += usize::from(mem::replace(&mut at, lines.buffer.as_ptr()) != at);
        }
        assert!(moved < 20, "the buffer grew {moved} times");
    }

    proptest! {
        /// Covers T13, T13c, B-161, B-161c.
        #[test]
        fn any_chunking_gives_what_the_model_says(
            pieces in vec(
                prop_oneof![
                    Just(b"\n".to_vec()),
                    Just(b"\r".to_vec()),
                    Just(b" ".to_vec()),
                    Just("\u{feff}".as_bytes().to_vec()),
                    vec(any::<u8>(), 0..40),
                    vec(b'a'..b'c', 0..10),
                ],
                0..40,
            ),
            cuts in vec(0_usize..30, 0..200),
            max_frame in 1_usize..40,
        ) {
            let stream = pieces.concat();
            let mut chunks = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts {
                let (chunk, after) = rest.split_at(cut.min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            chunks.push(rest);
            prop_assert_eq!(cut(max_frame, &chunks), model(max_frame, &stream));
        }
    }
}
