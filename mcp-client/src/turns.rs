//! How many calls are in flight at once.
//!
//! A call in which the server asks something is not over before the answer, and the answer may
//! take a call. So there is a turn more for each question that is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

/// The turns of a client's calls.
pub(crate) struct Turns {
    free: Semaphore,
    /// Turns to be taken back from who has them.
    owed: AtomicUsize,
}

impl Turns {
    pub(crate) fn new(most: usize) -> Self {
        // Half of what there can be leaves room for questions.
        Self {
            free: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS / 2)),
            owed: AtomicUsize::new(0),
        }
    }

    /// Waits for a turn, which lasts as long as what this gives.
    pub(crate) async fn take(self: &Arc<Self>) -> Turn {
        let turn = self.free.acquire().await;
        turn.expect("it is never closed").forget();
        Turn(self.clone())
    }

    /// Adds a turn, for as long as what this gives.
    pub(crate) fn lend(self: &Arc<Self>) -> Lent {
        self.give();
        Lent(self.clone())
    }

    fn give(&self) {
        let less = |owed: usize| owed.checked_sub(1);
        let owed = self
            .owed
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        if owed.is_err() {
            self.free.add_permits(1);
        }
    }
}

/// A call's turn.
pub(crate) struct Turn(Arc<Turns>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.give();
    }
}

/// A turn that was added.
pub(crate) struct Lent(Arc<Turns>);

impl Drop for Lent {
    fn drop(&mut self) {
        if self.0.free.forget_permits(1) == 0 {
            self.0.owed.fetch_add(1, Ordering::SeqCst);
        }
    }
}
