//! The body of a response: nothing, one message, or a stream of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use mcp_server::Serving;
use tokio::time::{Instant, Sleep, sleep};

use crate::exchange::Reader;
use crate::visitors::Visit;

/// The body of a response.
///
/// A stream ends with it: dropping the body of a modern response cancels its request, dropping
/// one of a session leaves the request running for a client that comes back.
pub struct Body(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// A stream of events.
pub(crate) struct Events {
    pub(crate) reader: Reader,
    /// What is written before anything that is read.
    pub(crate) begin: Option<Bytes>,
    pub(crate) keep_alive: KeepAlive,
    /// When the client has to come back for more.
    pub(crate) until: Option<Pin<Box<Sleep>>>,
    /// The connection, if it has this one stream only.
    pub(crate) _serving: Option<Serving>,
    pub(crate) _visit: Visit,
}

impl Body {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self(Inner::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    pub(crate) fn events(events: Events) -> Self {
        Self(Inner::Events(events.into()))
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Inner::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            Inner::Events(_) => f.write_str("Events"),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Inner::Whole(bytes) => bytes.take(),
            Inner::Events(events) => ready!(events.poll_next(cx)),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Inner::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => {
                let len = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(len).unwrap_or(u64::MAX))
            }
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

impl Events {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(begin) = self.begin.take() {
            return Poll::Ready(Some(begin));
        }
        if let Poll::Ready(event) = self.reader.poll_next(cx) {
            self.keep_alive.reset();
            return Poll::Ready(event.map(|event| event.into_text()));
        }
        let until = self.until.as_mut();
        if until.is_some_and(|until| until.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(None);
        }
        self.keep_alive.poll(cx).map(Some)
    }
}

/// A comment now and then, so that nobody on the way takes a quiet stream for a dead one.
pub(crate) struct KeepAlive {
    period: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl KeepAlive {
    pub(crate) fn new(period: Duration) -> Self {
        Self {
            period,
            sleep: Box::pin(sleep(period)),
        }
    }

    fn reset(&mut self) {
        self.sleep.as_mut().reset(Instant::now() + self.period);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        ready!(self.sleep.as_mut().poll(cx));
        self.reset();
        Poll::Ready(Bytes::from_static(b":\n\n"))
    }
}
