//! What a polite connection notices of others whose shares are full and who go on calling.
//!
//! Two things make such a figure say more of the machine than of the server. Somebody else's work
//! comes and goes: so quiet and flooded phases alternate, and the medians of their p99 are compared.
//! And clients that write as fast as they can take the processors from the one that is measured,
//! which is the kernel's fairness and not the server's: so it is measured first how many calls a
//! second this server refuses, and the floods together offer a quarter of that, in bursts. How a
//! flood without a pace is taken is the other part of this task.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::{Calls, SLEEP_MS, Server};
use crate::requests::call;

const ROUNDS: usize = 15;
const PHASE: Duration = Duration::from_millis(200);

/// Calls that a flood makes without a pause.
const BURST: usize = 32;

/// Calls by which it is measured how many are refused in a second.
const MEASURED: usize = 10_000;

/// The id of the first call beyond a share.
const FIRST: usize = 1_000_000;

/// The part of those that the floods offer.
const PART: f64 = 0.25;

/// How much later than in quiet phases the polite connection may be answered.
const TIMES: u32 = 2;
const MORE: Duration = Duration::from_millis(1);

/// Longest wait for the last refusals.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Rounds {
    floods: usize,
    /// Calls a second of all floods together.
    rate: f64,
    /// Medians of the p99 of each round.
    quiet: Duration,
    flooded: Duration,
    /// Calls beyond the shares, and how many were refused.
    offered: usize,
    refused: usize,
    /// Calls of the polite connection that were refused.
    harmed: usize,
}

impl Rounds {
    /// The connections of the server may have so many calls in flight.
    pub(super) fn measure(server: &Server, share: usize, floods: usize) -> io::Result<Self> {
        let mut polite = server.connect()?;
        let connections = (0..floods).map(|_| server.connect());
        let floods: Vec<_> = connections
            .map(|connection| Flood::fill(&connection?, share))
            .collect::<io::Result<_>>()?;
        let rate = floods[0].rate()? * PART;
        let pause = Duration::from_secs_f64((BURST * floods.len()) as f64 / rate);
        let (flooding, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let mut rounds = Vec::new();
        thread::scope(|scope| {
            let threads: Vec<_> = floods
                .iter()
                .map(|flood| scope.spawn(|| flood.go_on(pause, &flooding, &over)))
                .collect();
            let measured: io::Result<()> = (0..ROUNDS).try_for_each(|_| {
                let mut phase = |floods| {
                    flooding.store(floods, Ordering::Relaxed);
                    Calls::until(&mut polite, |calls| calls.took() > PHASE)
                };
                rounds.push((phase(false)?, phase(true)?));
                Ok(())
            });
            over.store(true, Ordering::Relaxed);
            for thread in threads {
                thread.join().expect("a flood does not panic")?;
            }
            measured
        })?;
        let median = |of: fn(&(Calls, Calls)) -> &Calls| {
            let mut p99: Vec<_> = rounds
                .iter()
                .map(|round| of(round).percentile(99))
                .collect();
            p99.sort_unstable();
            p99[p99.len() / 2]
        };
        let sum = |of: fn(&Flood) -> usize| floods.iter().map(of).sum();
        Ok(Self {
            floods: floods.len(),
            rate,
            quiet: median(|(quiet, _)| quiet),
            flooded: median(|(_, flooded)| flooded),
            offered: sum(|flood| flood.offered.load(Ordering::Relaxed)),
            refused: sum(Flood::all_refused),
            harmed: rounds.iter().map(|(a, b)| a.refused + b.refused).sum(),
        })
    }

    /// Prints what was found, and whether it is as it must be.
    pub(super) fn print(&self) -> bool {
        let most = self.quiet * TIMES + MORE;
        let kept = self.flooded <= most && self.harmed == 0 && self.refused == self.offered;
        println!(
            "{} floods of {:.0} calls/s in all: B's p99 {:.1?}, quiet {:.1?}, so at most {most:.1?}; \
             B refused {}, floods {} of {}: {}",
            self.floods,
            self.rate,
            self.flooded,
            self.quiet,
            self.harmed,
            self.refused,
            self.offered,
            if kept { "yes" } else { "NO" }
        );
        kept
    }
}

/// A connection whose share is full.
struct Flood {
    stream: UnixStream,
    /// Calls beyond the share, and answers.
    offered: AtomicUsize,
    answers: &'static AtomicU64,
}

impl Flood {
    fn fill(connection: &Connection, share: usize) -> io::Result<Self> {
        let stream = connection.writer()?;
        // For the thread that reads, which outlives what is measured.
        let answers: &AtomicU64 = Box::leak(Box::default());
        let mut answered = stream.try_clone()?;
        answered.set_read_timeout(None)?;
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(length @ 1..) = answered.read(&mut piece) {
                let lines = piece[..length].iter().filter(|byte| **byte == b'\n');
                answers.fetch_add(lines.count() as u64, Ordering::Relaxed);
            }
        });
        let flood = Self {
            stream,
            offered: AtomicUsize::new(0),
            answers,
        };
        (&flood.stream).write_all(sleeps(1..1 + share).as_bytes())?;
        Ok(flood)
    }

    fn offer(&self, calls: usize) -> io::Result<()> {
        let before = self.offered.fetch_add(calls, Ordering::Relaxed);
        let first = FIRST + before;
        (&self.stream).write_all(sleeps(first..first + calls).as_bytes())
    }

    /// Waits until as many are refused as were offered, and says how many were.
    fn all_refused(&self) -> usize {
        let begin = Instant::now();
        loop {
            let refused = self.answers.load(Ordering::Relaxed) as usize;
            if refused >= self.offered.load(Ordering::Relaxed) || begin.elapsed() > PATIENCE {
                return refused;
            }
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// How many calls a second are refused, without a pause.
    fn rate(&self) -> io::Result<f64> {
        let begin = Instant::now();
        self.offer(MEASURED)?;
        let refused = self.all_refused();
        Ok(refused.max(1) as f64 / begin.elapsed().as_secs_f64())
    }

    fn go_on(&self, pause: Duration, flooding: &AtomicBool, over: &AtomicBool) -> io::Result<()> {
        let mut next = Instant::now();
        while !over.load(Ordering::Relaxed) {
            if flooding.load(Ordering::Relaxed) {
                self.offer(BURST)?;
            }
            next = (next + pause).max(Instant::now());
            thread::sleep(next - Instant::now());
        }
        Ok(())
    }
}

/// Calls with these ids, which take long.
fn sleeps(ids: std::ops::Range<usize>) -> String {
    let arguments = format!(r#"{{"ms":{SLEEP_MS}}}"#);
    ids.map(|id| call(id, "sleep", &arguments)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(flooded: u64, refused: usize, harmed: usize) -> bool {
        let rounds = Rounds {
            floods: 1,
            rate: 1.0,
            quiet: Duration::from_millis(3),
            flooded: Duration::from_millis(flooded),
            offered: 10,
            refused,
            harmed,
        };
        rounds.print()
    }

    #[test]
    fn nobody_else_is_refused_or_much_later() {
        assert!(kept(7, 10, 0));
        assert!(!kept(8, 10, 0));
        assert!(!kept(7, 9, 0));
        assert!(!kept(7, 10, 1));
    }
}
