//! Results as a person reads them.

use mcp_client::types::{
    CallToolResult, CompleteResult, ContentBlock, GetPromptResult, Prompt, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use mcp_client::{Change, Peer, RawJson};

use crate::json::{Members, pretty};
use crate::signature::signature;

pub(crate) fn tools(tools: &[Tool]) -> String {
    let entries = tools
        .iter()
        .map(|tool| entry(signature(tool), tool.description.as_deref()));
    entries.collect()
}

pub(crate) fn resources(resources: &[Resource], templates: &[ResourceTemplate]) -> String {
    let resources = resources.iter().map(|resource| {
        let kind = resource.mime_type.as_deref().map(str::to_owned);
        let size = resource.size.map(|size| format!("{size} bytes"));
        let notes: Vec<_> = kind.into_iter().chain(size).collect();
        let head = format!("{}  {}{}", resource.uri, resource.name, bracketed(&notes));
        entry(head, resource.description.as_deref())
    });
    let templates = templates.iter().map(|template| {
        let notes: Vec<_> = template.mime_type.iter().cloned().collect();
        let head = format!(
            "{}  {}{}",
            template.uri_template,
            template.name,
            bracketed(&notes)
        );
        entry(head, template.description.as_deref())
    });
    resources.chain(templates).collect()
}

pub(crate) fn prompts(prompts: &[Prompt]) -> String {
    let entries = prompts.iter().map(|prompt| {
        let arguments = prompt.arguments.iter().flatten().map(|argument| {
            let mark = if argument.required == Some(true) {
                ""
            } else {
                "?"
            };
            format!("{}{mark}", argument.name)
        });
        let arguments: Vec<_> = arguments.collect();
        let head = format!("{}({})", prompt.name, arguments.join(", "));
        entry(head, prompt.description.as_deref())
    });
    entries.collect()
}

pub(crate) fn tool_result(result: &CallToolResult) -> String {
    let Some(structured) = &result.structured_content else {
        return blocks(&result.content);
    };
    // Servers repeat it as text for clients that know no better.
    let repeats = |block: &ContentBlock| {
        let value = RawJson::parse(block.as_text()?.to_owned()).ok()?;
        let value: serde_json::Value = value.decode().ok()?;
        Some(structured.decode::<serde_json::Value>().ok()? == value)
    };
    let others = result
        .content
        .iter()
        .filter(|block| repeats(block) != Some(true));
    blocks(others) + &pretty(structured) + "\n"
}

pub(crate) fn contents(result: &ReadResourceResult) -> String {
    let parts: Vec<_> = result.contents.iter().map(resource).collect();
    parts.join("\n")
}

pub(crate) fn messages(result: &GetPromptResult) -> String {
    let messages = result.messages.iter().map(|message| {
        let said = blocks([&message.content]);
        format!("{}: {said}", message.role)
    });
    messages.collect()
}

pub(crate) fn completion(result: &CompleteResult) -> String {
    let completion = &result.completion;
    let mut text: String = completion
        .values
        .iter()
        .map(|value| format!("{value}\n"))
        .collect();
    match completion.total {
        Some(total) if total > completion.values.len() as u64 => {
            text += &format!("[{total} in all]\n");
        }
        _ if completion.has_more == Some(true) => text += "[and more]\n",
        _ => {}
    }
    text
}

pub(crate) fn server(server: &Peer, versions: Option<&[String]>) -> String {
    let mut text = match &server.info {
        Some(info) => format!("{} {}\n", info.name, info.version),
        None => "a server without a name\n".to_owned(),
    };
    text += &format!("speaks {}", server.version);
    if let Some(versions) = versions {
        text += &format!(", of those with `server/discover`: {}", versions.join(", "));
    }
    text += &format!("\noffers {}\n", offers(&server.capabilities));
    if let Some(instructions) = &server.instructions {
        text += &format!("\n{}\n", instructions.trim_end());
    }
    text
}

/// The names of what a server has declared, with their parts.
fn offers(capabilities: &ServerCapabilities) -> String {
    let declared = RawJson::encode(capabilities).map(|json| Members::of(&json).0);
    let names = declared
        .unwrap_or_default()
        .into_iter()
        .map(|(name, parts)| {
            let parts = Members::of(&parts).0.into_iter();
            let parts = parts.filter(|(_, value)| value.as_str() != "false");
            let parts: Vec<_> = parts.map(|(part, _)| part).collect();
            match parts.is_empty() {
                true => name,
                false => format!("{name} ({})", parts.join(", ")),
            }
        });
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    }
}

pub(crate) fn change(change: &Change) -> String {
    match change {
        Change::Tools => "the list of tools has changed\n".to_owned(),
        Change::Prompts => "the list of prompts has changed\n".to_owned(),
        Change::Resources => "the list of resources has changed\n".to_owned(),
        Change::Resource(uri) => format!("{uri} has changed\n"),
        _ => "anything may have changed\n".to_owned(),
    }
}

fn blocks<'a>(blocks: impl IntoIterator<Item = &'a ContentBlock>) -> String {
    let lines = blocks.into_iter().map(|block| match block {
        ContentBlock::Text(content) => ended(&content.text),
        ContentBlock::Image(content) => data(&content.mime_type, &content.data),
        ContentBlock::Audio(content) => data(&content.mime_type, &content.data),
        ContentBlock::ResourceLink(link) => format!("[link to {}, {}]\n", link.uri, link.name),
        ContentBlock::Resource(content) => resource(&content.resource),
        ContentBlock::Unknown(content) => pretty(content) + "\n",
        _ => "[something new]\n".to_owned(),
    });
    lines.collect()
}

fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::Text(text) => ended(&text.text),
        ResourceContents::Blob(blob) => {
            data(blob.mime_type.as_deref().unwrap_or("data"), &blob.blob)
        }
        ResourceContents::Unknown(contents) => pretty(contents) + "\n",
        _ => "[something new]\n".to_owned(),
    }
}

/// What cannot be shown: `[image/png, 70 bytes]`.
fn data(kind: &str, base64: &str) -> String {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|&byte| byte == b'=')
        .count();
    let bytes = (base64.len() * 3 / 4).saturating_sub(padding);
    format!("[{kind}, {bytes} bytes]\n")
}

fn entry(head: String, description: Option<&str>) -> String {
    let lines = description.into_iter().flat_map(|text| text.trim().lines());
    let lines: String = lines.map(|line| format!("    {line}\n")).collect();
    format!("{head}\n{lines}")
}

fn bracketed(notes: &[String]) -> String {
    match notes.is_empty() {
        true => String::new(),
        false => format!("  [{}]", notes.join(", ")),
    }
}

fn ended(text: &str) -> String {
    match text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_counted_before_it_is_encoded() {
        for (base64, bytes) in [
            ("", 0),
            ("YQ==", 1),
            ("YWI=", 2),
            ("YWJj", 3),
            ("YWJjZA==", 4),
        ] {
            assert_eq!(
                data("image/png", base64),
                format!("[image/png, {bytes} bytes]\n")
            );
        }
    }

    #[test]
    fn structured_content_is_shown_once() {
        let structured = RawJson::parse(r#"{"b":1,"a":2}"#).expect("it is JSON");
        let result = CallToolResult::text(r#"{ "a": 2, "b": 1 }"#);
        let result = result.structured_content(structured);
        assert_eq!(tool_result(&result), "{\"b\":1,\"a\":2}\n");
    }
}
