//! A process group. Nothing leaves it unless it wants to.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Context;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use tokio::io::ReadBuf;
use tokio::net::unix::pipe;

use crate::child::exit::{Exit, Sent};

/// The near end of a stream of the process.
pub(in crate::child) type Pipe = OwnedFd;

pub(super) struct Pipes {
    pub(super) stdin: Pipe,
    pub(super) stdout: Pipe,
    pub(super) stderr: Option<Pipe>,
}

/// The process that was started, and that the group is named after.
pub(super) struct Leader(Child);

/// The leader and what it started.
pub(super) struct Group(Mutex<State>);

struct State {
    /// `None` once the leader is reaped: another group may have the number then.
    leader: Option<Pid>,
    sent: Sent,
}

pub(super) fn spawn(mut command: Command) -> io::Result<(Leader, Group, Pipes)> {
    let mut child = command.process_group(0).spawn()?;
    let pipes = Pipes {
        stdin: child.stdin.take().expect("it is piped").into(),
        stdout: child.stdout.take().expect("it is piped").into(),
        stderr: child.stderr.take().map(Into::into),
    };
    let group = Group(Mutex::new(State {
        leader: Some(Pid::from_child(&child)),
        sent: Sent::Nothing,
    }));
    Ok((Leader(child), group, pipes))
}

impl Leader {
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits until it has ended, and leaves it to be reaped, which keeps its number its own.
    pub(super) fn wait(&mut self) {
        let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let leader = WaitId::Pid(Pid::from_child(&self.0));
        while let Err(Errno::INTR) = waitid(leader.clone(), end) {}
    }

    /// Kills what is left of the group and reaps the leader.
    pub(super) fn tidy_up(mut self, group: &Group) -> Exit {
        let mut state = group.lock();
        if let Some(leader) = state.leader.take() {
            // Fails where nothing but the leader is left, or somebody else has reaped it.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        Exit::new(self.0.wait().ok(), state.sent)
    }
}

impl Group {
    pub(super) fn terminate(&self) -> bool {
        self.signal(Signal::TERM, Sent::Term);
        true
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::KILL, Sent::Kill);
    }

    fn signal(&self, signal: Signal, sent: Sent) {
        let mut state = self.lock();
        if let Some(leader) = state.leader {
            state.sent = state.sent.max(sent);
            // The leader may have gone to another group, and that is the only one which we know.
            if kill_process_group(leader, signal).is_err() {
                let _ = kill_process(leader, signal);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what the process writes.
pub(in crate::child) type Reader = pipe::Receiver;

/// Writes what the process reads.
pub(in crate::child) type Writer = pipe::Sender;

pub(in crate::child) fn open_reader(pipe: Pipe) -> io::Result<Reader> {
    Reader::from_owned_fd(pipe)
}

pub(in crate::child) fn open_writer(pipe: Pipe) -> io::Result<Writer> {
    Writer::from_owned_fd(pipe)
}

/// Reads what is there and not what is on its way. The runtime is not asked, since it may not
/// know of the last bytes yet.
pub(in crate::child) fn read_rest(
    reader: &mut Reader,
    _: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> io::Result<()> {
    match rustix::io::read(reader, buffer.initialize_unfilled()) {
        Ok(length) => buffer.advance(length),
        Err(Errno::AGAIN) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
