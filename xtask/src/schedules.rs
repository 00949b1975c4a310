//! `cargo xtask schedules`: the server crate in one order of events after another.
//!
//! The crate is copied, and in the copy the primitives of the standard library and of tokio are
//! replaced by those of shuttle, whose scheduler decides who goes on wherever one is used. So the
//! code that is tried is the code that is shipped, and has nothing in it for that purpose.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::flags::SchedulesFlags;
use crate::workspace;

/// The status when what is needed cannot be fetched.
const CANNOT: u8 = 3;

/// What stands for what, in every file but the tests' own.
const REPLACED: &[(&str, &str)] = &[
    // Their own tests have been run elsewhere.
    ("#[cfg(test)]\nmod tests", "#[cfg(any())]\nmod tests"),
    ("std::sync::atomic", "shuttle::sync::atomic"),
    ("use std::thread;", "use shuttle::thread;"),
    ("tokio::spawn(", "crate::schedules::tasks::spawn("),
    (
        "use tokio::task::{AbortHandle, JoinHandle};",
        "use crate::schedules::tasks::{AbortHandle, JoinHandle, TryIntoPanic as _};",
    ),
    ("use tokio::time::", "use crate::schedules::time::"),
];

/// What shuttle has of `std::sync`, besides the atomics.
const LOCKS: &[&str] = &["Mutex", "MutexGuard", "RwLock"];

pub(crate) fn run(flags: &SchedulesFlags) -> ExitCode {
    match tried(flags) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tried(flags: &SchedulesFlags) -> Result<ExitCode, String> {
    let folder = workspace::target_dir()?.join("schedules");
    write(&folder).map_err(|error| format!("copy the server crate: {error}"))?;
    let manifest = folder.join("Cargo.toml");
    let mut fetch = workspace::cargo(&["fetch", "--quiet", "--locked"]);
    if let Err(error) = workspace::run(fetch.arg("--manifest-path").arg(&manifest)) {
        eprintln!("xtask: the registry is not reachable: {error}");
        return Ok(ExitCode::from(CANNOT));
    }
    let mut test = workspace::cargo(&["test", "--quiet", "--locked", "--release", "--lib"]);
    test.arg("--manifest-path").arg(&manifest);
    test.arg("--target-dir").arg(folder.join("target"));
    test.args(["schedules::"])
        .env("RUNS", flags.runs.to_string());
    workspace::run(&mut test)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the copy, and leaves alone what has not changed.
fn write(folder: &Path) -> io::Result<()> {
    let root = workspace::root();
    let ours = root.join("xtask").join("schedules");
    let manifest = fs::read_to_string(ours.join("Cargo.toml"))?;
    let absolute = format!("\"{}/", root.display());
    put(
        &folder.join("Cargo.toml"),
        &manifest.replace("\"../../", &absolute),
    )?;
    put(
        &folder.join("Cargo.lock"),
        &fs::read_to_string(ours.join("Cargo.lock"))?,
    )?;
    let sources = folder.join("src");
    copy(&root.join("mcp-server").join("src"), &sources)?;
    let root_module = fs::read_to_string(sources.join("lib.rs"))?;
    put(
        &sources.join("lib.rs"),
        &format!("{root_module}\nmod schedules;\n"),
    )?;
    let tests = fs::read_to_string(ours.join("schedules.rs"))?;
    put(&sources.join("schedules.rs"), &tests)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            put(&to, &replaced(&fs::read_to_string(entry.path())?))?;
        }
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("it is in a folder"))?;
    fs::write(path, text)
}

fn replaced(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| locks(line).unwrap_or_else(|| line.to_owned()) + "\n");
    let text: String = lines.collect();
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    REPLACED.iter().fold(text, replace)
}

/// An import of `std::sync`, with the locks from elsewhere.
fn locks(line: &str) -> Option<String> {
    let names = line
        .trim()
        .strip_prefix("use std::sync::{")?
        .strip_suffix("};")?;
    let (locks, others): (Vec<_>, Vec<_>) =
        names.split(", ").partition(|name| LOCKS.contains(name));
    let of = |from: &str, names: Vec<&str>| format!("use {from}::sync::{{{}}};", names.join(", "));
    Some(of("std", others) + " " + &of("shuttle", locks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_are_replaced_and_nothing_else() {
        let text = "use std::sync::{Arc, Mutex, MutexGuard};\nuse std::sync::atomic::AtomicBool;\nlet a = 1;\n";
        let copy = "use std::sync::{Arc}; use shuttle::sync::{Mutex, MutexGuard};\nuse shuttle::sync::atomic::AtomicBool;\nlet a = 1;\n";
        assert_eq!(replaced(text), copy);
    }
}
