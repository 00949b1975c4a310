//! Our client, which calls our server: what either has to do for it.

use std::io::{BufRead as _, BufReader, Error, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::drive::Speech;
use super::peers::Peer;
use super::server::Process;
use crate::procfs;

/// How many calls are in flight.
pub(super) const DEPTHS: [usize; 2] = [1, 64];

/// Calls of one measurement.
const CALLS: usize = 6_400;

/// What one call costs, in nanoseconds.
pub(super) struct Side {
    pub(super) depth: usize,
    pub(super) client: f64,
    pub(super) server: f64,
    pub(super) wall: f64,
}

pub(super) fn measure(ours: &Peer, sides: &mut Vec<Side>) -> Result<(), String> {
    let server = &ours.command(Speech::Modern)[0];
    let mut caller = Caller::start(server).map_err(|error| format!("our client: {error}"))?;
    for depth in DEPTHS {
        let measured = caller
            .calls(CALLS / 4, depth)
            .and_then(|()| caller.side(depth));
        sides.push(measured.map_err(|error| format!("our client: {error}"))?);
    }
    Ok(())
}

/// The program `caller`.
struct Caller {
    process: Process,
    /// The server that it has started.
    server: u32,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Caller {
    fn start(server: &str) -> io::Result<Self> {
        let program = std::path::Path::new(server).with_file_name("caller");
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

    fn side(&mut self, depth: usize) -> io::Result<Side> {
        let used = |caller: &Self| {
            // What is running has not been counted yet.
            thread::sleep(Duration::from_millis(2));
            io::Result::Ok([procfs::cpu(caller.process.id)?, procfs::cpu(caller.server)?])
        };
        let before = used(self)?;
        let start = Instant::now();
        self.calls(CALLS, depth)?;
        let wall = start.elapsed();
        let after = used(self)?;
        let per_call = |time: Duration| time.as_nanos() as f64 / CALLS as f64;
        Ok(Side {
            depth,
            client: per_call(after[0].saturating_sub(before[0])),
            server: per_call(after[1].saturating_sub(before[1])),
            wall: per_call(wall),
        })
    }
}
