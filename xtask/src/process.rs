//! What a process that runs has used so far, as Linux tells it.

use std::fs;
use std::io::{self, Error};
use std::path::PathBuf;
use std::time::Duration;

/// The time that its threads had on a processor. One that has ended is not counted any more.
pub(crate) fn cpu(process: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in threads(process)? {
        // Between the list and the look a thread may end.
        let text = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
        let running = text.split(' ').next().and_then(|word| word.parse().ok());
        nanoseconds += running.unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// The most memory that it ever held, in KiB.
pub(crate) fn peak_kib(process: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| Error::other("no VmHWM"))
}

/// The processes that it has started and that still run.
pub(crate) fn children(process: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in threads(process)? {
        let text = fs::read_to_string(thread.join("children")).unwrap_or_default();
        found.extend(
            text.split_whitespace()
                .filter_map(|word| word.parse::<u32>().ok()),
        );
    }
    Ok(found)
}

fn threads(process: u32) -> io::Result<Vec<PathBuf>> {
    let folders = fs::read_dir(format!("/proc/{process}/task"))?;
    folders.map(|folder| Ok(folder?.path())).collect()
}
