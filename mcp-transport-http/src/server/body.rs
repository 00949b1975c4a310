//! The body of a response: nothing, one message, or a stream of them.

use std::array::IntoIter;
use std::convert::Infallible;
use std::fmt;
use std::iter::Flatten;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use mcp_server::Serving;
use tokio::time::{Instant, Sleep, sleep};

use super::exchange::Reader;
use super::visitors::Visit;

/// The body of a response.
///
/// Dropping the stream of a modern response cancels its request; dropping one of a session
/// leaves the request running for a client that comes back.
pub struct Body(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// A stream of events.
pub(super) struct Events {
    reader: Reader,
    /// What is written before anything that is read.
    begin: Flatten<IntoIter<Option<Bytes>, 2>>,
    /// When a comment is due, so that nobody on the way takes a quiet stream for a dead one.
    comment: Pin<Box<Sleep>>,
    quiet: Duration,
    /// When the client has to come back for more.
    pub(super) until: Option<Pin<Box<Sleep>>>,
    /// The connection, if it has this one stream only.
    pub(super) serving: Option<Serving>,
    _visit: Visit,
}

impl Events {
    pub(super) fn new(
        reader: Reader,
        begin: [Option<Bytes>; 2],
        quiet: Duration,
        visit: Visit,
    ) -> Self {
        Self {
            reader,
            begin: begin.into_iter().flatten(),
            comment: Box::pin(sleep(quiet)),
            quiet,
            until: None,
            serving: None,
            _visit: visit,
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(begin) = self.begin.next() {
            return Poll::Ready(Some(begin));
        }
        let next = match self.reader.poll_next(cx) {
            Poll::Ready(event) => event.map(|event| event.text),
            Poll::Pending => {
                let until = self.until.as_mut();
                if until.is_some_and(|until| until.as_mut().poll(cx).is_ready()) {
                    return Poll::Ready(None);
                }
                ready!(self.comment.as_mut().poll(cx));
                Some(Bytes::from_static(b":\n\n"))
            }
        };
        self.comment.as_mut().reset(Instant::now() + self.quiet);
        Poll::Ready(next)
    }
}

impl Body {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Inner::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    pub(super) fn events(events: Events) -> Self {
        Self(Inner::Events(events.into()))
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
            Inner::Whole(None) => SizeHint::with_exact(0),
            Inner::Whole(Some(bytes)) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}
