//! Content, fitted.

use crate::types::{ContentBlock, ResourceLink, TextContent};
use crate::version::ProtocolVersion::{self, *};

/// Fits a content block.
///
/// Before 2025-06-18 there are no resource links: name and URI become text. Audio, which came
/// with 2025-03-26, stays: a client that plays none can still say so.
pub fn fit_content(content: &mut ContentBlock, version: ProtocolVersion) {
    match content {
        ContentBlock::ResourceLink(link) if version < V2025_06_18 => {
            *content = named(link).into();
        }
        _ => {}
    }
}

fn named(link: &mut ResourceLink) -> TextContent {
    let name = link.title.as_ref().unwrap_or(&link.name);
    let mut text = TextContent::new(format!("{name}: {}", link.uri));
    text.annotations = link.annotations.take();
    text
}
