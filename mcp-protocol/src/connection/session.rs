//! The legacy handshake.
//!
//! Spec: [lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).

use crate::Shared;
use crate::types::{ClientCapabilities, Implementation, LoggingLevel};
use crate::version::ProtocolVersion;

/// What a legacy client and this server have agreed on.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) version: ProtocolVersion,
    pub(super) capabilities: Shared<ClientCapabilities>,
    pub(super) client: Shared<Implementation>,
    /// The lowest level of log messages that the client wants.
    pub(super) log: LoggingLevel,
}

/// How far the handshake has got.
///
/// ```text
///  None ── initialize ──► Initializing ── initialized, or any request ──► Ready
/// ```
///
/// Modern requests pass by it: they are served in every state.
#[derive(Clone, Debug, Default)]
pub(super) enum Session {
    /// No legacy client has introduced itself.
    #[default]
    None,
    /// `initialize` was answered. The client should be sent nothing but answers yet.
    Initializing(Terms),
    /// The client may be notified.
    Ready(Terms),
}

impl Session {
    /// What was agreed on, once `initialize` has been answered.
    pub(super) fn terms(&self) -> Option<&Terms> {
        match self {
            Self::None => None,
            Self::Initializing(terms) | Self::Ready(terms) => Some(terms),
        }
    }

    /// What was agreed on, if the client may be notified.
    pub(super) fn ready(&self) -> Option<&Terms> {
        match self {
            Self::Ready(terms) => Some(terms),
            Self::None | Self::Initializing(_) => None,
        }
    }

    pub(super) fn initialize(&mut self, terms: Terms) {
        *self = Self::Initializing(terms);
    }

    /// The client has sent `initialized`, or goes on as if it had: some never do.
    pub(super) fn initialized(&mut self) {
        if let Self::Initializing(terms) = self {
            *self = Self::Ready(terms.clone());
        }
    }

    pub(super) fn set_log_level(&mut self, level: LoggingLevel) {
        match self {
            Self::None => {}
            Self::Initializing(terms) | Self::Ready(terms) => terms.log = level,
        }
    }
}
