//! What a server has had to do so far, in numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What a server has had to do so far: see [`ServerHandle::stats`](crate::ServerHandle::stats).
///
/// A call is a request that a handler or a list answers. A ping is none, nor is a stream that
/// the client listens to. The numbers are read one after the other while the server goes on,
/// so one may be a little newer than another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls in flight now, as [`in_flight`](crate::ServerHandle::in_flight) gives them.
    pub in_flight: usize,
    /// Calls that were ever started, with those in flight, and without those refused.
    pub started: u64,
    /// Calls that were answered `server_busy` instead of being started.
    pub refused: u64,
    /// Calls that were started and will never be answered: the client has cancelled them, or
    /// their connection has ended before them.
    pub cancelled: u64,
    /// Connections that are served now.
    pub connections: usize,
    /// Connections that were ever served, with those of now.
    pub connections_in_all: u64,
}

/// What is counted for [`Stats`]. No number says anything about other memory, so none needs
/// an order.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    started: AtomicU64,
    refused: AtomicU64,
    cancelled: AtomicU64,
    connections: AtomicUsize,
    connections_in_all: AtomicU64,
}

impl Counters {
    pub(crate) fn started(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn cancelled(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection, which is served until what this gives is dropped.
    pub(crate) fn connected(self: &Arc<Self>) -> Connected {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.connections_in_all.fetch_add(1, Ordering::Relaxed);
        Connected(self.clone())
    }

    pub(crate) fn read(&self, in_flight: usize) -> Stats {
        Stats {
            in_flight,
            started: self.started.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            cancelled: self.cancelled.load(Ordering::Relaxed),
            connections: self.connections.load(Ordering::Relaxed),
            connections_in_all: self.connections_in_all.load(Ordering::Relaxed),
        }
    }
}

/// One of the connections that are served.
pub(crate) struct Connected(Arc<Counters>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
