//! Admission: how many calls are in flight, on the server and on one connection.
//!
//! A call takes a slot of its connection and one of the server, or it is answered
//! `server_busy` at once; it never waits. So one connection that floods the server uses up
//! its own share and nobody else's, and what is not a call (a ping, a cancellation, an error)
//! is never in its way.
//!
//! tower's `LoadShed` over `ConcurrencyLimit` looks like the same and is not: a call that was
//! shed stays queued in the semaphore and later takes a permit that nobody uses.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use mcp_protocol::{BusyData, BusyScope, ErrorCode, ErrorObject, SERVER_BUSY};
use tower::{Layer, Service};

use crate::attempt::Attempt;
use crate::rounds::{Rounds, Running};

/// The calls in flight on a whole server.
#[derive(Clone, Debug)]
pub struct InFlight(Arc<Gauge>);

impl InFlight {
    /// Room for this many calls.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(Gauge::new(limit)))
    }

    /// How many calls are in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The share of one connection: calls in flight, and bytes of their parameters.
    #[must_use]
    pub fn share(&self, calls: usize, bytes: usize, busy_code: ErrorCode) -> Share {
        Share {
            parts: Arc::new(Parts {
                server: self.clone(),
                calls: Gauge::new(calls),
                bytes: Gauge::new(bytes),
                busy_code,
            }),
            principal: None,
        }
    }
}

/// What one connection may use of the calls in flight.
#[derive(Clone, Debug)]
pub struct Share {
    parts: Arc<Parts>,
    principal: Option<Arc<str>>,
}

#[derive(Debug)]
struct Parts {
    server: InFlight,
    calls: Gauge,
    bytes: Gauge,
    busy_code: ErrorCode,
}

impl Share {
    /// Says whose share this is, as the transport has authenticated it. What one principal
    /// carries between rounds is taken from no other. Default nobody in particular.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<Arc<str>>) -> Self {
        self.principal = Some(principal.into());
        self
    }

    pub(crate) fn owner(&self) -> Option<Arc<str>> {
        self.principal.clone()
    }

    /// Takes a slot for work that keeps so many bytes in memory.
    pub(crate) fn try_acquire(&self, size: usize) -> Result<Slot, Full> {
        let Parts {
            server,
            calls,
            bytes,
            ..
        } = &*self.parts;
        if !calls.take(1) {
            return Err(Full::Calls);
        }
        if !bytes.take(size) {
            calls.give_back(1);
            return Err(Full::Bytes);
        }
        if !server.0.take(1) {
            calls.give_back(1);
            bytes.give_back(size);
            return Err(Full::Server);
        }
        Ok(Slot {
            parts: self.parts.clone(),
            size,
            holders: AtomicUsize::new(1),
        })
    }

    /// Says what there is no room in.
    fn refuse(&self, full: Full, attempt: &Attempt) -> ErrorObject {
        let (scope, gauge) = match full {
            Full::Calls => (BusyScope::Connection, &self.parts.calls),
            Full::Bytes => (BusyScope::Connection, &self.parts.bytes),
            Full::Server => (BusyScope::Server, &*self.parts.server.0),
        };
        let limit = u64::try_from(gauge.limit).unwrap_or(u64::MAX);
        let mut data = BusyData::new(SERVER_BUSY, scope, limit, attempt.method().as_str());
        if let Full::Bytes = full {
            data = data.unit("bytes");
        }
        data.into_error(self.parts.busy_code)
    }
}

/// What there is no room in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Full {
    Calls,
    Bytes,
    Server,
}

/// A counter that does not rise above its limit.
#[derive(Debug)]
struct Gauge {
    used: AtomicUsize,
    limit: usize,
}

impl Gauge {
    fn new(limit: usize) -> Self {
        Self {
            used: AtomicUsize::new(0),
            limit,
        }
    }

    fn take(&self, amount: usize) -> bool {
        self.used
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |used| {
                used.checked_add(amount).filter(|sum| *sum <= self.limit)
            })
            .is_ok()
    }

    fn give_back(&self, amount: usize) {
        self.used.fetch_sub(amount, Ordering::AcqRel);
    }
}

/// The place of one call among those in flight. Given back when all who hold it have let go of
/// it, or it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    parts: Arc<Parts>,
    size: usize,
    holders: AtomicUsize,
}

impl Slot {
    /// Holds it once more.
    pub(crate) fn hold_on(&self) {
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets go of it, once for each who holds it.
    pub(crate) fn release(&self) {
        if self.holders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.give_back();
        }
    }

    fn give_back(&self) {
        let Parts {
            server,
            calls,
            bytes,
            ..
        } = &*self.parts;
        server.0.give_back(1);
        bytes.give_back(self.size);
        calls.give_back(1);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if *self.holders.get_mut() > 0 {
            self.give_back();
        }
    }
}

/// Admits the calls of one connection to a service.
#[derive(Clone, Debug)]
pub struct LimitLayer {
    share: Share,
}

impl LimitLayer {
    /// For the connection that has this share.
    #[must_use]
    pub fn new(share: Share) -> Self {
        Self { share }
    }
}

impl Layer<Arc<Rounds>> for LimitLayer {
    type Service = Limit;

    fn layer(&self, rounds: Arc<Rounds>) -> Limit {
        Limit {
            share: self.share.clone(),
            rounds,
        }
    }
}

/// A service that takes as many calls as its connection's share allows, and refuses the others
/// as `server_busy`. Which of the two it does is known at once; a call that it has taken holds
/// its slot until it ends.
#[derive(Clone, Debug)]
pub struct Limit {
    share: Share,
    rounds: Arc<Rounds>,
}

impl Limit {
    pub(crate) fn rounds(&self) -> &Arc<Rounds> {
        &self.rounds
    }
}

impl Service<Attempt> for Limit {
    type Response = Running;
    type Error = ErrorObject;
    type Future = Ready<Result<Running, ErrorObject>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ErrorObject>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, attempt: Attempt) -> Self::Future {
        match self.share.try_acquire(attempt.call.size()) {
            Ok(slot) => {
                attempt.call.hold(slot);
                ready(Ok(self.rounds.serve(attempt)))
            }
            Err(full) => ready(Err(self.share.refuse(full, &attempt))),
        }
    }
}
