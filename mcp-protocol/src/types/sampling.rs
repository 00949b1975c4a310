//! Questions to the client's language model.
//!
//! Deprecated by 2026-07-28, which still has it.
//! Spec: [sampling](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling).

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{AudioContent, ContentBlock, ImageContent, Role, TaskMetadata, TextContent, Tool};
use crate::RawJson;
use crate::meta::{Meta, RequestMeta, ResultMeta};
use crate::wire::{tagged, wire, words};

wire! {
    /// The parameters of `sampling/createMessage`.
    pub open struct CreateMessageParams {
        /// The conversation so far.
        required "messages" => messages: Vec<SamplingMessage>,
        /// How many tokens at most.
        count "maxTokens" => max_tokens: u64,
        /// What the model is told first.
        optional "systemPrompt" => system_prompt: String,
        /// What the model should be good at.
        optional "modelPreferences" => model_preferences: ModelPreferences,
        /// Which servers' context is added. Deprecated by 2025-11-25.
        optional "includeContext" => include_context: IncludeContext,
        /// How much the model may wander.
        optional "temperature" => temperature: f64,
        /// Texts at which the model stops.
        optional "stopSequences" => stop_sequences: Vec<String>,
        /// An object for the maker of the model.
        optional "metadata" => metadata: RawJson,
        /// Tools that the model may call. Since 2025-11-25.
        optional "tools" => tools: Vec<Tool>,
        /// Whether it calls them. Since 2025-11-25.
        optional "toolChoice" => tool_choice: ToolChoice,
        /// Asks for a task instead of a result. 2025-11-25 only.
        optional "task" => task: TaskMetadata,
        /// Reserved and foreign metadata. Up to 2025-11-25.
        optional "_meta" => meta: RequestMeta,
    }
}

impl CreateMessageParams {
    /// Whether what the model has called is answered as it has to be: by the person's next
    /// message, by one [`ToolResultContent`] for each [`ToolUseContent`], and nothing else.
    #[must_use]
    pub fn has_results_in_place(&self) -> bool {
        let mut open = Vec::new();
        let all = self.messages.iter().all(|message| {
            let blocks = message.content.blocks();
            let (mut uses, mut results) = (Vec::new(), Vec::new());
            for block in blocks {
                match block {
                    SamplingBlock::ToolUse(call) => uses.push(&call.id),
                    SamplingBlock::ToolResult(result) => results.push(&result.tool_use_id),
                    _ => {}
                }
            }
            results.sort_unstable();
            uses.sort_unstable();
            let alone = results.len() == blocks.len() && message.role == Role::User;
            let fits = results == open && (results.is_empty() || alone);
            open = uses;
            fits
        });
        all && open.is_empty()
    }
}

wire! {
    /// One message of a conversation with the model.
    pub open struct SamplingMessage {
        /// Who speaks.
        required "role" => role: Role,
        /// What is said.
        required "content" => content: SamplingContent,
        /// Foreign metadata. Since 2025-11-25.
        optional "_meta" => meta: Meta,
    }
}

impl SamplingMessage {
    /// Said by the person.
    #[must_use]
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// Said by the model.
    #[must_use]
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

/// What is said in a message: one block, or since 2025-11-25 an array.
///
/// An array of one block is not the same as that block, and is written as it was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// An array. Since 2025-11-25.
    Many(Vec<SamplingBlock>),
}

impl SamplingContent {
    /// The blocks, however they are written.
    #[must_use]
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl<T: Into<SamplingBlock>> From<T> for SamplingContent {
    fn from(block: T) -> Self {
        Self::One(block.into())
    }
}

impl From<Vec<SamplingBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = SamplingContent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block or an array of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(SamplingContent::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<SamplingContent, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(seq)).map(SamplingContent::Many)
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

tagged! {
    /// A piece of a message in a conversation with the model.
    pub enum SamplingBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// A picture.
        Image(ImageContent) = "image",
        /// Sound. Since 2025-03-26.
        Audio(AudioContent) = "audio",
        /// The model calls a tool. Since 2025-11-25.
        ToolUse(ToolUseContent) = "tool_use",
        /// What came of it. Since 2025-11-25.
        ToolResult(ToolResultContent) = "tool_result",
    }
}

impl SamplingBlock {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for SamplingBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for SamplingBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

wire! {
    /// The model calls a tool. Since 2025-11-25.
    pub open struct ToolUseContent is "type" = "tool_use" {
        /// What the [`ToolResultContent`] will name.
        required "id" => id: String,
        /// Which tool.
        required "name" => name: String,
        /// The arguments, an object.
        required "input" => input: RawJson,
        /// Foreign metadata.
        optional "_meta" => meta: Meta,
    }

    /// What came of a tool that the model called. Since 2025-11-25.
    pub open struct ToolResultContent is "type" = "tool_result" {
        /// The [`ToolUseContent`] that it answers.
        required "toolUseId" => tool_use_id: String,
        /// What the model reads.
        default "content" => content: Vec<ContentBlock>,
        /// What a program reads, `null` included. An object in 2025-11-25.
        nullable "structuredContent" => structured_content: RawJson,
        /// Whether the tool failed. If absent: it did not.
        optional "isError" => is_error: bool,
        /// Foreign metadata.
        optional "_meta" => meta: Meta,
    }

    /// What the model should be good at.
    pub open struct ModelPreferences {
        /// Models that would do, the best first.
        optional "hints" => hints: Vec<ModelHint>,
        /// How much to save money, from 0 to 1.
        optional "costPriority" => cost_priority: f64,
        /// How much to save time, from 0 to 1.
        optional "speedPriority" => speed_priority: f64,
        /// How much to be clever, from 0 to 1.
        optional "intelligencePriority" => intelligence_priority: f64,
    }

    /// A model that would do.
    pub open struct ModelHint {
        /// A part of its name.
        optional "name" => name: String,
    }
}

words! {
    /// Which servers' context is added to a conversation.
    pub enum IncludeContext {
        /// None.
        None = "none",
        /// That of the server that asks. The client must have declared `sampling.context`.
        ThisServer = "thisServer",
        /// That of all. The client must have declared `sampling.context`.
        AllServers = "allServers",
    }
}

wire! {
    /// Whether the model calls tools. Since 2025-11-25.
    pub open struct ToolChoice {
        /// If absent: as it likes.
        optional "mode" => mode: ToolChoiceMode,
    }
}

words! {
    /// Whether the model calls tools.
    pub enum ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// None.
        None = "none",
    }
}

wire! {
    /// The result of `sampling/createMessage`.
    pub open struct CreateMessageResult {
        /// Who speaks.
        required "role" => role: Role,
        /// What is said.
        required "content" => content: SamplingContent,
        /// The model that said it.
        required "model" => model: String,
        /// Why it stopped.
        optional "stopReason" => stop_reason: StopReason,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }
}

words! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It was done.
        EndTurn = "endTurn",
        /// At one of the texts at which it should.
        StopSequence = "stopSequence",
        /// At the number of tokens that it was allowed.
        MaxTokens = "maxTokens",
        /// It waits for tools. Since 2025-11-25.
        ToolUse = "toolUse",
    }
}
