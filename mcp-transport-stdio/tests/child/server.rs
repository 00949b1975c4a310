//! A server that is a script, and what is asked about it.

use std::fs;
use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_protocol::Encode;
use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_transport_stdio::child::{Child, ChildHandle, ServerCommand, Shutdown, Stderr};
use tokio::join;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::traces::LONG;

/// The variable that tells this program which part to play.
pub(crate) const ROLE: &str = "MCP_CHILD_TEST_ROLE";

/// Declares the checks of a file.
macro_rules! checks {
    ($($name:ident,)*) => {
        pub(crate) const ALL: &[crate::harness::Check] = &[$((stringify!($name), $name),)*];
    };
}
pub(crate) use checks;

pub(crate) fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime is to be had")
}

/// A server that runs `script` and has all the time it needs to end when it is told to.
pub(crate) fn script(script: &str) -> ServerCommand {
    ServerCommand::new("sh")
        .args(["-c", script])
        .stderr(Stderr::lines(|_| ()))
        .shutdown(PATIENT)
}

pub(crate) const PATIENT: Shutdown = Shutdown {
    after_eof: LONG,
    after_term: LONG,
    after_kill: LONG,
    after_exit: SHORT,
};

/// For servers that do not end when they are told to.
pub(crate) const IMPATIENT: Shutdown = Shutdown {
    after_eof: SHORT,
    after_term: SHORT,
    ..PATIENT
};

const SHORT: Duration = Duration::from_millis(200);

/// A server that runs, and both halves of the transport.
pub(crate) struct Server {
    pub(crate) receiver: <Child as Transport>::Receiver,
    pub(crate) sender: <Child as Transport>::Sender,
    pub(crate) handle: ChildHandle,
}

impl Server {
    pub(crate) async fn start(command: &ServerCommand) -> Self {
        Self::new(command.spawn().await.expect("the server starts"))
    }

    pub(crate) fn new(child: Child) -> Self {
        let handle = child.handle();
        let (receiver, sender) = child.split();
        Self {
            receiver,
            sender,
            handle,
        }
    }

    pub(crate) fn queue(&mut self, text: &str) {
        self.sender.send(&Text(text), None);
    }

    pub(crate) async fn flush(&mut self) -> Result<(), TransportError> {
        poll_fn(|cx| self.sender.poll_flush(cx)).await
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.queue(text);
        self.flush().await.expect("the server is there");
    }

    /// Sends a text and receives one, both at once, for neither may wait for the other.
    pub(crate) async fn exchange(&mut self, text: &str) -> Option<String> {
        self.queue(text);
        let (flushed, received) = join!(
            poll_fn(|cx| self.sender.poll_flush(cx)),
            poll_fn(|cx| self.receiver.poll_receive(cx))
        );
        flushed.expect("the server is there");
        let frame = received?.expect("a line that is short enough");
        Some(String::from_utf8(frame.to_vec()).expect("it is text"))
    }

    /// The next line, or nothing at the end.
    pub(crate) async fn receive(&mut self) -> Option<String> {
        let frame = self.receive_frame().await?;
        Some(frame.expect("a line that is short enough"))
    }

    pub(crate) async fn receive_frame(&mut self) -> Option<Result<String, TransportError>> {
        let received = poll_fn(|cx| self.receiver.poll_receive(cx));
        let frame = timeout(LONG, received).await.expect("it does not hang")?;
        Some(frame.map(|frame| String::from_utf8(frame.to_vec()).expect("it is text")))
    }

    /// The number of a process that the server tells.
    pub(crate) async fn receive_id(&mut self) -> u32 {
        let line = self.receive().await.expect("the server says a number");
        line.trim().parse().expect("it is a number")
    }
}

struct Text<'a>(&'a str);

impl Encode for Text<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

/// An empty folder of one check.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("child-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("there is room");
    folder
}

/// Writes a program.
pub(crate) fn program(file: &Path, text: &str) {
    fs::write(file, text).expect("there is room");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("it is ours");
}
