//! The work on one call: what the layers and the handler do, and what the client hears of it.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use mcp_protocol::{ErrorObject, ServerResult};
use tower::BoxError;
use tower::timeout::error::Elapsed;

use crate::attempt::Outcome;
use crate::context::Call;
use crate::error::{self, ServiceDown};
use crate::events::Event;
use crate::rounds::{Rounds, Running};
use crate::span::CallSpan;

/// The work on one call. Gives the last event of the call.
pub(crate) struct Work {
    caught: Caught<Running>,
    call: EndOnDrop,
}

impl Work {
    pub(crate) fn new(call: Arc<Call>, work: Running, span: CallSpan) -> Self {
        Self {
            caught: Caught::new(work, span),
            call: EndOnDrop { call, holds: true },
        }
    }

    /// Whether it is within a span of its own.
    pub(crate) fn has_span(&self) -> bool {
        self.caught.span.is_seen()
    }

    /// Goes on with it, by the rounds of its connection.
    pub(crate) fn poll(&mut self, rounds: &Arc<Rounds>, cx: &mut Context<'_>) -> Poll<Event> {
        let Self { caught, call } = self;
        let done = ready!(caught.poll_with(|running| running.poll(rounds, &call.call, cx)));
        // Before the outcome can be seen: whoever reacts to a reply must not be refused for
        // the slot that this very call held.
        call.release();
        let span = &mut caught.span;
        let (outcome, how) = {
            let _entered = span.enter();
            told(done)
        };
        span.end(how, outcome.as_ref());
        Poll::Ready(call.call.finish(outcome))
    }
}

/// What the client is told, and how that came about if it cannot be seen from it.
#[expect(clippy::type_complexity, reason = "each part of it has a name already")]
fn told(
    caught: Result<Result<Outcome, BoxError>, String>,
) -> (
    Result<Result<Box<ServerResult>, ErrorObject>, ServiceDown>,
    Option<&'static str>,
) {
    match caught {
        Ok(Ok(outcome)) => (Ok(result(outcome)), None),
        Ok(Err(error)) => {
            let how = error.is::<Elapsed>().then_some("timed_out");
            (error::sort(error).map(Err), how)
        }
        Err(panic) => {
            tracing::error!(panic, "a handler panicked");
            (
                Ok(Err(ErrorObject::internal("internal error"))),
                Some("panicked"),
            )
        }
    }
}

/// Gives the slot of a call back, and tells whoever still works for it that nobody waits for it
/// any more.
struct EndOnDrop {
    call: Arc<Call>,
    holds: bool,
}

impl EndOnDrop {
    fn release(&mut self) {
        if std::mem::take(&mut self.holds) {
            self.call.release();
        }
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.release();
        // If nobody else has the call, there is nobody to tell.
        if Arc::strong_count(&self.call) > 1 {
            self.call.cancel();
        }
    }
}

fn result(outcome: Outcome) -> Result<Box<ServerResult>, ErrorObject> {
    match outcome {
        Outcome::Done(result) => Ok(result),
        Outcome::Refused(error) => Err(error),
        // The rounds have dealt with it, unless a layer has made it up.
        Outcome::Needs(_) => Err(ErrorObject::internal("internal error")),
    }
}

/// A future within a span. A panic in it, or in dropping it, is an error that says what it said.
pub(crate) struct Caught<F> {
    future: Option<F>,
    span: CallSpan,
}

impl<F> Caught<F> {
    pub(crate) fn new(future: F, span: CallSpan) -> Self {
        let future = Some(future);
        Self { future, span }
    }

    fn poll_with<T>(&mut self, poll: impl FnOnce(&mut F) -> Poll<T>) -> Poll<Result<T, String>> {
        let Self { future, span } = self;
        let _entered = span.enter();
        let running = future.as_mut().expect("not polled after it was ready");
        let polled = catch_unwind(AssertUnwindSafe(|| poll(running)));
        let done = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(panic) => Err(panic),
        };
        let dropped = catch_unwind(AssertUnwindSafe(|| *future = None));
        let done = done.and_then(|value| dropped.map(|()| value));
        Poll::Ready(done.map_err(panic_message))
    }
}

impl<F: Future + Unpin> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_with(|future| Pin::new(future).poll(cx))
    }
}

impl<F> Drop for Caught<F> {
    fn drop(&mut self) {
        let _entered = self.span.enter();
        self.future = None;
    }
}

pub(crate) fn panic_message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => match panic.downcast::<&'static str>() {
            Ok(message) => (*message).to_owned(),
            Err(_) => "a panic without a message".to_owned(),
        },
    }
}
