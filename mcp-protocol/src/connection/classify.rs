//! Who is calling: the one place where the era of a request is decided.
//!
//! A request whose `_meta` carries one of the members that 2026-07-28 reserves for requests
//! is modern and speaks for itself; any other belongs to the legacy session. So both eras can
//! be spoken on one connection, as the specification allows.
//!
//! Spec: [versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning).

use std::sync::Arc;

use super::config::{ServerConfig, of_era};
use super::session::Session;
use crate::Shared;
use crate::error::{ErrorCode, ErrorObject, brief};
use crate::jsonrpc::{Outline, ProgressToken, RawJson};
use crate::meta::{LastMeta, RequestMeta};
use crate::methods::{ClientRequest, Method};
use crate::types::{ClientCapabilities, Implementation, LoggingLevel};
use crate::version::{Era, ProtocolVersion};
use crate::wire::wire;

/// Who sent a request, and what it may be sent in return.
#[derive(Clone, Debug)]
pub struct Caller {
    version: ProtocolVersion,
    capabilities: Shared<ClientCapabilities>,
    client: Option<Shared<Implementation>>,
    log: Option<LoggingLevel>,
    progress: Option<ProgressToken>,
}

impl Caller {
    /// The revision that the request is written in.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// What the client can do, as it declared for this request.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// The settings of a protocol extension, if the client has declared it. Extensions are of
    /// 2026-07-28; clients of older revisions may declare them as well.
    ///
    /// Spec: [extensions](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities).
    #[must_use]
    pub fn extension(&self, identifier: &str) -> Option<&RawJson> {
        let declared = self.capabilities.extensions.as_ref()?;
        declared.get(identifier)
    }

    /// Who the client says it is. A claim: nothing should be decided by it.
    #[must_use]
    pub fn client(&self) -> Option<&Implementation> {
        self.client.as_deref()
    }

    /// The lowest level of log messages that the caller wants; `None` if it wants none.
    #[must_use]
    pub fn log_level(&self) -> Option<LoggingLevel> {
        self.log
    }

    /// The token under which the caller wants to hear of progress.
    #[must_use]
    pub fn progress_token(&self) -> Option<&ProgressToken> {
        self.progress.as_ref()
    }

    /// What has to be known of it while it is served, which is all but who it says it is.
    pub(super) fn unnamed(&self) -> Self {
        Self {
            client: None,
            capabilities: self.capabilities.clone(),
            progress: self.progress.clone(),
            ..*self
        }
    }

    pub(super) fn era(&self) -> Era {
        self.version.era()
    }
}

/// Gives a request its type and its caller, or refuses it.
pub(super) fn classify(
    method: &Method,
    mut params: Option<RawJson>,
    outline: &Outline,
    session: &Session,
    config: &ServerConfig,
    last: &mut LastMeta,
) -> Result<(Caller, Arc<ClientRequest>), ErrorObject> {
    let supported = &config.versions;
    let request = match ClientRequest::outlined(method, &mut params, outline, last) {
        Some(request) => Ok(request),
        None => ClientRequest::parse(method.clone(), params.clone()).map(Arc::new),
    };
    match request {
        Ok(request) => match caller(method, request.meta(), session, config) {
            Ok(caller) => Ok((caller, request)),
            Err(error) => Err(name_requested(error, &request, supported)),
        },
        // Who is calling decides which refusal comes first.
        Err(malformed) => {
            let meta = params.and_then(|params| params.decode::<MetaOnly>().ok()?.meta);
            match meta.as_ref().map(RawJson::decode::<RequestMeta>) {
                Some(Err(error)) => Err(refuse_meta(meta.as_ref(), &error, supported)),
                Some(Ok(meta)) => caller(method, Some(&meta), session, config).and(Err(malformed)),
                None => caller(method, None, session, config).and(Err(malformed)),
            }
        }
    }
}

/// Says in the refusal of an `initialize` what it has asked for.
fn name_requested(
    error: ErrorObject,
    request: &ClientRequest,
    supported: &[ProtocolVersion],
) -> ErrorObject {
    match request {
        ClientRequest::Initialize(params) if error.code == ErrorCode::UNSUPPORTED_VERSION => {
            ErrorObject::unsupported_version(&params.protocol_version, supported)
        }
        _ => error,
    }
}

fn caller(
    method: &Method,
    meta: Option<&RequestMeta>,
    session: &Session,
    config: &ServerConfig,
) -> Result<Caller, ErrorObject> {
    let supported = &config.versions;
    let caller = match meta.filter(|meta| speaks_modern(supported) && meta.is_modern()) {
        Some(meta) => modern(meta, supported)?,
        None => legacy(method, meta, session, config)?,
    };
    let exists = match method.versions() {
        Some(versions) => versions.contains(&caller.version),
        None => config.offers(method),
    };
    if exists {
        Ok(caller)
    } else {
        Err(ErrorObject::method_not_found(method.as_str()))
    }
}

/// Without a modern revision there is no modern request: to a server of the legacy era, the
/// members of `_meta` are foreign. To refuse them by −32022 would tell the client that this is
/// a modern server, with which it must not try `initialize`.
fn speaks_modern(supported: &[ProtocolVersion]) -> bool {
    of_era(supported, Era::Modern).next().is_some()
}

fn modern(meta: &RequestMeta, supported: &[ProtocolVersion]) -> Result<Caller, ErrorObject> {
    let requested = meta
        .protocol_version
        .as_ref()
        .ok_or_else(|| missing("io.modelcontextprotocol/protocolVersion"))?;
    let version = modern_version(requested, supported)?;
    let capabilities = meta
        .client_capabilities
        .as_ref()
        .ok_or_else(|| missing("io.modelcontextprotocol/clientCapabilities"))?;
    Ok(Caller {
        version,
        capabilities: capabilities.clone(),
        client: meta.client_info.clone(),
        log: meta.log_level,
        progress: meta.progress_token.clone(),
    })
}

fn modern_version(
    requested: &str,
    supported: &[ProtocolVersion],
) -> Result<ProtocolVersion, ErrorObject> {
    let modern = || of_era(supported, Era::Modern);
    modern()
        .find(|version| version.as_str() == requested)
        // Legacy revisions have no form in which a request names them, so they are not offered.
        .ok_or_else(|| ErrorObject::unsupported_version(requested, &modern().collect::<Vec<_>>()))
}

fn missing(key: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("Invalid params: `_meta` lacks `{key}`"))
}

fn legacy(
    method: &Method,
    meta: Option<&RequestMeta>,
    session: &Session,
    config: &ServerConfig,
) -> Result<Caller, ErrorObject> {
    let supported = &config.versions;
    let progress = meta.and_then(|meta| meta.progress_token.clone());
    if let Some(terms) = session.terms() {
        return Ok(Caller {
            version: terms.version,
            capabilities: terms.capabilities.clone(),
            client: Some(terms.client.clone()),
            log: Some(terms.log),
            progress,
        });
    }
    let newest = of_era(supported, Era::Legacy).max();
    match (method, newest) {
        (Method::Initialize | Method::Ping, Some(newest)) => Ok(Caller {
            version: newest,
            capabilities: Shared::default(),
            client: None,
            log: None,
            progress,
        }),
        (Method::Initialize, None) => {
            Err(ErrorObject::unsupported_version("initialize", supported))
        }
        (Method::Other(name), _) if !config.offers(method) => {
            Err(ErrorObject::method_not_found(name))
        }
        _ => Err(ErrorObject::invalid_params(if speaks_modern(supported) {
            "Invalid params: there is no session, and `_meta` lacks \
                 `io.modelcontextprotocol/protocolVersion` and \
                 `io.modelcontextprotocol/clientCapabilities`; send `initialize` first, or add \
                 them"
        } else {
            "Invalid params: there is no session; send `initialize` first"
        })),
    }
}

wire! {
    /// Parameters of which only `_meta` matters.
    struct MetaOnly {
        /// Not yet looked at.
        optional "_meta" => meta: RawJson,
    }

    /// A `_meta` of which only the revision matters.
    struct VersionOnly {
        /// The revision that the request is written in.
        optional "io.modelcontextprotocol/protocolVersion" => version: String,
    }
}

/// The refusal for a `_meta` that does not fit its type.
fn refuse_meta(
    meta: Option<&RawJson>,
    error: &serde_json::Error,
    supported: &[ProtocolVersion],
) -> ErrorObject {
    meta.filter(|_| speaks_modern(supported))
        .and_then(|meta| meta.decode::<VersionOnly>().ok()?.version)
        .and_then(|requested| modern_version(&requested, supported).err())
        .unwrap_or_else(|| {
            ErrorObject::invalid_params(format!(
                "Invalid params: `_meta`: {}",
                brief(&error.to_string())
            ))
        })
}
