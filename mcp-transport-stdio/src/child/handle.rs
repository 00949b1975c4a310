//! What can be done with a server that runs, besides talking to it.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::exit::Exit;
use super::pipes::Input;
use super::process::Owner;
use super::stderr::Tail;

/// A server that was started: to wait for its end, and to bring it about.
///
/// Clones are of the same server. When the last of them and both halves of the transport are
/// dropped, the server and all that it started are killed; that needs no runtime. Give it time
/// to end with [`shut_down`](Self::shut_down).
#[derive(Clone)]
pub struct ChildHandle(Arc<Inner>);

struct Inner {
    command: String,
    owner: Owner,
    input: Arc<Input>,
    tail: Arc<Tail>,
    shutdown: Shutdown,
}

impl ChildHandle {
    pub(super) fn new(
        command: String,
        owner: Owner,
        input: Arc<Input>,
        tail: Arc<Tail>,
        shutdown: Shutdown,
    ) -> Self {
        Self(Arc::new(Inner {
            command,
            owner,
            input,
            tail,
            shutdown,
        }))
    }

    /// The command as it was given, for messages.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.0.command
    }

    /// The number of the process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.owner.id
    }

    /// How the server ended, or `None` while it or something that it started is there.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.0.owner.exit()
    }

    /// Waits for the server's end and does nothing to bring it about.
    ///
    /// What it wrote to standard error before has been read then. What else it started has been
    /// killed, after [`Shutdown::after_exit`] at most; what left its process group lives on.
    pub async fn wait(&self) -> Exit {
        self.0.owner.wait().await
    }

    /// The last 16 KiB that the server wrote to standard error, without the first line if that
    /// is not whole, and without secrets; see [`redact`](Self::redact).
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.0.tail.text()
    }

    /// A text without the values that [`env`](super::ServerCommand::env) set, and without the
    /// lines of such a value: all that have eight bytes or more, the space around them not
    /// counted.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.0.tail.redact(text)
    }

    /// Brings the server to its end, in steps: ends its input, tells it to end, kills it; see
    /// [`Shutdown`]. Returns at once if it has ended, so a second call does no harm.
    ///
    /// Meanwhile the receiver is to be read, or dropped: as long as there may be a message
    /// which somebody wants, up to [`Shutdown::after_exit`] passes.
    ///
    /// # Cancel safety
    ///
    /// Dropped in the middle, it leaves out the steps to come.
    pub async fn shut_down(&self) -> Exit {
        let Shutdown {
            after_eof,
            after_term,
            after_kill,
            ..
        } = self.0.shutdown;
        let owner = &self.0.owner;
        self.0.input.end();
        if let Ok(exit) = timeout(after_eof, owner.wait()).await {
            return exit;
        }
        if owner.terminate() {
            if let Ok(exit) = timeout(after_term, owner.wait()).await {
                return exit;
            }
        }
        owner.kill();
        let killed = timeout(after_kill, owner.wait()).await;
        killed.unwrap_or(Exit::Unknown)
    }

    /// Kills the server and all that it started, at once, and does not wait for the end.
    pub fn kill(&self) {
        self.0.owner.kill();
    }
}

impl Debug for ChildHandle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildHandle")
            .field("command", &self.command())
            .field("id", &self.id())
            .field("exit", &self.exit())
            .finish_non_exhaustive()
    }
}

/// How long each step of a server's end may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// From the end of input to `SIGTERM`, or on Windows, which knows no such thing, to the
    /// kill. Default 2 s.
    pub after_eof: Duration,
    /// From `SIGTERM`, which the whole process group gets, to the kill. Default 2 s.
    pub after_term: Duration,
    /// From the kill to the report that nothing is known. Default 1 s. Killed processes go at
    /// once, unless they wait for a broken disk or the like.
    pub after_kill: Duration,
    /// From the server's end, whatever the reason, to the kill of what it started, if that
    /// holds its pipes: so long the last messages may take. Default 0.5 s.
    pub after_exit: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self {
            after_eof: Duration::from_secs(2),
            after_term: Duration::from_secs(2),
            after_kill: Duration::from_secs(1),
            after_exit: Duration::from_millis(500),
        }
    }
}
