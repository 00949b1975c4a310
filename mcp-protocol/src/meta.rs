//! `_meta`: the members that the protocol reserves, and room for everybody else's.
//!
//! Spec: [`_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#meta).

mod last;
mod trace;

use std::sync::Arc;

pub(crate) use self::last::{Last, LastMeta};
pub use self::trace::TraceContext;
use crate::Shared;
use crate::jsonrpc::{ProgressToken, RequestId};
use crate::types::{ClientCapabilities, Implementation, LoggingLevel};
use crate::wire::wire;

wire! {
    /// The `_meta` of a request.
    ///
    /// In the modern era it says who is asking; the first four members are its own.
    pub open struct RequestMeta {
        /// The revision that the request is written in. Required since 2026-07-28.
        optional "io.modelcontextprotocol/protocolVersion" => protocol_version: Arc<str>,
        /// What the sender can do. Required since 2026-07-28.
        optional "io.modelcontextprotocol/clientCapabilities" => client_capabilities: Shared<ClientCapabilities>,
        /// Who the sender says it is. Since 2026-07-28.
        optional "io.modelcontextprotocol/clientInfo" => client_info: Shared<Implementation>,
        /// The lowest level of log messages that the sender wants for this request.
        /// Since 2026-07-28.
        optional "io.modelcontextprotocol/logLevel" => log_level: LoggingLevel,
        /// Asks for progress notifications, which will carry this token.
        optional "progressToken" => progress_token: ProgressToken,
    }
}

impl RequestMeta {
    /// Whether the request speaks for itself, as those of the modern era do, and is not one of
    /// a session.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        self.protocol_version.is_some()
            || self.client_capabilities.is_some()
            || self.client_info.is_some()
            || self.log_level.is_some()
    }
}

wire! {
    /// The `_meta` of a notification.
    pub open struct NotificationMeta {
        /// The `subscriptions/listen` request that the notification belongs to.
        /// Since 2026-07-28.
        optional "io.modelcontextprotocol/subscriptionId" => subscription_id: RequestId,
    }

    /// The `_meta` of a result.
    pub open struct ResultMeta {
        /// Who the answering server says it is. Since 2026-07-28.
        optional "io.modelcontextprotocol/serverInfo" => server_info: Shared<Implementation>,
        /// The `subscriptions/listen` request that has ended. Since 2026-07-28.
        optional "io.modelcontextprotocol/subscriptionId" => subscription_id: RequestId,
    }

    /// The `_meta` of anything else: tools, content, resources.
    pub open struct Meta {}
}
