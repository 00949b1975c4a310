//! The endpoint: which connection an HTTP request belongs to, and how it is answered.
//!
//! A modern request is a connection of its own; the legacy ones of a session are one
//! connection. This is where it is decided which is which.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use http::request::Parts;
use http::{HeaderValue, Method as Verb, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use mcp_protocol::{
    BadMessage, BusyData, BusyScope, ClientNotification, ClientRequest, Era, ErrorObject, Frame,
    Incoming, Message, Method, ProtocolVersion, ReplyId, RequestId, SERVER_BUSY,
};
use mcp_server::ServerHandle;
use mcp_server::limit::Share;
use tokio::time::{sleep, timeout};
use tower_service::Service;

use crate::body::{Body, Events, KeepAlive};
use crate::exchange::{Event, Exchange, Reader, StreamId, parse_event_id, priming};
use crate::headers;
use crate::limits::Limits;
use crate::origin::{Allowed, Hosts};
use crate::sessions::{Session, Sessions};
use crate::status::{self, Refusal};
use crate::visitors::{Charge, Key, Visit, Visitors};

type Extract = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;

/// A server's endpoint: a tower service that takes HTTP requests.
///
/// Serves clients of every revision: one exchange for each request of the modern ones, sessions
/// for the others. Calls are admitted by the server's own rules, a session being one
/// connection, and so are all requests of one principal (see [`principal`](Self::principal)).
///
/// Refuses by itself whatever does not come for this machine by one of its local names, or
/// comes from a page of elsewhere: see [`allow_host`](Self::allow_host) and
/// [`allow_origin`](Self::allow_origin).
///
/// Cheap to clone; all clones have the same sessions. Has to be called within a tokio runtime.
///
/// ```
/// # use mcp_transport_http::Http;
/// # use mcp_server::Server;
/// let server = Server::new("hello", "1.0.0").build()?;
/// let http = Http::new(server).allow_host("mcp.example.com");
/// # Ok::<(), mcp_server::BuildError>(())
/// ```
///
/// Spec: [Streamable HTTP](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http).
pub struct Http<S = ()> {
    server: ServerHandle<S>,
    config: Arc<Config>,
    sessions: Arc<Sessions>,
    visitors: Arc<Visitors>,
}

#[derive(Clone, Default)]
struct Config {
    allowed: Allowed,
    limits: Limits,
    principal: Option<Extract>,
}

/// The other end of the socket that a request came from.
///
/// Put into the extensions of requests by [`serve`](Self#method.serve); whoever mounts the
/// endpoint may do so too. Clients of which nothing else is known are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

impl<S> Clone for Http<S> {
    fn clone(&self) -> Self {
        Self {
            server: self.server.clone(),
            config: self.config.clone(),
            sessions: self.sessions.clone(),
            visitors: self.visitors.clone(),
        }
    }
}

impl<S> fmt::Debug for Http<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("server", &self.server)
            .field("allowed", &self.config.allowed)
            .field("limits", &self.config.limits)
            .finish_non_exhaustive()
    }
}

/// What the endpoint is like. To be said before it is cloned.
impl<S: Send + Sync + 'static> Http<S> {
    /// The endpoint of a server.
    #[must_use]
    pub fn new(server: ServerHandle<S>) -> Self {
        Self {
            server,
            config: Arc::default(),
            sessions: Arc::default(),
            visitors: Arc::default(),
        }
    }

    /// A name, without port, under which clients call this server. `localhost` and the
    /// loopback addresses always are.
    #[must_use]
    pub fn allow_host(mut self, name: impl Into<String>) -> Self {
        if let Hosts::Named(names) = &mut self.config().allowed.hosts {
            names.push(name.into());
        }
        self
    }

    /// Takes requests under any name. Only for a server that no browser can reach, or behind a
    /// proxy that checks the name.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.config().allowed.hosts = Hosts::Any;
        self
    }

    /// An origin, as in `https://app.example.com`, whose pages may call. Those of this server's
    /// own origin always may, and so may whatever is no page. Browsers want to be told by a
    /// CORS layer, too.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.config().allowed.origins.push(origin.into());
        self
    }

    /// Finds out who calls, from what an authenticating layer has left in the request.
    ///
    /// All requests of one principal have one share of the calls in flight, and its sessions are
    /// for no other. Without it, each session has a share, and all modern requests of one
    /// [`Peer`] have one.
    ///
    /// ```
    /// # use mcp_transport_http::Http;
    /// # use mcp_server::Server;
    /// # #[derive(Clone)] struct User(String);
    /// # let server = Server::new("hello", "1.0.0").build()?;
    /// let http = Http::new(server)
    ///     .principal(|request| request.extensions.get::<User>().map(|user| user.0.clone()));
    /// # Ok::<(), mcp_server::BuildError>(())
    /// ```
    #[must_use]
    pub fn principal(
        mut self,
        find: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.config().principal = Some(Arc::new(find));
        self
    }

    /// The bounds of the endpoint.
    #[must_use]
    pub fn limits(mut self, set: impl FnOnce(&mut Limits)) -> Self {
        set(&mut self.config().limits);
        self
    }

    /// The server behind the endpoint.
    #[must_use]
    pub fn server(&self) -> &ServerHandle<S> {
        &self.server
    }

    fn config(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.config)
    }
}

impl<S, B> Service<Request<B>> for Http<S>
where
    S: Send + Sync + 'static,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let http = self.clone();
        Box::pin(async move {
            let answered = http.answer(request).await;
            Ok(answered.unwrap_or_else(Refusal::into_response))
        })
    }
}

/// A message that has been posted, and what has to be known of its exchange.
struct Posted {
    parts: Parts,
    frame: Frame,
    charge: Charge,
    visit: Visit,
}

impl<S: Send + Sync + 'static> Http<S> {
    async fn answer<B>(&self, request: Request<B>) -> Result<Response<Body>, Refusal>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let (parts, body) = request.into_parts();
        self.config.allowed.check(&parts)?;
        match parts.method {
            Verb::POST => {
                headers::check_post(&parts.headers)?;
                let visit = self.enter(&parts)?;
                let (frame, charge) = self.read(body).await?;
                let posted = Posted {
                    parts,
                    frame,
                    charge,
                    visit,
                };
                self.post(posted).await
            }
            Verb::GET => self.get(&parts),
            Verb::DELETE => {
                let id = self.session_id(&parts)?;
                let limits = &self.config.limits;
                match self
                    .sessions
                    .remove(id, &self.owner(&parts), limits.session_idle)
                {
                    true => Ok(status::empty(StatusCode::NO_CONTENT)),
                    false => Err(no_session()),
                }
            }
            _ => Err(not_allowed()),
        }
    }

    async fn post(&self, posted: Posted) -> Result<Response<Body>, Refusal> {
        let session = posted.parts.headers.contains_key(headers::SESSION);
        match Incoming::parse(&posted.frame) {
            Incoming::Bad(bad) => Err(refuse_bad(bad, &posted.parts)),
            Incoming::Message(Message::Request(request)) => {
                let parsed = ClientRequest::parse(request.method.clone(), request.params).ok();
                let meta = parsed.as_ref().and_then(ClientRequest::meta);
                let modern = meta.is_some_and(|meta| meta.is_modern())
                    || !session && era(&posted.parts)? == Some(Era::Modern);
                if modern {
                    let checked = headers::check_mirrored(
                        &posted.parts.headers,
                        request.method.as_str(),
                        parsed.as_ref(),
                        |name| self.server.tool(name),
                    );
                    checked.map_err(|error| {
                        let id = ReplyId::Known(request.id.clone());
                        Refusal::new(StatusCode::BAD_REQUEST, error).to(id)
                    })?;
                    let served = meta.is_some_and(|meta| {
                        meta.protocol_version.is_some() && meta.client_capabilities.is_some()
                    });
                    self.once(posted, request.id, served).await
                } else if session {
                    self.ask_session(posted, vec![request.id], Primed::IfKnown)
                        .await
                } else if request.method == Method::Initialize {
                    self.open_session(posted, request.id).await
                } else {
                    self.once(posted, request.id, false).await
                }
            }
            Incoming::Message(Message::Notification(_))
                if !session && era(&posted.parts)? != Some(Era::Legacy) =>
            {
                // The modern era has none over HTTP, so there is nothing that it could mean.
                Ok(status::empty(StatusCode::ACCEPTED))
            }
            Incoming::Message(Message::Notification(notification)) => {
                let parsed = ClientNotification::parse(notification.method, notification.params);
                let cancels = match parsed {
                    Ok(ClientNotification::Cancelled(params)) => params.request_id,
                    _ => None,
                };
                self.tell_session(posted, cancels)
            }
            Incoming::Message(Message::Response(_)) => self.tell_session(posted, None),
            Incoming::Batch(batch) => {
                let members = batch.members().into_iter().flatten();
                let ids = members.filter_map(|member| match member {
                    Message::Request(request) => Some(request.id),
                    _ => None,
                });
                self.ask_session(posted, ids.collect(), Primed::Never).await
            }
        }
    }

    /// Serves one request on a connection of its own.
    async fn once(
        &self,
        posted: Posted,
        id: RequestId,
        served: bool,
    ) -> Result<Response<Body>, Refusal> {
        let exchange = Exchange::new(0);
        let mut reader = exchange.ask(posted.frame, vec![id.clone()], posted.charge);
        let share = posted.visit.visitor.share.clone();
        let serving = self
            .server
            .serve_sharing(exchange, share, self.config.limits.output);
        match self.first(&mut reader).await {
            First::Ended => Err(ending().to(ReplyId::Known(id))),
            First::Only(event, outcome) => {
                Ok(status::json(status::of(outcome, served), event.json()))
            }
            First::Begun(begin) => {
                let mut events = self.events(reader, begin, posted.visit);
                events._serving = Some(serving);
                Ok(status::stream(events))
            }
        }
    }

    /// Serves a handshake, and keeps its connection if it succeeds.
    async fn open_session(&self, posted: Posted, id: RequestId) -> Result<Response<Body>, Refusal> {
        let limits = &self.config.limits;
        let owner = self.owner(&posted.parts);
        let share: Share = match owner {
            Key::Principal(_) => posted.visit.visitor.share.clone(),
            _ => self.server.share(),
        };
        let exchange = Exchange::new(limits.replay);
        let mut reader = exchange.ask(posted.frame, vec![id.clone()], posted.charge);
        let serving = self
            .server
            .serve_sharing(exchange.clone(), share, limits.output);
        let First::Only(event, outcome) = self.first(&mut reader).await else {
            return Err(ending().to(ReplyId::Known(id)));
        };
        let mut response = status::json(status::of(outcome, false), event.json());
        if outcome.is_ok() {
            let session = Session {
                exchange,
                owner,
                _serving: serving,
            };
            let added = self
                .sessions
                .add(session, limits.sessions, limits.session_idle);
            let id = added.ok_or_else(|| self.busy(limits.sessions).to(ReplyId::Known(id)))?;
            let id = HeaderValue::from_str(&id).expect("base64 is fit for a header");
            response.headers_mut().insert(headers::SESSION, id);
        }
        Ok(response)
    }

    /// Hands on to a session what asks for answers.
    async fn ask_session(
        &self,
        posted: Posted,
        ids: Vec<RequestId>,
        primed: Primed,
    ) -> Result<Response<Body>, Refusal> {
        let session = self.session(&posted.parts)?;
        let version = version(&posted.parts)?;
        let exchange = &session.exchange;
        let mut reader = exchange.ask(posted.frame, ids, posted.charge);
        if primed == Primed::IfKnown && self.primes(version) {
            return Ok(self.session_stream(reader, version, posted.visit));
        }
        match self.first(&mut reader).await {
            First::Ended if exchange.is_over() => Err(ending()),
            First::Ended => Ok(status::empty(StatusCode::ACCEPTED)),
            First::Only(event, _) => Ok(status::json(StatusCode::OK, event.json())),
            First::Begun(begin) => Ok(status::stream(self.events(reader, begin, posted.visit))),
        }
    }

    /// Hands on to a session what asks for nothing.
    fn tell_session(
        &self,
        posted: Posted,
        cancels: Option<RequestId>,
    ) -> Result<Response<Body>, Refusal> {
        let session = self.session(&posted.parts)?;
        version(&posted.parts)?;
        session.exchange.tell(posted.frame, cancels, posted.charge);
        Ok(status::empty(StatusCode::ACCEPTED))
    }

    /// Goes on with a stream of a session, or with what is about none of its requests.
    fn get(&self, parts: &Parts) -> Result<Response<Body>, Refusal> {
        if era(parts)? == Some(Era::Modern) {
            return Err(not_allowed());
        }
        headers::check_get(&parts.headers)?;
        let session = self.session(parts)?;
        let version = version(parts)?;
        let visit = self.enter(parts)?;
        let (stream, after) = match headers::text(&parts.headers, headers::LAST_EVENT) {
            Ok(None) => (StreamId::GENERAL, None),
            Ok(Some(event)) => parse_event_id(event)
                .map(|(stream, number)| (stream, Some(number)))
                .ok_or_else(unknown_event)?,
            Err(error) => return Err(Refusal::new(StatusCode::BAD_REQUEST, error)),
        };
        let reader = session
            .exchange
            .resume(stream, after)
            .ok_or_else(unknown_event)?;
        Ok(self.session_stream(reader, version, visit))
    }

    /// What is known of the answer when its headers have to be written.
    async fn first(&self, reader: &mut Reader) -> First {
        match timeout(self.config.limits.keep_alive, reader.next()).await {
            Err(_) => First::Begun(None),
            Ok(None) => First::Ended,
            Ok(Some(event)) => match event.outcome {
                Some(outcome) => First::Only(event, outcome),
                None => First::Begun(Some(event.into_text())),
            },
        }
    }

    /// A stream that a client of this revision may come back to.
    fn session_stream(
        &self,
        reader: Reader,
        version: Option<ProtocolVersion>,
        visit: Visit,
    ) -> Response<Body> {
        let limits = &self.config.limits;
        let primes = self.primes(version);
        let begin = primes.then(|| priming(reader.stream, limits.retry));
        let mut events = self.events(reader, begin, visit);
        let age = limits.stream_age.filter(|_| primes);
        events.until = age.map(|age| Box::pin(sleep(age)));
        status::stream(events)
    }

    fn events(&self, reader: Reader, begin: Option<Bytes>, visit: Visit) -> Events {
        Events {
            reader,
            begin,
            keep_alive: KeepAlive::new(self.config.limits.keep_alive),
            until: None,
            _serving: None,
            _visit: visit,
        }
    }

    /// Whether a client of this revision expects to be told how to come back.
    fn primes(&self, version: Option<ProtocolVersion>) -> bool {
        // Older clients take an event without data for a broken message.
        self.config.limits.replay > 0 && version >= Some(ProtocolVersion::V2025_11_25)
    }

    fn session(&self, parts: &Parts) -> Result<Arc<Session>, Refusal> {
        let id = self.session_id(parts)?;
        let idle = self.config.limits.session_idle;
        let session = self.sessions.find(id, &self.owner(parts), idle);
        session.ok_or_else(no_session)
    }

    fn session_id<'a>(&self, parts: &'a Parts) -> Result<&'a str, Refusal> {
        if self.config.limits.sessions == 0 {
            return Err(not_allowed());
        }
        let id = parts.headers.get(headers::SESSION);
        id.and_then(|id| id.to_str().ok()).ok_or_else(|| {
            let reason = "there is no session: `Mcp-Session-Id` is missing";
            Refusal::because(StatusCode::BAD_REQUEST, reason)
        })
    }

    /// Whom a session belongs to.
    fn owner(&self, parts: &Parts) -> Key {
        let find = self.config.principal.as_ref();
        find.and_then(|find| find(parts))
            .map_or(Key::Anyone, Key::Principal)
    }

    fn enter(&self, parts: &Parts) -> Result<Visit, Refusal> {
        let key = match (self.owner(parts), parts.extensions.get::<Peer>()) {
            (Key::Anyone, Some(peer)) => Key::Peer(peer.0.ip()),
            (key, _) => key,
        };
        let most = self.config.limits.open;
        let visit = self.visitors.enter(&key, most, || self.server.share());
        visit.ok_or_else(|| self.busy(most))
    }

    /// Reads a body, as far as there is room for it.
    async fn read<B>(&self, body: B) -> Result<(Frame, Charge), Refusal>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let limits = &self.config.limits;
        let mut charge = self.visitors.charge();
        let mut body = pin!(body);
        let mut whole = BytesMut::new();
        let reading = async {
            while let Some(frame) = body.frame().await {
                let gone = |_| Refusal::because(StatusCode::BAD_REQUEST, "the body broke off");
                let Ok(data) = frame.map_err(gone)?.into_data() else {
                    continue;
                };
                let bytes = data.remaining();
                if whole.len() + bytes > limits.body {
                    let error = BadMessage::too_long(limits.body).error;
                    return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error));
                }
                if !charge.grow(bytes, limits.bodies) {
                    return Err(self.busy(limits.bodies));
                }
                bytes::BufMut::put(&mut whole, data);
            }
            Ok(())
        };
        let read = timeout(limits.body_time, reading).await;
        read.unwrap_or_else(|_| {
            let reason = "the body took too long";
            Err(Refusal::because(StatusCode::REQUEST_TIMEOUT, reason))
        })?;
        Ok((whole.freeze(), charge))
    }

    /// 503: there is no room for it now.
    fn busy(&self, limit: usize) -> Refusal {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let data = BusyData::new(SERVER_BUSY, BusyScope::Server, limit, "");
        let error = data.into_error(self.server.config().busy_code);
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }
}

/// What an answer begins with.
enum First {
    /// There will be none.
    Ended,
    /// It is one response.
    Only(Event, Result<(), mcp_protocol::ErrorCode>),
    /// It is a stream, with what is known of it.
    Begun(Option<Bytes>),
}

/// Whether an answer begins with the event that tells how to come back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Primed {
    /// If the client's revision has it.
    IfKnown,
    Never,
}

/// The era that the headers claim.
fn era(parts: &Parts) -> Result<Option<Era>, Refusal> {
    let version = headers::text(&parts.headers, headers::VERSION)
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error))?;
    // What is not known here may be newer, and no older one will be made.
    Ok(version.map(|version| version.parse().map_or(Era::Modern, ProtocolVersion::era)))
}

/// The revision of a request of a session, where the client says it.
fn version(parts: &Parts) -> Result<Option<ProtocolVersion>, Refusal> {
    let version = headers::text(&parts.headers, headers::VERSION);
    let legacy = |version: &ProtocolVersion| version.era() == Era::Legacy;
    match version.map(|version| version.map(|version| version.parse().ok().filter(legacy))) {
        Ok(None) => Ok(None),
        Ok(Some(Some(version))) => Ok(Some(version)),
        Ok(Some(None)) | Err(_) => {
            let reason = "`MCP-Protocol-Version` is no revision that has sessions";
            Err(Refusal::because(StatusCode::BAD_REQUEST, reason))
        }
    }
}

/// The refusal of what is not a message.
fn refuse_bad(bad: BadMessage, parts: &Parts) -> Refusal {
    let version = headers::text(&parts.headers, headers::VERSION)
        .ok()
        .flatten();
    let knows_null = version.is_none_or(|version| version < ProtocolVersion::V2025_11_25.as_str());
    let id = match bad.id {
        Some(id) => ReplyId::Known(id),
        None if knows_null => ReplyId::Null,
        None => ReplyId::Absent,
    };
    Refusal::new(StatusCode::BAD_REQUEST, bad.error).to(id)
}

fn no_session() -> Refusal {
    Refusal::because(
        StatusCode::NOT_FOUND,
        "there is no such session, or no longer",
    )
}

fn unknown_event() -> Refusal {
    let reason = "`Last-Event-ID` names no event that the stream goes on from";
    Refusal::because(StatusCode::BAD_REQUEST, reason)
}

fn not_allowed() -> Refusal {
    let reason = "this method is not allowed here";
    Refusal::because(StatusCode::METHOD_NOT_ALLOWED, reason)
}

fn ending() -> Refusal {
    let error = ErrorObject::internal("the server is shutting down");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}
