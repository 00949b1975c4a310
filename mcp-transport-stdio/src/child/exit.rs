//! How a server ended.

use std::fmt::{self, Display, Formatter};
use std::process::ExitStatus;

/// How a server ended. Its text fits behind "the server".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that somebody else sent, or that it brought upon itself.
    Signal(i32),
    /// By `SIGTERM`, which [`shut_down`](super::ChildHandle::shut_down) sent because the end of
    /// input was not enough.
    Terminated,
    /// It was killed from here.
    Killed,
    /// The system does not say: somebody else in this process waited for it, or
    /// it does not go although it was killed.
    Unknown,
}

impl Exit {
    /// Whether it ended by itself and reports success.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// Tells whether the end is the one that was asked for.
    pub(super) fn new(status: Option<ExitStatus>, sent: Sent) -> Self {
        let Some(status) = status else {
            return Self::Unknown;
        };
        match (status.code(), signal(status)) {
            // What a shell, or a program that catches the signal to tidy up, makes of it.
            (Some(143), _) if sent >= Sent::Term => Self::Terminated,
            (Some(_), _) if cfg!(windows) && sent == Sent::Kill => Self::Killed,
            (Some(code), _) => Self::Code(code),
            (None, Some(15)) if sent >= Sent::Term => Self::Terminated,
            (None, Some(9)) if sent == Sent::Kill => Self::Killed,
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

impl Display for Exit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Terminated => f.write_str("ended when it was told to"),
            Self::Killed => f.write_str("was killed"),
            Self::Unknown => f.write_str("ended nobody knows how"),
        }
    }
}

/// The strongest of the signals that were sent from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sent {
    Nothing,
    Term,
    Kill,
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}
