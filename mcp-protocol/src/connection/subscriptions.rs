//! Who hears of which change, in either era.
//!
//! Spec: [subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).

use std::collections::BTreeSet;

use super::calls::CallId;
use crate::types::{ServerCapabilities, SubscriptionFilter};

/// Something that clients may have asked to be told of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources, or of resource templates.
    Resources,
    /// The contents of one resource, named by its URI.
    Resource(String),
    /// Anything: what has changed was lost count of.
    Everything,
}

/// What the peer has subscribed to.
#[derive(Default)]
pub(super) struct Subscriptions {
    /// By `resources/subscribe`: the legacy session's.
    uris: BTreeSet<String>,
    /// By `subscriptions/listen`: what was granted to each stream, the oldest first. There are no
    /// more than [`Limits::listens`](super::Limits::listens).
    streams: Vec<(CallId, SubscriptionFilter)>,
}

impl Subscriptions {
    /// Subscribes the legacy session, unless it has `limit` subscriptions.
    pub(super) fn subscribe(&mut self, uri: String, limit: usize) -> Result<(), usize> {
        if self.uris.len() >= limit && !self.uris.contains(&uri) {
            return Err(limit);
        }
        self.uris.insert(uri);
        Ok(())
    }

    pub(super) fn unsubscribe(&mut self, uri: &str) {
        self.uris.remove(uri);
    }

    pub(super) fn open(&mut self, stream: CallId, granted: SubscriptionFilter) {
        self.streams.push((stream, granted));
    }

    pub(super) fn close(&mut self, stream: CallId) {
        self.streams.retain(|(open, _)| *open != stream);
    }

    /// The open streams.
    pub(super) fn streams(&self) -> Vec<CallId> {
        self.streams.iter().map(|(stream, _)| *stream).collect()
    }

    /// What a stream is told of a change.
    pub(super) fn stream_hears(&self, stream: CallId, change: &Change) -> Vec<Notice> {
        let mut streams = self.streams.iter();
        let Some((_, filter)) = streams.find(|(open, _)| *open == stream) else {
            return Vec::new();
        };
        let uris = filter.resource_subscriptions.iter().flatten();
        notices(change, uris, |list| filter.covers(list))
    }

    /// What the legacy session is told of a change.
    pub(super) fn session_hears(
        &self,
        change: &Change,
        capabilities: &ServerCapabilities,
    ) -> Vec<Notice> {
        notices(change, &self.uris, |list| declares(capabilities, list))
    }
}

/// What a subscriber is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

/// What is told of a change to who has subscribed to these resources and these lists. Of
/// everything, only what it has subscribed to itself.
fn notices<'a>(
    change: &Change,
    uris: impl IntoIterator<Item = &'a String>,
    hears: impl Fn(&Change) -> bool,
) -> Vec<Notice> {
    let all = *change == Change::Everything;
    let lists = [
        (Change::Tools, Notice::Tools),
        (Change::Prompts, Notice::Prompts),
        (Change::Resources, Notice::Resources),
    ];
    let mut told: Vec<_> = lists
        .into_iter()
        .filter(|(list, _)| (all || list == change) && hears(list))
        .map(|(_, notice)| notice)
        .collect();
    let mut uris = uris.into_iter();
    match change {
        Change::Everything => told.extend(uris.map(|uri| Notice::Resource(uri.clone()))),
        Change::Resource(uri) if uris.any(|subscribed| covers(subscribed, uri)) => {
            told.push(Notice::Resource(uri.clone()));
        }
        _ => {}
    }
    told
}

/// Whether a resource is the one subscribed to, or lies below it.
fn covers(subscribed: &str, uri: &str) -> bool {
    uri.strip_prefix(subscribed)
        .is_some_and(|rest| rest.is_empty() || subscribed.ends_with('/') || rest.starts_with('/'))
}

impl SubscriptionFilter {
    /// What of this a server with these capabilities tells of.
    #[must_use]
    pub fn granted_by(self, capabilities: &ServerCapabilities) -> Self {
        let grant = |asked: Option<bool>, list: Change| {
            asked.filter(|asked| *asked && declares(capabilities, &list))
        };
        let mut granted = Self::new();
        granted.tools_list_changed = grant(self.tools_list_changed, Change::Tools);
        granted.prompts_list_changed = grant(self.prompts_list_changed, Change::Prompts);
        granted.resources_list_changed = grant(self.resources_list_changed, Change::Resources);
        let uris = self.resource_subscriptions;
        granted.resource_subscriptions = uris.filter(|_| subscribes(capabilities));
        granted
    }

    /// Whether this change is to be told of: of a resource, that it is one of those subscribed to
    /// or lies below it.
    #[must_use]
    pub fn covers(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools_list_changed == Some(true),
            Change::Prompts => self.prompts_list_changed == Some(true),
            Change::Resources => self.resources_list_changed == Some(true),
            Change::Resource(uri) => {
                let mut uris = self.resource_subscriptions.iter().flatten();
                uris.any(|subscribed| covers(subscribed, uri))
            }
            Change::Everything => true,
        }
    }
}

/// Whether there is anything that a listen stream could be granted.
pub(super) fn offers_streams(capabilities: &ServerCapabilities) -> bool {
    let lists = [Change::Tools, Change::Prompts, Change::Resources];
    lists.iter().any(|list| declares(capabilities, list)) || subscribes(capabilities)
}

/// Whether a client can subscribe to resources.
pub(super) fn subscribes(capabilities: &ServerCapabilities) -> bool {
    let resources = capabilities.resources.as_ref();
    resources.is_some_and(|resources| resources.subscribe == Some(true))
}

/// Whether changes of a list are told of.
fn declares(capabilities: &ServerCapabilities, list: &Change) -> bool {
    let list_changed = match list {
        Change::Tools => capabilities.tools.as_ref().map(|it| it.list_changed),
        Change::Prompts => capabilities.prompts.as_ref().map(|it| it.list_changed),
        Change::Resources => capabilities.resources.as_ref().map(|it| it.list_changed),
        Change::Resource(_) | Change::Everything => None,
    };
    list_changed.flatten() == Some(true)
}
