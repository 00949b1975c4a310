//! What becomes of the messages that are to be sent: each goes its own way.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use mcp_protocol::transport::{Encode, Frame, RequestId, Sender, TransportError};
use mcp_protocol::types::CancelledParams;
use mcp_protocol::{
    ClientNotification, ClientRequest, Incoming, Message, Method, Notification, Request,
};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::exchanges::{Asked, Exchanges, Way};
use super::parameters::encoded;
use crate::headers::{METHOD, NAME, VERSION, name};

/// The half of an [`HttpTransport`](crate::HttpTransport) that sends.
pub struct HttpSender {
    exchanges: Arc<Exchanges>,
    queue: VecDeque<Frame>,
    queued: usize,
    /// Exchanges that end with an answer. Each gives the request that it was about.
    asks: JoinSet<Option<RequestId>>,
    open: HashMap<RequestId, Open>,
    /// Exchanges that have no answer, and that nothing else is left of in the end.
    tells: JoinSet<()>,
    /// Until a legacy server knows that its session has begun, nothing else is sent.
    opening: Option<oneshot::Receiver<()>>,
    leaving: bool,
}

/// A request that is being answered.
struct Open {
    way: Way,
    exchange: AbortHandle,
}

impl HttpSender {
    pub(super) fn new(exchanges: Arc<Exchanges>) -> Self {
        Self {
            exchanges,
            queue: VecDeque::new(),
            queued: 0,
            asks: JoinSet::new(),
            open: HashMap::new(),
            tells: JoinSet::new(),
            opening: None,
            leaving: false,
        }
    }

    fn post(&mut self, frame: Frame) {
        match Incoming::parse(&frame) {
            Incoming::Message(Message::Request(request)) => self.ask(frame, request),
            Incoming::Message(Message::Notification(notification)) => {
                self.notify(frame, notification);
            }
            _ => self.tell(frame, None),
        }
    }

    fn ask(&mut self, frame: Frame, request: Request) {
        let Request {
            id, method, params, ..
        } = request;
        let request = ClientRequest::parse(method.clone(), params).ok();
        let version = request.as_ref().and_then(|request| {
            let meta = request.meta()?;
            HeaderValue::from_str(meta.protocol_version.as_ref()?).ok()
        });
        let mut headers = HeaderMap::new();
        let way = match (version, &request) {
            (Some(version), Some(request)) => {
                self.exchanges.terms().insert(VERSION, version.clone());
                headers.insert(VERSION, version);
                self.repeat(request, &method, &mut headers);
                Way::Alone
            }
            _ if method == Method::Initialize => {
                // Whatever was tried before has failed.
                self.asks.abort_all();
                self.open.clear();
                Way::InSession
            }
            _ => {
                headers = self.exchanges.terms().clone();
                Way::InSession
            }
        };
        let exchanges = self.exchanges.clone();
        let asked = Asked {
            id: id.clone(),
            method,
            way,
        };
        let key = id.clone();
        let exchange = self.asks.spawn(async move {
            exchanges.ask(asked, headers, frame).await;
            Some(key)
        });
        self.open.insert(id, Open { way, exchange });
    }

    /// Repeats in headers what whoever is on the way may want to know.
    fn repeat(&self, request: &ClientRequest, method: &Method, headers: &mut HeaderMap) {
        headers.insert(METHOD, encoded(method.as_str()));
        if let Some(name) = name(request) {
            headers.insert(NAME, encoded(name));
        }
        if let ClientRequest::CallTool(call) = request {
            self.exchanges.parameters.repeat(call, headers);
        }
    }

    fn notify(&mut self, frame: Frame, notification: Notification) {
        let Notification { method, params } = notification;
        match ClientNotification::parse(method.clone(), params) {
            Ok(ClientNotification::Cancelled(params)) => self.cancel(frame, method, params),
            Ok(ClientNotification::Initialized(_)) => self.initialized(frame),
            _ => self.tell(frame, Some(method)),
        }
    }

    /// Closes the exchange of a request, which says it all to a modern server.
    fn cancel(&mut self, frame: Frame, method: Method, params: CancelledParams) {
        let open = params.request_id.and_then(|id| self.open.remove(&id));
        let Some(open) = open else {
            return;
        };
        open.exchange.abort();
        if open.way == Way::InSession {
            self.tell(frame, Some(method));
        }
    }

    /// Tells a legacy server that its session has begun, and then listens to it.
    fn initialized(&mut self, frame: Frame) {
        let (told, opening) = oneshot::channel();
        self.opening = Some(opening);
        let exchanges = self.exchanges.clone();
        self.asks.spawn(async move {
            let terms = exchanges.terms().clone();
            let telling = exchanges.tell(terms, frame);
            // A server that does not confirm it may have understood.
            let _ = timeout(PATIENCE, telling).await;
            drop(told);
            exchanges.listen().await;
            None
        });
    }

    fn tell(&mut self, frame: Frame, method: Option<Method>) {
        let exchanges = self.exchanges.clone();
        let mut headers = exchanges.terms().clone();
        if let Some(method) = method {
            headers.insert(METHOD, encoded(method.as_str()));
        }
        self.tells.spawn(async move {
            if timeout(TELLING, exchanges.tell(headers, frame))
                .await
                .is_err()
            {
                tracing::warn!("the server does not take what it is told");
            }
        });
    }

    /// Forgets what has ended.
    fn reap(&mut self) {
        while let Some(ended) = self.asks.try_join_next() {
            if let Ok(Some(id)) = ended {
                self.open.remove(&id);
            }
        }
        while self.tells.try_join_next().is_some() {}
    }
}

/// How long a server may take to hear that its session has begun.
const PATIENCE: Duration = Duration::from_secs(5);

/// Messages without an answer that are being told at once, and how long each may take. A server
/// that asks and does not take the answers would fill memory with them, and use up the sockets:
/// beyond it what is to be sent waits, and in the end the server is not heard.
const TELLS: usize = 64;
const TELLING: Duration = Duration::from_secs(30);

impl Sender for HttpSender {
    fn send(&mut self, message: &dyn Encode, _about: Option<&RequestId>) {
        let mut frame = Vec::new();
        message.encode(&mut frame);
        self.queued += frame.len();
        self.queue.push_back(Bytes::from(frame));
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        while !self.queue.is_empty() {
            if let Some(opening) = &mut self.opening {
                // It ends without a word.
                let _ = ready!(Pin::new(opening).poll(cx));
                self.opening = None;
            }
            self.reap();
            while self.tells.len() >= TELLS {
                let _ = ready!(self.tells.poll_join_next(cx));
            }
            if let Some(frame) = self.queue.pop_front() {
                self.queued -= frame.len();
                self.post(frame);
            }
        }
        Poll::Ready(Ok(()))
    }

    fn queued(&self) -> usize {
        self.queued
    }

    /// Waits for what was told last, and ends the session.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.asks.abort_all();
        loop {
            while ready!(self.tells.poll_join_next(cx)).is_some() {}
            if self.leaving {
                return Poll::Ready(Ok(()));
            }
            self.leaving = true;
            let exchanges = self.exchanges.clone();
            self.tells.spawn(async move { exchanges.leave().await });
        }
    }
}
