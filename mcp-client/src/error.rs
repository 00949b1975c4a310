//! Why something did not work, as the caller is told.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::connection::{CallError, NegotiationError};
use mcp_protocol::transport::NoAnswer;
use mcp_protocol::types::CallToolResult;
use mcp_protocol::{ErrorObject, Method, RawJson};

/// Why a call has no result, or a client no connection.
///
/// Only [`Rpc`](Self::Rpc), [`Tool`](Self::Tool) and a refusal inside of
/// [`Negotiation`](Self::Negotiation) are what the server has said; everything else was found out here.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with a JSON-RPC error.
    #[error("the server refused: {0}")]
    Rpc(ErrorObject),
    /// The tool failed, and says why. Only of [`Client::call_tool`](crate::Client::call_tool): others
    /// give the result as it is.
    #[error("the tool failed: {}", .0.joined_text())]
    Tool(Box<CallToolResult>),
    /// The output does not fit the schema that its tool has declared, or that is of no use, which
    /// `why` says then. Only where outputs
    /// [are validated](crate#features).
    #[error("the output is not accepted: {why}")]
    Invalid {
        /// What is wrong.
        why: String,
        /// The result all the same.
        result: Box<CallToolResult>,
    },
    /// The server did not answer in time, and was told that the answer is not wanted any more.
    /// It may have done what it was asked nevertheless.
    #[error("no answer to `{method}` within {after:.1?}")]
    TimedOut {
        /// What was asked.
        method: Method,
        /// How long was waited.
        after: Duration,
    },
    /// The transport has no answer of the server: over HTTP, when one request fails and others
    /// do not.
    #[error("{0}")]
    NoAnswer(NoAnswer),
    /// The connection has ended.
    #[error("{report}")]
    Closed {
        /// Whether the request may have reached the server, which then may have done what it
        /// was asked. If not, it can safely be made again.
        written: bool,
        /// How it ended.
        report: Arc<Closed>,
    },
    /// The server could not be started.
    #[cfg(feature = "stdio")]
    #[error("failed to {0}")]
    Spawn(Arc<mcp_transport_stdio::child::SpawnError>),
    /// The server and this client have no way to speak.
    #[error("failed to connect: {0}")]
    Negotiation(Box<NegotiationError>),
    /// The server has broken the protocol.
    #[error("{why}")]
    Protocol {
        /// What is wrong.
        why: String,
        /// The result, if that much could be read.
        result: Option<RawJson>,
    },
    /// Not sent: the server does not offer that, or its revision does not have it.
    #[error("not sent: {0}")]
    Unsupported(Box<CallError>),
    /// Not sent: so much waits for the server to read it that there is no room. Calls that
    /// were sent still have their time. More than 64 MiB are not gathered.
    #[error("the server does not read: {waiting} bytes wait for it")]
    Unread {
        /// Bytes that were not written yet.
        waiting: usize,
    },
    /// The server has asked something in return that the [`Host`](crate::Host) has not
    /// answered, so the call could not go on.
    #[error("the server's question `{question}` has no answer: {error}")]
    Unanswered {
        /// The server's name for it.
        question: String,
        /// Why not.
        error: ErrorObject,
    },
    /// The server has asked in return more often than is allowed.
    #[error(
        "given up: the server has asked in return {rounds} times, which is all that is allowed"
    )]
    TooManyRounds {
        /// How often.
        rounds: usize,
    },
    /// Not sent: the arguments cannot be JSON, or are no object.
    #[error("not sent: the arguments have to be a JSON object: {0}")]
    Arguments(Arc<dyn std::error::Error + Send + Sync>),
}

impl ClientError {
    pub(crate) fn protocol(why: impl Into<String>) -> Self {
        Self::Protocol {
            why: why.into(),
            result: None,
        }
    }
}

/// How a connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closed {
    /// Whether this side has ended it.
    pub by_us: bool,
    /// What the server was asked to begin with, if it has ended before it answered.
    pub opening: Option<Method>,
    /// Why the server cannot be reached: what the transport says if it has failed, or that
    /// [pings](crate::ClientBuilder::ping_every) have no answer.
    pub transport: Option<String>,
    /// The command that the server was started by.
    pub command: Option<String>,
    /// How the process ended, if that is known. Absent, it may be running still.
    #[cfg(feature = "stdio")]
    pub exit: Option<mcp_transport_stdio::child::Exit>,
    /// The last that the server has written to standard error, up to 16 KiB.
    pub stderr: String,
}

impl Display for Closed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.by_us {
            return f.write_str("the connection was closed from this side");
        }
        f.write_str("the server")?;
        if let Some(command) = &self.command {
            write!(f, " `{command}`")?;
        }
        match self.exit_text() {
            Some(exit) => write!(f, " {exit}")?,
            None if self.transport.is_some() => f.write_str(" is out of reach")?,
            None => f.write_str(" closed the connection")?,
        }
        if let Some(method) = &self.opening {
            write!(f, " before it answered `{method}`")?;
        }
        if let Some(error) = &self.transport {
            write!(f, " ({error})")?;
        }
        let lines: Vec<_> = self.stderr.lines().collect();
        match lines.rchunks(SHOWN).next().unwrap_or_default() {
            [] => Ok(()),
            last => write!(f, "; its standard error ends:\n{}", last.join("\n")),
        }
    }
}

impl Closed {
    #[cfg(feature = "stdio")]
    fn exit_text(&self) -> Option<String> {
        self.exit.map(|exit| exit.to_string())
    }

    #[cfg(not(feature = "stdio"))]
    fn exit_text(&self) -> Option<String> {
        None
    }
}

/// Lines of standard error in a message. All of it is in [`Closed::stderr`].
const SHOWN: usize = 10;
