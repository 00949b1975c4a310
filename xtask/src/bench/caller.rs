//! Clients that call our server: what either has to do for it.

use std::io::{BufRead as _, BufReader, Error, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{io, thread};

use super::compare::{Row, Take};
use super::peers::Program;
use super::server::Process;
use crate::procfs;

/// Calls of one measurement.
const CALLS: usize = 6_400;

/// Lets a client call our server, one call after another and then 64 at once.
pub(super) fn measure(client: &Program, server: &str, take: Take<'_>) -> io::Result<()> {
    let mut caller = Caller::start(&client.path, server)?;
    let rows = [
        (1, Row::ClientSequential, Row::ClientSequentialToServer),
        (64, Row::ClientInFlight, Row::ClientInFlightToServer),
    ];
    for (depth, row, to_server) in rows {
        caller.calls(CALLS / 4, depth)?;
        let [client, server] = caller.costs(depth)?;
        take(row, client);
        take(to_server, client / server);
    }
    Ok(())
}

/// A program that calls, as its standard input says.
struct Caller {
    process: Process,
    /// The server that it has started.
    server: u32,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Caller {
    fn start(program: &Path, server: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .arg(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::other("no pipes"));
        };
        let mut caller = Self {
            process: Process::new(child),
            server: 0,
            input,
            output: BufReader::new(output),
        };
        caller.calls(1, 1)?;
        let mut children = procfs::children(caller.process.id).into_iter();
        caller.server = children
            .next()
            .ok_or_else(|| Error::other("it has no server"))?;
        Ok(caller)
    }

    fn calls(&mut self, calls: usize, depth: usize) -> io::Result<()> {
        writeln!(self.input, "{calls} {depth}")?;
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err(Error::other("it has ended")),
            _ => Ok(()),
        }
    }

    /// What a call costs the client and the server, in nanoseconds.
    fn costs(&mut self, depth: usize) -> io::Result<[f64; 2]> {
        let used = |caller: &Self| {
            // What is running has not been counted yet.
            thread::sleep(Duration::from_millis(2));
            io::Result::Ok([procfs::cpu(caller.process.id)?, procfs::cpu(caller.server)?])
        };
        let before = used(self)?;
        self.calls(CALLS, depth)?;
        let after = used(self)?;
        let cost = |side: usize| after[side].saturating_sub(before[side]).as_nanos() as f64;
        Ok([cost(0), cost(1)].map(|cost| cost / CALLS as f64))
    }
}
