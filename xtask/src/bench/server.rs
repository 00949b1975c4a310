//! A server as a child process, that is driven and measured.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::drive::{Connection, Request, Speech, Timing, Until};
use crate::procfs;

/// What a server has as its standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Pipes,
    /// As a Node.js parent gives them.
    Sockets,
}

/// A process that is killed when it is dropped, or after [`LONGEST`].
pub(super) struct Process {
    pub(super) id: u32,
    child: Arc<Mutex<Child>>,
    _watched: Sender<()>,
}

/// No process is measured for longer. Whoever waits for one that hangs then reads its end.
const LONGEST: Duration = Duration::from_secs(240);

impl Process {
    pub(super) fn new(child: Child) -> Self {
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        let (watched, ended) = mpsc::channel::<()>();
        let late = Arc::clone(&child);
        thread::spawn(move || {
            if ended.recv_timeout(LONGEST) == Err(mpsc::RecvTimeoutError::Timeout) {
                kill(&late);
            }
        });
        Self {
            id,
            child,
            _watched: watched,
        }
    }

    /// Waits for its end.
    fn wait(self) -> io::Result<()> {
        loop {
            let ended = self
                .child
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .try_wait()?;
            if ended.is_some() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        kill(&self.child);
    }
}

fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // It may have ended by itself, and then there is nothing left to end.
    let _ = child.kill();
    let _ = child.wait();
}

/// A server, and the only connection to it.
pub(super) struct Server {
    pub(super) process: Process,
    pub(super) connection: Connection,
}

/// What a run took, and what the server had to do for it.
pub(super) struct Measured {
    pub(super) timing: Timing,
    cpu: Duration,
}

impl Measured {
    /// In nanoseconds.
    pub(super) fn cpu_per_call(&self) -> f64 {
        self.cpu.as_nanos() as f64 / self.timing.calls as f64
    }
}

impl Server {
    /// Starts it, and says what a client says first.
    pub(super) fn start(command: &[String], wire: Wire, speech: Speech) -> io::Result<Self> {
        let mut server = Self::spawn(command, wire)?;
        server.connection.open(speech)?;
        Ok(server)
    }

    fn spawn(words: &[String], wire: Wire) -> io::Result<Self> {
        const ROOM: usize = 256 * 1024;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stderr(Stdio::null());
        match wire {
            Wire::Pipes => {
                let mut child = command
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()?;
                let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                    return Err(io::Error::other("no pipes"));
                };
                Ok(Self {
                    process: Process::new(child),
                    connection: Connection::new(input, output, ROOM),
                })
            }
            Wire::Sockets => {
                let (input, far_input) = UnixStream::pair()?;
                let (output, far_output) = UnixStream::pair()?;
                command
                    .stdin(OwnedFd::from(far_input))
                    .stdout(OwnedFd::from(far_output));
                let child = command.spawn()?;
                Ok(Self {
                    process: Process::new(child),
                    connection: Connection::new(input, output, ROOM),
                })
            }
        }
    }

    pub(super) fn run(
        &mut self,
        request: &Request,
        depth: usize,
        until: Until,
    ) -> io::Result<Measured> {
        let before = procfs::cpu(self.process.id)?;
        let timing = self.connection.run(request, depth, until)?;
        let cpu = procfs::cpu(self.process.id)?.saturating_sub(before);
        Ok(Measured { timing, cpu })
    }

    /// In MiB.
    pub(super) fn peak(&self) -> io::Result<f64> {
        Ok(procfs::peak_resident_kib(self.process.id)? as f64 / 1024.0)
    }

    /// Says no more, and waits until it has ended.
    pub(super) fn close(self) -> io::Result<()> {
        drop(self.connection);
        self.process.wait()
    }
}
