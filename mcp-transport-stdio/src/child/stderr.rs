//! What a server writes to standard error: read whatever it is, with the end of it kept.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What becomes of the lines that a server writes to standard error.
///
/// They are read at all times, so that a talkative server never waits, and are no sign of an
/// error. The last 16 KiB are kept for [`stderr_tail`](super::ChildHandle::stderr_tail).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Each line is an event of `tracing`, of level *info* and target `mcp_transport_stdio::stderr`.
    #[default]
    Events,
    /// Each line goes to a function; see [`Stderr::lines`].
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
    /// The server has the standard error of this process. Nothing is kept of it.
    Inherit,
}

impl Stderr {
    /// Calls `take` for each line, without its end. A line of more than 8 KiB comes in pieces,
    /// and what is not UTF-8 is replaced.
    ///
    /// It is called on the runtime, so it must not block.
    pub fn lines(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(take))
    }

    fn take(&self, command: &str, line: &str) {
        match self {
            Self::Events => {
                tracing::info!(target: "mcp_transport_stdio::stderr", command, "{line}");
            }
            Self::Lines(take) => take(line),
            Self::Inherit => {}
        }
    }
}

impl Debug for Stderr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Events => "Events",
            Self::Lines(_) => "Lines(..)",
            Self::Inherit => "Inherit",
        })
    }
}

/// Reads all that comes, and keeps the end of it.
pub(super) async fn drain(
    mut source: impl AsyncRead + Unpin,
    tail: Arc<Tail>,
    stderr: Stderr,
    command: String,
) {
    let mut line = Vec::new();
    let mut chunk = vec![0; LINE];
    let take = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        stderr.take(&command, &tail.secrets.hide(&String::from_utf8_lossy(line)));
    };
    while let Ok(length @ 1..) = source.read(&mut chunk).await {
        let mut rest = &chunk[..length];
        tail.push(rest);
        while let Some(end) = memchr(b'\n', rest) {
            line.extend_from_slice(&rest[..end]);
            take(&line);
            line.clear();
            rest = &rest[end + 1..];
        }
        line.extend_from_slice(rest);
        if line.len() > LINE {
            take(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        take(&line);
    }
}

/// A line of more bytes is given away in pieces.
const LINE: usize = 8 * 1024;

/// The last of what was written to standard error.
pub(super) struct Tail {
    /// At most twice of what is kept, so that each byte is moved at most once.
    text: Mutex<Text>,
    secrets: Secrets,
}

#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    /// Whether something went before.
    cut: bool,
}

/// How many bytes are kept.
const KEPT: usize = 16 * 1024;

impl Tail {
    pub(super) fn new(secrets: Secrets) -> Arc<Self> {
        Arc::new(Self {
            text: Mutex::default(),
            secrets,
        })
    }

    fn push(&self, bytes: &[u8]) {
        let mut text = self.lock();
        text.bytes.extend_from_slice(bytes);
        if text.bytes.len() > 2 * KEPT {
            let superfluous = text.bytes.len() - KEPT;
            text.bytes.drain(..superfluous);
            text.cut = true;
        }
    }

    /// The last lines; the first of them is whole, unless there is only one.
    pub(super) fn text(&self) -> String {
        let text = self.lock();
        let start = text.bytes.len().saturating_sub(KEPT);
        let mut kept = &text.bytes[start..];
        if text.cut || start > 0 {
            let line = memchr(b'\n', kept).map_or(0, |end| end + 1);
            if line < kept.len() {
                kept = &kept[line..];
            }
        }
        let kept = String::from_utf8_lossy(kept);
        self.secrets.hide(kept.trim_end())
    }

    fn lock(&self) -> MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values that a server may have written, and that nobody shall read: the longest first.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Short values are no secrets, and would be found everywhere.
    pub(super) fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let long = values.into_iter().filter(|value| value.len() >= SECRET);
        let mut values: Vec<_> = long.map(str::to_owned).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    fn hide(&self, text: &str) -> String {
        let hide = |text: String, value: &String| text.replace(value, "[hidden]");
        self.0.iter().fold(text.to_owned(), hide)
    }
}

/// A value of fewer bytes is no secret.
const SECRET: usize = 8;

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use tokio::io::{AsyncWriteExt, duplex};
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Writes `text` in pieces of `size` bytes. Gives the lines that were taken and the tail.
    async fn written(text: &[u8], size: usize) -> (Vec<String>, String) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let stderr = {
            let lines = Arc::clone(&lines);
            Stderr::lines(move |line| lines.lock().expect("nobody panics").push(line.to_owned()))
        };
        let tail = Tail::new(Secrets::new([]));
        let source = pieces(text, size);
        drain(source, Arc::clone(&tail), stderr, "server".to_owned()).await;
        let lines = lines.lock().expect("nobody panics").clone();
        (lines, tail.text())
    }

    /// Gives `size` bytes at a time.
    fn pieces(text: &[u8], size: usize) -> impl AsyncRead + Unpin {
        let (reader, mut writer) = duplex(size);
        let text = text.to_owned();
        tokio::spawn(async move { writer.write_all(&text).await });
        reader
    }

    #[tokio::test]
    async fn lines_are_the_same_in_whatever_pieces_they_come() {
        for size in [1, 2, 3, 7, 1_000] {
            let (lines, tail) = written(b"one\r\n\ntw\xffo\nthree", size).await;
            assert_eq!(lines, ["one", "", "tw\u{fffd}o", "three"]);
            assert_eq!(tail, "one\r\n\ntw\u{fffd}o\nthree");
        }
    }

    #[tokio::test]
    async fn a_long_line_comes_in_pieces() {
        let (lines, _) = written(&[b'x'; 30_000], 1_000).await;
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() < 2 * LINE));
        assert_eq!(lines.concat().len(), 30_000);
    }

    #[tokio::test]
    async fn the_tail_begins_with_a_whole_line() {
        let mut text = String::new();
        for number in 0..10_000 {
            writeln!(text, "line {number}").expect("a string takes it");
        }
        let (_, tail) = written(text.as_bytes(), 5_000).await;
        let first = tail.lines().next().expect("something is kept");
        assert!(text.contains(&format!("\n{first}\n")), "{first}");
        assert!(tail.len() > KEPT - 20 && text.trim_end().ends_with(&tail));
    }

    #[tokio::test]
    async fn the_tail_of_a_single_line_is_its_end() {
        let (_, tail) = written(&[b'x'; 100_000], 5_000).await;
        assert_eq!(tail.len(), KEPT);
    }

    #[test]
    fn no_more_is_held_than_twice_the_tail_and_what_was_read() {
        let tail = Tail::new(Secrets::new([]));
        for _ in 0..1_000 {
            tail.push(&[b'x'; LINE]);
            assert!(tail.lock().bytes.capacity() <= 4 * KEPT);
        }
    }

    #[test]
    fn the_longest_secret_is_hidden_first() {
        let secrets = Secrets::new(["password", "password2", "short"]);
        assert_eq!(
            secrets.hide("short password2 password"),
            "short [hidden] [hidden]"
        );
    }

    /// Keeps what is said in events.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<String>>);

    impl Visit for Log {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            let mut log = self.0.lock().expect("nobody panics");
            write!(log, " {field}={value:?}").expect("a string takes it");
        }
    }

    impl Subscriber for Log {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "mcp_transport_stdio::stderr" && *metadata.level() == Level::INFO
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            event.record(&mut self.clone());
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[tokio::test]
    async fn by_default_lines_are_events_without_secrets() {
        let log = Log::default();
        let guard = tracing::subscriber::set_default(log.clone());
        let tail = Tail::new(Secrets::new(["sk-01234567"]));
        let text = &b"key sk-01234567\n"[..];
        drain(text, tail, Stderr::default(), "server".to_owned()).await;
        drop(guard);
        assert_eq!(
            *log.0.lock().expect("nobody panics"),
            " message=key [hidden] command=\"server\""
        );
    }
}
