//! Conversations with an example, in the words of the cases in `xtask/src/edges/servers.txt`.

use std::process::Command;

use serde_json::Value;

pub(crate) use crate::edges::cases::Opened;
use crate::edges::pipes::Process;
use crate::edges::play::Side;

pub(crate) const BOTH: [Opened; 2] = [Opened::Legacy("2025-11-25"), Opened::Modern];

/// A program and the client that talks to it.
pub(crate) struct Play {
    play: crate::edges::play::Play<'static>,
    opened: Opened,
}

impl Play {
    pub(crate) fn new(program: &mut Command, opened: Opened, capabilities: Value) -> Self {
        let (process, mut pipes) = Process::start(program).expect("the example starts");
        pipes.read();
        let side = Side::Server {
            process,
            capabilities,
            fit: &(),
        };
        let mut play = crate::edges::play::Play::new(pipes, opened, side);
        play.open().expect("the example speaks the revision");
        Self { play, opened }
    }

    pub(crate) fn play(&mut self, script: &str) {
        let steps = script
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let steps: Vec<_> = steps.map(str::to_owned).collect();
        let played = self.play.play(&steps);
        played.unwrap_or_else(|wrong| panic!("{:?}: {}\n  {}", self.opened, wrong.step, wrong.why));
    }

    pub(crate) fn receive(&mut self) -> Value {
        self.play.receive().expect("a line comes").message
    }

    pub(crate) fn receive_line(&mut self) -> String {
        self.play.receive().expect("a line comes").text
    }

    /// Whatever still comes until the output ends.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let rest = std::iter::from_fn(|| self.play.receive().ok());
        rest.map(|heard| heard.message).collect()
    }

    /// Peak memory of the process so far, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory(&self) -> u64 {
        self.play.peak_memory().expect("it can be seen")
    }

    /// Closes stdin and expects that the process ends well, without another word.
    pub(crate) fn ends_well(self) {
        self.play.close().expect("it ends well");
    }
}
