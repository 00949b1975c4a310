//! What environment a server gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// What a server gets of the environment of this process, before
/// [`env`](super::ServerCommand::env) adds to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnvPolicy {
    /// What nearly every program needs, and nothing that may be a secret: on Unix `HOME`,
    /// `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`; on Windows `APPDATA`, `COMSPEC`,
    /// `HOMEDRIVE`, `HOMEPATH`, `LOCALAPPDATA`, `PATH`, `PATHEXT`, `PROCESSOR_ARCHITECTURE`,
    /// `PROGRAMFILES`, `SYSTEMDRIVE`, `SYSTEMROOT`, `TEMP`, `USERNAME`, `USERPROFILE` and
    /// `WINDIR`. Not among them are the locale, `TMPDIR`, proxies and `XDG_*`.
    ///
    /// A value that begins with `()` is left out: old shells take it for a function and run it.
    #[default]
    AllowList,
    /// Everything.
    Inherit,
    /// Nothing. There is no search path then, unless one is set.
    Empty,
}

impl EnvPolicy {
    fn lets_pass(self, name: &OsStr, value: &OsStr) -> bool {
        match self {
            Self::AllowList => {
                ALLOWED.iter().any(|allowed| same(name, allowed.as_ref()))
                    && !value.as_encoded_bytes().starts_with(b"()")
            }
            Self::Inherit => true,
            Self::Empty => false,
        }
    }
}

#[cfg(not(windows))]
const ALLOWED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
#[cfg(windows)]
const ALLOWED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Whether two names are of the same variable.
pub(super) fn same(one: &OsStr, other: &OsStr) -> bool {
    if cfg!(windows) {
        one.eq_ignore_ascii_case(other)
    } else {
        one == other
    }
}

/// All variables that a server gets.
pub(super) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(super) fn new(
        policy: EnvPolicy,
        ours: impl IntoIterator<Item = (OsString, OsString)>,
        changes: &[(OsString, Option<OsString>)],
    ) -> Self {
        let passed = ours
            .into_iter()
            .filter(|(name, value)| policy.lets_pass(name, value));
        let mut environment = Self(passed.collect());
        for (name, value) in changes {
            environment.set(name, value.as_deref());
        }
        environment
    }

    pub(super) fn path(&self) -> Option<&OsStr> {
        let path = self.0.iter().find(|(name, _)| same(name, "PATH".as_ref()));
        path.map(|(_, path)| path.as_os_str())
    }

    pub(super) fn set(&mut self, name: &OsStr, value: Option<&OsStr>) {
        self.0.retain(|present, _| !same(present, name));
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }
}
