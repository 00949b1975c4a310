//! Batches of which not every member has been answered. 2025-03-26 only.

use std::collections::HashMap;

/// The batch that a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BatchId(u64);

struct Pending<M> {
    replies: Vec<M>,
    /// Members that run, and one for the batch itself while it is being read.
    missing: usize,
}

/// The batches that wait for their last reply. Each of them has a call that runs, or is being
/// read right now.
pub(super) struct Batches<M> {
    pending: HashMap<BatchId, Pending<M>>,
    seen: u64,
}

impl<M> Batches<M> {
    pub(super) fn new() -> Self {
        Self {
            pending: HashMap::new(),
            seen: 0,
        }
    }

    /// Begins a batch, which waits at least for one [`one_done`](Self::one_done).
    pub(super) fn begin(&mut self) -> BatchId {
        let id = BatchId(self.seen);
        self.seen += 1;
        let pending = Pending {
            replies: Vec::new(),
            missing: 1,
        };
        self.pending.insert(id, pending);
        id
    }

    pub(super) fn wait_for_one_more(&mut self, id: BatchId) {
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.missing += 1;
        }
    }

    pub(super) fn reply(&mut self, id: BatchId, message: M) {
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.replies.push(message);
        }
    }

    /// One thing less to wait for. After the last one, gives the replies, if there are any.
    pub(super) fn one_done(&mut self, id: BatchId) -> Option<Vec<M>> {
        let pending = self.pending.get_mut(&id)?;
        pending.missing -= 1;
        if pending.missing > 0 {
            return None;
        }
        let replies = self.pending.remove(&id)?.replies;
        (!replies.is_empty()).then_some(replies)
    }
}
