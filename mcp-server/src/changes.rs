//! Tells every connection that something has changed.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_protocol::connection::Change;

use crate::events::{Events, WeakEvents};

/// Tells clients that something has changed, if they have asked to be told.
///
/// Cheap to clone. None of its methods waits, and each may be called at any time. What is
/// registered or removed through a [`ServerHandle`](crate::ServerHandle) is told by itself.
///
/// A client that does not get to it is told once of what has changed many times.
///
/// Spec: [subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<Mutex<Vec<WeakEvents>>>);

impl Changes {
    /// The list of tools has changed.
    pub fn tools(&self) {
        self.tell(&Change::Tools);
    }

    /// The list of prompts has changed.
    pub fn prompts(&self) {
        self.tell(&Change::Prompts);
    }

    /// The list of resources or of resource templates has changed.
    pub fn resources(&self) {
        self.tell(&Change::Resources);
    }

    /// The contents of a resource have changed.
    pub fn resource(&self, uri: impl Into<String>) {
        self.tell(&Change::Resource(uri.into()));
    }

    fn tell(&self, change: &Change) {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|connection| match connection.upgrade() {
            Some(events) => {
                events.changed(change);
                true
            }
            None => false,
        });
    }

    /// Tells a connection from now on, as long as it lives.
    pub(crate) fn add(&self, events: &Events) {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Only now and then: there may be a connection for each request.
        if connections.len() == connections.capacity() {
            connections.retain(|connection| connection.upgrade().is_some());
            let live = connections.len();
            connections.reserve(live.max(8));
        }
        connections.push(events.downgrade());
    }
}
