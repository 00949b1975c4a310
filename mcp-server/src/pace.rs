//! Which calls are tried where messages are read, before they get a task of their own.
//!
//! What is answered at once is answered soonest there: no task is made for it, nothing has to be
//! woken, and all that came in one read is answered in one write. But a handler that blocks its
//! thread would keep the whole connection waiting, pings and cancellations too. So each tool has
//! an account. Quick calls fill it, up to a limit; a slow one that the connection had to wait for
//! draws on it for the time it took; and a tool that has overdrawn it gets tasks until quick calls
//! have paid that back. Over time, the calls of a connection wait no more than [`SHARE`] for one
//! another, however rarely a tool blocks.

use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use crate::attempt::Attempt;

/// How quick the tools and lists of a server are.
///
/// Two that fall on the same place share their record, so that names, which clients choose,
/// need no memory.
pub(crate) struct Paces([AtomicI32; PLACES]);

/// Where the record of a call is.
#[derive(Clone, Copy)]
pub(crate) struct Place(usize);

impl Default for Paces {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicI32::new(-TRIAL)))
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

    /// Whether calls of this kind have been quick so far.
    pub(crate) fn is_quick(&self, place: Place) -> bool {
        self.0[place.0].load(Ordering::Relaxed) >= 0
    }

    /// Polls a call for the first time, and notes how long that took: `here`, where messages are
    /// read, or in a task.
    pub(crate) fn poll<T>(
        &self,
        place: Place,
        here: bool,
        poll: impl FnOnce() -> Poll<T>,
    ) -> Poll<T> {
        let begun = Instant::now();
        let polled = poll();
        self.note(place, here, polled.is_ready(), begun.elapsed());
        polled
    }

    // No number says anything about other memory, so none needs an order, and one that was
    // noted by another thread meanwhile may be lost.
    fn note(&self, place: Place, here: bool, done: bool, took: Duration) {
        let account = &self.0[place.0];
        let before = account.load(Ordering::Relaxed);
        let slow = took > SLOW;
        let after = if slow && here {
            let calls = took.as_nanos() / SHARE.as_nanos();
            before.saturating_sub(i32::try_from(calls).unwrap_or(i32::MAX))
        } else if done && !slow {
            MOST.min(before + 1)
        } else {
            before.min(-TRIAL)
        };
        if after != before {
            account.store(after, Ordering::Relaxed);
        }
    }
}

/// How many records there are.
const PLACES: usize = 256;

/// How many calls have to be done at their first poll before one is tried where messages are
/// read.
const TRIAL: i32 = 8;

/// How many quick calls an account remembers: those of a tool that was never slow pay for a
/// thread that had to wait for a processor.
const MOST: i32 = 1_024;

/// A first poll of more than this is slow.
const SLOW: Duration = Duration::from_micros(100);

/// What one call may cost the others on average.
const SHARE: Duration = Duration::from_micros(64);

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place(7);

    /// Quick calls until the next one is tried.
    fn calls(paces: &Paces) -> i32 {
        let mut calls = 0;
        while !paces.is_quick(PLACE) {
            paces.note(PLACE, false, true, Duration::ZERO);
            calls += 1;
        }
        calls
    }

    #[test]
    fn a_tool_has_to_be_quick_some_times_first() {
        let paces = Paces::default();
        assert_eq!(calls(&paces), TRIAL);
        paces.note(PLACE, true, true, SLOW);
        assert!(paces.is_quick(PLACE));
    }

    #[test]
    fn one_that_waits_is_on_trial_again() {
        let paces = Paces::default();
        for _ in 0..100 {
            paces.note(PLACE, true, false, Duration::ZERO);
        }
        assert_eq!(calls(&paces), TRIAL);
    }

    #[test]
    fn quick_calls_pay_for_a_slow_one_in_advance_but_not_for_many() {
        let paces = Paces::default();
        for _ in 0..100 * MOST {
            paces.note(PLACE, true, true, Duration::ZERO);
        }
        let most = u32::try_from(MOST).expect("it is not negative");
        paces.note(PLACE, true, true, SHARE * most);
        assert_eq!(calls(&paces), 0);
        paces.note(PLACE, true, true, SHARE * most);
        assert_eq!(calls(&paces), MOST);
    }

    #[test]
    fn one_that_is_slow_in_a_task_has_held_nobody_up() {
        let paces = Paces::default();
        calls(&paces);
        for _ in 0..100 {
            paces.note(PLACE, false, true, SHARE * 1_000);
        }
        assert_eq!(calls(&paces), TRIAL);
    }

    #[test]
    fn a_slow_poll_is_paid_for_in_calls() {
        let paces = Paces::default();
        calls(&paces);
        paces.note(PLACE, true, true, SHARE * 1_000);
        assert_eq!(calls(&paces), 1_000);
        paces.note(PLACE, true, false, Duration::MAX);
        paces.note(PLACE, true, true, Duration::MAX);
        assert!(!paces.is_quick(PLACE));
    }
}
