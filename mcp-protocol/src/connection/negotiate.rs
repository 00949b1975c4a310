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

use std::sync::Arc;
use std::time::Instant;

use super::calls::CallId;
use super::client::Answer;
use super::config::ClientConfig;
use crate::error::{ErrorCode, ErrorObject, UnsupportedVersionData};
use crate::methods::{ClientRequest, Method, ServerResult};
use crate::types::{
    DiscoverResult, EmptyParams, Implementation, InitializeParams, InitializeResult,
    ServerCapabilities,
};
use crate::version::{Era, ProtocolVersion};

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
    /// The server is one of the legacy era, and this client speaks no revision of it.
    #[error(
        "the server does not know `server/discover`, as servers up to 2025-11-25 do not, and this client speaks none of those revisions: {0}"
    )]
    OnlyLegacy(ErrorObject),
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

/// How far a client has got.
pub(super) enum Stage {
    /// Nothing was sent.
    New,
    /// An opening request waits for its answer.
    Opening(Waiting),
    /// Calls can be made.
    Ready(Box<Peer>),
    /// It is over.
    Closed,
}

/// An opening request that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) call: CallId,
    pub(super) opening: Opening,
    pub(super) deadline: Instant,
    /// Whether it is there because the server has named revisions. It does so once: who
    /// refuses what it has named would be asked for ever.
    pub(super) named: bool,
}

/// What is to be done to go on.
pub(super) enum Next {
    /// To open in a revision, which the server may have named.
    Open {
        version: ProtocolVersion,
        named: bool,
    },
    Ready(Box<Peer>),
    Fail(NegotiationError),
}

/// How to begin: with the newest revision, modern if there is one.
pub(super) fn begin(config: &ClientConfig) -> Next {
    match config.versions.iter().max() {
        Some(version) => open(*version),
        None => Next::Fail(no_common(config, Vec::new())),
    }
}

/// What opens a conversation in a revision.
pub(super) fn request(config: &ClientConfig, version: ProtocolVersion) -> (Opening, ClientRequest) {
    match version.era() {
        Era::Modern => (Opening::Probe, ClientRequest::Discover(EmptyParams::new())),
        Era::Legacy => {
            let info = (*config.info).clone();
            let capabilities = config.capabilities.clone();
            let params = InitializeParams::new(version.as_str(), capabilities, info);
            (
                Opening::Initialize,
                ClientRequest::Initialize(params.into()),
            )
        }
    }
}

/// What follows from the answer to an opening request.
pub(super) fn answered(config: &ClientConfig, waiting: &Waiting, answer: Answer) -> Next {
    let opening = waiting.opening;
    let unreadable = |why: String| NegotiationError::Unreadable { opening, why };
    match (answer, opening) {
        (Answer::Error(error), _) => refused(config, waiting, error),
        (Answer::Unreadable(why), Opening::Probe) => fall_back(config, unreadable(why)),
        (Answer::Unreadable(why), Opening::Initialize) => Next::Fail(unreadable(why)),
        (Answer::Result(result), Opening::Probe) => {
            match ServerResult::parse(&Method::Discover, &result) {
                Ok(ServerResult::Discover(result)) => discovered(config, *result),
                Ok(_) => fall_back(config, unreadable("another result".to_owned())),
                Err(error) => fall_back(config, unreadable(error.to_string())),
            }
        }
        (Answer::Result(result), Opening::Initialize) => match result.decode() {
            Ok(result) => initialized(config, result),
            Err(error) => Next::Fail(unreadable(error.to_string())),
        },
    }
}

/// What follows from silence.
pub(super) fn silent(config: &ClientConfig, waiting: &Waiting) -> Next {
    let opening = waiting.opening;
    let error = NegotiationError::TimedOut { opening };
    match opening {
        Opening::Probe => fall_back(config, error),
        Opening::Initialize => Next::Fail(error),
    }
}

fn discovered(config: &ClientConfig, result: DiscoverResult) -> Next {
    match newest_common(config, &result.supported_versions) {
        Some(version) if version.era() == Era::Modern => Next::Ready(Box::new(Peer {
            version,
            capabilities: result.capabilities,
            info: result
                .meta
                .and_then(|meta| meta.server_info)
                .map(Arc::unwrap_or_clone),
            instructions: result.instructions,
        })),
        Some(version) => open(version),
        None => Next::Fail(no_common(config, result.supported_versions)),
    }
}

fn initialized(config: &ClientConfig, result: InitializeResult) -> Next {
    let named = vec![result.protocol_version];
    match newest_common(config, &named) {
        Some(version) if version.era() == Era::Legacy => Next::Ready(Box::new(Peer {
            version,
            capabilities: result.capabilities,
            info: Some(result.server_info),
            instructions: result.instructions,
        })),
        _ => Next::Fail(no_common(config, named)),
    }
}

fn refused(config: &ClientConfig, waiting: &Waiting, error: ErrorObject) -> Next {
    let opening = waiting.opening;
    let supported = || {
        let data = error.data.as_ref()?.decode::<UnsupportedVersionData>();
        data.ok().map(|data| data.supported)
    };
    match (error.code, opening) {
        (ErrorCode::UNSUPPORTED_VERSION, _) if !waiting.named => match supported() {
            Some(supported) => match newest_common(config, &supported) {
                Some(version) => Next::Open {
                    version,
                    named: true,
                },
                None => Next::Fail(no_common(config, supported)),
            },
            None => Next::Fail(NegotiationError::Refused { opening, error }),
        },
        // Only a modern server knows these codes, and it has not got the other form.
        (
            ErrorCode::UNSUPPORTED_VERSION
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY,
            _,
        )
        | (_, Opening::Initialize) => Next::Fail(NegotiationError::Refused { opening, error }),
        (_, Opening::Probe) => fall_back(config, NegotiationError::OnlyLegacy(error)),
    }
}

/// Opens in the newest legacy revision, if one is spoken here.
fn fall_back(config: &ClientConfig, otherwise: NegotiationError) -> Next {
    match config.of_era(Era::Legacy).max() {
        Some(version) => open(version),
        None => Next::Fail(otherwise),
    }
}

fn open(version: ProtocolVersion) -> Next {
    Next::Open {
        version,
        named: false,
    }
}

fn newest_common(config: &ClientConfig, named: &[String]) -> Option<ProtocolVersion> {
    let spoken = config.versions.iter().copied();
    spoken
        .filter(|version| named.iter().any(|name| name == version.as_str()))
        .max()
}

fn no_common(config: &ClientConfig, server: Vec<String>) -> NegotiationError {
    NegotiationError::NoCommonVersion {
        server,
        client: config.versions.clone(),
    }
}

fn list(versions: &[impl ToString]) -> String {
    let names: Vec<_> = versions.iter().map(ToString::to_string).collect();
    match &names[..] {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
