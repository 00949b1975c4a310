//! What a client is asked and answers, fitted.

use super::server::fit_structured_content;
use super::{each, fit_annotations, fit_content, fit_request_meta, fit_tool, keep};
use crate::RawJson;
use crate::types::{
    CreateMessageParams, CreateMessageResult, ElicitMode, ElicitParams, PrimitiveSchema,
    SamplingBlock, SamplingContent, SamplingMessage, SingleSelectSchema,
};
use crate::version::Era;
use crate::version::ProtocolVersion::{self, *};

/// Fits a question to the user.
///
/// Before 2025-11-25 there are forms only, and only a boolean field says what stands there at
/// first. 2025-11-25 wants an id for a web page, for a later notification that the user is
/// done with it; since handlers of the newest revision send none, the URL serves as the id.
pub fn fit_elicit_params(params: &mut ElicitParams, version: ProtocolVersion) {
    keep(&mut params.task, version == V2025_11_25);
    keep(&mut params.elicitation_id, version == V2025_11_25);
    if version.era() == Era::Modern {
        params.meta = None;
    }
    fit_request_meta(&mut params.meta, version);
    let by_page = params.mode == Some(ElicitMode::Url);
    if version == V2025_11_25 && by_page && params.elicitation_id.is_none() {
        params.elicitation_id.clone_from(&params.url);
    }
    if version < V2025_11_25 {
        params.mode = params.mode.take().filter(|_| by_page);
        if let Some(schema) = &mut params.requested_schema {
            schema.schema = None;
            for property in schema.properties.schemas_mut() {
                fit_primitive(property);
            }
        }
    }
}

/// Makes a field one of 2025-06-18.
fn fit_primitive(schema: &mut PrimitiveSchema) {
    match schema {
        PrimitiveSchema::String(schema) => schema.default_value = None,
        PrimitiveSchema::Number(schema) => schema.default_value = None,
        PrimitiveSchema::SingleSelect(schema) => {
            schema.default_value = None;
            name_choices(schema);
        }
        PrimitiveSchema::Boolean(_)
        | PrimitiveSchema::MultiSelect(_)
        | PrimitiveSchema::Unknown(_) => {}
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
/// Before 2025-11-25 there are no tools, and a message is one block: one of more blocks
/// becomes as many messages.
pub fn fit_create_message_params(params: &mut CreateMessageParams, version: ProtocolVersion) {
    keep(&mut params.task, version == V2025_11_25);
    keep(&mut params.tools, version >= V2025_11_25);
    keep(&mut params.tool_choice, version >= V2025_11_25);
    if version.era() == Era::Modern {
        params.meta = None;
    }
    fit_request_meta(&mut params.meta, version);
    each(
        params.tools.as_deref_mut().unwrap_or_default(),
        version,
        fit_tool,
    );
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
/// Before 2025-11-25 a tool that is called, and what came of it, are text: their JSON. Before
/// 2025-03-26 audio is a note that there was some.
pub fn fit_sampling_message(message: &mut SamplingMessage, version: ProtocolVersion) {
    keep(&mut message.meta, version >= V2025_11_25);
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
        SamplingBlock::Audio(audio) if version < V2025_03_26 => {
            *block = SamplingBlock::text(format!("({})", audio.mime_type));
        }
        SamplingBlock::ToolUse(_) | SamplingBlock::ToolResult(_) if version < V2025_11_25 => {
            let json = RawJson::encode(block).expect("blocks always encode");
            *block = SamplingBlock::text(json.as_str());
        }
        _ => {}
    }
    let (annotations, meta) = match block {
        SamplingBlock::Text(text) => (&mut text.annotations, &mut text.meta),
        SamplingBlock::Image(image) => (&mut image.annotations, &mut image.meta),
        SamplingBlock::Audio(audio) => (&mut audio.annotations, &mut audio.meta),
        SamplingBlock::ToolResult(result) => {
            if let Some(value) = &mut result.structured_content {
                fit_structured_content(value, version);
            }
            return each(&mut result.content, version, fit_content);
        }
        SamplingBlock::ToolUse(_) | SamplingBlock::Unknown(_) => return,
    };
    fit_annotations(annotations, version);
    keep(meta, version >= V2025_06_18);
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
