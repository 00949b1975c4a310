//! A server whose only tool, and whose layer, do as a case says, once they are armed.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::{Attempt, Next, Outcome};
use tokio::io::{AsyncWrite, DuplexStream};
use tokio::time::sleep;
use tower::timeout::TimeoutLayer;
use tower::{BoxError, Layer, Service};

use crate::case::{Case, Event, GRACE, Handler, Layering, TIMEOUT};

/// What the test does with the handler while it runs.
pub(crate) struct Controls {
    case: Case,
    /// Before and after, everything works.
    pub(crate) armed: AtomicBool,
    let_go: Mutex<bool>,
    is_let_go: Condvar,
}

impl Controls {
    pub(crate) fn new(case: Case) -> Arc<Self> {
        Arc::new(Self {
            case,
            armed: AtomicBool::new(false),
            let_go: Mutex::new(false),
            is_let_go: Condvar::new(),
        })
    }

    pub(crate) fn let_go(&self) {
        *self.let_go.lock().unwrap() = true;
        self.is_let_go.notify_all();
    }

    fn block(&self) {
        let blocked = self.let_go.lock().unwrap();
        let _done = self.is_let_go.wait_while(blocked, |let_go| !*let_go);
    }

    fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    fn result(&self) -> Result<String, ToolError> {
        if self.is_armed() && self.case.event == Event::Unwritable {
            Json(Unwritable).into_content()?;
        }
        Ok("done".to_owned())
    }
}

pub(crate) fn server(controls: &Arc<Controls>) -> ServerHandle<Arc<Controls>> {
    let case = controls.case;
    let layer = Faulty(controls.clone());
    let mut server = Server::with_state("faulty", "1.0.0", controls.clone())
        .max_in_flight(1)
        .grace(GRACE)
        .layer(layer);
    if case.layering == Layering::TimesOut {
        server = server.layer(TimeoutLayer::new(TIMEOUT));
    }
    let server = match case.handler {
        Handler::Blocks => server.blocking_tool::<Block>(),
        _ => server.tool::<Work>(),
    };
    server.build().expect("the server can be built")
}

/// Do as the case says.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "work")]
struct Work {}

impl Run<Arc<Controls>> for Work {
    async fn run(self, cx: &Context<Arc<Controls>>) -> Result<String, ToolError> {
        if !cx.state().is_armed() {
            return cx.state().result();
        }
        report_for_long(cx.clone());
        match cx.state().case.handler {
            Handler::Gives | Handler::Blocks => cx.state().result(),
            Handler::Fails => Err(ToolError::failed("no")),
            Handler::Panics => panic!("as the case says"),
            Handler::NeverEnds => pending().await,
            Handler::Dropped => {
                let work = tokio::spawn(pending::<()>());
                work.abort();
                work.await?;
                cx.state().result()
            }
            Handler::PanicsInDrop => {
                let _bomb = Bomb;
                pending().await
            }
        }
    }
}

/// Goes on after the call has ended, when nobody may hear of it any more.
fn report_for_long(cx: Context<Arc<Controls>>) {
    tokio::spawn(async move {
        for step in 0..40_u8 {
            cx.progress(step.into(), None);
            sleep(Duration::from_millis(50)).await;
        }
    });
}

/// Do as the case says, on a thread.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "work")]
struct Block {}

impl RunBlocking<Arc<Controls>> for Block {
    fn run(self, cx: &Context<Arc<Controls>>) -> Result<String, ToolError> {
        if cx.state().is_armed() {
            cx.state().block();
        }
        cx.state().result()
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped, as the case says");
    }
}

struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no"))
    }
}

/// A layer that does as the case says.
struct Faulty(Arc<Controls>);

impl Layer<Next> for Faulty {
    type Service = FaultyService;

    fn layer(&self, inner: Next) -> FaultyService {
        FaultyService {
            controls: self.0.clone(),
            inner,
        }
    }
}

#[derive(Clone)]
struct FaultyService {
    controls: Arc<Controls>,
    inner: Next,
}

impl FaultyService {
    fn does(&self) -> Layering {
        match self.controls.is_armed() {
            true => self.controls.case.layering,
            false => Layering::None,
        }
    }
}

impl Service<Attempt> for FaultyService {
    type Response = Outcome;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Outcome, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        match self.does() {
            Layering::NeverReady => Poll::Pending,
            Layering::Down => Poll::Ready(Err("out of order".into())),
            _ => self.inner.poll_ready(cx),
        }
    }

    fn call(&mut self, attempt: Attempt) -> Self::Future {
        let mut called = self.inner.call(attempt);
        if self.does() != Layering::Fails {
            return called;
        }
        Box::pin(async move {
            poll_fn(|cx| Poll::Ready(called.as_mut().poll(cx).is_ready())).await;
            drop(called);
            Err("the layer failed".into())
        })
    }
}

/// A way to the client that can break.
pub(crate) struct Pipe {
    pub(crate) to: DuplexStream,
    pub(crate) broken: Arc<AtomicBool>,
}

impl AsyncWrite for Pipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.broken.load(Ordering::Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        Pin::new(&mut self.to).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_shutdown(cx)
    }
}
