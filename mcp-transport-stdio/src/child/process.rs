//! A process and all that it starts, from the first to the last.
//!
//! A thread of its own starts each process, waits for its end and tidies up behind it. So
//! starting never holds up a runtime, and no zombie is left behind when there is no runtime any
//! more.

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::task::Context;
use std::thread;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use self::system::{Group, Leader, Pipes};
pub(super) use self::system::{Pipe, Reader, Writer, open_reader, open_writer, read_rest};
use super::exit::Exit;

/// A process that was started, and the near ends of its standard streams.
pub(super) struct Process {
    pub(super) owner: Owner,
    pub(super) stdin: (Pipe, Gone),
    pub(super) stdout: Source,
    pub(super) stderr: Option<Source>,
}

/// Kills the process, and all that it started, when it is dropped.
///
/// That needs no runtime and does not wait; the process's own thread takes care that nothing
/// of it stays.
pub(super) struct Owner {
    pub(super) id: u32,
    group: Arc<Group>,
    /// How it ended, once nothing is left.
    exit: watch::Receiver<Option<Exit>>,
}

/// A pipe that the process writes to.
pub(super) struct Source {
    pub(super) pipe: Pipe,
    pub(super) gone: Gone,
    /// Dropped when nothing more will be read: as long as somebody reads, the process's thread
    /// does not tidy up.
    pub(super) reading: mpsc::Sender<Infallible>,
}

/// Whether the process is gone, to be polled.
pub(super) struct Gone(Option<oneshot::Receiver<Infallible>>);

impl Gone {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(gone) = &mut self.0 {
            if Pin::new(gone).poll(cx).is_pending() {
                return false;
            }
            self.0 = None;
        }
        true
    }
}

/// Starts a process, whose streams are as `command` says.
///
/// When it ends, and something that it started still holds its pipes, these are read for as
/// long as `drain` before the rest is killed.
pub(super) async fn start(command: Command, drain: Duration) -> io::Result<Process> {
    let (report, started) = oneshot::channel();
    thread::Builder::new()
        .name("mcp-child".to_owned())
        .spawn(move || live(command, drain, report))?;
    started
        .await
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it has panicked")))
}

/// The life of a process.
fn live(command: Command, drain: Duration, report: oneshot::Sender<io::Result<Process>>) {
    let (mut leader, group, pipes) = match system::spawn(command) {
        Ok(spawned) => spawned,
        Err(error) => {
            let _ = report.send(Err(error));
            return;
        }
    };
    let group = Arc::new(group);
    let (publish, exit) = watch::channel(None);
    let (reading, readers) = mpsc::channel();
    let (still_there, process) = process(&leader, &group, pipes, exit, &reading);
    drop(reading);
    // When nobody waits for it any more, it is dropped here, and so killed.
    let _ = report.send(Ok(process));

    leader.wait();
    let _ = readers.recv_timeout(drain);
    let exit = leader.tidy_up(&group);
    publish.send_replace(Some(exit));
    drop(still_there);
}

type StillThere = [oneshot::Sender<Infallible>; 3];

fn process(
    leader: &Leader,
    group: &Arc<Group>,
    pipes: Pipes,
    exit: watch::Receiver<Option<Exit>>,
    reading: &mpsc::Sender<Infallible>,
) -> (StillThere, Process) {
    let [(a, stdin), (b, stdout), (c, stderr)] = [(); 3].map(|()| {
        let (still_there, gone) = oneshot::channel();
        (still_there, Gone(Some(gone)))
    });
    let source = |pipe, gone| Source {
        pipe,
        gone,
        reading: reading.clone(),
    };
    let process = Process {
        owner: Owner {
            id: leader.id(),
            group: Arc::clone(group),
            exit,
        },
        stdin: (pipes.stdin, stdin),
        stdout: source(pipes.stdout, stdout),
        stderr: pipes.stderr.map(|pipe| source(pipe, stderr)),
    };
    ([a, b, c], process)
}

impl Owner {
    /// Asks the process to end. False where that cannot be asked for.
    pub(super) fn terminate(&self) -> bool {
        self.group.terminate()
    }

    pub(super) fn kill(&self) {
        self.group.kill();
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    pub(super) async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        let known = exit.wait_for(Option::is_some).await;
        known.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.kill();
    }
}
