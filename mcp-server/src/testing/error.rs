//! Why a test has not got what it has asked for.

use std::fmt;

use mcp_protocol::ErrorObject;
use mcp_protocol::connection::{CallError, NegotiationError};
use mcp_protocol::types::CallToolResult;

use crate::error::BuildError;

/// Why a test has not got what it has asked for.
///
/// Its `Debug` says the same as its `Display`, for it is what a test that returns it prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server's description is wrong.
    #[error("the server cannot be built: {0}")]
    Build(#[from] BuildError),
    /// The server does not speak the revision of the client.
    #[error("cannot connect: {0}")]
    Connect(#[from] NegotiationError),
    /// The server has refused the request, or could not be sent it.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The tool has failed, and says why.
    #[error("the tool failed: {}", .0.joined_text())]
    Tool(Box<CallToolResult>),
    /// The server has asked something that the [`Setup`](super::Setup) has no answer to.
    #[error("the server asks, and has no answer: {0}")]
    Unanswered(ErrorObject),
    /// What was to be sent is no JSON, or what the tool gave is not of its type.
    #[error("not of the expected type: {0}")]
    Json(#[from] serde_json::Error),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
