//! The endpoint: which connection an HTTP request belongs to, and how it is answered.
//!
//! A modern request is a connection of its own; the legacy ones of a session are one
//! connection. This is where it is decided which is which.

mod answers;
mod body;
mod exchange;
mod headers;
mod limits;
mod origin;
mod replay;
#[cfg(feature = "serve")]
mod serve;
mod sessions;
#[cfg(feature = "serve")]
mod socket;
mod status;
mod visitors;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{HeaderMap, Method as Verb, Request, Response, StatusCode};
use mcp_protocol::{
    BadMessage, ClientNotification, ClientRequest, Era, Incoming, Message, Method, ProtocolVersion,
};
use mcp_server::ServerHandle;
use tower_service::Service;

use self::answers::Posted;
pub use self::body::Body;
pub use self::limits::Limits;
use self::origin::Allowed;
#[cfg(feature = "serve")]
pub use self::serve::{PATH, serve_http};
use self::sessions::Sessions;
use self::status::Refusal;
use self::visitors::Visitors;

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
/// Put into the extensions of requests by `Http::serve`; whoever mounts the
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
        self.config().allowed.hosts.push(name.into());
        self
    }

    /// Takes requests under any name. Only for a server that no browser can reach, or behind a
    /// proxy that checks the name.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.config().allowed.any_host = true;
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

type Answered = Result<Response<Body>, Refusal>;

impl<S: Send + Sync + 'static> Http<S> {
    async fn answer<B>(&self, request: Request<B>) -> Answered
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let (parts, body) = request.into_parts();
        self.config.allowed.check(&parts)?;
        let claim = Claim::of(&parts.headers)?;
        match (&parts.method, claim) {
            (&Verb::POST, _) => {
                headers::check_post(&parts.headers)?;
                let visit = self.enter(&parts)?;
                let (frame, charge) = self.read(body, &visit).await?;
                let posted = Posted {
                    parts,
                    frame,
                    charge,
                    visit,
                };
                self.post(posted, claim).await
            }
            (&Verb::GET, Claim::Legacy(version)) => self.get(&parts, version),
            (&Verb::DELETE, Claim::Legacy(_)) => self.delete(&parts),
            (_, Claim::Legacy(_)) if self.config.limits.sessions > 0 => {
                Err(not_allowed("POST, GET, DELETE"))
            }
            _ => Err(not_allowed("POST")),
        }
    }

    async fn post(&self, posted: Posted, claim: Claim) -> Answered {
        let in_session = posted.parts.headers.contains_key(headers::SESSION);
        match Incoming::parse(&posted.frame) {
            Incoming::Bad(bad) => Err(refuse_bad(bad, claim)),
            Incoming::Message(Message::Request(request)) => {
                let id = request.id;
                let parsed = ClientRequest::parse(request.method.clone(), request.params).ok();
                let meta = parsed.as_ref().and_then(ClientRequest::meta);
                if meta.is_some_and(|meta| meta.is_modern())
                    || !in_session && claim == Claim::Modern
                {
                    let method = request.method.as_str();
                    let tool = |name: &str| self.server.tool(name);
                    headers::check_mirrored(&posted.parts.headers, method, parsed.as_ref(), tool)
                        .map_err(|refusal| refusal.to(id.clone()))?;
                    let complete = meta.is_some_and(|meta| {
                        meta.protocol_version.is_some() && meta.client_capabilities.is_some()
                    });
                    self.once(posted, id, complete).await
                } else if in_session {
                    self.ask_session(posted, vec![id], claim.version()?).await
                } else if request.method == Method::Initialize {
                    self.open_session(posted, id).await
                } else {
                    self.once(posted, id, false).await
                }
            }
            Incoming::Message(Message::Notification(notification)) => {
                if !in_session && !matches!(claim, Claim::Legacy(Some(_))) {
                    headers::check_notification(&posted.parts.headers, &notification)?;
                    return Ok(self.tell(posted));
                }
                let parsed = ClientNotification::parse(notification.method, notification.params);
                let cancels = match parsed {
                    Ok(ClientNotification::Cancelled(params)) => params.request_id,
                    _ => None,
                };
                claim.version()?;
                self.tell_session(posted, cancels)
            }
            Incoming::Message(Message::Response(_)) => {
                claim.version()?;
                self.tell_session(posted, None)
            }
            Incoming::Batch(batch) => {
                let members = batch.members().into_iter().flatten();
                let ids = members.filter_map(|member| match member {
                    Message::Request(request) => Some(request.id),
                    _ => None,
                });
                self.ask_session(posted, ids.collect(), claim.version()?)
                    .await
            }
        }
    }
}

/// What the headers say of the revision.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// One with sessions, or nothing, as the oldest of those do.
    Legacy(Option<ProtocolVersion>),
    /// One without, or one that is not known here and so may be newer.
    Modern,
}

impl Claim {
    fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let version = headers::text(headers, headers::VERSION)?;
        Ok(match version.map(str::parse) {
            None => Self::Legacy(None),
            Some(Ok(version)) if ProtocolVersion::era(version) == Era::Legacy => {
                Self::Legacy(Some(version))
            }
            Some(_) => Self::Modern,
        })
    }

    /// The revision of a session, if the client says it.
    fn version(self) -> Result<Option<ProtocolVersion>, Refusal> {
        match self {
            Self::Legacy(version) => Ok(version),
            Self::Modern => {
                let reason = "`MCP-Protocol-Version` is no revision that has sessions";
                Err(Refusal::because(StatusCode::BAD_REQUEST, reason))
            }
        }
    }
}

/// The refusal of what is not a message.
fn refuse_bad(bad: BadMessage, claim: Claim) -> Refusal {
    let refusal = Refusal::new(StatusCode::BAD_REQUEST, bad.error);
    match (bad.id, claim) {
        (Some(id), _) => refusal.to(id),
        (None, Claim::Legacy(version)) if version < Some(ProtocolVersion::V2025_11_25) => {
            refusal.with_null_id()
        }
        _ => refusal,
    }
}

/// 405: these methods are allowed here.
fn not_allowed(methods: &'static str) -> Refusal {
    let reason = "this method is not allowed here";
    Refusal::because(StatusCode::METHOD_NOT_ALLOWED, reason).allowing(methods)
}
