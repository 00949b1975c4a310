//! A program that runs in the background, and ends with this value.

use std::process::{Child, Command, Stdio};

use crate::workspace;

pub(crate) struct Program(pub(crate) Child);

impl Program {
    /// Starts it with nobody who reads
    /// what it complains about.
    pub(crate) fn start(command: &mut Command) -> Result<Self, String> {
        let child = command.stderr(Stdio::null()).spawn();
        child
            .map(Self)
            .map_err(|error| workspace::not_started(command, &error))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
