//! Batches of which not every member has been answered. 2025-03-26 only.

use std::collections::HashMap;

use crate::error::ErrorObject;
use crate::transport::Encode;

/// The batch that a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BatchId(u64);

struct Pending<M> {
    replies: Vec<M>,
    /// Bytes of the replies, as they will be sent.
    bytes: usize,
    /// Members that run, and one for the batch itself while it is being read.
    missing: usize,
}

/// The batches that wait for their last reply. Each of them has a call that runs, or is being
/// read right now.
pub(super) struct Batches<M> {
    pending: HashMap<BatchId, Pending<M>>,
    /// Bytes of all replies that wait.
    bytes: usize,
    seen: u64,
}

impl<M: Encode> Batches<M> {
    pub(super) fn new() -> Self {
        Self {
            pending: HashMap::new(),
            bytes: 0,
            seen: 0,
        }
    }

    /// Begins a batch, which waits at least for one [`one_done`](Self::one_done).
    pub(super) fn begin(&mut self) -> BatchId {
        let id = BatchId(self.seen);
        self.seen += 1;
        let pending = Pending {
            replies: Vec::new(),
            bytes: 0,
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

    /// Keeps a reply until the batch is done. Beyond [`BYTES`] it is replaced: one member that
    /// runs for long would keep the results of all others, and of any number of batches.
    pub(super) fn reply(
        &mut self,
        id: BatchId,
        message: M,
        instead: impl FnOnce(M, ErrorObject) -> M,
    ) {
        let Some(pending) = self.pending.get_mut(&id) else {
            return;
        };
        let mut encoded = Vec::new();
        message.encode(&mut encoded);
        let bytes = encoded.len();
        if bytes > BYTES.saturating_sub(self.bytes) {
            let error = ErrorObject::internal(
                "Internal error: no room for this result until the rest of the batch is done",
            );
            return pending.replies.push(instead(message, error));
        }
        self.bytes += bytes;
        pending.bytes += bytes;
        pending.replies.push(message);
    }

    /// One thing less to wait for. After the last one, gives the replies, if there are any.
    pub(super) fn one_done(&mut self, id: BatchId) -> Option<Vec<M>> {
        let pending = self.pending.get_mut(&id)?;
        pending.missing -= 1;
        if pending.missing > 0 {
            return None;
        }
        let Pending { replies, bytes, .. } = self.pending.remove(&id)?;
        self.bytes -= bytes;
        (!replies.is_empty()).then_some(replies)
    }
}

/// Bytes of replies of one connection that wait for other members of their batches.
const BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    struct Reply(Result<usize, ErrorObject>);

    impl Encode for Reply {
        fn encode(&self, out: &mut Vec<u8>) {
            let length = self.0.as_ref().copied().unwrap_or_default();
            out.resize(length, b'x');
        }
    }

    fn lengths(replies: Option<Vec<Reply>>) -> Vec<Option<usize>> {
        let replies = replies.into_iter().flatten();
        replies.map(|reply| reply.0.ok()).collect()
    }

    #[test]
    fn replies_that_wait_are_bounded_over_all_batches() {
        let failed = |_, error| Reply(Err(error));
        let mut batches = Batches::new();
        let (first, second) = (batches.begin(), batches.begin());
        batches.reply(first, Reply(Ok(BYTES - 1)), failed);
        batches.reply(second, Reply(Ok(2)), failed);
        batches.reply(second, Reply(Ok(1)), failed);
        assert_eq!(lengths(batches.one_done(first)), [Some(BYTES - 1)]);
        batches.reply(second, Reply(Ok(BYTES - 1)), failed);
        assert_eq!(
            lengths(batches.one_done(second)),
            [None, Some(1), Some(BYTES - 1)]
        );
        assert_eq!(batches.bytes, 0);
    }
}
