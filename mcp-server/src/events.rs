//! What calls tell their connection, in the order in which it happened.
//!
//! One queue for each connection: with progress on one channel and outcomes on another, a
//! report could arrive after the reply that it was made before.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use mcp_protocol::connection::{Answer, CallId, Change, LogMessage, Progress};
use mcp_protocol::{ErrorObject, RawJson, ServerRequest, ServerResult};
use tokio::sync::oneshot;

use crate::error::ServiceDown;

/// Something that a call tells.
pub(crate) enum Event {
    Progress(CallId, Progress),
    Log(CallId, LogMessage),
    /// Something that only the client and the application know of.
    Notify(CallId, String, RawJson),
    /// The call is over. The last event of a call.
    Done(CallId, Result<Box<ServerResult>, ErrorObject>),
    /// No call will ever be served again.
    Down(ServiceDown),
    /// The call needs an answer of its client.
    Ask(CallId, Box<ServerRequest>, oneshot::Sender<Answer>),
    /// Something that clients may want to hear of.
    Changed(Change),
}

/// Reports, log messages and notifications that wait to be applied. Beyond it, new ones do not get in. The
/// ends of calls always do: there is one for each call in flight, and those are counted.
const ROOM: usize = 128;

/// Different changes that wait to be told. Beyond it they become one: everything.
const CHANGES: usize = 64;

/// The queue. Clones are the same queue; none of its methods waits.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Shared>);

/// A queue that may be gone.
#[derive(Debug)]
pub(crate) struct WeakEvents(Weak<Shared>);

impl WeakEvents {
    pub(crate) fn upgrade(&self) -> Option<Events> {
        self.0.upgrade().map(Events)
    }
}

#[derive(Debug, Default)]
struct Shared {
    /// Whether the queue is empty, and the driver will be woken when it is not any more. It
    /// looks here before each message, and a lock would cost more.
    idle: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Event>,
    /// Each of them once.
    changes: VecDeque<Change>,
    driver: Option<Waker>,
}

impl Events {
    /// Adds an event, whether or not there is room.
    pub(crate) fn push(&self, event: Event) {
        let mut queue = self.lock();
        queue.waiting.push_back(event);
        self.wake(queue);
    }

    /// Adds a change, unless it is waiting to be told already.
    pub(crate) fn changed(&self, change: &Change) {
        let mut queue = self.lock();
        if queue.changes.contains(change) || queue.changes.contains(&Change::Everything) {
            return;
        }
        if queue.changes.len() >= CHANGES {
            queue.changes.clear();
            queue.changes.push_back(Change::Everything);
        } else {
            queue.changes.push_back(change.clone());
        }
        self.wake(queue);
    }

    pub(crate) fn downgrade(&self) -> WeakEvents {
        WeakEvents(Arc::downgrade(&self.0))
    }

    /// Adds an event if there is room, and gives it back if there is none.
    pub(crate) fn try_push(&self, event: Event) -> Result<(), Event> {
        if self.lock().waiting.len() >= ROOM {
            return Err(event);
        }
        self.push(event);
        Ok(())
    }

    /// The next event, of one task: whoever was told that there is none is woken by the waker
    /// of that time.
    pub(crate) fn poll_next(&self, cx: &Context<'_>) -> Poll<Event> {
        if self.0.idle.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        let mut queue = self.lock();
        let event = queue.waiting.pop_front();
        match event.or_else(|| queue.changes.pop_front().map(Event::Changed)) {
            Some(event) => Poll::Ready(event),
            None => {
                queue.driver = Some(cx.waker().clone());
                self.0.idle.store(true, Ordering::Release);
                Poll::Pending
            }
        }
    }

    /// Whether nothing of a call is waiting.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.idle.load(Ordering::Acquire) || self.lock().waiting.is_empty()
    }

    /// All that is waiting.
    pub(crate) fn take_all(&self) -> VecDeque<Event> {
        std::mem::take(&mut self.lock().waiting)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        let queue = self.0.queue.lock();
        queue.unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, mut queue: MutexGuard<'_, Queue>) {
        let driver = queue.driver.take();
        self.0.idle.store(false, Ordering::Release);
        drop(queue);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn down() -> Event {
        Event::Down(ServiceDown::new("x"))
    }

    #[test]
    fn a_push_wakes_who_found_it_empty_and_once() {
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let cx = Context::from_waker(&waker);
        let events = Events::default();
        events.push(down());
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        assert!(events.poll_next(&cx).is_ready());
        assert!(events.poll_next(&cx).is_pending());
        events.push(down());
        events.push(down());
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    /// Covers P05.
    #[test]
    fn only_what_may_be_lost_needs_room() {
        let events = Events::default();
        for _ in 0..ROOM {
            assert!(events.try_push(down()).is_ok());
        }
        assert!(events.try_push(down()).is_err());
        events.push(down());
        assert_eq!(events.lock().waiting.len(), ROOM + 1);
    }

    /// Covers S15.
    #[test]
    fn many_changes_become_one() {
        let cx = Context::from_waker(Waker::noop());
        let events = Events::default();
        for _ in 0..3 {
            events.changed(&Change::Tools);
        }
        assert!(matches!(
            events.poll_next(&cx),
            Poll::Ready(Event::Changed(Change::Tools))
        ));
        assert!(events.poll_next(&cx).is_pending());
        for n in 0..=CHANGES {
            events.changed(&Change::Resource(n.to_string()));
        }
        let everything = events.poll_next(&cx);
        assert!(matches!(
            everything,
            Poll::Ready(Event::Changed(Change::Everything))
        ));
        assert!(events.poll_next(&cx).is_pending());
    }
}
