//! Who is there: what one client, and all of them together, may hold open.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_server::limit::Share;

use super::Limits;

/// Bytes that are counted for each body besides its own: where little ones wait for their
/// connection, most of the memory is what is around them.
pub(super) const AROUND: usize = 256;

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
    body_bytes: AtomicUsize,
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
    body_bytes: AtomicUsize,
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
        let counts = [(&self.open, most), (&visitor.open, (most / 2).max(1))];
        take(counts, 1).then(|| Visit {
            visitors: self.clone(),
            visitor: visitor.clone(),
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
            body_bytes: AtomicUsize::new(0),
        });
        known.by_key.insert(key.clone(), Arc::downgrade(&visitor));
        visitor
    }
}

/// Takes as many of what all may have and of what one may have; says whether there was room.
fn take([all, own]: [(&AtomicUsize, usize); 2], more: usize) -> bool {
    let take = |(count, most): (&AtomicUsize, usize)| {
        let sum = |count: usize| count.checked_add(more).filter(|sum| *sum <= most);
        count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum)
            .is_ok()
    };
    let taken = take(own);
    if taken && !take(all) {
        own.0.fetch_sub(more, Ordering::Relaxed);
        return false;
    }
    taken
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

impl Visit {
    /// Nothing yet of what bodies may hold.
    pub(super) fn charge(&self) -> Charge {
        Charge {
            visitors: self.visitors.clone(),
            visitor: self.visitor.clone(),
            bytes: 0,
        }
    }
}

/// Bytes of a body that are in memory and that no call answers for yet.
pub(super) struct Charge {
    visitors: Arc<Visitors>,
    visitor: Arc<Visitor>,
    bytes: usize,
}

impl Charge {
    /// Adds to it; says whether there was room.
    pub(super) fn grow(&mut self, bytes: usize, limits: &Limits) -> bool {
        // The longest body has to fit into what one client may have.
        let own = (limits.bodies / 2).max(limits.body.saturating_add(AROUND));
        let all = (&self.visitors.body_bytes, limits.bodies);
        let taken = take([all, (&self.visitor.body_bytes, own)], bytes);
        self.bytes += if taken { bytes } else { 0 };
        taken
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        for count in [&self.visitors.body_bytes, &self.visitor.body_bytes] {
            count.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}
