//! Completion of arguments.
//!
//! Spec: [completion](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion).

use std::collections::BTreeMap;

use super::ResultType;
use crate::meta::{RequestMeta, ResultMeta};
use crate::wire::{tagged, wire};

wire! {
    /// The parameters of `completion/complete`.
    pub open struct CompleteParams {
        /// Whose argument is completed.
        required "ref" => reference: Reference,
        /// The argument.
        required "argument" => argument: CompleteArgument,
        /// What is known beside it. Since 2025-06-18.
        optional "context" => context: CompleteContext,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }
}

tagged! {
    /// Something that has arguments.
    pub enum Reference by "type" {
        /// A prompt.
        Prompt(PromptReference) = "ref/prompt",
        /// A resource, or a template of resources.
        Resource(ResourceTemplateReference) = "ref/resource",
    }
}

wire! {
    /// A prompt, by name.
    pub open struct PromptReference is "type" = "ref/prompt" {
        /// For programs.
        required "name" => name: String,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
    }

    /// A resource, by URI or template.
    pub open struct ResourceTemplateReference is "type" = "ref/resource" {
        /// The URI or the template.
        required "uri" => uri: String,
    }

    /// An argument, as far as it is written.
    pub open struct CompleteArgument {
        /// Its name.
        required "name" => name: String,
        /// What stands there now.
        required "value" => value: String,
    }

    /// What is known beside the argument that is completed. Since 2025-06-18.
    pub open struct CompleteContext {
        /// The arguments that are already decided, by name.
        optional "arguments" => arguments: BTreeMap<String, String>,
    }

    /// The result of `completion/complete`.
    pub open struct CompleteResult {
        /// The proposals.
        required "completion" => completion: Completion,
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// Proposals for an argument.
    pub open struct Completion {
        /// At most 100, the best first.
        required "values" => values: Vec<String>,
        /// How many there are in all.
        integer "total" => total: u64,
        /// Whether there are more, if how many is not known.
        optional "hasMore" => has_more: bool,
    }
}
