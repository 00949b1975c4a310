//! `cargo xtask fairness`: what one greedy connection does to another.
//!
//! Connection A sends far more calls than its share and reads nothing; connection B makes one call after another.
//! B must never be refused, and A must be told `server_busy` for every call beyond its share, as soon as it reads.
//! Then `rounds.rs` measures how much later B is answered while others flood.

mod connection;
mod rounds;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use connection::{Connection, Line};
use rounds::Rounds;

use crate::flags::FairnessFlags;
use crate::requests::{self, call};
use crate::{procfs, workspace};

/// How long B is measured before the flood, and after it.
const MEASURED: Duration = Duration::from_secs(3);

/// Longest time in which the whole flood must have been taken by the server, and then been answered.
const FLOOD: Duration = Duration::from_secs(20);

/// How long a call of the flood would run.
const SLEEP_MS: u32 = 60_000;

/// The code of `server_busy`.
const BUSY: i64 = -31503;

pub(crate) fn run(flags: &FairnessFlags) -> ExitCode {
    match try_run(flags) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(flags: &FairnessFlags) -> Result<bool, String> {
    let program = match &flags.server {
        Some(program) => program.clone(),
        None => workspace::build_example("fixture", flags.release)?,
    };
    let failed = |error: io::Error| format!("measure: {error}");
    let mut fair = {
        let server = Server::start(&program, flags.cap, flags.share)?;
        measure(&server, flags).map_err(failed)?.print(flags)
    };
    for floods in &flags.floods {
        // However many there are, what they may take together is not all.
        let share = flags.share.min(flags.cap / (floods + 1));
        let server = Server::start(&program, flags.cap, share)?;
        fair &= Rounds::measure(&server, share, *floods)
            .map_err(failed)?
            .print();
    }
    Ok(fair)
}

/// The fixture on a socket; ended when it is dropped.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    fn start(program: &Path, cap: usize, share: usize) -> Result<Self, String> {
        let socket = std::env::temp_dir().join(format!("fairness-{}.socket", std::process::id()));
        let mut command = Command::new(program);
        command.arg("--socket").arg(&socket).stdin(Stdio::null());
        command.args(["--cap", &cap.to_string(), "--share", &share.to_string()]);
        let child = command
            .spawn()
            .map_err(|error| workspace::not_started(&command, &error))?;
        Ok(Self { child, socket })
    }

    /// A new connection, its handshake done. The first may come before the server listens.
    fn connect(&self) -> io::Result<Connection> {
        let limit = Instant::now() + Duration::from_secs(10);
        loop {
            match Connection::open(&self.socket) {
                Err(_) if Instant::now() < limit => thread::sleep(Duration::from_millis(20)),
                Err(error) => return Err(io::Error::other(format!("connect: {error}"))),
                Ok(connection) => return Ok(connection),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing left to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.socket);
    }
}

fn measure(server: &Server, flags: &FairnessFlags) -> io::Result<Figures> {
    let due = flags.calls - flags.share;
    let mut b = server.connect()?;
    let quiet = Calls::until(&mut b, |calls| calls.took() > MEASURED)?;
    let a = server.connect()?;
    let flood = Flood::start(&a, flags.calls)?;
    let flooded = Calls::until(&mut b, |calls| {
        flood.taken.is_finished() || calls.took() > FLOOD
    })?;
    let unread = Calls::until(&mut b, |calls| calls.took() > MEASURED)?;
    let mut answers = Answers::read(a, due)?;
    let flood_took = flood.taken.join().expect("the flood does not panic")?;
    let after = if answers.busy == due {
        Some(After::measure(&mut answers.connection, flags.calls)?)
    } else {
        None
    };
    Ok(Figures {
        b: vec![("quiet", quiet), ("flooded", flooded), ("unread", unread)],
        flood_took,
        busy: answers.busy,
        other: answers.other,
        answers_took: answers.took,
        after,
        peak: procfs::peak_resident_kib(server.child.id()).ok(),
    })
}

/// B's calls, one after the other.
struct Calls {
    start: Instant,
    times: Vec<Duration>,
    refused: usize,
}

impl Calls {
    fn until(connection: &mut Connection, done: impl Fn(&Self) -> bool) -> io::Result<Self> {
        let mut calls = Self {
            start: Instant::now(),
            times: Vec::new(),
            refused: 0,
        };
        while !done(&calls) {
            let start = Instant::now();
            match connection.echo()? {
                Line::Result(_) => calls.times.push(start.elapsed()),
                _ => calls.refused += 1,
            }
        }
        calls.times.sort_unstable();
        Ok(calls)
    }

    fn took(&self) -> Duration {
        self.start.elapsed()
    }

    fn percentile(&self, percent: usize) -> Duration {
        let place = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(place).copied().unwrap_or_default()
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, max] = [50, 99, 100].map(|percent| self.percentile(percent));
        let (answered, refused) = (self.times.len(), self.refused);
        write!(
            f,
            "p50 {p50:.1?}, p99 {p99:.1?}, max {max:.1?}, {answered} answered, {refused} refused"
        )
    }
}

/// A's calls, written by a thread of its own as fast as the server takes them.
struct Flood {
    taken: JoinHandle<io::Result<Duration>>,
}

impl Flood {
    fn start(connection: &Connection, calls: usize) -> io::Result<Self> {
        let mut writer = connection.writer()?;
        let lines: String = (1..=calls)
            .map(|id| call(id, "sleep", &format!(r#"{{"ms":{SLEEP_MS}}}"#)))
            .collect();
        let taken = thread::spawn(move || {
            let start = Instant::now();
            io::Write::write_all(&mut writer, lines.as_bytes())?;
            Ok(start.elapsed())
        });
        Ok(Self { taken })
    }
}

/// What A finds once it reads.
struct Answers {
    connection: Connection,
    busy: usize,
    other: usize,
    took: Duration,
}

impl Answers {
    /// Reads until as many refusals are there as are due, or none comes any more.
    fn read(mut connection: Connection, due: usize) -> io::Result<Self> {
        let start = Instant::now();
        let (mut busy, mut other) = (0, 0);
        while busy + other < due && start.elapsed() < FLOOD {
            match connection.line_within(FLOOD)? {
                ControlFlow::Break(()) => break,
                ControlFlow::Continue(Line::Error {
                    code: BUSY, error, ..
                }) if error == "server_busy" => busy += 1,
                ControlFlow::Continue(_) => other += 1,
            }
        }
        Ok(Self {
            connection,
            busy,
            other,
            took: start.elapsed(),
        })
    }
}

/// What A can still do with its share full.
struct After {
    ping: Duration,
    cancel: Duration,
}

impl After {
    fn measure(connection: &mut Connection, calls: usize) -> io::Result<Self> {
        Ok(Self {
            ping: connection.ping()?,
            cancel: cancel(connection, calls)?,
        })
    }
}

/// From the cancel of one running call to the first call that gets its slot.
fn cancel(connection: &mut Connection, calls: usize) -> io::Result<Duration> {
    let start = Instant::now();
    // A's share was free when the flood came, so its first call is a running one.
    connection.send(&requests::cancel(1))?;
    for id in calls + 1.. {
        connection.send(&call(id, "echo", r#"{"text":"after"}"#))?;
        if matches!(connection.line()?, Line::Result(_)) || start.elapsed() > FLOOD {
            break;
        }
    }
    Ok(start.elapsed())
}

/// `b`: before the flood, while the server takes it in, and then while its answers lie unread.
struct Figures {
    b: Vec<(&'static str, Calls)>,
    flood_took: Duration,
    busy: usize,
    other: usize,
    answers_took: Duration,
    after: Option<After>,
    peak: Option<u64>,
}

impl Figures {
    /// Prints them all, and whether they are as they must be.
    fn print(&self, flags: &FairnessFlags) -> bool {
        println!(
            "fairness: {} calls on A, {} in flight per server, {} per connection",
            flags.calls, flags.cap, flags.share
        );
        for (name, calls) in &self.b {
            println!("B {name:<10}{calls}");
        }
        println!("A flood     taken in {:.1?}", self.flood_took);
        println!(
            "A answers   {} server_busy, {} others, in {:.1?}",
            self.busy, self.other, self.answers_took
        );
        match &self.after {
            Some(After { ping, cancel }) => {
                println!(
                    "A then      ping {ping:.1?}, from a cancel to its free slot {cancel:.1?}"
                );
            }
            None => println!("A then      not tried"),
        }
        match self.peak {
            Some(kib) => println!("server      peak {} MiB", kib / 1024),
            None => println!("server      peak unknown: no /proc"),
        }
        self.judge(flags.calls - flags.share)
    }

    fn judge(&self, due: usize) -> bool {
        let fair = self.b.iter().all(|(_, calls)| calls.refused == 0);
        let told = self.busy == due && self.other == 0;
        let word = |holds| if holds { "yes" } else { "NO" };
        println!("B is never refused: {}", word(fair));
        println!(
            "A is told {due} times that its share is full: {}",
            word(told)
        );
        fair && told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(refused: usize) -> Calls {
        Calls {
            start: Instant::now(),
            times: (1..=100).map(Duration::from_millis).collect(),
            refused,
        }
    }

    fn judged(refused: usize, busy: usize, other: usize) -> bool {
        let figures = Figures {
            b: vec![("quiet", calls(0)), ("flooded", calls(refused))],
            flood_took: Duration::ZERO,
            busy,
            other,
            answers_took: Duration::ZERO,
            after: None,
            peak: None,
        };
        figures.judge(96)
    }

    #[test]
    fn a_refusal_of_the_other_connection_is_unfair() {
        assert!(judged(0, 96, 0));
        assert!(!judged(1, 96, 0));
    }

    #[test]
    fn every_call_beyond_the_share_must_be_refused() {
        assert!(!judged(0, 95, 0));
        assert!(!judged(0, 97, 0));
        assert!(!judged(0, 96, 1));
    }

    #[test]
    fn percentiles_are_of_sorted_times() {
        let millis = |percent| calls(0).percentile(percent).as_millis();
        assert_eq!([millis(50), millis(99), millis(100)], [51, 100, 100]);
    }
}
