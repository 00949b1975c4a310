//! Where the specification's own examples are, if they are beside the repository.

use std::path::PathBuf;

use crate::workspace;

pub(super) fn examples() -> impl Iterator<Item = PathBuf> {
    let folder = workspace::root().join("../shared/spec/2026-07-28/examples");
    Some(folder).filter(|folder| folder.is_dir()).into_iter()
}
