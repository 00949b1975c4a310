//! 100,000 calls that take long, on one connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::peer::Peer;
use super::{MIB, Row};
use crate::requests::{call, cancel, modern_call, ping, request};

const CALLS: usize = 100_000;

/// What one connection has of the calls in flight by default.
const SHARE: usize = 256;

/// Calls between two pings: the pipe has room for several times as many.
const BURST: usize = 100;

/// Longest time of a ping in an optimised build. A debug build takes in the calls that are before
/// it in the pipe some twenty times as slowly, and on a busy machine more so.
const PING: Duration = Duration::from_millis(5);
const PING_DEBUG: Duration = Duration::from_millis(500);

/// How many times in a row a ping can wait for a processor: it is written, served and read.
const TURNS: u32 = 3;

pub(super) fn legacy(release: bool) -> Result<Row, String> {
    let ping = |id: &str| ping(id);
    run(release, "calls that take long, 2025-06-18", call, ping)
}

pub(super) fn modern(release: bool) -> Result<Row, String> {
    // This revision has no ping: what is refused as it is unknown takes the same way.
    let ping = |id: &str| request(id, "no/such", "{}");
    run(
        release,
        "calls that take long, 2026-07-28",
        modern_call,
        ping,
    )
}

fn run(
    release: bool,
    what: &str,
    call: fn(usize, &str, &str) -> String,
    ping: fn(&str) -> String,
) -> Result<Row, String> {
    let mut peer = Peer::start(release, "2025-06-18", &[])?;
    let lateness = Lateness::watch();
    let mut sent = Vec::new();
    for first in (1..=CALLS).step_by(BURST) {
        let mut lines: String = (first..first + BURST)
            .map(|id| call(id, "sleep", r#"{"ms":600000}"#))
            .collect();
        lines += &ping(&format!("\"{}\"", sent.len()));
        sent.push(Instant::now());
        peer.pipes.write(lines)?;
    }
    let (mut refused, mut other, mut pings) = (0, 0, Vec::new());
    while refused + other < CALLS - SHARE || pings.len() < sent.len() {
        let (came, message) = peer.next()?;
        match message["id"]
            .as_str()
            .and_then(|id| id.parse::<usize>().ok())
        {
            Some(number) => pings.push(came - sent[number]),
            None if message["error"]["data"]["error"] == "server_busy" => refused += 1,
            None => other += 1,
        }
    }
    let late = lateness.most();
    // All that ran is given up again.
    peer.pipes
        .write((1..=SHARE).map(cancel).collect::<String>())?;
    let mut row = peer.row(format!("{CALLS} {what}"), 20 * MIB)?;
    pings.sort_unstable();
    let (p99, max) = (pings[pings.len() * 99 / 100], pings[pings.len() - 1]);
    row.counts = format!(
        "{refused} refused, {other} others; {} pings: p99 {p99:.1?}, longest {max:.1?}; the machine was late by {late:.1?}",
        pings.len(),
    );
    row.check(
        (refused, other) == (CALLS - SHARE, 0),
        "each call beyond the share is refused",
    );
    let most = if release { PING } else { PING_DEBUG };
    row.check(
        p99 < most + late,
        format!("the p99 of pings is below {most:?}"),
    );
    row.check(
        max < most + late * TURNS,
        format!("pings are below {most:?}"),
    );
    Ok(row)
}

/// How late this machine is by itself, as it has other things to do: a thread that sleeps for a
/// moment notes how long that was.
struct Lateness {
    over: Arc<AtomicBool>,
    most: thread::JoinHandle<Duration>,
}

impl Lateness {
    fn watch() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let most = thread::spawn(move || {
            let moment = Duration::from_millis(1);
            let mut most = Duration::ZERO;
            while !stop.load(Ordering::Relaxed) {
                let begin = Instant::now();
                thread::sleep(moment);
                most = most.max(begin.elapsed().saturating_sub(moment));
            }
            most
        });
        Self { over, most }
    }

    fn most(self) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        self.most.join().unwrap_or_default()
    }
}
