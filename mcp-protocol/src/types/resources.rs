//! Resources.
//!
//! Spec: [resources](https://modelcontextprotocol.io/specification/2026-07-28/server/resources).

use std::collections::BTreeMap;

use super::{Annotations, CacheScope, Icon, List, ResourceContents, ResultType, TtlMs};
use crate::RawJson;
use crate::meta::{Meta, NotificationMeta, RequestMeta, ResultMeta};
use crate::wire::wire;

wire! {
    /// Something that can be read.
    pub open struct Resource {
        /// Where it is.
        required "uri" => uri: String,
        /// For programs.
        required "name" => name: String,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
        /// What is in it.
        optional "description" => description: String,
        /// The media type.
        optional "mimeType" => mime_type: String,
        /// Bytes, before any encoding.
        integer "size" => size: u64,
        /// For whom it is, and how important.
        optional "annotations" => annotations: Annotations,
        /// Pictures for a user interface. Since 2025-11-25.
        optional "icons" => icons: Vec<Icon>,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// Many things that can be read, described by a URI with gaps.
    pub open struct ResourceTemplate {
        /// The URI, an RFC 6570 template.
        required "uriTemplate" => uri_template: String,
        /// For programs.
        required "name" => name: String,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
        /// What is in them.
        optional "description" => description: String,
        /// The media type, if all have the same.
        optional "mimeType" => mime_type: String,
        /// For whom they are, and how important.
        optional "annotations" => annotations: Annotations,
        /// Pictures for a user interface. Since 2025-11-25.
        optional "icons" => icons: Vec<Icon>,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// The result of `resources/list`.
    pub open struct ListResourcesResult {
        /// The resources on this page.
        required "resources" => resources: List<Resource>,
        /// Where the next page begins, if there is one.
        optional "nextCursor" => next_cursor: String,
        /// How long the result may be kept. Since 2026-07-28.
        optional "ttlMs" => ttl_ms: TtlMs,
        /// Who may share it. Since 2026-07-28.
        optional "cacheScope" => cache_scope: CacheScope,
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The result of `resources/templates/list`.
    pub open struct ListResourceTemplatesResult {
        /// The templates on this page.
        required "resourceTemplates" => resource_templates: List<ResourceTemplate>,
        /// Where the next page begins, if there is one.
        optional "nextCursor" => next_cursor: String,
        /// How long the result may be kept. Since 2026-07-28.
        optional "ttlMs" => ttl_ms: TtlMs,
        /// Who may share it. Since 2026-07-28.
        optional "cacheScope" => cache_scope: CacheScope,
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The parameters of `resources/read`.
    pub open struct ReadResourceParams {
        /// Which resource.
        required "uri" => uri: String,
        /// Answers to what an earlier attempt asked for, by the name of the question.
        /// Since 2026-07-28.
        nullable "inputResponses" => input_responses: BTreeMap<String, RawJson>,
        /// What came with those questions, unchanged. Since 2026-07-28.
        optional "requestState" => request_state: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The result of `resources/read`.
    pub open struct ReadResourceResult {
        /// The contents, or of a directory those of its parts.
        required "contents" => contents: Vec<ResourceContents>,
        /// How long the result may be kept. Since 2026-07-28.
        optional "ttlMs" => ttl_ms: TtlMs,
        /// Who may share it. Since 2026-07-28.
        optional "cacheScope" => cache_scope: CacheScope,
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The parameters of `notifications/resources/updated`.
    pub open struct ResourceUpdatedParams {
        /// Which resource, or a part of the one that was subscribed to.
        required "uri" => uri: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }
}
