//! What Linux tells of a process.

use std::fs;
use std::io::{self, Error};
use std::time::Duration;

/// What a process holds at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    /// Bytes of memory that are its own: not those of the program's file.
    pub(crate) memory: u64,
    pub(crate) descriptors: usize,
    pub(crate) threads: usize,
}

pub(crate) fn held(id: u32) -> Option<Held> {
    Some(Held {
        memory: kib(id, "RssAnon:")? << 10,
        descriptors: fs::read_dir(format!("/proc/{id}/fd")).ok()?.count(),
        threads: fs::read_dir(format!("/proc/{id}/task")).ok()?.count(),
    })
}

/// The most memory that a process has had so far, in bytes. The pages of the program itself, of
/// which a debug build has many, are nobody's data.
pub(crate) fn peak_memory(id: u32) -> Option<u64> {
    Some(kib(id, "VmHWM:")?.saturating_sub(kib(id, "RssFile:")?) << 10)
}

/// The most memory that a process has had in all, the pages of its program among it, in KiB.
pub(crate) fn peak_resident_kib(id: u32) -> io::Result<u64> {
    kib(id, "VmHWM:").ok_or_else(|| Error::other("no VmHWM"))
}

/// The time that the threads of a process had on a processor. A thread that has ended is not
/// counted any more.
pub(crate) fn cpu(id: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        // Between the list and the look a thread may end.
        let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        let running = text.split(' ').next().and_then(|word| word.parse().ok());
        nanoseconds += running.unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanoseconds))
}

fn kib(id: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The state of a process and its parent.
pub(crate) fn state(id: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// The children of a process, dead or alive.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let is_child = |id: &u32| state(*id).is_some_and(|(_, of)| of == parent);
    processes().filter(is_child).collect()
}

/// The processes that have this variable, which their own children have, too. The dead have none.
pub(crate) fn marked(variable: &str) -> Vec<u32> {
    let has_it = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|other| other == variable.as_bytes())
    };
    processes().filter(has_it).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}
