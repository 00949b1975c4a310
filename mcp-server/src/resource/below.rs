//! Opens a file below a directory, and no other, whatever is moved and linked meanwhile.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The plain file at a path, once all links are followed; `None` if there is none, or if it
/// lies outside of `root`.
///
/// # Errors
///
/// When there is such a file, and it cannot be opened.
pub(super) fn open(root: &Path, path: &Path) -> io::Result<Option<File>> {
    let Some((root, path)) = resolve(root, path) else {
        return Ok(None);
    };
    let file = match step_down(&root, &path) {
        Ok(file) => file,
        Err(error) if has_moved(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Of what was opened: anything else may be there by this time.
    let is_file = file.metadata()?.is_file();
    Ok(is_file.then_some(file))
}

/// The root, and where a plain file below it is. Why it is not is nothing that anybody is to
/// know.
fn resolve(root: &Path, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let root = fs::canonicalize(root).ok()?;
    let real = fs::canonicalize(root.join(path)).ok()?;
    // Looked at first, because opening a device may do something.
    let is_file = fs::metadata(&real).ok()?.is_file();
    let path = real.strip_prefix(&root).ok()?.to_owned();
    is_file.then_some((root, path))
}

/// Opens what is at a path that had no links: one name after another, each in the directory
/// that was opened before it, and never through a link.
#[cfg(unix)]
fn step_down(root: &Path, path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};

    let directory = OFlags::DIRECTORY | OFlags::CLOEXEC | THROUGH;
    // A pipe without a writer would be opened when there is one.
    let file = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut at = open(root, directory, Mode::empty())?;
    let mut names = path.iter().peekable();
    while let Some(name) = names.next() {
        let flags = match names.peek() {
            Some(_) => directory,
            None => file,
        };
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(at.into())
}

/// For directories that may be gone through and not be listed, where the system knows that.
#[cfg(any(target_os = "linux", target_os = "android"))]
const THROUGH: rustix::fs::OFlags = rustix::fs::OFlags::PATH;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const THROUGH: rustix::fs::OFlags = rustix::fs::OFlags::empty();

#[cfg(unix)]
fn has_moved(error: &io::Error) -> bool {
    use rustix::io::Errno;

    // What is there instead: a link, as some systems say it and others; no directory; nothing;
    // a socket.
    let moved = [
        Errno::LOOP,
        Errno::MLINK,
        Errno::NOTDIR,
        Errno::NOENT,
        Errno::NXIO,
    ];
    Errno::from_io_error(error).is_some_and(|error| moved.contains(&error))
}

/// Opens what is at a path that had no links, and looks whether it still has none and leads to
/// what was opened.
#[cfg(not(unix))]
fn step_down(root: &Path, path: &Path) -> io::Result<File> {
    use same_file::Handle;

    let path = root.join(path);
    let file = File::open(&path)?;
    let opened = Handle::from_file(file.try_clone()?)?;
    match opened == Handle::from_path(&path)? && fs::canonicalize(&path)? == path {
        true => Ok(file),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(not(unix))]
fn has_moved(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::process::Command;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A directory of this test's own: `public`, and a secret beside it.
    fn tree(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("mcp-below-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (directory, text) in [("public/sub", "plain"), ("outside", "secret")] {
            fs::create_dir_all(root.join(directory)).expect("it can be made");
            fs::write(root.join(directory).join("file"), text).expect("it can be written");
        }
        root
    }

    /// Reads a file again and again while something is swapped.
    fn read_while(root: &Path, path: &'static str, swap: impl Fn(&Path) + Send + 'static) {
        let public = root.join("public");
        let (done, directory) = (Arc::new(AtomicBool::new(false)), public.clone());
        let until = done.clone();
        let swapping = thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                swap(&public);
            }
        });
        let (sender, read) = channel();
        thread::spawn(move || {
            let texts = (0..20_000).filter_map(|_| {
                let mut file = open(&directory, Path::new(path)).expect("it is allowed")?;
                let mut text = String::new();
                file.read_to_string(&mut text).expect("it is text");
                Some(text)
            });
            let _ = sender.send(texts.collect::<Vec<_>>());
        });
        let texts = read.recv_timeout(Duration::from_secs(60));
        done.store(true, Ordering::Relaxed);
        swapping.join().expect("swapping does not fail");
        let texts = texts.expect("no read blocks");
        assert!(!texts.is_empty() && texts.iter().all(|text| text == "plain"));
        fs::remove_dir_all(root).expect("it is there");
    }

    /// Puts something in the place of `it`, which is never empty.
    fn put(public: &Path, make: impl Fn(&Path) -> io::Result<()>) {
        let new = public.join("new");
        make(&new)
            .and_then(|()| fs::rename(new, public.join("it")))
            .expect("nobody else does anything here");
    }

    /// Covers RS04.
    #[test]
    fn a_link_that_is_swapped_in_is_not_followed() {
        read_while(&tree("link"), "it", |public| {
            put(public, |new| fs::hard_link(public.join("sub/file"), new));
            put(public, |new| symlink("../outside/file", new));
        });
    }

    /// Covers RS04.
    #[test]
    fn a_directory_that_is_swapped_by_a_link_is_not_gone_through() {
        let root = tree("directory");
        symlink("../outside", root.join("public/link")).expect("it is free");
        read_while(&root, "sub/file", |public| {
            for (from, to) in [
                ("sub", "away"),
                ("link", "sub"),
                ("sub", "link"),
                ("away", "sub"),
            ] {
                fs::rename(public.join(from), public.join(to)).expect("it is there");
            }
        });
    }

    #[test]
    fn a_pipe_that_is_swapped_in_holds_nobody_up() {
        let root = tree("pipe");
        let made = Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(made.is_ok_and(|made| made.success()));
        read_while(&root, "it", |public| {
            put(public, |new| fs::hard_link(public.join("sub/file"), new));
            put(public, |new| fs::hard_link(public.join("../pipe"), new));
        });
    }
}
