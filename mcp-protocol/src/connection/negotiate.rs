//! How a client and a server find the revision that both speak.
//!
//! ```text
//!  New ──► probe ── DiscoverResult ──► Ready, modern
//!   │        │
//!   │        │ any other error, junk, silence
//!   │        ▼
//!   └──► initialize ── InitializeResult ──► Ready, legacy
//! ```
//!
//! Once, a server may refuse with -32022 and name what it speaks; then the newest of that which
//! is spoken here too is opened with, in the way of its era.
//!
//! Spec: [versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning),
//! [compatibility on stdio](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility).

use std::sync::Arc;

use super::calls::CallId;
use super::client::{CallError, Outcome};
use super::config::{ClientConfig, of_era};
use crate::error::{ErrorCode, ErrorObject, UnsupportedVersionData};
use crate::jsonrpc::RawJson;
use crate::methods::{ClientRequest, Method, ServerResult};
use crate::transport::NoAnswer;
use crate::types::{EmptyParams, Implementation, InitializeParams, ServerCapabilities};
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
    pub info: Option<Arc<Implementation>>,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
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
    /// The server is one of the legacy era, and this client speaks no revision of it.
    #[error("the server speaks revisions up to 2025-11-25 only, and this client none of them: {0}")]
    OnlyLegacy(ErrorObject),
    /// The request that was to open the conversation has failed.
    ///
    /// A server that ends while it is probed ([`Method::Discover`], [`CallError::Lost`]) may
    /// be one that bears nothing but `initialize`: start it again, with
    /// [`ClientConfig::only`] the legacy era.
    #[error("failed to open with `{method}`: {error}")]
    Failed {
        /// Which request.
        method: Method,
        /// Why.
        error: CallError,
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
    pub(super) version: ProtocolVersion,
    /// Whether the server has named revisions. It does so once: who refuses what it has named
    /// would be asked for ever.
    pub(super) named: bool,
}

impl Waiting {
    pub(super) fn is_probe(&self) -> bool {
        self.version.era() == Era::Modern
    }
}

/// What is to be done to go on.
pub(super) enum Next {
    /// To open in a revision, after the server has named some or before.
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
        Some(version) => open(*version, false),
        None => no_common(config, Vec::new()),
    }
}

/// What opens a conversation in a revision.
pub(super) fn request(config: &ClientConfig, version: ProtocolVersion) -> ClientRequest {
    match version.era() {
        Era::Modern => ClientRequest::Discover(EmptyParams::new()),
        Era::Legacy => {
            let info = (*config.info).clone();
            let capabilities = (*config.capabilities).clone();
            let params = InitializeParams::new(version.as_str(), capabilities, info);
            ClientRequest::Initialize(params.into())
        }
    }
}

/// What follows from what has come of an opening request.
pub(super) fn next(config: &ClientConfig, waiting: &Waiting, outcome: Outcome) -> Next {
    let error = match outcome {
        Ok(result) => return introduced(config, waiting, *result),
        Err(CallError::Refused(error)) if is_modern(error.code) => {
            return refused(config, waiting, error);
        }
        Err(error) => error,
    };
    let falls_back = waiting.is_probe() && is_of_server(&error);
    let legacy = of_era(&config.versions, Era::Legacy).max();
    match (legacy.filter(|_| falls_back), error) {
        (Some(version), _) => open(version, waiting.named),
        (None, CallError::Refused(error)) if waiting.is_probe() => {
            Next::Fail(NegotiationError::OnlyLegacy(error))
        }
        (None, error) => failed(waiting, error),
    }
}

/// Whether an error says something of the revisions that a server speaks. Where nobody was
/// reached or let in, `initialize` would be in vain, too.
fn is_of_server(error: &CallError) -> bool {
    !matches!(
        error,
        CallError::Lost | CallError::NoAnswer(NoAnswer::Unreachable(_) | NoAnswer::Unauthorized(_))
    )
}

/// Whether only a modern server knows this code, so that `initialize` would be in vain.
fn is_modern(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UNSUPPORTED_VERSION
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY
    )
}

/// A modern server has refused, and may have named what it speaks.
fn refused(config: &ClientConfig, waiting: &Waiting, error: ErrorObject) -> Next {
    let names = error.code == ErrorCode::UNSUPPORTED_VERSION && !waiting.named;
    let data = error.data.as_ref().filter(|_| names);
    let Some(Ok(data)) = data.map(RawJson::decode::<UnsupportedVersionData>) else {
        return failed(waiting, CallError::Refused(error));
    };
    match newest_common(config, &data.supported) {
        Some(version) => open(version, true),
        None => no_common(config, data.supported),
    }
}

/// The server has said who it is and what it speaks.
fn introduced(config: &ClientConfig, waiting: &Waiting, result: ServerResult) -> Next {
    let (named, capabilities, info, instructions) = match result {
        ServerResult::Discover(result) => (
            result.supported_versions,
            result.capabilities,
            result.meta.and_then(|meta| meta.server_info),
            result.instructions,
        ),
        ServerResult::Initialize(result) => (
            vec![result.protocol_version],
            result.capabilities,
            Some(Arc::new(result.server_info)),
            result.instructions,
        ),
        _ => return no_common(config, Vec::new()),
    };
    match newest_common(config, &named) {
        Some(version) if version.era() == waiting.version.era() => Next::Ready(Box::new(Peer {
            version,
            capabilities,
            info,
            instructions,
        })),
        Some(version) if waiting.is_probe() => open(version, waiting.named),
        _ => no_common(config, named),
    }
}

fn open(version: ProtocolVersion, named: bool) -> Next {
    Next::Open { version, named }
}

fn failed(waiting: &Waiting, error: CallError) -> Next {
    let method = match waiting.version.era() {
        Era::Modern => Method::Discover,
        Era::Legacy => Method::Initialize,
    };
    Next::Fail(NegotiationError::Failed { method, error })
}

fn no_common(config: &ClientConfig, server: Vec<String>) -> Next {
    Next::Fail(NegotiationError::NoCommonVersion {
        server,
        client: config.versions.clone(),
    })
}

fn newest_common(config: &ClientConfig, named: &[String]) -> Option<ProtocolVersion> {
    let spoken = config.versions.iter().copied();
    spoken
        .filter(|version| named.iter().any(|name| name == version.as_str()))
        .max()
}

fn list(versions: &[impl ToString]) -> String {
    let names: Vec<_> = versions.iter().map(ToString::to_string).collect();
    match &names[..] {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
