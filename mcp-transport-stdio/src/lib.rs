//! The Model Context Protocol over stdio, or over any pair of byte streams.
//!
//! One message is one line of JSON. This crate finds the lines in what is read, and writes
//! what is sent as lines; it knows neither methods nor revisions of the protocol, and what
//! stands in a line it does not look at. A server takes [`stdio()`], a client starts one with
//! `child::ServerCommand` (feature `process`), a test takes [`memory::pair()`], and whoever has
//! an `AsyncRead` and an `AsyncWrite` takes [`Framed`]: each is a
//! [`Transport`](transport::Transport) for `mcp-server` or `mcp-client`. The crate is of use
//! alone, too.
//!
//! ```text
//!                       stdio()             memory::pair()         your streams
//!            pipe, socket    the rest             |                     |
//!                 |              |                |                     |
//!            tokio events     threads      two DuplexStreams            |
//!                 +--------------+----------------+---------------------+
//!                                        |
//!                             Framed: Transport::split
//!                      +-----------------+------------------+
//!               FramedReceiver                         FramedSender
//!     read -> Lines -> Frame, a slice         send: encode into one buffer
//!             of the read buffer              poll_flush: write it in one go
//! ```
//!
//! A program that sends back every line it gets:
//!
//! ```no_run
//! use std::future::poll_fn;
//!
//! use mcp_transport_stdio::transport::{Receiver, Sender, Transport, TransportError};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), TransportError> {
//!     let (mut receiver, mut sender) = mcp_transport_stdio::stdio()?.split();
//!     while let Some(line) = poll_fn(|cx| receiver.poll_receive(cx)).await {
//!         sender.send(&line?, None);
//!         poll_fn(|cx| sender.poll_flush(cx)).await?;
//!     }
//!     println!("nobody but standard error hears this");
//!     Ok(())
//! }
//! ```
//!
//! | to know | read |
//! |---|---|
//! | what a line is, and how long it may be | [`Lines`] |
//! | how bytes are read and written | [`Framed`] |
//! | what happens to the descriptors of the process | [`stdio()`] |
//! | how each kind of descriptor is waited for | [`Stdio`] |
//! | how a server is started, and how it ends | `child` |
//!
//! Nothing here uses the runtime's pool of blocking threads, and nothing keeps a runtime
//! from shutting down.

#[cfg(all(feature = "process", any(unix, windows)))]
pub mod child;
mod framed;
mod lines;
pub mod memory;
#[cfg(any(unix, windows))]
mod stdio;

pub use mcp_protocol::transport;

pub use self::framed::{Framed, FramedReceiver, FramedSender};
pub use self::lines::{DEFAULT_MAX_FRAME, Lines, TooLong};
#[cfg(any(unix, windows))]
pub use self::stdio::{Stdio, stdio};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
