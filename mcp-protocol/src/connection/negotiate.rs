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
//! Silence may be a modern server's that is slow. So as long as `initialize` waits, a late answer
//! to the probe is kept, and used if `initialize` fails; if there is none, the server is probed
//! once more.
//!
//! Once, a server may refuse with -32022 and name what it speaks; then the newest of that which
//! is spoken here too is opened with, in the way of its era.
//!
//! Spec: [versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning),
//! [compatibility on stdio](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility).

use super::calls::CallId;
use super::client::CallError;
use super::config::{ClientConfig, of_era};
use crate::Shared;
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
    pub info: Option<Shared<Implementation>>,
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
    /// The server has answered `initialize` with a revision in which the client cannot go on:
    /// one that is not spoken here, or is not opened in this way.
    #[error("the server answered `initialize` with the revision {server:?}; spoken here after it: {}", list(.client))]
    Answered {
        /// The server's.
        server: String,
        /// What would have been possible.
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
    #[error("no success with `{method}`: {error}")]
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
pub(super) struct Waiting {
    pub(super) call: CallId,
    pub(super) opening: Opening,
    /// What has come of the probe that had been given up.
    pub(super) late: Option<Box<ServerResult>>,
}

/// How a conversation is opened.
pub(super) struct Opening {
    pub(super) version: ProtocolVersion,
    /// Whether the server has named revisions. It does so once: who refuses what it has named
    /// would be asked for ever.
    named: bool,
    /// The probe before, if the server was silent.
    pub(super) silent: Option<CallId>,
    /// Why `initialize` was in vain, if this is the probe after it.
    in_vain: Option<CallError>,
}

impl Opening {
    pub(super) fn is_probe(&self) -> bool {
        self.version.era() == Era::Modern
    }
}

/// What is to be done to go on.
pub(super) enum Next {
    Open(Opening),
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
pub(super) fn next(
    config: &ClientConfig,
    waiting: &mut Waiting,
    outcome: Result<ServerResult, CallError>,
) -> Next {
    let opening = &mut waiting.opening;
    let error = match (outcome, waiting.late.take()) {
        (Ok(result), _) => return introduced(config, opening, result),
        (Err(error), Some(late)) if is_of_server(&error) => {
            opening.version = newest(config, Era::Modern).unwrap_or(opening.version);
            return introduced(config, opening, *late);
        }
        (Err(CallError::Refused(error)), _) if is_modern(error.code) => {
            return refused(config, opening, error);
        }
        (Err(error), _) => error,
    };
    if let Some(error) = opening.in_vain.take() {
        return failed(Method::Initialize, error);
    }
    let answered = is_of_server(&error) && error != CallError::TimedOut;
    if !opening.is_probe() {
        let modern = newest(config, Era::Modern).filter(|_| answered && opening.silent.is_some());
        return match modern {
            Some(version) => Next::Open(Opening {
                version,
                named: opening.named,
                silent: None,
                in_vain: Some(error),
            }),
            None => failed(Method::Initialize, error),
        };
    }
    match (newest(config, Era::Legacy), error) {
        (_, error) if !is_of_server(&error) => failed(Method::Discover, error),
        (Some(version), _) => Next::Open(Opening {
            version,
            named: opening.named,
            silent: (!answered && !opening.named).then_some(waiting.call),
            in_vain: None,
        }),
        (None, CallError::Refused(error)) => Next::Fail(NegotiationError::OnlyLegacy(error)),
        (None, error) => failed(Method::Discover, error),
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
fn refused(config: &ClientConfig, opening: &Opening, error: ErrorObject) -> Next {
    let names = error.code == ErrorCode::UNSUPPORTED_VERSION && !opening.named;
    let data = error.data.as_ref().filter(|_| names);
    let Some(Ok(data)) = data.map(RawJson::decode::<UnsupportedVersionData>) else {
        let method = request(config, opening.version).method();
        return failed(method, CallError::Refused(error));
    };
    match newest_common(config, &data.supported) {
        Some(version) => open(version, true),
        None => no_common(config, data.supported),
    }
}

/// The server has said who it is and what it speaks.
fn introduced(config: &ClientConfig, opening: &Opening, result: ServerResult) -> Next {
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
            Some(result.server_info.into()),
            result.instructions,
        ),
        _ => return no_common(config, Vec::new()),
    };
    match newest_common(config, &named) {
        Some(version) if version.era() == opening.version.era() => Next::Ready(Box::new(Peer {
            version,
            capabilities,
            info,
            instructions,
        })),
        Some(version) if opening.is_probe() => open(version, opening.named),
        _ if opening.is_probe() => no_common(config, named),
        _ => Next::Fail(NegotiationError::Answered {
            server: named.concat(),
            client: of_era(&config.versions, Era::Legacy).collect(),
        }),
    }
}

fn open(version: ProtocolVersion, named: bool) -> Next {
    Next::Open(Opening {
        version,
        named,
        silent: None,
        in_vain: None,
    })
}

fn failed(method: Method, error: CallError) -> Next {
    Next::Fail(NegotiationError::Failed { method, error })
}

fn newest(config: &ClientConfig, era: Era) -> Option<ProtocolVersion> {
    of_era(&config.versions, era).max()
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
