//! What each side says of itself.

use std::time::Duration;

use super::{Limits, subscriptions};
use crate::Shared;
use crate::error::ErrorCode;
use crate::methods::Method;
use crate::types::{ClientCapabilities, Implementation, ServerCapabilities};
use crate::version::{Era, ProtocolVersion};

/// What a server says of itself, and what each of its connections may hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name and version.
    pub info: Shared<Implementation>,
    /// How a model should use this server.
    pub instructions: Option<String>,
    /// What the server offers. A method without its capability is answered −32601.
    pub capabilities: ServerCapabilities,
    /// Methods of the application's own, in every revision. To name one of the specification's
    /// changes nothing.
    pub methods: Vec<String>,
    /// The revisions that are spoken. Default: all.
    pub versions: Vec<ProtocolVersion>,
    /// The bounds of one connection.
    pub limits: Limits,
    /// The code of `server_busy`. Default [`ErrorCode::SERVER_BUSY`].
    pub busy_code: ErrorCode,
}

impl ServerConfig {
    /// A server that offers nothing yet, with the default limits.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info: info.into(),
            instructions: None,
            capabilities: ServerCapabilities::default(),
            methods: Vec::new(),
            versions: ProtocolVersion::ALL.to_vec(),
            limits: Limits::default(),
            busy_code: ErrorCode::SERVER_BUSY,
        }
    }

    /// Whether a request of this method has anything to be served by.
    pub(super) fn offers(&self, method: &Method) -> bool {
        match method {
            Method::Other(name) => self.methods.iter().any(|method| **method == **name),
            method => offers(&self.capabilities, method),
        }
    }
}

/// The revisions of an era among these.
pub(super) fn of_era(
    versions: &[ProtocolVersion],
    era: Era,
) -> impl Iterator<Item = ProtocolVersion> {
    let versions = versions.iter().copied();
    versions.filter(move |version| version.era() == era)
}

/// Whether a request of this method has anything to be served by.
pub(super) fn offers(capabilities: &ServerCapabilities, method: &Method) -> bool {
    match method {
        Method::Initialize | Method::Ping | Method::Discover => true,
        Method::ListTools | Method::CallTool => capabilities.tools.is_some(),
        Method::ListPrompts | Method::GetPrompt => capabilities.prompts.is_some(),
        Method::ListResources | Method::ListResourceTemplates | Method::ReadResource => {
            capabilities.resources.is_some()
        }
        Method::Subscribe | Method::Unsubscribe => subscriptions::subscribes(capabilities),
        Method::Complete => capabilities.completions.is_some(),
        Method::SetLevel => capabilities.logging.is_some(),
        Method::Listen => subscriptions::offers_streams(capabilities),
        _ => false,
    }
}

/// What a client says of itself, and what each of its connections may hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Name and version.
    pub info: Shared<Implementation>,
    /// Whether modern requests name the client. Default yes; legacy servers are always told.
    pub names_itself: bool,
    /// What the client can do. A question of a legacy server without its capability is
    /// refused here.
    pub capabilities: Shared<ClientCapabilities>,
    /// The revisions that are spoken. Default: all. With a modern one among them the server
    /// is probed; with a legacy one it is initialized if it is not modern.
    pub versions: Vec<ProtocolVersion>,
    /// The bounds of one connection.
    pub limits: ClientLimits,
}

impl ClientConfig {
    /// A client that can do nothing but call, with the default limits.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info: info.into(),
            names_itself: true,
            capabilities: Shared::default(),
            versions: ProtocolVersion::ALL.to_vec(),
            limits: ClientLimits::default(),
        }
    }

    /// Speaks the revisions of one era only: with the legacy one, a server that cannot bear
    /// to be probed is not; with the modern one, an older server is told apart at once.
    #[must_use]
    pub fn only(mut self, era: Era) -> Self {
        self.versions.retain(|version| version.era() == era);
        self
    }
}

/// What one connection of a client may hold, and how long it waits to begin.
///
/// How long a call waits is said with each call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientLimits {
    /// How long the probe of a server waits. Default 5 s. Servers of the legacy era may say
    /// nothing to it, and are initialized then.
    pub probe: Duration,
    /// How long `initialize` waits. Default 60 s. Stops a server that never answers; one that
    /// is installed when it is first started may need that long.
    pub initialize: Duration,
    /// Members of a batch. Default 1,000. Stops one line from asking any number of questions.
    pub batch: usize,
    /// Questions of a legacy server that are open at once. Default 64. Stops a server from
    /// piling up questions that nobody answers.
    pub asks: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            probe: Duration::from_secs(5),
            initialize: Duration::from_secs(60),
            batch: 1_000,
            asks: 64,
        }
    }
}
