//! The client's half: every message is posted by itself, and what is answered is read into one
//! queue.
//!
//! A modern request is all that its exchange is about, and is cancelled by ending it. A legacy
//! session also has a stream of its own, and streams that were cut off are gone on with. Which
//! is which is seen by each request; nothing is decided here that the connection decides.

mod authorization;
mod endpoint;
mod events;
mod exchanges;
mod inlet;
mod outlet;
mod parameters;

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};

use http::Uri;
use http::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use mcp_protocol::transport::Transport;

use self::authorization::Fixed;
pub use self::authorization::{Authorization, BoxError, Refused, bearer};
use self::endpoint::Endpoint;
use self::exchanges::Exchanges;
pub use self::inlet::HttpReceiver;
use self::inlet::Inlet;
pub use self::outlet::HttpSender;
use self::parameters::Parameters;

/// The way to a server at a URL: a [`Transport`] for `mcp_client::Client`.
///
/// Speaks Streamable HTTP as servers of every revision from 2025-03-26 on do; which one it is
/// is for the client to find out. Redirections are followed within the server only. Over TLS,
/// whom this machine trusts is trusted.
///
/// A server of 2026-07-28 may want arguments of a tool repeated in headers. Which ones is known
/// once its tools were listed; before, it refuses such a call.
///
/// ```no_run
/// use mcp_client::Client;
/// use mcp_transport_http::HttpTransport;
///
/// # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
/// let server = HttpTransport::new("https://mcp.example.com/mcp")?;
/// let client = Client::connect(server).await?;
/// for tool in client.list_tools().await? {
///     println!("{}", tool.name);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Has to be used within a tokio runtime whose I/O and time are enabled.
///
/// Spec: [Streamable HTTP](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http).
#[derive(Clone)]
pub struct HttpTransport {
    endpoint: Endpoint,
    /// Known of the server, not of a connection to it.
    parameters: Arc<Parameters>,
    most: usize,
}

/// Why there is no way to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is no URL.
    #[error("not a URL: {0}")]
    Invalid(#[from] http::uri::InvalidUri),
    /// It is no URL of a server that speaks HTTP.
    #[error("not an `http` or `https` URL")]
    NotHttp,
    /// Nobody is trusted by this machine, so no server is over TLS.
    #[error("no certificates to trust: {0}")]
    Trust(#[from] io::Error),
}

impl HttpTransport {
    /// The way to the server at a URL.
    ///
    /// # Errors
    ///
    /// When it is no `http` or `https` URL, or this machine has no certificates to trust.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let url: Uri = url.parse()?;
        if !matches!(url.scheme_str(), Some("http" | "https")) {
            return Err(UrlError::NotHttp);
        }
        Ok(Self {
            endpoint: Endpoint::new(url, Arc::new(Fixed(None)))?,
            parameters: Arc::default(),
            most: 16 << 20,
        })
    }

    /// Sets who authorizes the requests. Default: nobody.
    #[must_use]
    pub fn authorization(mut self, authorization: impl Authorization) -> Self {
        self.endpoint.authorization = Arc::new(authorization);
        self
    }

    /// Authorizes all requests by a token.
    ///
    /// # Errors
    ///
    /// When the token has characters that no header may have.
    pub fn bearer(self, token: &str) -> Result<Self, InvalidHeaderValue> {
        let value = bearer(token)?;
        Ok(self.authorization(Fixed(Some(value))))
    }

    /// Adds a header to all requests. Those of the protocol go before it.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.endpoint.headers.insert(name, value);
        self
    }

    /// Longest message of the server, in bytes. Default 16 MiB. Stops one message from filling
    /// memory; a request with a longer answer has none.
    #[must_use]
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.most = bytes;
        self
    }
}

impl Transport for HttpTransport {
    type Receiver = HttpReceiver;
    type Sender = HttpSender;

    fn network(&self) -> Option<&'static str> {
        Some("tcp")
    }

    fn again(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn split(self) -> (HttpReceiver, HttpSender) {
        let (inlet, receiver) = Inlet::new();
        let exchanges = Exchanges {
            endpoint: self.endpoint,
            inlet,
            parameters: self.parameters,
            most: self.most,
            terms: Mutex::default(),
        };
        (receiver, HttpSender::new(Arc::new(exchanges)))
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("url", &self.endpoint.url)
            .finish_non_exhaustive()
    }
}
