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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn an_end_is_ours_only_if_it_is_what_we_sent() {
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        let signal = ExitStatus::from_raw;
        for (status, sent, expected) in [
            (code(0), Sent::Nothing, Exit::Code(0)),
            (code(0), Sent::Kill, Exit::Code(0)),
            (code(3), Sent::Term, Exit::Code(3)),
            (code(143), Sent::Nothing, Exit::Code(143)),
            (code(143), Sent::Term, Exit::Terminated),
            (code(143), Sent::Kill, Exit::Terminated),
            (signal(15), Sent::Nothing, Exit::Signal(15)),
            (signal(15), Sent::Term, Exit::Terminated),
            (signal(15), Sent::Kill, Exit::Terminated),
            (signal(9), Sent::Nothing, Exit::Signal(9)),
            (signal(9), Sent::Term, Exit::Signal(9)),
            (signal(9), Sent::Kill, Exit::Killed),
            (signal(11), Sent::Kill, Exit::Signal(11)),
            // A core was dumped.
            (signal(11 | 0x80), Sent::Nothing, Exit::Signal(11)),
        ] {
            assert_eq!(Exit::new(Some(status), sent), expected, "{status} {sent:?}");
        }
        assert_eq!(Exit::new(None, Sent::Kill), Exit::Unknown);
    }
}
