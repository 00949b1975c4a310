//! What tools, prompts and resources are made of.
//!
//! Spec: [`ContentBlock`](https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Icon, Resource};
use crate::RawJson;
use crate::meta::Meta;
use crate::wire::{tagged, wire, words};

tagged! {
    /// A piece of a tool result or of a prompt.
    pub enum ContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// A picture.
        Image(ImageContent) = "image",
        /// Sound. Since 2025-03-26.
        Audio(AudioContent) = "audio",
        /// A resource to be read. Since 2025-06-18.
        ResourceLink(Box<ResourceLink>) = "resource_link",
        /// The contents of a resource.
        Resource(EmbeddedResource) = "resource",
    }
}

impl ContentBlock {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// A picture: base64 data and its media type.
    #[must_use]
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// Sound: base64 data and its media type. Since 2025-03-26.
    #[must_use]
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent::new(data, mime_type).into()
    }

    /// A resource to be read. Since 2025-06-18.
    #[must_use]
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// The contents of a resource.
    #[must_use]
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        EmbeddedResource::new(contents).into()
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

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(Box::new(link))
    }
}

wire! {
    /// Text.
    pub open struct TextContent is "type" = "text" {
        /// The text.
        required "text" => text: String,
        /// For whom it is, and how important.
        optional "annotations" => annotations: Annotations,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// A picture.
    pub open struct ImageContent is "type" = "image" {
        /// Base64.
        required "data" => data: String,
        /// The media type.
        required "mimeType" => mime_type: String,
        /// For whom it is, and how important.
        optional "annotations" => annotations: Annotations,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// Sound. Since 2025-03-26.
    pub open struct AudioContent is "type" = "audio" {
        /// Base64.
        required "data" => data: String,
        /// The media type.
        required "mimeType" => mime_type: String,
        /// For whom it is, and how important.
        optional "annotations" => annotations: Annotations,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// A resource to be read: all that a list would say about it. Since 2025-06-18.
    pub open struct ResourceLink is "type" = "resource_link" {
        /// Where it is.
        required "uri" => uri: String,
        /// For programs.
        required "name" => name: String,
        /// For people.
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
        /// Foreign metadata.
        optional "_meta" => meta: Meta,
    }
}

impl From<Resource> for ResourceLink {
    fn from(resource: Resource) -> Self {
        let Resource {
            uri,
            name,
            title,
            description,
            mime_type,
            size,
            annotations,
            icons,
            meta,
            extra,
        } = resource;
        Self {
            uri,
            name,
            title,
            description,
            mime_type,
            size,
            annotations,
            icons,
            meta,
            extra,
        }
    }
}

wire! {
    /// The contents of a resource, as a piece of something else.
    pub open struct EmbeddedResource is "type" = "resource" {
        /// The contents.
        required "resource" => resource: ResourceContents,
        /// For whom it is, and how important.
        optional "annotations" => annotations: Annotations,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }
}

/// The contents of a resource, or of a part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Anything else.
    Blob(BlobResourceContents),
    /// Neither text nor data.
    Unknown(RawJson),
}

impl ResourceContents {
    /// Text.
    #[must_use]
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        TextResourceContents::new(uri, text).into()
    }

    /// Anything else, as base64.
    #[must_use]
    pub fn blob(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        BlobResourceContents::new(uri, blob).into()
    }
}

impl From<TextResourceContents> for ResourceContents {
    fn from(contents: TextResourceContents) -> Self {
        Self::Text(contents)
    }
}

impl From<BlobResourceContents> for ResourceContents {
    fn from(contents: BlobResourceContents) -> Self {
        Self::Blob(contents)
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut any = AnyContents::deserialize(deserializer)?;
        Ok(match (any.text.take(), any.blob.take()) {
            (Some(text), _) => Self::Text(TextResourceContents {
                uri: any.uri,
                text,
                mime_type: any.mime_type,
                meta: any.meta,
                extra: any.extra,
            }),
            (None, Some(blob)) => Self::Blob(BlobResourceContents {
                uri: any.uri,
                blob,
                mime_type: any.mime_type,
                meta: any.meta,
                extra: any.extra,
            }),
            (None, None) => Self::Unknown(RawJson::encode(&any).map_err(D::Error::custom)?),
        })
    }
}

wire! {
    /// Text, as a resource has it.
    pub open struct TextResourceContents {
        /// Where it is.
        required "uri" => uri: String,
        /// The text.
        required "text" => text: String,
        /// The media type.
        optional "mimeType" => mime_type: String,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// Data, as a resource has it.
    pub open struct BlobResourceContents {
        /// Where it is.
        required "uri" => uri: String,
        /// Base64.
        required "blob" => blob: String,
        /// The media type.
        optional "mimeType" => mime_type: String,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// What [`ResourceContents`] is read as, before its kind is known.
    open struct AnyContents {
        required "uri" => uri: String,
        optional "text" => text: String,
        optional "blob" => blob: String,
        optional "mimeType" => mime_type: String,
        optional "_meta" => meta: Meta,
    }

    /// For whom something is, and how important.
    pub open struct Annotations {
        /// Whom it is meant for.
        optional "audience" => audience: Vec<Role>,
        /// From 0, which may be left out, to 1, which may not.
        optional "priority" => priority: f64,
        /// When it was last changed, in ISO 8601. Since 2025-06-18.
        optional "lastModified" => last_modified: String,
    }
}

words! {
    /// Who speaks or listens in a conversation.
    pub enum Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
