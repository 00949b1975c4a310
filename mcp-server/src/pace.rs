//! Which calls are tried where messages are read, before they get a task of their own.
//!
//! What is answered at once is answered soonest there: no task is made for it, nothing has to be
//! woken, and all that came in one read is answered in one write. But a handler that blocks its
//! thread would keep the whole connection waiting, pings and cancellations too. So each tool has
//! to have shown that it is quick, and one that was slow pays for it in calls that have tasks of
//! their own, the more the longer it took: over time, the calls of a connection wait no more than
//! [`SHARE`] for one another, however rarely a tool blocks.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::attempt::Attempt;

/// How quick the tools and lists of a server are.
///
/// Two that fall on the same place share their record, so that names, which clients choose,
/// need no memory.
pub(crate) struct Paces([AtomicU32; PLACES]);

/// Where the record of a call is.
#[derive(Clone, Copy)]
pub(crate) struct Place(usize);

impl Default for Paces {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU32::new(TRIAL)))
    }
}

impl Paces {
    /// Where the calls of this tool are noted, or of this method if it is no tool's.
    pub(crate) fn place(attempt: &Attempt) -> Place {
        let method = attempt.method();
        let name = attempt.tool().unwrap_or(method.as_str());
        let hash = name.bytes().fold(0, |hash: usize, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        Place(hash % PLACES)
    }

    /// Whether calls of this kind have been quick often enough.
    pub(crate) fn is_quick(&self, place: Place) -> bool {
        self.0[place.0].load(Ordering::Relaxed) == 0
    }

    /// Polls a call for the first time, and notes how long that took.
    pub(crate) fn poll<F: Future + Unpin>(
        &self,
        place: Place,
        call: &mut F,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output> {
        let begun = Instant::now();
        let polled = Pin::new(call).poll(cx);
        self.note(place, polled.is_ready(), begun.elapsed());
        polled
    }

    // No number says anything about other memory, so none needs an order, and one that was
    // noted by another thread meanwhile may be lost.
    fn note(&self, place: Place, done: bool, took: Duration) {
        let debt = &self.0[place.0];
        let owed = debt.load(Ordering::Relaxed);
        let owes = if took > SLOW {
            let calls = took.as_nanos() / SHARE.as_nanos();
            owed.saturating_add(u32::try_from(calls).unwrap_or(u32::MAX))
        } else if done {
            owed.saturating_sub(1)
        } else {
            owed.max(TRIAL)
        };
        if owes != owed {
            debt.store(owes, Ordering::Relaxed);
        }
    }
}

/// How many records there are.
const PLACES: usize = 256;

/// How many calls have to be done at their first poll before one is tried where messages are
/// read.
const TRIAL: u32 = 8;

/// A first poll of more than this is slow.
const SLOW: Duration = Duration::from_micros(100);

/// What one call may cost the others on average. A slow poll is paid for by so many calls that
/// it comes down to this.
const SHARE: Duration = Duration::from_micros(16);

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place(7);

    fn tried(paces: &Paces) -> u32 {
        let mut calls = 0;
        while !paces.is_quick(PLACE) {
            paces.note(PLACE, true, Duration::ZERO);
            calls += 1;
        }
        calls
    }

    #[test]
    fn a_tool_has_to_be_quick_some_times_first() {
        let paces = Paces::default();
        assert_eq!(tried(&paces), TRIAL);
        paces.note(PLACE, true, SLOW);
        assert!(paces.is_quick(PLACE));
    }

    #[test]
    fn one_that_waits_is_on_trial_again() {
        let paces = Paces::default();
        for _ in 0..100 {
            paces.note(PLACE, false, Duration::ZERO);
        }
        assert_eq!(tried(&paces), TRIAL);
    }

    #[test]
    fn a_slow_poll_is_paid_for_in_calls() {
        let paces = Paces::default();
        tried(&paces);
        paces.note(PLACE, true, Duration::from_millis(16));
        assert_eq!(tried(&paces), 1_000);
        paces.note(PLACE, false, Duration::MAX);
        paces.note(PLACE, true, Duration::MAX);
        assert!(!paces.is_quick(PLACE));
    }
}
