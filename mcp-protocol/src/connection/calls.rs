//! Requests that this side serves: exactly one reply each, and nothing after it.

use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use super::batches::BatchId;
use super::classify::Caller;
use crate::jsonrpc::{RawJson, RequestId};
use crate::types::LoggingLevel;

/// One call. Minted by the connection and never used again, unlike the id on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(u64);

/// Of a client's own calls the number is also the id on the wire.
impl CallId {
    pub(super) fn new(number: u64) -> Self {
        Self(number)
    }

    pub(super) fn to_wire(self) -> RequestId {
        self.0.into()
    }

    /// Of an id or a token, if it is a number.
    pub(super) fn from_wire(number: Option<i128>) -> Option<Self> {
        number?.try_into().ok().map(Self)
    }
}

/// A map of calls.
pub type CallMap<V> = HashMap<CallId, V, BuildHasherDefault<IdHasher>>;

/// Spreads ids over a map, quickly and without a secret.
///
/// A peer could find ids of its own that fall on one place. It would gain nothing: there are
/// never more of them than calls in flight, and so few can be looked through.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        // An odd factor of which the upper bits, too, depend on the number: the map uses both.
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut()
                .zip(chunk)
                .for_each(|(to, from)| *to = *from);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
}

/// How far a call has got, as its handler says.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done. Has to rise from one report to the next, in any unit.
    pub progress: f64,
    /// How much there is to do, in the same unit.
    pub total: Option<f64>,
    /// One line for a person. Since 2025-03-26.
    pub message: Option<String>,
}

/// A log message of a call's handler.
#[derive(Clone, Debug, PartialEq)]
pub struct LogMessage {
    /// How bad it is.
    pub level: LoggingLevel,
    /// What part of the server it comes from.
    pub logger: Option<String>,
    /// The message: text, or any JSON.
    pub data: RawJson,
}

/// An open request.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: RequestId,
    pub(super) caller: Caller,
    pub(super) batch: Option<BatchId>,
    /// What was last reported.
    pub(super) progress: f64,
    pub(super) kind: Kind,
}

/// What an open request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Work, which ends with a reply.
    Running,
    /// A stream of notifications, which ends when either side wants it to.
    Listening,
}

/// The open requests, by their id here and by their id on the wire.
#[derive(Default)]
pub(super) struct Calls {
    open: CallMap<Call>,
    ids: HashMap<RequestId, CallId, BuildHasherDefault<IdHasher>>,
    minted: u64,
}

impl Calls {
    pub(super) fn is_open(&self, id: &RequestId) -> bool {
        self.ids.contains_key(id)
    }

    /// How many calls of a kind are open.
    pub(super) fn count(&self, kind: Kind) -> usize {
        self.open.values().filter(|call| call.kind == kind).count()
    }

    pub(super) fn open(&mut self, call: Call) -> CallId {
        let id = CallId(self.minted);
        self.minted += 1;
        self.ids.insert(call.id.clone(), id);
        self.open.insert(id, call);
        id
    }

    pub(super) fn get(&self, id: CallId) -> Option<&Call> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.open.get_mut(&id)
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<CallId> {
        self.ids.get(id).copied()
    }

    pub(super) fn close(&mut self, id: CallId) -> Option<Call> {
        let call = self.open.remove(&id)?;
        self.ids.remove(&call.id);
        Some(call)
    }

    /// The calls of a kind, oldest first.
    pub(super) fn of(&self, kind: Kind) -> Vec<CallId> {
        // To sort a vector would be ten times the code.
        let of_kind = self.open.iter().filter(|(_, call)| call.kind == kind);
        let ids: BinaryHeap<_> = of_kind.map(|(id, _)| *id).collect();
        ids.into_sorted_vec()
    }
}
