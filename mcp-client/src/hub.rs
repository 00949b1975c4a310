//! What belongs to a client and not to one of its connections: who hears of what, and what is kept.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_protocol::ServerNotification;
use mcp_protocol::connection::Change;
use mcp_protocol::types::{LoggingLevel, SubscriptionFilter};

use crate::cache::Cache;
use crate::feed::{Feed, Feeder, feed, push_bounded};
use crate::turns::Turns;

/// Different changes that wait to be taken. Beyond it they become one: everything.
const CHANGES: usize = 64;

/// Notifications that wait to be taken. Beyond it the oldest go.
const NOTIFICATIONS: usize = 256;

/// Changes on their way to who listens.
pub(crate) type Changes = Feeder<Change>;

impl Changes {
    /// Adds a change, unless it is waiting to be taken already.
    pub(crate) fn tell(&self, change: Change) {
        self.give(|waiting| {
            let mut waits = waiting.iter().map(|(waits, _)| waits);
            if waits.any(|waits| *waits == change || *waits == Change::Everything) {
                return;
            }
            if waiting.len() >= CHANGES {
                waiting.clear();
                waiting.push_back((Change::Everything, 0));
            } else {
                waiting.push_back((change, 0));
            }
        });
    }
}

/// What connections share.
#[derive(Default)]
pub(crate) struct Hub {
    pub(crate) cache: Cache,
    pub(crate) turns: Option<Arc<Turns>>,
    /// Each call looks at it, so it needs no lock: one of [`LEVELS`], counted from 1, or 0 for
    /// none.
    level: AtomicU8,
    state: Mutex<State>,
}

const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

#[derive(Default)]
struct State {
    /// Who hears of changes that come without the name of a stream.
    listeners: Vec<(Weak<Changes>, SubscriptionFilter)>,
    /// How many listeners each resource has that was subscribed to.
    subscribed: BTreeMap<String, usize>,
    notified: Vec<Feeder<ServerNotification>>,
    ended: bool,
}

impl Hub {
    /// Of a client with so many calls in flight at most.
    pub(crate) fn new(in_flight: Option<usize>) -> Self {
        Self {
            turns: in_flight.map(|most| Arc::new(Turns::new(most))),
            ..Self::default()
        }
    }

    /// The server has notified of something in so many bytes, maybe on a stream that somebody
    /// listens to.
    pub(crate) fn heard(
        &self,
        notification: ServerNotification,
        size: usize,
        stream: Option<&Changes>,
    ) {
        let change = change(&notification);
        if let Some(change) = &change {
            self.cache.forget(change);
        }
        let mut state = self.lock();
        match (change, stream) {
            (Some(change), Some(stream)) => stream.tell(change),
            (Some(change), None) => {
                state.listeners.retain(|(listener, filter)| {
                    let listener = listener.upgrade();
                    if let Some(listener) = listener.as_ref().filter(|_| filter.covers(&change)) {
                        listener.tell(change.clone());
                    }
                    listener.is_some()
                });
            }
            (None, _) => {}
        }
        state.notified.retain(Feeder::is_wanted);
        for to in &state.notified {
            to.give(|waiting| push_bounded(waiting, notification.clone(), size, NOTIFICATIONS));
        }
    }

    pub(crate) fn notifications(&self) -> Feed<ServerNotification> {
        let (feeder, feed) = feed();
        let mut state = self.lock();
        if !state.ended {
            state.notified.retain(Feeder::is_wanted);
            state.notified.push(feeder);
        }
        feed
    }

    /// Adds a listener, unless it is there.
    pub(crate) fn listen(&self, changes: &Arc<Changes>, filter: &SubscriptionFilter) {
        let listener = Arc::downgrade(changes);
        let listeners = &mut self.lock().listeners;
        listeners.retain(|(known, _)| known.strong_count() > 0 && !known.ptr_eq(&listener));
        listeners.push((listener, filter.clone()));
    }

    /// One listener more for a resource.
    pub(crate) fn subscribe(&self, uri: &str) {
        *self.lock().subscribed.entry(uri.to_owned()).or_default() += 1;
    }

    /// One listener less. Whether it was the last.
    pub(crate) fn unsubscribe(&self, uri: &str) -> bool {
        let mut state = self.lock();
        let Some(count) = state.subscribed.get_mut(uri) else {
            return false;
        };
        *count -= 1;
        let last = *count == 0;
        if last {
            state.subscribed.remove(uri);
        }
        last
    }

    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        let level = self.level.load(Ordering::Relaxed);
        LEVELS.get(usize::from(level).wrapping_sub(1)).copied()
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        let level = (level as u8).saturating_add(1);
        self.level.store(level, Ordering::Relaxed);
    }

    /// There will be no more connection.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        state.notified.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn change(notification: &ServerNotification) -> Option<Change> {
    match notification {
        ServerNotification::ToolListChanged(_) => Some(Change::Tools),
        ServerNotification::PromptListChanged(_) => Some(Change::Prompts),
        ServerNotification::ResourceListChanged(_) => Some(Change::Resources),
        ServerNotification::ResourceUpdated(params) => Some(Change::Resource(params.uri.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_who_does_not_hear_any_more() {
        let hub = Hub::default();
        let filter = SubscriptionFilter::new();
        for _ in 0..100 {
            drop(hub.notifications());
            hub.listen(&Arc::new(feed().0), &filter);
        }
        let state = hub.lock();
        assert!(state.notified.len() <= 1 && state.listeners.len() <= 1);
    }
}
