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
