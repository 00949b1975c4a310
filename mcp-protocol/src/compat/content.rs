//! Content, fitted.

use super::keep;
use crate::types::{
    Annotations, AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource,
    ResourceContents, ResourceLink, TextContent,
};
use crate::version::ProtocolVersion::{self, *};

/// Fits a content block.
///
/// Before 2025-03-26 there is no audio: it becomes an embedded resource, which keeps the data.
/// Before 2025-06-18 there are no resource links: name and URI become text.
pub fn fit_content(content: &mut ContentBlock, version: ProtocolVersion) {
    if version >= V2025_11_25 {
        return;
    }
    match content {
        ContentBlock::Audio(audio) if version < V2025_03_26 => {
            *content = embedded(audio).into();
        }
        ContentBlock::ResourceLink(link) if version < V2025_06_18 => {
            *content = named(link).into();
        }
        _ => {}
    }
    let (annotations, meta) = match content {
        ContentBlock::Text(text) => (&mut text.annotations, &mut text.meta),
        ContentBlock::Image(image) => (&mut image.annotations, &mut image.meta),
        ContentBlock::Audio(audio) => (&mut audio.annotations, &mut audio.meta),
        ContentBlock::ResourceLink(link) => {
            link.icons = None;
            (&mut link.annotations, &mut link.meta)
        }
        ContentBlock::Resource(embedded) => {
            fit_contents(&mut embedded.resource, version);
            (&mut embedded.annotations, &mut embedded.meta)
        }
        ContentBlock::Unknown(_) => return,
    };
    fit_annotations(annotations, version);
    keep(meta, version >= V2025_06_18);
}

/// Fits the contents of a resource. Before 2025-06-18: no `_meta`.
pub fn fit_contents(contents: &mut ResourceContents, version: ProtocolVersion) {
    match contents {
        ResourceContents::Text(text) => keep(&mut text.meta, version >= V2025_06_18),
        ResourceContents::Blob(blob) => keep(&mut blob.meta, version >= V2025_06_18),
        ResourceContents::Unknown(_) => {}
    }
}

/// Fits annotations. Before 2025-06-18: no `lastModified`.
pub fn fit_annotations(annotations: &mut Option<Annotations>, version: ProtocolVersion) {
    if let Some(annotations) = annotations {
        keep(&mut annotations.last_modified, version >= V2025_06_18);
    }
}

fn embedded(audio: &mut AudioContent) -> EmbeddedResource {
    let data = std::mem::take(&mut audio.data);
    // Contents must have a URI, and audio of a result has none of its own.
    let contents = BlobResourceContents::new("about:audio", data)
        .mime_type(std::mem::take(&mut audio.mime_type));
    let mut embedded = EmbeddedResource::new(contents);
    embedded.annotations = audio.annotations.take();
    embedded
}

fn named(link: &mut ResourceLink) -> TextContent {
    let name = link.title.as_ref().unwrap_or(&link.name);
    let mut text = TextContent::new(format!("{name}: {}", link.uri));
    text.annotations = link.annotations.take();
    text
}
