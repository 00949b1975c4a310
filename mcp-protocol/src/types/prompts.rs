//! Prompts.
//!
//! Spec: [prompts](https://modelcontextprotocol.io/specification/2026-07-28/server/prompts).

use std::collections::BTreeMap;

use super::{CacheScope, ContentBlock, Icon, List, ResultType, Role, TtlMs};
use crate::RawJson;
use crate::meta::{Meta, RequestMeta, ResultMeta};
use crate::wire::wire;

wire! {
    /// Messages with gaps, for a person to choose.
    pub open struct Prompt {
        /// For programs.
        required "name" => name: String,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
        /// What it is good for.
        optional "description" => description: String,
        /// What fills the gaps.
        optional "arguments" => arguments: Vec<PromptArgument>,
        /// Pictures for a user interface. Since 2025-11-25.
        optional "icons" => icons: Vec<Icon>,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// What fills a gap of a prompt. Its value is always a string.
    pub open struct PromptArgument {
        /// For programs.
        required "name" => name: String,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
        /// What it means.
        optional "description" => description: String,
        /// Whether it must be given. If absent: it need not.
        optional "required" => required: bool,
    }

    /// The result of `prompts/list`.
    pub open struct ListPromptsResult {
        /// The prompts on this page.
        required "prompts" => prompts: List<Prompt>,
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

    /// The parameters of `prompts/get`.
    pub open struct GetPromptParams {
        /// Which prompt.
        required "name" => name: String,
        /// What fills its gaps, by the name of the argument.
        optional "arguments" => arguments: BTreeMap<String, String>,
        /// Answers to what an earlier attempt asked for, by the name of the question.
        /// Since 2026-07-28.
        nullable "inputResponses" => input_responses: BTreeMap<String, RawJson>,
        /// What came with those questions, unchanged. Since 2026-07-28.
        optional "requestState" => request_state: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The result of `prompts/get`.
    pub open struct GetPromptResult {
        /// The messages, without gaps.
        required "messages" => messages: Vec<PromptMessage>,
        /// What the prompt is good for.
        optional "description" => description: String,
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// One message of a prompt.
    pub open struct PromptMessage {
        /// Who speaks.
        required "role" => role: Role,
        /// What is said.
        required "content" => content: ContentBlock,
    }
}

impl PromptMessage {
    /// Said by the person.
    #[must_use]
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// Said by the model.
    #[must_use]
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}
