//! Which file a command stands for.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Whether a command names a file, so that no search path has a say.
pub(super) fn is_file_name(command: &OsStr) -> bool {
    Path::new(command).components().count() > 1 || Path::new(command).has_root()
}

/// The file that a command stands for: in the search path or, if it names a file, seen from
/// `directory`. Folders of the search path that are not absolute do not count.
pub(super) fn find(command: &OsStr, path: Option<&OsStr>, directory: &Path) -> Option<PathBuf> {
    let folders = env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute());
    let path = env::join_paths(folders).expect("they were split before");
    which::which_in(command, Some(path), directory).ok()
}
