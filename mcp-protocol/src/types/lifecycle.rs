//! How a conversation begins, and messages that say nothing else.
//!
//! Spec: [discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover),
//! [lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).

use super::{CacheScope, ClientCapabilities, Implementation, ServerCapabilities, TtlMs};
use crate::RawJson;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::wire::{wire, words};

wire! {
    /// The parameters of `initialize`. Up to 2025-11-25.
    pub open struct InitializeParams {
        /// The newest revision that the client speaks.
        required "protocolVersion" => protocol_version: String,
        /// What the client can do.
        required "capabilities" => capabilities: ClientCapabilities,
        /// Who the client says it is.
        required "clientInfo" => client_info: Implementation,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The result of `initialize`. Up to 2025-11-25.
    pub open struct InitializeResult {
        /// The revision that will be spoken.
        required "protocolVersion" => protocol_version: String,
        /// What the server can do.
        required "capabilities" => capabilities: ServerCapabilities,
        /// Who the server says it is.
        required "serverInfo" => server_info: Implementation,
        /// How to use the server, for the model.
        optional "instructions" => instructions: String,
        /// What kind of result this is. No revision that has `initialize` has it.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The result of `server/discover`. Since 2026-07-28.
    pub open struct DiscoverResult {
        /// The revisions that the server speaks, of those that have this method.
        required "supportedVersions" => supported_versions: Vec<String>,
        /// What the server can do.
        required "capabilities" => capabilities: ServerCapabilities,
        /// How to use the server, for the model.
        optional "instructions" => instructions: String,
        /// How long the result may be kept.
        optional "ttlMs" => ttl_ms: TtlMs,
        /// Who may share it.
        optional "cacheScope" => cache_scope: CacheScope,
        /// What kind of result this is.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata; says who the server is.
        optional "_meta" => meta: ResultMeta,
    }

    /// The parameters of a request that has none of its own.
    pub open struct EmptyParams {
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The parameters of a notification that has none of its own, or of one that is not in
    /// the table of methods.
    pub open struct EmptyNotificationParams {
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }

    /// The parameters of a request that is not in the table of methods.
    pub open struct CustomParams {
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// A result that says nothing but that it was done.
    pub open struct EmptyResult {
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }
}

words! {
    /// What kind of result this is. Since 2026-07-28.
    pub enum ResultType {
        /// The result of the method.
        Complete = "complete",
        /// An [`InputRequiredResult`](super::InputRequiredResult).
        InputRequired = "input_required",
    }
}

impl ResultType {
    /// Looks at the `resultType` of a result; one without is complete.
    ///
    /// # Errors
    ///
    /// When the result is not an object, or its `resultType` not a string.
    pub fn of(result: &RawJson) -> Result<Self, serde_json::Error> {
        let typed: Typed = result.decode()?;
        Ok(typed.result_type.unwrap_or(Self::Complete))
    }
}

wire! {
    /// A look at a result.
    struct Typed {
        optional "resultType" => result_type: ResultType,
    }
}
