//! What is left of servers, as the system sees it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

/// Waits until there are no tasks, threads and children, and only these descriptors.
pub(crate) fn settled(before: &[String]) {
    until(
        || Handle::current().metrics().num_alive_tasks() == 0,
        "no task is left",
    );
    until(|| threads() == 0, "no thread is left");
    until(|| children().is_empty(), "no child is left, dead or alive");
    if !before.is_empty() {
        until(|| descriptors() == before, "no descriptor is left");
    }
}

/// The descriptors of this process.
pub(crate) fn descriptors() -> Vec<String> {
    names("/proc/self/fd")
}

/// The state and the parent of a process, as the system has them.
pub(crate) fn state(id: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Waits until there is no such process, or only what is left for somebody else to reap.
pub(crate) fn is_gone(id: u32) {
    let gone = || match state(id) {
        Some((state, parent)) => state == 'Z' && parent != std::process::id(),
        None => true,
    };
    until(gone, &format!("process {id} is gone"));
}

pub(crate) fn until(holds: impl Fn() -> bool, what: &str) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// What is in a folder, sorted.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// How many threads wait for servers.
pub(crate) fn threads() -> usize {
    let threads = names("/proc/self/task");
    let name = |thread: &String| fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
    let names = threads.iter().filter_map(|thread| name(thread).ok());
    names.filter(|name| name.starts_with("mcp-child")).count()
}

/// The children of this process, dead or alive.
pub(crate) fn children() -> Vec<u32> {
    let processes = names("/proc")
        .into_iter()
        .filter_map(|name| name.parse().ok());
    let ours = |id: &u32| state(*id).is_some_and(|(_, parent)| parent == std::process::id());
    processes.filter(ours).collect()
}

/// Longer than anything takes that does not hang.
pub(crate) const LONG: Duration = Duration::from_secs(20);
