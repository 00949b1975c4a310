//! Admission: how many calls are in flight, on the server and on one connection.
//!
//! A call takes a slot of its connection and one of the server, or it is answered
//! `server_busy` at once; it never waits. So one connection that floods the server uses up
//! its own share and nobody else's, and what is not a call (a ping, a cancellation, an error)
//! is never in its way.
//!
//! tower's `LoadShed` over `ConcurrencyLimit` looks like the same and is not: a call that was
//! shed stays queued in the semaphore and later takes a permit that nobody uses.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use mcp_protocol::{BusyData, BusyScope, ErrorCode, ErrorObject, SERVER_BUSY};
use tower::{BoxError, Layer, Service};

use crate::attempt::{Attempt, Outcome};
use crate::rounds::{Rounds, RoundsFuture};

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
            share: self.clone(),
            size,
        })
    }

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

/// The place of one call among those in flight. Given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    share: Share,
    size: usize,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Parts {
            server,
            calls,
            bytes,
            ..
        } = &*self.share.parts;
        server.0.give_back(1);
        bytes.give_back(self.size);
        calls.give_back(1);
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

impl Layer<Rounds> for LimitLayer {
    type Service = Limit;

    fn layer(&self, inner: Rounds) -> Limit {
        Limit {
            share: self.share.clone(),
            inner,
        }
    }
}

/// A service that takes as many calls as its connection's share allows.
#[derive(Clone, Debug)]
pub struct Limit {
    share: Share,
    inner: Rounds,
}

impl Service<Attempt> for Limit {
    type Response = Outcome;
    type Error = BoxError;
    type Future = LimitFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, attempt: Attempt) -> LimitFuture {
        match self.share.try_acquire(attempt.call.size()) {
            Ok(slot) => {
                attempt.call.hold(slot);
                LimitFuture::Admitted(Admitted {
                    future: self.inner.serve(attempt),
                    released: false,
                })
            }
            Err(full) => {
                let busy = self.share.refuse(full, &attempt);
                LimitFuture::Refused(Some(Outcome::Refused(busy)))
            }
        }
    }
}

/// What becomes of a call.
pub enum LimitFuture {
    /// Answered `server_busy` already.
    Refused(Option<Outcome>),
    /// Being served.
    Admitted(Admitted),
}

/// A call that is being served. It holds a slot until it ends, in whatever way.
pub struct Admitted {
    future: RoundsFuture,
    released: bool,
}

impl Admitted {
    fn release(&mut self) {
        if !std::mem::replace(&mut self.released, true) {
            self.future.call().release();
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.release();
    }
}

impl Future for LimitFuture {
    type Output = Result<Outcome, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Refused(outcome) => {
                Poll::Ready(Ok(outcome.take().expect("polled after it was ready")))
            }
            Self::Admitted(admitted) => Pin::new(admitted).poll(cx),
        }
    }
}

impl Future for Admitted {
    type Output = Result<Outcome, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(Pin::new(&mut self.future).poll(cx));
        // Before the outcome can be seen: whoever reacts to a reply must not be refused for
        // the slot that this very call held.
        self.release();
        Poll::Ready(outcome)
    }
}
