//! What a script is told by the exit code.

use mcp_client::ClientError;
use serde_json::{Value, json};

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    ToolFailed,
    Usage,
    NotConnected,
    Refused,
    TimedOut,
    Closed,
    Other,
    Interrupted,
}

/// Each exit, its code, its word in JSON, and when it is met.
pub(crate) const EXITS: &[(Exit, u8, &str, &str)] = &[
    (Exit::Done, 0, "done", "all went well"),
    (Exit::ToolFailed, 1, "tool", "the tool says that it failed"),
    (Exit::Usage, 2, "usage", "this command line makes no sense"),
    (
        Exit::NotConnected,
        3,
        "connect",
        "the server does not start, or there is no way to speak with it",
    ),
    (
        Exit::Refused,
        4,
        "refused",
        "the server answered with an error, or does not offer that",
    ),
    (
        Exit::TimedOut,
        5,
        "timeout",
        "the server did not answer in time",
    ),
    (
        Exit::Closed,
        6,
        "closed",
        "the server ended before it answered",
    ),
    (
        Exit::Other,
        7,
        "other",
        "the server broke the protocol, or its question had no answer",
    ),
    (Exit::Interrupted, 130, "interrupted", "by Ctrl-C"),
];

impl Exit {
    /// How a call ended that has failed.
    pub(crate) fn of(error: &ClientError) -> Self {
        match error {
            ClientError::Rpc(_) | ClientError::Unsupported(_) => Self::Refused,
            ClientError::Tool(_) => Self::ToolFailed,
            ClientError::TimedOut { .. } => Self::TimedOut,
            ClientError::Closed { .. } => Self::Closed,
            ClientError::Spawn(_) | ClientError::Negotiation(_) => Self::NotConnected,
            _ => Self::Other,
        }
    }

    pub(crate) fn code(self) -> u8 {
        self.entry().1
    }

    /// What a program is told of an error, on standard output.
    pub(crate) fn report(self, error: &ClientError) -> Value {
        let mut report = json!({ "kind": self.entry().2, "message": error.to_string() });
        if let ClientError::Rpc(error) = error {
            report["code"] = error.code.0.into();
            report["message"] = (*error.message).into();
            if let Some(data) = error.data.as_ref().and_then(|data| data.decode().ok()) {
                report["data"] = data;
            }
        }
        json!({ "error": report })
    }

    fn entry(self) -> &'static (Self, u8, &'static str, &'static str) {
        let entry = EXITS.iter().find(|(exit, ..)| *exit == self);
        entry.expect("each exit is in the table")
    }
}
