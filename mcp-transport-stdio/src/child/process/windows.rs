//! A job object. Nothing leaves it, and it ends when its last handle is closed: also with us.

use std::fs::File;
use std::io;
use std::os::windows::io::OwnedHandle;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tokio::io::{AsyncRead, ReadBuf};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

use crate::child::exit::{Exit, Sent};
use crate::stdio::thread::{ThreadReader, ThreadWriter};

/// The near end of a stream of the process.
pub(in crate::child) type Pipe = OwnedHandle;

pub(super) struct Pipes {
    pub(super) stdin: Pipe,
    pub(super) stdout: Pipe,
    pub(super) stderr: Option<Pipe>,
}

/// The process that was started.
pub(super) struct Leader {
    id: u32,
    child: Box<dyn ChildWrapper>,
    kills: mpsc::Receiver<()>,
}

/// The leader and what it started. Only the thread that waits for it can kill it.
pub(super) struct Group {
    kill: mpsc::Sender<()>,
    killed: AtomicBool,
}

pub(super) fn spawn(command: Command) -> io::Result<(Leader, Group, Pipes)> {
    // The leader is suspended until it is in the job, so that it cannot start anything before.
    let mut child = CommandWrap::from(tokio::process::Command::from(command))
        .wrap(CreationFlags(CREATE_NO_WINDOW))
        .wrap(KillOnDrop)
        .wrap(JobObject)
        .spawn()?;
    let stdin = child.stdin().take().expect("it is piped");
    let stdout = child.stdout().take().expect("it is piped");
    let stderr = child.stderr().take();
    let pipes = Pipes {
        stdin: stdin.into_owned_handle()?,
        stdout: stdout.into_owned_handle()?,
        stderr: stderr.map(|pipe| pipe.into_owned_handle()).transpose()?,
    };
    let (kill, kills) = mpsc::channel();
    let leader = Leader {
        id: child.id().unwrap_or_default(),
        child,
        kills,
    };
    let group = Group {
        kill,
        killed: AtomicBool::new(false),
    };
    Ok((leader, group, pipes))
}

impl Leader {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Waits until it has ended, and kills it meanwhile if it is told to.
    pub(super) fn wait(&mut self) {
        while let Ok(None) = self.child.try_wait() {
            if self.kills.recv_timeout(LOOK).is_ok() {
                let _ = self.child.start_kill();
            }
        }
    }

    /// Kills what is left in the job.
    pub(super) fn tidy_up(mut self, group: &Group) -> Exit {
        let status = self.child.try_wait().ok().flatten();
        let _ = self.child.start_kill();
        let sent = match group.killed.load(Ordering::Relaxed) {
            true => Sent::Kill,
            false => Sent::Nothing,
        };
        Exit::new(status, sent)
    }
}

/// How often the thread looks whether the leader has ended: there is no way to wait for that
/// and for the order to kill it at once.
const LOOK: Duration = Duration::from_millis(20);

impl Group {
    /// Windows knows no such thing.
    pub(super) fn terminate(&self) -> bool {
        false
    }

    pub(super) fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
        // Fails when nothing is left to be killed.
        let _ = self.kill.send(());
    }
}

/// Reads what the process writes.
pub(in crate::child) type Reader = ThreadReader;

/// Writes what the process reads.
pub(in crate::child) type Writer = ThreadWriter;

pub(in crate::child) fn open_reader(pipe: Pipe) -> io::Result<Reader> {
    Reader::spawn(File::from(pipe))
}

pub(in crate::child) fn open_writer(pipe: Pipe) -> io::Result<Writer> {
    Writer::spawn(File::from(pipe))
}

/// Reads what the thread has read so far.
pub(in crate::child) fn read_rest(
    reader: &mut Reader,
    cx: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> io::Result<()> {
    match Pin::new(reader).poll_read(cx, buffer) {
        Poll::Ready(read) => read,
        Poll::Pending => Ok(()),
    }
}
