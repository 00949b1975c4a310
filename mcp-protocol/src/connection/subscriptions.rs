//! Who hears of which change, in either era.
//!
//! Spec: [subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).

use std::collections::{BTreeMap, BTreeSet};

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
    /// By `subscriptions/listen`: what was granted to each stream.
    streams: BTreeMap<CallId, SubscriptionFilter>,
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
        self.streams.insert(stream, granted);
    }

    pub(super) fn close(&mut self, stream: CallId) {
        self.streams.remove(&stream);
    }

    /// The streams that hear of a change.
    pub(super) fn streams(&self, change: &Change) -> Vec<CallId> {
        self.streams
            .iter()
            .filter_map(|(stream, filter)| hears(filter, change).then_some(*stream))
            .collect()
    }

    /// What a change may be called when nobody knows what has changed: all that anybody
    /// has subscribed to.
    pub(super) fn everything(&self) -> Vec<Change> {
        let subscribed = self
            .streams
            .values()
            .flat_map(|filter| filter.resource_subscriptions.iter().flatten())
            .chain(&self.uris)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|uri| Change::Resource(uri.clone()));
        [Change::Tools, Change::Prompts, Change::Resources]
            .into_iter()
            .chain(subscribed)
            .collect()
    }

    /// Whether the legacy session has subscribed to this resource.
    pub(super) fn session_hears(&self, uri: &str) -> bool {
        self.uris.iter().any(|subscribed| covers(subscribed, uri))
    }
}

fn hears(filter: &SubscriptionFilter, change: &Change) -> bool {
    match change {
        Change::Tools => filter.tools_list_changed == Some(true),
        Change::Prompts => filter.prompts_list_changed == Some(true),
        Change::Resources => filter.resources_list_changed == Some(true),
        Change::Resource(uri) => filter
            .resource_subscriptions
            .iter()
            .flatten()
            .any(|subscribed| covers(subscribed, uri)),
        Change::Everything => true,
    }
}

/// Whether a resource is the one subscribed to, or lies below it.
fn covers(subscribed: &str, uri: &str) -> bool {
    uri.strip_prefix(subscribed)
        .is_some_and(|rest| rest.is_empty() || subscribed.ends_with('/') || rest.starts_with('/'))
}

/// What a server with these capabilities grants of what was asked for.
pub(super) fn grant(
    asked: SubscriptionFilter,
    capabilities: &ServerCapabilities,
) -> SubscriptionFilter {
    let resources = capabilities.resources.as_ref();
    let mut granted = SubscriptionFilter::new();
    granted.tools_list_changed = asked
        .tools_list_changed
        .filter(|asked| *asked && list_changed_of_tools(capabilities));
    granted.prompts_list_changed = asked
        .prompts_list_changed
        .filter(|asked| *asked && list_changed_of_prompts(capabilities));
    granted.resources_list_changed = asked.resources_list_changed.filter(|asked| {
        *asked && resources.is_some_and(|resources| resources.list_changed == Some(true))
    });
    granted.resource_subscriptions = asked
        .resource_subscriptions
        .filter(|_| resources.is_some_and(|resources| resources.subscribe == Some(true)));
    granted
}

/// Whether there is anything that a listen stream could be granted.
pub(super) fn offers_streams(capabilities: &ServerCapabilities) -> bool {
    list_changed_of_tools(capabilities)
        || list_changed_of_prompts(capabilities)
        || capabilities.resources.as_ref().is_some_and(|resources| {
            resources.list_changed == Some(true) || resources.subscribe == Some(true)
        })
}

/// Whether the legacy session is told of changes of a list.
pub(super) fn declares(capabilities: &ServerCapabilities, change: &Change) -> bool {
    match change {
        Change::Tools => list_changed_of_tools(capabilities),
        Change::Prompts => list_changed_of_prompts(capabilities),
        Change::Resources => capabilities
            .resources
            .as_ref()
            .is_some_and(|resources| resources.list_changed == Some(true)),
        Change::Resource(_) | Change::Everything => false,
    }
}

fn list_changed_of_tools(capabilities: &ServerCapabilities) -> bool {
    let tools = capabilities.tools.as_ref();
    tools.is_some_and(|tools| tools.list_changed == Some(true))
}

fn list_changed_of_prompts(capabilities: &ServerCapabilities) -> bool {
    let prompts = capabilities.prompts.as_ref();
    prompts.is_some_and(|prompts| prompts.list_changed == Some(true))
}
