//! Replies on their way to callers, as many at a time as the server has sent.
//!
//! Each caller who is woken while the driver goes on is one that another thread of the runtime
//! may take, and is woken for. What a caller does then is soon done, and the thread sleeps again
//! before the next one has its reply: to wake it costs more than the call. So replies are
//! gathered while messages are at hand, and given out when nothing else is to be done.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::link::Reply;

/// Replies, and who waits for them.
#[derive(Default)]
pub(crate) struct Replies(Vec<(oneshot::Sender<Reply>, Reply)>);

impl Replies {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, to: oneshot::Sender<Reply>, reply: Reply) {
        self.0.push((to, reply));
    }

    pub(crate) fn give(&mut self) {
        for (to, reply) in self.0.drain(..) {
            // Who does not wait any more has cancelled the call.
            let _ = to.send(reply);
        }
    }

    /// Gives them when the other tasks of this thread have had their turn, and goes on when
    /// the callers have had theirs, so that what they want next can be written in one go.
    ///
    /// # Cancel safety
    ///
    /// Dropped, they are given nevertheless.
    pub(crate) async fn give_in_a_pause(&mut self) {
        let mut given = None;
        let mut pause = pin!(yield_now());
        poll_fn(|cx| match &given {
            None => {
                let pausing = given.insert(Arc::new(Pausing {
                    replies: Mutex::new(mem::take(self)),
                    driver: cx.waker().clone(),
                }));
                let waker = Waker::from(pausing.clone());
                pause.as_mut().poll(&mut Context::from_waker(&waker))
            }
            // Something else may have woken the driver, and the thread on which the pause began
            // may be held up.
            Some(pausing) => {
                pausing.take().give();
                Poll::Ready(())
            }
        })
        .await;
    }
}

/// What is done when a pause is over. The runtime does it between two tasks: whoever is woken
/// there costs no wake-up of another thread, but one for them all.
struct Pausing {
    replies: Mutex<Replies>,
    driver: Waker,
}

impl Pausing {
    fn take(&self) -> Replies {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        mem::take(&mut replies)
    }
}

impl Wake for Pausing {
    fn wake(self: Arc<Self>) {
        let mut replies = self.take();
        // With several threads, the task that is woken last goes first, and the others in order.
        let first = replies.0.pop();
        replies.give();
        self.driver.wake_by_ref();
        Replies(first.into_iter().collect()).give();
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;
    use crate::error::ClientError;

    type Log = Arc<Mutex<Vec<usize>>>;

    /// Callers that wait, each of which writes its number down.
    async fn callers(count: usize, log: &Log) -> (Replies, JoinSet<()>) {
        let mut replies = Replies::default();
        let mut callers = JoinSet::new();
        for number in 0..count {
            let (to, reply) = oneshot::channel();
            replies.add(to, ClientError::protocol("a reply").into());
            let log = log.clone();
            callers.spawn(async move {
                reply.await.expect("it has a reply");
                log.lock().unwrap().push(number);
            });
        }
        yield_now().await;
        (replies, callers)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn whoever_gives_goes_on_behind_all_callers() {
        let log = Log::default();
        let (mut replies, _callers) = callers(5, &log).await;
        // Woken as the driver is: what runs a test goes by other rules.
        let gives = tokio::spawn(async move {
            replies.give_in_a_pause().await;
            let all = log.lock().unwrap().len();
            (all, replies.is_empty())
        });
        assert_eq!(gives.await.unwrap(), (5, true));
    }

    #[tokio::test]
    async fn a_pause_that_is_dropped_gives_nevertheless() {
        let log = Log::default();
        let (mut replies, callers) = callers(3, &log).await;
        {
            let mut pause = pin!(replies.give_in_a_pause());
            let first = poll_fn(|cx| Poll::Ready(pause.as_mut().poll(cx)));
            assert!(first.await.is_pending());
        }
        callers.join_all().await;
    }

    #[tokio::test]
    async fn whoever_is_woken_in_the_pause_gives_at_once() {
        let log = Log::default();
        let (mut replies, callers) = callers(3, &log).await;
        let mut pause = pin!(replies.give_in_a_pause());
        for is_ready in [false, true] {
            let polled = poll_fn(|cx| Poll::Ready(pause.as_mut().poll(cx)));
            assert_eq!(polled.await.is_ready(), is_ready);
        }
        callers.join_all().await;
        assert_eq!(log.lock().unwrap().len(), 3);
    }

    #[test]
    fn where_there_is_no_runtime_the_pause_is_over_at_once() {
        let (to, mut reply) = oneshot::channel();
        let mut replies = Replies::default();
        replies.add(to, ClientError::protocol("a reply").into());
        let mut pause = pin!(replies.give_in_a_pause());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(pause.as_mut().poll(&mut cx).is_pending());
        assert!(reply.try_recv().is_ok());
        assert!(pause.as_mut().poll(&mut cx).is_ready());
    }
}
