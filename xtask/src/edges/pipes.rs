//! Two pipes and what is at their other end: bytes go in, lines come out with the time they came.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long something may take that should happen at once: generous, as machines are busy.
pub(crate) const SOON: Duration = Duration::from_secs(10);

type Line = (Instant, Vec<u8>);

/// One side of a conversation.
pub(crate) struct Pipes {
    /// To the thread that writes, so that a peer which does not read holds up nobody.
    to: Option<(Sender<Vec<u8>>, Receiver<()>)>,
    from: From,
}

enum From {
    Unread(Box<dyn Read + Send>),
    Lines(Receiver<Line>),
    /// Let go of.
    Nothing,
}

impl Pipes {
    pub(crate) fn new(to: impl Write + Send + 'static, from: impl Read + Send + 'static) -> Self {
        Self {
            to: Some(writer(to)),
            from: From::Unread(Box::new(from)),
        }
    }

    /// From here on somebody reads.
    pub(crate) fn read(&mut self) {
        self.from = match std::mem::replace(&mut self.from, From::Nothing) {
            From::Unread(stream) => From::Lines(lines(stream)),
            other => other,
        };
    }

    pub(crate) fn write(&mut self, bytes: impl Into<Vec<u8>>) -> Result<(), String> {
        let (to, written) = self.to.as_ref().ok_or("there is nothing to write to")?;
        // When the thread has ended, so has the other side.
        let _ = to.send(bytes.into());
        match written.recv_timeout(SOON) {
            Ok(()) => Ok(()),
            Err(RecvTimeoutError::Timeout) => Err("what is written is not read".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("it reads no more".to_owned()),
        }
    }

    pub(crate) fn close(&mut self) {
        self.to = None;
    }

    /// Lets go of both pipes.
    pub(crate) fn leave(&mut self) {
        self.to = None;
        self.from = From::Nothing;
    }

    /// The next line without its end, or `None` when there will be none.
    pub(crate) fn line(&mut self, within: Duration) -> Result<Option<Line>, Silence> {
        let From::Lines(lines) = &self.from else {
            return Ok(None);
        };
        match lines.recv_timeout(within) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(Silence),
        }
    }
}

/// Nothing came in time.
pub(crate) struct Silence;

fn writer(mut to: impl Write + Send + 'static) -> (Sender<Vec<u8>>, Receiver<()>) {
    let (sender, pieces) = channel::<Vec<u8>>();
    let (written, done) = channel();
    thread::spawn(move || {
        for piece in pieces {
            let sent = to.write_all(&piece).and_then(|()| to.flush());
            if sent.is_err() || written.send(()).is_err() {
                return;
            }
        }
    });
    (sender, done)
}

fn lines(stream: Box<dyn Read + Send>) -> Receiver<Line> {
    let (to, lines) = channel();
    thread::spawn(move || {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        let mut line = Vec::new();
        while stream
            .read_until(b'\n', &mut line)
            .is_ok_and(|length| length > 0)
        {
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if to
                .send((Instant::now(), std::mem::take(&mut line)))
                .is_err()
            {
                return;
            }
        }
    });
    lines
}

/// A process that somebody started to see what it does.
pub(crate) struct Process {
    child: Child,
    stderr: (JoinHandle<()>, Arc<Mutex<Vec<u8>>>),
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<(Self, Pipes), String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!("start {}: {error}", command.get_program().to_string_lossy())
            })?;
        let stdin = child.stdin.take().expect("it was piped");
        let stdout = child.stdout.take().expect("it was piped");
        let mut stderr = child.stderr.take().expect("it was piped");
        let text = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut piece = [0; 1 << 13];
            while let Ok(length @ 1..) = stderr.read(&mut piece) {
                held(&all).extend_from_slice(&piece[..length]);
            }
        });
        let process = Self {
            child,
            stderr: (reader, text),
        };
        Ok((process, Pipes::new(stdin, stdout)))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its end, if that comes in time.
    pub(crate) fn end(&mut self, within: Duration) -> Result<ExitStatus, String> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if begin.elapsed() > within => {
                    return Err(format!("it still runs after {} ms", within.as_millis()));
                }
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// What it has written to standard error until it ended, which is not waited for long: a child
    /// of its own may hold the pipe for ever.
    pub(crate) fn stderr(&self) -> String {
        let (reader, text) = &self.stderr;
        let begin = Instant::now();
        while !reader.is_finished() && begin.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(5));
        }
        String::from_utf8_lossy(&held(text)).into_owned()
    }

    pub(crate) fn signal(&self, name: &str) -> Result<(), String> {
        let id = self.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        match status.is_ok_and(|status| status.success()) {
            true => Ok(()),
            false => Err(format!("it cannot be sent {name}")),
        }
    }

    /// The most memory that it has had so far, in bytes; nothing where that cannot be known.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let figure = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        // The pages of the program itself, of which a debug build has many, are nobody's data.
        Some(figure("VmHWM:")?.saturating_sub(figure("RssFile:")?) * 1024)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
