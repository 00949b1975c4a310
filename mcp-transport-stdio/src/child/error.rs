//! Why a server could not be started.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Display, Path, PathBuf};

/// Why a server could not be started. Names no value of its environment but its search path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The command is empty.
    #[error("start a server: no command is given")]
    NoCommand,
    /// The command is not in the server's search path. A program that was started from a
    /// desktop often has a shorter one than a terminal has.
    #[error("start `{}`: not found in {}", text(command), searched(path.as_ref()))]
    NotFound {
        /// The command as it was given.
        command: OsString,
        /// The search path, with what the login shell added to it; `None` if there is none.
        path: Option<OsString>,
    },
    /// The working directory cannot be used.
    #[error("start `{}` in {}: {error}", text(command), directory.display())]
    Directory {
        /// The command as it was given.
        command: OsString,
        /// The directory as it was given.
        directory: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The command was found, or names a file, but does not start.
    #[error("start `{}` as {}: {error}", text(command), program.display())]
    Failed {
        /// The command as it was given.
        command: OsString,
        /// The file that it stands for.
        program: PathBuf,
        /// What the system says. *Not found* for a file that is there means that the
        /// interpreter which its first line names is not.
        error: io::Error,
    },
}

fn searched(path: Option<&OsString>) -> String {
    path.map_or_else(
        || "no search path, for PATH is not set".to_owned(),
        |path| format!("PATH {}", text(path)),
    )
}

fn text(name: &OsStr) -> Display<'_> {
    Path::new(name).display()
}
