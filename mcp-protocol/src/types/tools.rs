//! Tools.
//!
//! Spec: [tools](https://modelcontextprotocol.io/specification/2026-07-28/server/tools).

use std::collections::BTreeMap;

use super::{CacheScope, ContentBlock, Icon, List, ResultType, TaskMetadata, TtlMs};
use crate::RawJson;
use crate::meta::{Meta, RequestMeta, ResultMeta};
use crate::wire::{wire, words};

wire! {
    /// A function that a model may call.
    pub open struct Tool {
        /// For programs.
        required "name" => name: String,
        /// JSON Schema of the arguments, always that of an object.
        required "inputSchema" => input_schema: RawJson,
        /// For people. Since 2025-06-18.
        optional "title" => title: String,
        /// For the model.
        optional "description" => description: String,
        /// JSON Schema of [`CallToolResult::structured_content`]. Since 2025-06-18; that of an
        /// object up to 2025-11-25.
        optional "outputSchema" => output_schema: RawJson,
        /// What it does to the world. Since 2025-03-26.
        optional "annotations" => annotations: ToolAnnotations,
        /// How it may be called. 2025-11-25 only.
        optional "execution" => execution: ToolExecution,
        /// Pictures for a user interface. Since 2025-11-25.
        optional "icons" => icons: Vec<Icon>,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }
}

impl Tool {
    /// The name to show to a person.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title
            .as_deref()
            .or_else(annotated)
            .unwrap_or(&self.name)
    }
}

wire! {
    /// What a tool does to the world, as its author claims. Since 2025-03-26.
    ///
    /// From a server that is not trusted these are not to be relied on.
    pub open struct ToolAnnotations {
        /// For people.
        optional "title" => title: String,
        /// Changes nothing. If absent: it may.
        optional "readOnlyHint" => read_only_hint: bool,
        /// May destroy something. If absent: it may.
        optional "destructiveHint" => destructive_hint: bool,
        /// Twice does no more than once. If absent: it may.
        optional "idempotentHint" => idempotent_hint: bool,
        /// Deals with a world that is not known beforehand. If absent: it does.
        optional "openWorldHint" => open_world_hint: bool,
    }

    /// How a tool may be called. 2025-11-25 only.
    pub open struct ToolExecution {
        /// Whether as a task. If absent: it may not.
        optional "taskSupport" => task_support: TaskSupport,
    }
}

words! {
    /// Whether a tool may be called as a task.
    pub enum TaskSupport {
        /// It may not.
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It must.
        Required = "required",
    }
}

wire! {
    /// The result of `tools/list`.
    pub open struct ListToolsResult {
        /// The tools on this page.
        required "tools" => tools: List<Tool>,
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

    /// The parameters of `tools/call`.
    pub open struct CallToolParams {
        /// Which tool.
        required "name" => name: String,
        /// An object that fits its input schema.
        optional "arguments" => arguments: RawJson,
        /// Asks for a task instead of a result. 2025-11-25 only.
        optional "task" => task: TaskMetadata,
        /// Answers to what an earlier attempt asked for, by the name of the question.
        /// Since 2026-07-28.
        nullable "inputResponses" => input_responses: BTreeMap<String, RawJson>,
        /// What came with those questions, unchanged. Since 2026-07-28.
        optional "requestState" => request_state: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The result of `tools/call`.
    pub open struct CallToolResult {
        /// What the model reads.
        default "content" => content: Vec<ContentBlock>,
        /// What a program reads: JSON that fits the tool's output schema, `null` included.
        /// Since 2025-06-18; an object up to 2025-11-25.
        nullable "structuredContent" => structured_content: RawJson,
        /// Whether the tool failed. If absent: it did not.
        optional "isError" => is_error: bool,
        /// What kind of result this is. Since 2026-07-28.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }
}

impl CallToolResult {
    /// One block of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().content([ContentBlock::text(text)])
    }

    /// The blocks of text that it has, on lines of their own.
    #[must_use]
    pub fn joined_text(&self) -> String {
        let texts = self.content.iter().filter_map(ContentBlock::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// A failure, told so that the model can do something about it.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).is_error(true)
    }
}
