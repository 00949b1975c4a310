//! How a client and a server find the revision that both speak.
//!
//! ```text
//!             ┌── −32022 that names another ──┐
//!             ▼                               │
//!  New ──► Probing ──── DiscoverResult ───────┼─────────► Ready (modern)
//!   │         │                               │
//!   │         └── any other error, junk, or silence
//!   │                       ▼                 │
//!   └── no modern one ─► Initializing ────────┴─────────► Ready (legacy)
//! ```
//!
//! Spec: [versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning),
//! [compatibility on stdio](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility).

use crate::error::ErrorObject;
use crate::types::{Implementation, ServerCapabilities};
use crate::version::ProtocolVersion;

/// The server, as it has introduced itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Peer {
    /// The revision that is spoken.
    pub version: ProtocolVersion,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server says it is. A claim: nothing should be decided by it. A modern server
    /// may leave it out.
    pub info: Option<Implementation>,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
}

/// Which request the negotiation was waiting with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// `server/discover`. A server that ends here may be one of the legacy era that endures
    /// nothing but `initialize`: start it again, with
    /// [`ClientConfig::only`](super::ClientConfig::only) that era.
    Probe,
    /// `initialize`.
    Initialize,
}

impl std::fmt::Display for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Probe => "server/discover",
            Self::Initialize => "initialize",
        })
    }
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NegotiationError {
    /// The server speaks no revision that is spoken here.
    #[error("no revision in common: the server speaks {}, this client {}", list(.server), list(.client))]
    NoCommonVersion {
        /// What the server has named.
        server: Vec<String>,
        /// What this side would have spoken.
        client: Vec<ProtocolVersion>,
    },
    /// The server has refused to begin.
    #[error("the server refused `{opening}`: {error}")]
    Refused {
        /// With which request.
        opening: Opening,
        /// What the server has said.
        error: ErrorObject,
    },
    /// The server's answer makes no sense.
    #[error("the answer to `{opening}` is unreadable: {why}")]
    Unreadable {
        /// To which request.
        opening: Opening,
        /// What is wrong with it.
        why: String,
    },
    /// The server did not answer in time.
    #[error("no answer to `{opening}` in time")]
    TimedOut {
        /// To which request.
        opening: Opening,
    },
    /// The connection has ended before the server answered.
    #[error("the connection ended before `{opening}` was answered")]
    Ended {
        /// Which request.
        opening: Opening,
    },
}

fn list(versions: &[impl ToString]) -> String {
    let names: Vec<_> = versions.iter().map(ToString::to_string).collect();
    match &names[..] {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
