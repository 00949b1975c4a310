//! `cargo xtask soak`: a load with every kind of fault, for as long as one likes.
//!
//! Three servers are used at once: one over pipes, by one client that lasts, one over a Unix
//! socket and one over HTTP, by clients that come and go. Their clients speak both eras, and what
//! they do is decided by the seed. Each call has to be answered once, unless it was cancelled, and
//! what a server holds must not grow: its memory, descriptors and tasks in the last third of the
//! time are compared with those in the first, after some time to warm up.

mod http;
mod ledger;
mod lines;
mod report;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use report::{Sample, Series};

use crate::flags::SoakFlags;
use crate::program::Program;
use crate::random::Random;
use crate::{procfs, workspace};

/// Clients of the servers that have several.
const CLIENTS: u64 = 4;

/// How long sessions of HTTP are kept that nobody uses: what is left behind is to go in time to be
/// seen.
const SESSION_IDLE: &str = "2000";

/// How long calls in flight may go on when their client ends its input, in milliseconds: a busy
/// machine takes longer than the second that they have by default, and then cuts them off.
const GRACE: &str = "15000";

const SAMPLED: Duration = Duration::from_millis(250);

/// How long a client waits for what has to come soon.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the clients of one server share.
struct Shared {
    end: Instant,
    /// Tasks of the server, as it told last.
    tasks: AtomicU64,
    tally: Mutex<Tally>,
}

/// What has happened, and what should not have.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

impl Shared {
    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    fn count(&self, what: &'static str) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally.counts.entry(what).or_default() += 1;
    }

    fn wrong(&self, what: String) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.wrong.push(what);
    }
}

/// A server and those who use it.
struct Used {
    name: &'static str,
    program: Program,
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<()>>,
    samples: Vec<Sample>,
}

pub(crate) fn run(flags: &SoakFlags) -> ExitCode {
    match try_run(flags) {
        Ok(kept) => ExitCode::from(u8::from(!kept)),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(flags: &SoakFlags) -> Result<bool, String> {
    let program = workspace::build_example("fixture", flags.release)?;
    let fixture = || {
        let mut command = Command::new(&program);
        // For the first backtrace of a panic the standard library reads all symbols, and keeps them.
        command.env("RUST_BACKTRACE", "0");
        command
    };
    let time = Duration::from_secs_f64(flags.minutes * 60.0);
    println!("soak: {} minutes, seed {}", flags.minutes, flags.seed);
    let end = Instant::now() + time;
    let mut used = [
        over_pipes(fixture(), end, flags.seed)?,
        over_sockets(fixture(), end, flags.seed)?,
        over_http(fixture(), end, flags.seed)?,
    ];
    while Instant::now() + SAMPLED < end {
        thread::sleep(SAMPLED);
        for used in &mut used {
            // Without its server a client fails, and says so.
            let Some(held) = procfs::held(used.program.id()) else {
                continue;
            };
            let tasks = used.shared.tasks.load(Ordering::Relaxed);
            used.samples.push(Sample { held, tasks });
        }
    }
    let mut kept = true;
    for used in used {
        for client in used.clients {
            if client.join().is_err() {
                used.shared.wrong("a client panics".into());
            }
        }
        let series = Series::of(&used.samples);
        let tally = used.shared.tally.lock();
        let tally = tally.unwrap_or_else(PoisonError::into_inner);
        kept &= report::print(used.name, &series, &tally);
    }
    Ok(kept)
}

/// Starts the threads that use a server; each gets chance of its own.
fn used(
    name: &'static str,
    program: Program,
    end: Instant,
    seed: (u64, u64),
    clients: u64,
    client: impl Fn(&Shared, Random) -> Result<(), String> + Clone + Send + 'static,
) -> Used {
    let shared = Arc::new(Shared {
        end,
        tasks: AtomicU64::new(0),
        tally: Mutex::default(),
    });
    let threads = (0..clients).map(|number| {
        let (shared, client) = (Arc::clone(&shared), client.clone());
        let random = Random::new(seed.0, seed.1 * CLIENTS + number);
        thread::spawn(move || {
            if let Err(why) = client(&shared, random) {
                shared.wrong(why);
            }
        })
    });
    let clients = threads.collect();
    Used {
        name,
        program,
        shared,
        clients,
        samples: Vec::new(),
    }
}

fn over_pipes(mut command: Command, end: Instant, seed: u64) -> Result<Used, String> {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = Program::start(pipes)?;
    let ends = program.0.stdin.take().zip(program.0.stdout.take());
    let ends = Arc::new(Mutex::new(ends));
    Ok(used(
        "pipes",
        program,
        end,
        (seed, 1),
        1,
        move |shared, random| {
            let ends = ends.lock().unwrap_or_else(PoisonError::into_inner).take();
            let (to, from) = ends.ok_or("it was piped")?;
            lines::last(shared, random, lines::Ends::pipes(to, from))
        },
    ))
}

fn over_sockets(mut command: Command, end: Instant, seed: u64) -> Result<Used, String> {
    let path = std::env::temp_dir().join(format!("soak-{}.sock", std::process::id()));
    command.args(["--grace", GRACE, "--socket"]).arg(&path);
    let program = Program::start(command.stdin(Stdio::null()))?;
    until(|| UnixStream::connect(&path).is_ok())?;
    let file = Arc::new(File(path));
    Ok(used(
        "sockets",
        program,
        end,
        (seed, 2),
        CLIENTS,
        move |shared, random| lines::come_and_go(shared, random, &file.0),
    ))
}

/// A socket's file, which goes when nobody needs it any more.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn over_http(mut command: Command, end: Instant, seed: u64) -> Result<Used, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address: SocketAddr = free.map_err(|error| format!("find a port: {error}"))?;
    let flags = [
        "--session-idle",
        SESSION_IDLE,
        "--http",
        &address.to_string(),
    ];
    let program = Program::start(command.args(flags).stdin(Stdio::null()))?;
    until(|| TcpStream::connect(address).is_ok())?;
    Ok(used(
        "http",
        program,
        end,
        (seed, 3),
        CLIENTS,
        move |shared, random| http::come_and_go(shared, random, address),
    ))
}

fn until(listens: impl Fn() -> bool) -> Result<(), String> {
    let begin = Instant::now();
    while !listens() {
        if begin.elapsed() > PATIENCE {
            return Err("the server does not listen".into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
