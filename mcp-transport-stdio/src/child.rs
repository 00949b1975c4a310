//! A server as a child process: started, talked to, and brought to its end.
//!
//! ```no_run
//! use mcp_transport_stdio::child::{ServerCommand, SpawnError};
//!
//! # async fn connect() -> Result<(), SpawnError> {
//! let child = ServerCommand::new("npx")
//!     .args(["-y", "@modelcontextprotocol/server-filesystem", "/srv"])
//!     .env("LOG_LEVEL", "debug")
//!     .spawn()
//!     .await?;
//! let handle = child.handle();
//! // … give `child`, which is a transport, to a client, and in the end:
//! println!("the server {}", handle.shut_down().await);
//! # Ok(())
//! # }
//! ```
//!
//! A server leads a process group of its own, or on Windows is the first in a job object, with
//! all that it starts: so Ctrl+C in a terminal is not for them, and nothing of them stays when
//! the server ends, is shut down, or is no longer wanted. Only what leaves the group by itself
//! lives on, and even that holds up nobody. If this process is killed, then on Windows so are
//! its servers; elsewhere their input ends.
//!
//! For each server a thread waits for its end. On Windows there are three more, which read and
//! write, and Rust 1.87 is needed.

mod command;
mod env;
mod error;
mod exit;
mod handle;
#[cfg(unix)]
mod login;
mod path;
mod pipes;
mod process;
mod stderr;

use std::fmt::{self, Debug, Formatter};

use mcp_protocol::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};

pub use self::command::{LoginPath, ServerCommand};
pub use self::env::EnvPolicy;
pub use self::error::SpawnError;
pub use self::exit::Exit;
pub use self::handle::{ChildHandle, Shutdown};
pub use self::stderr::Stderr;

use self::pipes::{InputWriter, Output};
use crate::framed::{Framed, FramedReceiver, FramedSender};

/// A server that was started: the transport to talk to it.
///
/// What is received ends when the server does, after its last message, also if something
/// else has its standard output. What is sent then fails.
pub struct Child {
    output: Output<ChildHandle>,
    input: InputWriter<ChildHandle>,
    handle: ChildHandle,
    max_frame: usize,
}

impl Child {
    /// What is left of the server when this transport is in use.
    #[must_use]
    pub fn handle(&self) -> ChildHandle {
        self.handle.clone()
    }
}

impl Transport for Child {
    type Receiver = FramedReceiver<Box<dyn AsyncRead + Send + Unpin>>;
    type Sender = FramedSender<Box<dyn AsyncWrite + Send + Unpin>>;

    fn split(self) -> (Self::Receiver, Self::Sender) {
        let output: Box<dyn AsyncRead + Send + Unpin> = Box::new(self.output);
        let input: Box<dyn AsyncWrite + Send + Unpin> = Box::new(self.input);
        Framed::new(output, input).max_frame(self.max_frame).split()
    }
}

impl Debug for Child {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.handle).finish()
    }
}
