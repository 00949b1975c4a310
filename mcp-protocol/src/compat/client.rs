//! What a client is asked and answers, fitted.

use super::server::fit_structured_content;
use super::{each, fit_tool};
use crate::RawJson;
use crate::types::{
    CreateMessageParams, CreateMessageResult, ElicitParams, PrimitiveSchema, SamplingBlock,
    SamplingContent, SamplingMessage, SingleSelectSchema,
};
use crate::version::ProtocolVersion::{self, *};

/// Fits a question to the user.
///
/// Before 2025-11-25 choices have names in another way.
pub fn fit_elicit_params(params: &mut ElicitParams, version: ProtocolVersion) {
    let form = params.requested_schema.as_mut();
    if let Some(form) = form.filter(|_| version < V2025_11_25) {
        for field in form.properties.schemas_mut() {
            if let PrimitiveSchema::SingleSelect(field) = field {
                name_choices(field);
            }
        }
    }
}

/// Says choices with names in the older of the two ways.
fn name_choices(schema: &mut SingleSelectSchema) {
    if let Some(choices) = schema.one_of.take() {
        let (values, names) = choices
            .into_iter()
            .map(|choice| (choice.value, choice.title))
            .unzip();
        schema.choices = Some(values);
        schema.choice_names = Some(names);
    }
}

/// Fits a question to the model.
///
/// Before 2025-11-25 a message is one block: one of more blocks becomes as many messages.
pub fn fit_create_message_params(params: &mut CreateMessageParams, version: ProtocolVersion) {
    let tools = params.tools.as_deref_mut().unwrap_or_default();
    each(tools, version, fit_tool);
    let is_array = |message: &SamplingMessage| matches!(message.content, SamplingContent::Many(_));
    if version < V2025_11_25 && params.messages.iter().any(is_array) {
        params.messages = std::mem::take(&mut params.messages)
            .into_iter()
            .flat_map(split)
            .collect();
    }
    each(&mut params.messages, version, fit_sampling_message);
}

fn split(message: SamplingMessage) -> Vec<SamplingMessage> {
    match message.content {
        SamplingContent::One(_) => vec![message],
        SamplingContent::Many(blocks) => blocks
            .into_iter()
            .map(|block| SamplingMessage::new(message.role.clone(), block))
            .collect(),
    }
}

/// Fits a message to or from the model, but for the number of its blocks.
///
/// Before 2025-11-25 a tool that is called, and what came of it, are text: their JSON.
pub fn fit_sampling_message(message: &mut SamplingMessage, version: ProtocolVersion) {
    fit_sampling_content(&mut message.content, version);
}

fn fit_sampling_content(content: &mut SamplingContent, version: ProtocolVersion) {
    match content {
        SamplingContent::One(block) => fit_block(block, version),
        SamplingContent::Many(blocks) => each(blocks, version, fit_block),
    }
}

fn fit_block(block: &mut SamplingBlock, version: ProtocolVersion) {
    match block {
        SamplingBlock::ToolUse(_) | SamplingBlock::ToolResult(_) if version < V2025_11_25 => {
            let json = RawJson::encode(block).expect("blocks always encode");
            *block = SamplingBlock::text(json.as_str());
        }
        SamplingBlock::ToolResult(result) => {
            if let Some(value) = &mut result.structured_content {
                fit_structured_content(value, version);
            }
        }
        _ => {}
    }
}

/// Fits what the model said.
///
/// Before 2025-11-25 that is one block: of more, the text is kept.
pub fn fit_create_message_result(result: &mut CreateMessageResult, version: ProtocolVersion) {
    fit_sampling_content(&mut result.content, version);
    if version >= V2025_11_25 {
        return;
    }
    if let SamplingContent::Many(blocks) = &mut result.content {
        let block = match &mut **blocks {
            [_] => blocks.remove(0),
            blocks => SamplingBlock::text(texts(blocks).join("\n")),
        };
        result.content = SamplingContent::One(block);
    }
}

fn texts(blocks: &[SamplingBlock]) -> Vec<&str> {
    blocks.iter().filter_map(SamplingBlock::as_text).collect()
}
