//! What a client may not have received, for when it comes back.

use std::collections::VecDeque;

use super::exchange::{Event, StreamId};

/// Events that a client may ask for again, the newest ones.
pub(super) struct Replay {
    most: usize,
    bytes: usize,
    events: VecDeque<Kept>,
}

struct Kept {
    stream: StreamId,
    event: Event,
    delivered: bool,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.event.text.len() + size_of::<Self>()
    }
}

impl Replay {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            bytes: 0,
            events: VecDeque::new(),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.most > 0
    }

    pub(super) fn push(&mut self, stream: StreamId, event: Event, delivered: bool) {
        let kept = Kept {
            stream,
            event,
            delivered,
        };
        self.bytes += kept.bytes();
        self.events.push_back(kept);
        while self.bytes > self.most {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
        }
    }

    pub(super) fn take(&mut self, stream: StreamId, after: Option<u64>) -> Vec<Event> {
        let wanted = |kept: &Kept| {
            let missed = match after {
                Some(number) => kept.event.number > number,
                None => !kept.delivered,
            };
            kept.stream == stream && missed
        };
        let events = std::mem::take(&mut self.events);
        let (taken, left): (VecDeque<_>, _) = events.into_iter().partition(wanted);
        self.events = left;
        self.bytes -= taken.iter().map(Kept::bytes).sum::<usize>();
        taken.into_iter().map(|kept| kept.event).collect()
    }
}
