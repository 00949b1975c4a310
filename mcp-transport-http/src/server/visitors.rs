//! Who is there: what one client, and all of them together, may hold open.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_server::limit::Share;

/// Whom an exchange is counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Whom the user's own extractor has found.
    Principal(String),
    /// The other end of the socket.
    Peer(IpAddr),
    /// Everybody of whom nothing is known.
    Anyone,
}

/// All clients that have something open.
#[derive(Default)]
pub(super) struct Visitors {
    open: AtomicUsize,
    body_bytes: Arc<AtomicUsize>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    by_key: HashMap<Key, Weak<Visitor>>,
    /// How many there may be before those that have gone are looked for.
    crowded: usize,
}

/// One client that has something open.
pub(super) struct Visitor {
    pub(super) share: Share,
    open: AtomicUsize,
}

impl Visitors {
    /// Counts one more exchange; `None` if there are too many.
    pub(super) fn enter(
        self: &Arc<Self>,
        key: &Key,
        most: usize,
        share: impl FnOnce() -> Share,
    ) -> Option<Visit> {
        let visitor = self.visitor(key, share);
        if !take(&self.open, most) {
            return None;
        }
        if !take(&visitor.open, (most / 2).max(1)) {
            self.open.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Visit {
            visitors: self.clone(),
            visitor,
        })
    }

    fn visitor(&self, key: &Key, share: impl FnOnce() -> Share) -> Arc<Visitor> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visitor) = known.by_key.get(key).and_then(Weak::upgrade) {
            return visitor;
        }
        if known.by_key.len() >= known.crowded {
            known.by_key.retain(|_, visitor| visitor.strong_count() > 0);
            known.crowded = (2 * known.by_key.len()).max(64);
        }
        let visitor = Arc::new(Visitor {
            share: share(),
            open: AtomicUsize::new(0),
        });
        known.by_key.insert(key.clone(), Arc::downgrade(&visitor));
        visitor
    }

    /// Nothing yet of what all bodies together may hold.
    pub(super) fn charge(&self) -> Charge {
        Charge {
            budget: self.body_bytes.clone(),
            bytes: 0,
        }
    }
}

fn take(count: &AtomicUsize, most: usize) -> bool {
    let more = |count: usize| (count < most).then_some(count + 1);
    count
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
        .is_ok()
}

/// One open exchange. Counted until it is dropped.
pub(super) struct Visit {
    visitors: Arc<Visitors>,
    pub(super) visitor: Arc<Visitor>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visitors.open.fetch_sub(1, Ordering::Relaxed);
        self.visitor.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes of a body that are in memory and that no call answers for yet.
pub(super) struct Charge {
    budget: Arc<AtomicUsize>,
    bytes: usize,
}

impl Charge {
    /// Adds to it; says whether there was room.
    pub(super) fn grow(&mut self, bytes: usize, most: usize) -> bool {
        let room = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= most);
        let taken = self
            .budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, room)
            .is_ok();
        self.bytes += if taken { bytes } else { 0 };
        taken
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
