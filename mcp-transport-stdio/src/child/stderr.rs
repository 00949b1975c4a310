//! What a server writes to standard error: read whatever it is, with the end of it kept.

use std::cmp::Reverse;
use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// It is called on the runtime, so it must not block. If it panics, it is called with the
    /// next line all the same.
    pub fn lines(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(take))
    }

    fn take(&self, command: &str, line: &str) {
        match self {
            Self::Events => {
                tracing::info!(target: "mcp_transport_stdio::stderr", command, "{line}");
            }
            // One that panics misses a line, and the server must not wait for that.
            Self::Lines(take) => {
                let _ = catch_unwind(AssertUnwindSafe(|| take(line)));
            }
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
    let mut held = Vec::new();
    let take = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        stderr.take(&command, &String::from_utf8_lossy(line));
    };
    loop {
        held.reserve(LINE);
        let length = source.read_buf(&mut held).await.unwrap_or_default();
        let shown = tail.secrets.hide_in(&mut held, length == 0);
        tail.push(&shown);
        for piece in shown.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n");
            line.extend_from_slice(text.unwrap_or(piece));
            if text.is_some() {
                take(&line);
                line.clear();
            }
        }
        if line.len() > LINE || (length == 0 && !line.is_empty()) {
            take(&line);
            line.clear();
        }
        if length == 0 {
            return;
        }
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
        let mut kept = text.bytes.rchunks(KEPT).next().unwrap_or_default();
        if text.cut || kept.len() < text.bytes.len() {
            let behind = kept.splitn(2, |byte| *byte == b'\n').nth(1);
            kept = behind.filter(|behind| !behind.is_empty()).unwrap_or(kept);
        }
        String::from_utf8_lossy(kept).trim_end().to_owned()
    }

    /// A text without secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        let shown = self.secrets.hide_in(&mut text.as_bytes().to_vec(), true);
        String::from_utf8_lossy(&shown).into_owned()
    }

    fn lock(&self) -> MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values that a server may have written, and that nobody shall read: the longest first.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Short values are no secrets, and would be found everywhere. A line of a value is one, too,
    /// and what is around a value may have been cut off.
    pub(super) fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let parts = |value: &'a str| value.lines().chain([value]).map(str::trim);
        let parts = values.into_iter().flat_map(parts);
        let mut values: Vec<_> = parts.filter(|part| part.len() >= SECRET).collect();
        values.sort_unstable_by_key(|value| (Reverse(value.len()), *value));
        values.dedup();
        Self(values.into_iter().map(str::to_owned).collect())
    }

    /// Takes of a text that comes in pieces what can be shown, without secrets. What may be the
    /// beginning of one is left there, unless it is the last.
    fn hide_in(&self, text: &mut Vec<u8>, is_last: bool) -> Vec<u8> {
        if self.0.is_empty() {
            return std::mem::take(text);
        }
        let secrets = || self.0.iter().map(String::as_bytes);
        let mut shown = Vec::with_capacity(text.len());
        let mut rest = &text[..];
        while let [first, behind @ ..] = rest {
            let begins = |secret: &[u8]| secret.len() > rest.len() && secret.starts_with(rest);
            if !is_last && secrets().any(begins) {
                break;
            }
            if let Some(behind) = secrets().find_map(|secret| rest.strip_prefix(secret)) {
                shown.extend_from_slice(b"[hidden]");
                rest = behind;
            } else {
                shown.push(*first);
                rest = behind;
            }
        }
        let taken = text.len() - rest.len();
        text.drain(..taken);
        shown
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
        let tail = Tail::new(Secrets::new(["password", "password2", "short"]));
        assert_eq!(
            tail.redact("short password2 password"),
            "short [hidden] [hidden]"
        );
    }

    #[tokio::test]
    async fn a_secret_is_hidden_however_it_is_written() {
        const KEY: &str = "-----BEGIN\nMIIEvQIBADAN\r\nAQ==\n";
        let secrets = || Secrets::new([KEY, " sk-0123456789\n", "sk-01234"]);
        let long = "x".repeat(LINE - 5);
        let text =
            format!("{KEY}|MIIEvQIBADAN|sk-0123456789|sk-01234\n{long}sk-0123456789 sk-0123");
        let expected = format!("[hidden]\n|[hidden]|[hidden]|[hidden]\n{long}[hidden] sk-0123");
        for size in [1, 7, LINE] {
            let lines = Arc::new(Mutex::new(String::new()));
            let taken = lines.clone();
            let stderr = Stderr::lines(move |line| *taken.lock().unwrap() += line);
            let tail = Tail::new(secrets());
            let source = pieces(text.as_bytes(), size);
            drain(source, tail.clone(), stderr, "server".to_owned()).await;
            assert_eq!(tail.text(), expected);
            assert_eq!(*lines.lock().unwrap(), expected.replace('\n', ""));
        }
    }

    #[tokio::test]
    async fn a_secret_at_the_beginning_of_the_tail_is_hidden() {
        let tail = Tail::new(Secrets::new(["sk-0123456789"]));
        let text = format!("{}sk-0123456789{}", "y".repeat(KEPT), "z".repeat(KEPT - 5));
        drain(
            text.as_bytes(),
            tail.clone(),
            Stderr::default(),
            "server".to_owned(),
        )
        .await;
        assert!(!tail.text().contains("6789"), "{:.30}", tail.text());
    }

    #[tokio::test]
    async fn a_line_is_not_held_back_without_need() {
        let secrets = Secrets::new(["sk-0123456789"]);
        let mut held = b"ready\n".to_vec();
        assert_eq!(secrets.hide_in(&mut held, false), b"ready\n");
        held.extend(b"ask-0");
        assert_eq!(secrets.hide_in(&mut held, false), b"a");
        held.extend(b"k");
        assert_eq!(secrets.hide_in(&mut held, false), b"sk-0k");
    }

    #[tokio::test]
    async fn a_function_that_panics_gets_the_next_line() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let taken = lines.clone();
        let stderr = Stderr::lines(move |line| {
            assert_ne!(line, "one", "as it was told");
            taken.lock().unwrap().push(line.to_owned());
        });
        let tail = Tail::new(Secrets::new([]));
        drain(&b"one\ntwo\n"[..], tail, stderr, "server".to_owned()).await;
        assert_eq!(*lines.lock().unwrap(), ["two"]);
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
