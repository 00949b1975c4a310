//! Descriptors: which ones carry the protocol, and how each kind is driven.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::thread::{ThreadReader, ThreadWriter};
use super::{Input, Output};

/// The descriptors that carry the protocol, known to nobody else.
#[derive(Debug)]
pub(super) struct Streams {
    input: OwnedFd,
    output: OwnedFd,
}

impl Streams {
    pub(super) fn take() -> io::Result<Self> {
        let input = duplicate(io::stdin().as_fd(), "standard input")?;
        let output = duplicate(io::stdout().as_fd(), "standard output")?;
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        dup2_stdout(io::stderr()).or_else(|_| dup2_stdout(&null))?;
        dup2_stdin(&null)?;
        Ok(Self { input, output })
    }

    pub(super) fn open(self) -> (io::Result<Input>, io::Result<Output>) {
        (open_input(self.input), open_output(self.output))
    }
}

fn duplicate(stream: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    fcntl_dupfd_cloexec(stream, FIRST_PRIVATE).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("{name} cannot be used: {error}"))
    })
}

/// The three standard streams must not take each other's place if one of them was closed.
const FIRST_PRIVATE: i32 = 3;

fn open_input(input: OwnedFd) -> io::Result<Input> {
    Ok(match drive(input, OFlags::RDONLY)? {
        Drive::Pipe(input) => Box::new(pipe::Receiver::from_owned_fd_unchecked(input)?),
        Drive::Socket(input) => Box::new(UnixStream::from_std(input)?),
        Drive::Thread(input) => Box::new(ThreadReader::spawn(input)?),
    })
}

fn open_output(output: OwnedFd) -> io::Result<Output> {
    Ok(match drive(output, OFlags::WRONLY)? {
        Drive::Pipe(output) => Box::new(pipe::Sender::from_owned_fd_unchecked(output)?),
        Drive::Socket(output) => Box::new(UnixStream::from_std(output)?),
        Drive::Thread(output) => Box::new(ThreadWriter::spawn(output)?),
    })
}

/// A descriptor, and how it is waited for.
enum Drive {
    /// A pipe that does not block: by the runtime.
    Pipe(OwnedFd),
    /// A socket that does not block: by the runtime.
    Socket(net::UnixStream),
    /// Anything else: by a thread.
    Thread(Blocking),
}

/// Chooses how to wait for a descriptor that is read or written, as `access` says.
fn drive(stream: OwnedFd, access: OFlags) -> io::Result<Drive> {
    Ok(match FileType::from_raw_mode(fstat(&stream)?.st_mode) {
        FileType::Socket => {
            // Any kind of stream socket will do, since nothing asks for its addresses.
            let socket = net::UnixStream::from(stream);
            socket.set_nonblocking(true)?;
            Drive::Socket(socket)
        }
        FileType::Fifo => match reopen_pipe(&stream, access) {
            Some(own) => Drive::Pipe(own),
            None => Drive::Thread(Blocking(stream.into())),
        },
        _ => Drive::Thread(Blocking(stream.into())),
    })
}

/// Opens a pipe a second time. Being non-blocking belongs to the open file, which is shared
/// with everybody who inherited it, and they may not expect it: a shell, a sibling, the
/// parent.
///
/// `None` where that is impossible, as without `/proc` or for a pipe of another user, and
/// where it is of no use.
fn reopen_pipe(pipe: &OwnedFd, access: OFlags) -> Option<OwnedFd> {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        return None;
    }
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let own = open(path, flags, Mode::empty()).ok()?;
    // Whoever opens a named pipe after its last writer went is not told that it went, and a
    // pipe without writer does not block.
    let mut ends = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut ends, Some(&Timespec::default())).ok()?;
    (!ends[0].revents().contains(PollFlags::HUP)).then_some(own)
}

/// A file to block on, even if somebody who shares it has made it non-blocking, as programs
/// do with terminals.
struct Blocking(File);

impl Blocking {
    fn retry<T>(
        &self,
        readiness: PollFlags,
        mut attempt: impl FnMut(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match attempt(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.0, readiness)], None)?;
                }
                result => return result,
            }
        }
    }
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(PollFlags::IN, |mut file| file.read(buffer))
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(PollFlags::OUT, |mut file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rustix::fs::{fcntl_getfl, fcntl_setfl};
    use rustix::pipe::pipe;

    use super::*;

    fn is_non_blocking(stream: &impl AsFd) -> bool {
        fcntl_getfl(stream)
            .expect("it is open")
            .contains(OFlags::NONBLOCK)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_does_not_block_and_is_left_as_it_is_for_others() {
        let (reader, writer) = pipe().expect("pipes are to be had");
        for (stream, access) in [(&reader, OFlags::RDONLY), (&writer, OFlags::WRONLY)] {
            let private = stream.try_clone().expect("it is open");
            let Ok(Drive::Pipe(own)) = drive(private, access) else {
                panic!("a pipe can be opened again");
            };
            assert!(is_non_blocking(&own) && !is_non_blocking(stream));
            assert!(rustix::io::fcntl_getfd(&own).is_ok_and(|flags| !flags.is_empty()));
        }
    }

    #[test]
    fn a_pipe_whose_writer_is_gone_has_a_thread() {
        let (reader, writer) = pipe().expect("pipes are to be had");
        drop(writer);
        assert!(matches!(
            drive(reader, OFlags::RDONLY),
            Ok(Drive::Thread(_))
        ));
    }

    #[test]
    fn a_socket_does_not_block() {
        let (socket, _other) = net::UnixStream::pair().expect("sockets are to be had");
        let Ok(Drive::Socket(socket)) = drive(socket.into(), OFlags::RDONLY) else {
            panic!("a socket can be waited for");
        };
        assert!(is_non_blocking(&socket));
    }

    #[test]
    fn anything_else_has_a_thread() {
        let null = File::open("/dev/null").expect("there is a null device");
        assert!(matches!(
            drive(null.into(), OFlags::RDONLY),
            Ok(Drive::Thread(_))
        ));
    }

    #[test]
    fn a_thread_waits_for_a_stream_that_somebody_made_non_blocking() {
        let (reader, writer) = pipe().expect("pipes are to be had");
        for end in [&reader, &writer] {
            fcntl_setfl(end, OFlags::NONBLOCK).expect("it is open");
        }
        let (mut reader, mut writer) = (Blocking(reader.into()), Blocking(writer.into()));
        // Nothing to read at first, and far more to write than a pipe holds.
        let reading = thread::spawn(move || {
            let mut text = Vec::new();
            reader.read_to_end(&mut text).map(|_| text.len())
        });
        writer
            .write_all(&[b'x'; 1_000_000])
            .expect("the other end is there");
        drop(writer);
        assert_eq!(
            reading
                .join()
                .expect("nothing panics")
                .expect("nothing fails"),
            1_000_000
        );
    }
}
