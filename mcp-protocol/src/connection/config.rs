//! What a server says of itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Limits, subscriptions};
use crate::error::ErrorCode;
use crate::methods::Method;
use crate::types::{Implementation, ServerCapabilities};
use crate::version::{Era, ProtocolVersion};

/// What a server says of itself, and what each of its connections may hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name and version.
    pub info: Arc<Implementation>,
    /// How a model should use this server.
    pub instructions: Option<String>,
    /// What the server offers. A method without its capability is answered −32601.
    pub capabilities: ServerCapabilities,
    /// Methods of the application's own, in every revision. To name one of the specification's
    /// changes nothing.
    pub methods: BTreeSet<String>,
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
            info: Arc::new(info),
            instructions: None,
            capabilities: ServerCapabilities::default(),
            methods: BTreeSet::new(),
            versions: ProtocolVersion::ALL.to_vec(),
            limits: Limits::default(),
            busy_code: ErrorCode::SERVER_BUSY,
        }
    }

    pub(super) fn of_era(&self, era: Era) -> impl Iterator<Item = ProtocolVersion> {
        let versions = self.versions.iter().copied();
        versions.filter(move |version| version.era() == era)
    }

    /// Whether a request of this method has anything to be served by.
    pub(super) fn offers(&self, method: &Method) -> bool {
        let capabilities = &self.capabilities;
        match method {
            Method::Initialize | Method::Ping | Method::Discover => true,
            Method::ListTools | Method::CallTool => capabilities.tools.is_some(),
            Method::ListPrompts | Method::GetPrompt => capabilities.prompts.is_some(),
            Method::ListResources | Method::ListResourceTemplates | Method::ReadResource => {
                capabilities.resources.is_some()
            }
            Method::Subscribe | Method::Unsubscribe => capabilities
                .resources
                .as_ref()
                .is_some_and(|resources| resources.subscribe == Some(true)),
            Method::Complete => capabilities.completions.is_some(),
            Method::SetLevel => capabilities.logging.is_some(),
            Method::Listen => subscriptions::offers_streams(capabilities),
            Method::Other(name) => self.methods.contains(&**name),
            _ => false,
        }
    }
}
