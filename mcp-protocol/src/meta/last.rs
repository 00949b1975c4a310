//! The `_meta` that was read last: clients repeat theirs with every request, and servers with
//! every result.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::RequestMeta;
use crate::Shared;
use crate::jsonrpc::Members;
use crate::types::{ClientCapabilities, Implementation};

/// Reads the `_meta` of requests. What is the same as the last time is not decoded again: all
/// of it, or, where a progress token differs, what the client says of itself.
#[derive(Default)]
pub(crate) struct LastMeta {
    whole: Last<RequestMeta>,
    version: Last<Option<Arc<str>>>,
    capabilities: Last<Option<Shared<ClientCapabilities>>>,
    client: Last<Option<Shared<Implementation>>>,
}

impl LastMeta {
    /// The text of all of it: an object, or nothing.
    pub(crate) fn text(&self) -> &[u8] {
        self.whole.text()
    }

    /// Decodes a JSON text. `None` if it does not fit the type.
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<RequestMeta> {
        if let Some(meta) = self.whole.value_of(text) {
            return Some(meta);
        }
        let meta = self.by_member(text).or_else(|| decode(text))?;
        // A token is another one the next time.
        if meta.progress_token.is_none() {
            self.whole.keep(text, &meta);
        }
        Some(meta)
    }

    /// `None` if there is a member that is not expected, or one does not fit.
    fn by_member(&mut self, text: &[u8]) -> Option<RequestMeta> {
        if !text.starts_with(b"{") {
            return None;
        }
        let mut meta = RequestMeta::new();
        let mut members = Members::of(text);
        while let Some((name, value)) = members.next_member().ok()? {
            match &*name {
                b"io.modelcontextprotocol/protocolVersion" => {
                    meta.protocol_version = self.version.read(value)?;
                }
                b"io.modelcontextprotocol/clientCapabilities" => {
                    meta.client_capabilities = self.capabilities.read(value)?;
                }
                b"io.modelcontextprotocol/clientInfo" => {
                    meta.client_info = self.client.read(value)?;
                }
                b"progressToken" => meta.progress_token = decode(value)?,
                _ => return None,
            }
        }
        Some(meta)
    }
}

fn decode<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    // As a string, which is how all else is read: for each kind of input there would be a copy
    // of all the code that reads these types.
    serde_json::from_str(std::str::from_utf8(text).ok()?).ok()
}

/// A text, and what it has been decoded to.
pub(crate) struct Last<T> {
    text: Vec<u8>,
    value: Option<T>,
}

impl<T> Default for Last<T> {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            value: None,
        }
    }
}

impl<T: Clone> Last<T> {
    /// Of JSON, or nothing.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    fn value_of(&self, text: &[u8]) -> Option<T> {
        self.value.as_ref().filter(|_| self.text == text).cloned()
    }

    fn keep(&mut self, text: &[u8], value: &T) {
        if text.len() <= KEPT {
            self.text.clear();
            self.text.extend_from_slice(text);
            self.value = Some(value.clone());
        }
    }
}

impl<T: Clone + DeserializeOwned> Last<T> {
    /// Decodes a JSON text. `None` if it does not fit the type.
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<T> {
        if let Some(value) = self.value_of(text) {
            return Some(value);
        }
        let value = decode(text)?;
        self.keep(text, &value);
        Some(value)
    }
}

/// A text of more bytes than this is not kept: it would take memory for as long as the
/// connection lasts.
const KEPT: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(version: &str, name: &str, more: &str) -> String {
        format!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"{version}",
                "io.modelcontextprotocol/clientInfo":{{"name":"{name}","version":"1"}},
                "io.modelcontextprotocol/clientCapabilities":{{"roots":{{}}}}{more}}}"#
        )
    }

    #[test]
    fn whatever_was_read_before_the_value_is_that_of_the_text() {
        let texts = [
            meta("a", "x", ""),
            meta("a", "x", r#","progressToken":1"#),
            meta("a", "x", r#","progressToken":"2""#),
            meta("a", "y", r#","progressToken":null"#),
            meta("b", "y", r#","traceparent":"00-1-1-01""#),
            meta("b", "y", r#","io.modelcontextprotocol/logLevel":"error""#),
            meta("b", "y", r#","progressToken":{}"#),
            meta("b", "y", r#","\u0070rogressToken":3"#),
            "{}".to_owned(),
            "[]".to_owned(),
            "1".to_owned(),
            meta("a", &"x".repeat(KEPT), ""),
        ];
        let mut last = LastMeta::default();
        for first in &texts {
            for second in &texts {
                for text in [first, second, second] {
                    let fresh = serde_json::from_str::<RequestMeta>(text).ok();
                    assert_eq!(last.read(text.as_bytes()), fresh, "{text}");
                }
            }
        }
    }

    #[test]
    fn what_the_client_says_of_itself_is_decoded_once() {
        let mut last = LastMeta::default();
        let mut read = |token: &str| last.read(meta("a", "x", token).as_bytes()).unwrap();
        let (first, second) = (read(r#","progressToken":1"#), read(r#","progressToken":2"#));
        let info = |meta: &RequestMeta| &raw const **meta.client_info.as_ref().unwrap();
        assert_eq!(info(&first), info(&second));
        let can = |meta: &RequestMeta| &raw const **meta.client_capabilities.as_ref().unwrap();
        assert_eq!(can(&first), can(&second));
    }

    #[test]
    fn a_long_text_is_not_kept() {
        let mut last = LastMeta::default();
        last.read(meta("a", &"x".repeat(KEPT), "").as_bytes())
            .unwrap();
        assert!(last.whole.text.is_empty() && last.client.text.is_empty());
    }
}
