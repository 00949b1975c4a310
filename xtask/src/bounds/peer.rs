//! The example `fixture` on pipes, and what is measured of it.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Row;
use crate::edges::pipes::{Pipes, Process, SOON};
use crate::procfs;
use crate::requests::{call, initialize, notification};
use crate::workspace;

/// Longest silence of a server that has much to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a server that has just started may take to be idle.
const START: Duration = Duration::from_millis(500);

pub(super) struct Peer {
    pub(super) pipes: Pipes,
    process: Process,
    idle: u64,
    descriptors: usize,
    tasks: u64,
}

impl Peer {
    /// Starts it and shakes hands; what it has then is what it has while it is idle. Nobody reads
    /// what it answers before [`listen`](Self::listen).
    pub(super) fn open(release: bool, version: &str, arguments: &[&str]) -> Result<Self, String> {
        let program = workspace::build_example("fixture", release)?;
        let mut command = Command::new(program);
        // What a thread has freed glibc keeps for that thread, which is nothing of a peer's: with
        // one heap for all of them only what is held is counted.
        command.args(arguments).env("MALLOC_ARENA_MAX", "1");
        let (process, mut pipes) = Process::start(&mut command)?;
        let hands = [
            initialize(version),
            notification("notifications/initialized", "{}"),
            call(r#""stats""#, "stats", "{}"),
        ];
        pipes.write(hands.concat())?;
        thread::sleep(START);
        let id = process.id();
        let held = procfs::held(id).ok_or("it has ended")?;
        Ok(Self {
            pipes,
            process,
            idle: procfs::peak_memory(id).ok_or("it has ended")?,
            descriptors: held.descriptors,
            tasks: 0,
        })
    }

    /// From here on somebody reads.
    pub(super) fn listen(&mut self) -> Result<(), String> {
        self.pipes.read();
        self.answer(0)?;
        let stats = self.answer("stats")?;
        let tasks = stats["result"]["structuredContent"]["tasks"].as_u64();
        self.tasks = tasks.ok_or("it tells no number of tasks")?;
        Ok(())
    }

    pub(super) fn start(release: bool, version: &str, arguments: &[&str]) -> Result<Self, String> {
        let mut peer = Self::open(release, version, arguments)?;
        peer.listen()?;
        Ok(peer)
    }

    /// Its next line and when it came.
    pub(super) fn line(&mut self) -> Result<(Instant, Vec<u8>), String> {
        let line = self.pipes.line(PATIENCE);
        let line = line.map_err(|_| "nothing is answered any more".to_owned())?;
        line.ok_or("it has ended".to_owned())
    }

    /// Its next message and when it came.
    pub(super) fn next(&mut self) -> Result<(Instant, Value), String> {
        let (came, line) = self.line()?;
        let message = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
        Ok((came, message))
    }

    /// Its next message, which has this id.
    fn answer(&mut self, id: impl Into<Value>) -> Result<Value, String> {
        let (_, message) = self.next()?;
        let id = id.into();
        match message["id"] == id {
            true => Ok(message),
            false => Err(format!("{id} is not answered next, but {message}")),
        }
    }

    /// What the tool `stats` tells; refused while the share is full.
    fn stats(&mut self) -> Result<Value, String> {
        self.pipes.write(call(r#""stats""#, "stats", "{}"))?;
        let mut answer = self.answer("stats")?;
        Ok(answer["result"]["structuredContent"].take())
    }

    /// What it took, once it is as idle as in the beginning, which has to be soon.
    pub(super) fn row(mut self, what: String, limit: u64) -> Result<Row, String> {
        let begin = Instant::now();
        let (in_flight, tasks) = loop {
            let stats = self.stats()?;
            let figure = |name: &str| stats[name].as_u64().unwrap_or(u64::MAX);
            let (in_flight, tasks) = (figure("in_flight"), figure("tasks"));
            if in_flight == 1 && tasks <= self.tasks || begin.elapsed() > SOON {
                break (in_flight, tasks);
            }
            thread::sleep(Duration::from_millis(20));
        };
        let id = self.process.id();
        let held = procfs::held(id).ok_or("it has ended")?;
        let peak = procfs::peak_memory(id).ok_or("it has ended")?;
        let mut row = Row {
            what,
            memory: Some((peak.saturating_sub(self.idle), limit)),
            descriptors: (self.descriptors, held.descriptors),
            tasks: Some((self.tasks, tasks)),
            ..Row::default()
        };
        row.check(in_flight == 1, "the slots are not free");
        Ok(row)
    }
}
