//! Synchronous handlers, on threads that nobody waits for.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use tokio::sync::oneshot;
use tracing::Span;

use crate::context::{Call, Context};
use crate::error::ToolError;

/// Gives a call's slot back when the thread is done, or could not be started.
struct Release(Arc<Call>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Runs a synchronous handler on a thread of its own.
///
/// Not on the runtime's blocking pool, which a program waits for before it ends: a handler
/// that is stuck must not keep the process alive. How many threads there can be is bounded by
/// the calls in flight, for a handler whose call was cancelled keeps its slot until it returns.
pub(crate) async fn run<S, R>(
    cx: Context<S>,
    handler: impl FnOnce(&Context<S>) -> Result<R, ToolError> + Send + 'static,
) -> Result<R, ToolError>
where
    S: Send + Sync + 'static,
    R: Send + 'static,
{
    let (done, result) = oneshot::channel();
    let span = Span::current();
    cx.call.hold_on();
    let held = Release(cx.call.clone());
    thread::Builder::new()
        .name("mcp-tool".to_owned())
        .spawn(move || {
            let result = span.in_scope(|| catch_unwind(AssertUnwindSafe(|| handler(&cx))));
            // Ended and given back before anybody can know of the result.
            drop(span);
            drop(held);
            drop(cx);
            let _ = done.send(result);
        })
        .map_err(|error| {
            tracing::error!(%error, "no thread for a synchronous tool");
            ToolError::failed("the server has no thread left for this tool")
        })?;
    match result.await.expect("the thread sends whatever happens") {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic),
    }
}
