//! `cargo xtask kills`: `kill -9` of servers and of clients while calls run.
//!
//! Our client starts the fixture and calls it all the time. Its server is killed: the client has to
//! start another one and be answered again, and must leave no dead process behind. Then the client
//! is killed: its server has to end. Nothing that was started may be left.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::flags::KillsFlags;
use crate::program::Program;
use crate::random::Random;
use crate::{procfs, workspace};

/// Clients at the same time: most of their time they wait for a server to be started again.
const LANES: usize = 12;

/// A server that has ended is started again after a second; a busy machine takes more to do it.
const RECOVERS: Duration = Duration::from_secs(1);

/// A server has a second of grace for calls in flight when its client is gone, and as long to
/// write what is finished.
const ENDS: Duration = Duration::from_secs(2);

/// How much longer a busy machine may take for either.
const SLACK: Duration = Duration::from_secs(8);

/// The variable that all that is started has.
const MARK: &str = "MCP_KILLS_MARK";

/// It makes one call after another.
const SCRIPT: &str =
    r#"{"restart":true,"steps":[{"op":"keep_calling","name":"sleep","arguments":{"ms":3}}]}"#;

/// The longest it took, of each kind.
#[derive(Clone, Copy, Default)]
struct Longest {
    recovered: Duration,
    ended: Duration,
}

pub(crate) fn run(flags: &KillsFlags) -> ExitCode {
    match try_run(flags) {
        Ok(kept) => ExitCode::from(u8::from(!kept)),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(flags: &KillsFlags) -> Result<bool, String> {
    let programs = Programs {
        client: workspace::build_example("interop-client", false)?,
        server: workspace::build_example("fixture", false)?,
    };
    let begin = Instant::now();
    let rounds = flags.times.div_ceil(2);
    let next = AtomicUsize::new(0);
    let lane = || {
        let (mut longest, mut wrong) = (Longest::default(), Vec::new());
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round >= rounds {
                return (longest, wrong);
            }
            let mut random = Random::new(flags.seed, round as u64);
            match programs.round(&mut random, &mut longest) {
                Ok(()) => {}
                Err(why) => wrong.push(format!("round {round}: {why}")),
            }
        }
    };
    let lanes = thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        let ended = lanes.into_iter().map(|lane| lane.join());
        ended.collect::<Result<Vec<_>, _>>()
    });
    let lanes = lanes.map_err(|_| "a lane panics")?;
    let most = |figure: fn(&Longest) -> Duration| {
        let times = lanes.iter().map(|(longest, _)| figure(longest));
        times.max().unwrap_or_default()
    };
    let mut wrong: Vec<_> = lanes.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    let left = left();
    if !left.is_empty() {
        wrong.push(format!("these processes are left: {left:?}"));
    }
    println!(
        "kills: {rounds} servers and {rounds} clients, seed {}, in {:.1?}",
        flags.seed,
        begin.elapsed()
    );
    let [recovered, ended] = [
        most(|longest| longest.recovered),
        most(|longest| longest.ended),
    ];
    println!(
        "  a client is answered by its next server after {recovered:.1?} at most, {RECOVERS:?} of it a pause"
    );
    println!("  a server has ended after its client by {ended:.1?} at most");
    for wrong in &wrong {
        println!("  WRONG: {wrong}");
    }
    if wrong.is_empty() {
        println!("  nothing is left in the process table");
    }
    Ok(wrong.is_empty())
}

struct Programs {
    client: PathBuf,
    server: PathBuf,
}

impl Programs {
    fn round(&self, random: &mut Random, longest: &mut Longest) -> Result<(), String> {
        let (client, lines) = start(&self.client, &self.server)?;
        answered(&lines, SLACK).map_err(|why| format!("at the start: {why}"))?;
        let first = only_child(client.id())?;
        thread::sleep(random.millis(0..40));

        let begin = Instant::now();
        kill(first)?;
        // A call that was in flight fails; one that comes now waits for the next server.
        until(RECOVERS + SLACK, || {
            only_child(client.id()).is_ok_and(|child| child != first)
        })
        .map_err(|why| format!("no other server is started, {why}"))?;
        while lines.try_recv().is_ok() {}
        answered(&lines, SLACK).map_err(|why| format!("it does not recover: {why}"))?;
        longest.recovered = longest.recovered.max(begin.elapsed());
        let second = only_child(client.id())?;
        thread::sleep(random.millis(0..40));

        let begin = Instant::now();
        drop(client);
        if until(ENDS + SLACK, || is_gone(second)).is_err() {
            // Not for ever: there may be a thousand of them.
            let _ = kill(second);
            return Err("the server outlives its client".into());
        }
        longest.ended = longest.ended.max(begin.elapsed());
        Ok(())
    }
}

/// Starts a client, which starts a server; gives what it says of its calls.
fn start(client: &Path, server: &Path) -> Result<(Program, Receiver<bool>), String> {
    let mut command = Command::new(client);
    let mark = format!("{MARK}={}", std::process::id());
    // A server gets no other variable of its client's.
    command.args(["--script", SCRIPT, "--", "env", &mark]);
    command.arg(server);
    command.env(MARK, std::process::id().to_string());
    let mut client = Program::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let stdout = client.0.stdout.take().ok_or("it was piped")?;
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if line.contains("keep_calling") && sender.send(line.contains("true")).is_err() {
                return;
            }
        }
    });
    Ok((client, lines))
}

/// Waits until a call has gone well.
fn answered(lines: &Receiver<bool>, within: Duration) -> Result<(), String> {
    let begin = Instant::now();
    loop {
        match lines.recv_timeout(within.saturating_sub(begin.elapsed())) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(RecvTimeoutError::Timeout) => return Err(format!("not in {within:?}")),
            Err(RecvTimeoutError::Disconnected) => return Err("the client has ended".into()),
        }
    }
}

fn until(within: Duration, holds: impl Fn() -> bool) -> Result<(), String> {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() > within {
            return Err(format!("not in {within:?}"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// The one child that a client has: no dead one beside it.
fn only_child(client: u32) -> Result<u32, String> {
    match procfs::children(client)[..] {
        [child] => Ok(child),
        ref children => Err(format!("the client has {} children", children.len())),
    }
}

fn kill(id: u32) -> Result<(), String> {
    let status = Command::new("kill").args(["-9", &id.to_string()]).status();
    match status.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(format!("{id} cannot be killed")),
    }
}

/// Whether a process has ended. Who has outlived its parent is for somebody else to reap.
fn is_gone(id: u32) -> bool {
    procfs::state(id).is_none_or(|(state, _)| state == 'Z')
}

/// What is left of all: processes that are alive, wherever they have gone, and dead children of
/// this one.
fn left() -> Vec<u32> {
    let me = std::process::id();
    let mut left = procfs::marked(&format!("{MARK}={me}"));
    left.extend(procfs::children(me));
    left
}
