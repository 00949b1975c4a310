//! Values on their way to somebody who takes them when it suits him. Whoever gives never waits.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

/// Values that wait to be taken, the oldest first, with the bytes that each keeps in memory.
pub(crate) type Waiting<T> = VecDeque<(T, usize)>;

/// Bytes that wait to be taken. Beyond it the oldest values go, all but the newest.
const BYTES: usize = 16 << 20;

/// The end that gives. The other end hears of it when it is dropped.
pub(crate) struct Feeder<T>(Arc<Mutex<Queue<T>>>);

/// Values that come in their own time, as a [`Stream`].
///
/// They wait here, and nobody waits for them to be taken: of too many, the oldest go.
pub struct Feed<T>(Arc<Mutex<Queue<T>>>);

struct Queue<T> {
    waiting: Waiting<T>,
    ended: bool,
    taker: Option<Waker>,
}

pub(crate) fn feed<T>() -> (Feeder<T>, Feed<T>) {
    let queue = Arc::new(Mutex::new(Queue {
        waiting: VecDeque::new(),
        ended: false,
        taker: None,
    }));
    (Feeder(queue.clone()), Feed(queue))
}

impl<T> Feeder<T> {
    /// Changes what waits, and tells who takes.
    pub(crate) fn give(&self, change: impl FnOnce(&mut Waiting<T>)) {
        let mut queue = lock(&self.0);
        change(&mut queue.waiting);
        wake(queue);
    }

    /// Whether the end that takes is still there.
    pub(crate) fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl<T> Drop for Feeder<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.ended = true;
        wake(queue);
    }
}

impl<T> Feed<T> {
    /// The next value, or `None` when there will be no more.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if this is dropped.
    pub async fn next(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll(cx)).await
    }

    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut queue = lock(&self.0);
        match queue.waiting.pop_front() {
            Some((value, _)) => Poll::Ready(Some(value)),
            None if queue.ended => Poll::Ready(None),
            None => {
                queue.taker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Stream for Feed<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll(cx)
    }
}

impl<T> Debug for Feed<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let waiting = lock(&self.0).waiting.len();
        f.debug_struct("Feed").field("waiting", &waiting).finish()
    }
}

/// Adds a value of so many bytes at the end, in place of the oldest if there are as many as this,
/// or too many bytes.
pub(crate) fn push_bounded<T>(waiting: &mut Waiting<T>, value: T, size: usize, most: usize) {
    waiting.push_back((value, size));
    let bytes = |waiting: &Waiting<T>| waiting.iter().map(|(_, size)| size).sum::<usize>();
    while waiting.len() > most || (waiting.len() > 1 && bytes(waiting) > BYTES) {
        waiting.pop_front();
    }
}

fn wake<T>(mut queue: MutexGuard<'_, Queue<T>>) {
    let taker = queue.taker.take();
    drop(queue);
    if let Some(taker) = taker {
        taker.wake();
    }
}

fn lock<T>(queue: &Mutex<Queue<T>>) -> MutexGuard<'_, Queue<T>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
