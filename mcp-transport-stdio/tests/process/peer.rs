//! A child, and the other ends of its standard streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::ROLE;

/// Starts a child that plays a part, connected in one way or another.
pub(crate) type Connect = fn(&str) -> Peer;

pub(crate) struct Peer {
    process: Child,
    /// Dropped to end the child's input.
    pub(crate) input: Option<Box<dyn Write + Send>>,
    pub(crate) output: Option<BufReader<Box<dyn Read + Send>>>,
}

/// What a child left behind.
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    /// What it sent that was not read before.
    pub(crate) output: String,
    /// What it wrote to standard error.
    pub(crate) errors: String,
}

/// A child to be, without streams.
pub(crate) fn command(role: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a name");
    let mut command = Command::new(program);
    command.env(ROLE, role).stderr(Stdio::piped());
    command
}

pub(crate) fn pipes(role: &str) -> Peer {
    Peer::piped(&mut command(role)).expect("the child can be started")
}

impl Peer {
    pub(crate) fn piped(command: &mut Command) -> std::io::Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().expect("it is a pipe");
        let output = process.stdout.take().expect("it is a pipe");
        Ok(Self::new(process, input, output))
    }

    pub(crate) fn new(
        process: Child,
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> Self {
        Self {
            process,
            input: Some(Box::new(input)),
            output: Some(BufReader::new(Box::new(output))),
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it was not ended");
        input.write_all(text.as_bytes()).expect("the child reads");
    }

    pub(crate) fn receive(&mut self) -> String {
        let mut line = String::new();
        let output = self.output.as_mut().expect("it was not dropped");
        output.read_line(&mut line).expect("the child writes");
        let text = line.strip_suffix('\n').expect("the child ends each line");
        text.strip_suffix('\r').unwrap_or(text).to_owned()
    }

    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.send(&format!("{line}\n"));
        self.receive()
    }

    /// Ends the child's input and waits for it to end.
    pub(crate) fn finish(mut self) -> End {
        self.input = None;
        self.wait_for_end()
    }

    /// Waits for the child to end by itself.
    pub(crate) fn wait_for_end(&mut self) -> End {
        let mut end = End {
            status: ExitStatus::default(),
            output: String::new(),
            errors: String::new(),
        };
        if let Some(mut output) = self.output.take() {
            // A terminal fails where other streams end.
            let _ = output.read_to_string(&mut end.output);
        }
        end.status = self.process.wait().expect("it is our child");
        let mut errors = self.process.stderr.take().expect("it is a pipe");
        errors
            .read_to_string(&mut end.errors)
            .expect("the child writes text");
        end
    }

    /// Whether the child ends by itself in time.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < limit {
            if self.process.try_wait().expect("it is our child").is_some() {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// The names of the child's threads other than the first.
    #[cfg(target_os = "linux")]
    pub(crate) fn threads(&self) -> Vec<String> {
        let id = self.process.id();
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).expect("the child lives");
        let mut names: Vec<_> = tasks
            .map(|task| task.expect("it is readable").path())
            .filter(|task| !task.ends_with(id.to_string()))
            .map(|task| std::fs::read_to_string(task.join("comm")).expect("the thread lives"))
            .map(|name| name.trim_end().to_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(target_os = "linux")]
pub(crate) use self::unix::shared_sockets;
#[cfg(unix)]
pub(crate) use self::unix::{non_blocking_terminal, one_socket, shared_pipes, sockets, terminal};

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::Stdio;

    use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

    use super::*;

    /// Connects through pipes, and keeps the ends that the child has.
    pub(crate) fn shared_pipes(role: &str) -> (Peer, [OwnedFd; 2]) {
        let (stdin, input) = pipe();
        let (output, stdout) = pipe();
        share(role, [stdin, stdout], [input, output])
    }

    /// Connects through sockets, and keeps the ends that the child has.
    #[cfg(target_os = "linux")]
    pub(crate) fn shared_sockets(role: &str) -> (Peer, [OwnedFd; 2]) {
        let (input, stdin) = pair();
        let (output, stdout) = pair();
        share(role, [stdin, stdout], [input.into(), output.into()])
    }

    fn share(role: &str, theirs: [OwnedFd; 2], ours: [OwnedFd; 2]) -> (Peer, [OwnedFd; 2]) {
        let [stdin, stdout] = theirs
            .each_ref()
            .map(|end| end.try_clone().expect("it is open"));
        let process = command(role).stdin(stdin).stdout(stdout).spawn();
        let [input, output] = ours.map(File::from);
        (
            Peer::new(process.expect("the child can be started"), input, output),
            theirs,
        )
    }

    fn pipe() -> (OwnedFd, OwnedFd) {
        let (reader, writer) = rustix::pipe::pipe().expect("pipes are to be had");
        for end in [&reader, &writer] {
            fcntl_setfd(end, FdFlags::CLOEXEC).expect("it is open");
        }
        (reader, writer)
    }

    /// Ends the other's input when it is dropped, though the socket stays open.
    struct Half(UnixStream);

    impl Write for Half {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl Drop for Half {
        fn drop(&mut self) {
            let _ = self.0.shutdown(Shutdown::Write);
        }
    }

    fn pair() -> (UnixStream, OwnedFd) {
        let (ours, theirs) = UnixStream::pair().expect("sockets are to be had");
        (ours, theirs.into())
    }

    /// A socket for each direction, as programs on Node have it.
    pub(crate) fn sockets(role: &str) -> Peer {
        let (input, stdin) = pair();
        let (output, stdout) = pair();
        let process = command(role).stdin(stdin).stdout(stdout).spawn();
        Peer::new(
            process.expect("the child can be started"),
            Half(input),
            output,
        )
    }

    pub(crate) fn one_socket(role: &str) -> Peer {
        let (ours, theirs) = pair();
        let stdin = theirs.try_clone().expect("it is open");
        let process = command(role).stdin(stdin).stdout(theirs).spawn();
        let input = Half(ours.try_clone().expect("it is open"));
        Peer::new(process.expect("the child can be started"), input, ours)
    }

    /// Types the end of input when it is dropped.
    struct Keyboard(File);

    impl Write for Keyboard {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl Drop for Keyboard {
        fn drop(&mut self) {
            let _ = self.0.write_all(b"\x04");
        }
    }

    /// A terminal that passes on whole lines, but does not show what is typed.
    pub(crate) fn terminal(role: &str) -> Peer {
        on_terminal(role, OFlags::empty())
    }

    pub(crate) fn non_blocking_terminal(role: &str) -> Peer {
        on_terminal(role, OFlags::NONBLOCK)
    }

    fn on_terminal(role: &str, flags: OFlags) -> Peer {
        let (ours, theirs) = open_terminal().expect("terminals are to be had");
        fcntl_setfl(&theirs, flags | OFlags::RDWR).expect("it is open");
        let stdin = Stdio::from(theirs.try_clone().expect("it is open"));
        let process = command(role).stdin(stdin).stdout(theirs).spawn();
        let input = Keyboard(ours.try_clone().expect("it is open"));
        Peer::new(process.expect("the child can be started"), input, ours)
    }

    fn open_terminal() -> rustix::io::Result<(File, OwnedFd)> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let theirs = open(
            name,
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let mut modes = tcgetattr(&theirs)?;
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&theirs, OptionalActions::Now, &modes)?;
        Ok((ours.into(), theirs))
    }
}
