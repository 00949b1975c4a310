//! How a client is set up.

use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::ProtocolVersion;
use mcp_protocol::connection::{CallOptions, ClientConfig};
use mcp_protocol::transport::Transport;
use mcp_protocol::types::Implementation;
use tokio::sync::watch;

use crate::client::{Client, Inner};
use crate::connect::{Made, Opening, Plan, Source, Status, open, supervise};
use crate::error::ClientError;
use crate::host::Host;
use crate::hub::Hub;

/// How a client is set up, before it is connected. Made by [`Client::builder`].
#[must_use = "a client is nothing before it is connected"]
pub struct ClientBuilder {
    config: ClientConfig,
    host: Arc<dyn Host>,
    opening: Opening,
    connect_timeout: Duration,
    options: CallOptions,
    rounds: usize,
    in_flight: Option<usize>,
    ping: Option<Duration>,
    caches: bool,
    restarts: bool,
    #[cfg(feature = "validate")]
    validates: bool,
}

impl ClientBuilder {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            config: ClientConfig::new(info),
            host: Arc::new(()),
            opening: Opening::Auto,
            connect_timeout: Duration::from_secs(60),
            options: CallOptions::default(),
            rounds: 8,
            in_flight: None,
            ping: None,
            caches: true,
            restarts: false,
            #[cfg(feature = "validate")]
            validates: false,
        }
    }

    /// Sets who answers when the server asks. What it can do is declared to the server.
    /// Default: nobody, and nothing is.
    pub fn host(mut self, host: impl Host) -> Self {
        self.host = Arc::new(host);
        self
    }

    /// Sets how the conversation is opened. Default is [`Opening::Auto`].
    pub fn opening(mut self, opening: Opening) -> Self {
        self.opening = opening;
        self
    }

    /// Sets the revisions that are spoken. Default: all. Of those that the server speaks, too,
    /// the newest is spoken.
    pub fn versions(mut self, versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        self.config.versions = versions.into_iter().collect();
        self
    }

    /// Keeps name and version of this client from servers of 2026-07-28, which can do without.
    pub fn anonymous(mut self) -> Self {
        self.config.names_itself = false;
        self
    }

    /// How long connecting may take in all, a second start of the server included. Default
    /// 60 s: some servers are installed when they are first started.
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// How long a server may take to say whether it speaks 2026-07-28, before it is taken for
    /// an older one. Default 5 s; never more than half of the
    /// [`connect_timeout`](Self::connect_timeout).
    pub fn probe_timeout(mut self, time: Duration) -> Self {
        self.config.limits.probe = time;
        self
    }

    /// How long a call waits for its outcome, or for the next report of progress if it
    /// asks for some. Default 60 s; [`Duration::MAX`] is for ever. Calls may set their own.
    ///
    /// What the [`Host`] takes to answer is no part of it: a server of 2026-07-28 is called again
    /// with the answer, and of an older one no call is late while a question is open, though
    /// none takes longer than [`longest`](Self::longest).
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options.timeout = Some(time);
        self
    }

    /// How long a call waits in all, however much progress is reported. Default 10 minutes.
    pub fn longest(mut self, time: Duration) -> Self {
        self.options.longest = Some(time);
        self
    }

    /// How often a server may ask for something in return before it answers one call. Default
    /// 8. Stops a server from asking for ever. 2026-07-28 only.
    pub fn rounds(mut self, most: usize) -> Self {
        self.rounds = most;
        self
    }

    /// How many calls are in flight at once, at least one. Default: any number. Others wait for
    /// their turn, which is no part of their timeout. For each question of the server that is
    /// open it is one more, so that a [`Host`] can call the server to answer.
    pub fn max_in_flight(mut self, most: usize) -> Self {
        self.in_flight = Some(most);
        self
    }

    /// Asks a server of a revision up to 2025-11-25 as often as this whether it is there, which
    /// later ones cannot be asked. Default: never. Three pings in a row without an answer, for
    /// each of which it has as much time again, end the connection.
    pub fn ping_every(mut self, time: Duration) -> Self {
        self.ping = Some(time);
        self
    }

    /// Whether lists and contents of resources are kept for as long as the server allows, up to
    /// a day, 256 of them and 16 MiB, beyond which none is added, and given again without asking. Default yes. Changes that
    /// the server tells of end it sooner. 2026-07-28 only; nobody else gets what is kept here.
    pub fn cache(mut self, caches: bool) -> Self {
        self.caches = caches;
        self
    }

    /// Whether the output of a tool has to fit its schema, if the tool was listed and has one:
    /// otherwise the call fails with [`ClientError::Invalid`]. Default no.
    ///
    /// It fails, too, if the schema is no valid one or too large, or refers to something outside
    /// of it, which is never fetched; and if there is no verdict within 2 s. Outputs are looked
    /// at one after the other, each in a thread of its own.
    #[cfg(feature = "validate")]
    pub fn validate_output(mut self, validates: bool) -> Self {
        self.validates = validates;
        self
    }

    /// Whether a server that has ended is started again: after 1, 2, 5, 10 and then each 30 s.
    /// Default no. Of a command, or of a transport that can be opened
    /// [again](Transport::again).
    ///
    /// Calls in flight fail; they may have been served, so none is made again. New ones wait for
    /// the new server as long as their timeout says. Streams of
    /// [`listen`](Client::listen) go on.
    pub fn restart(mut self, restarts: bool) -> Self {
        self.restarts = restarts;
        self
    }

    /// Starts a server and connects to it.
    ///
    /// # Errors
    ///
    /// When it cannot be started, ends, does not answer in time, or speaks no revision that is
    /// spoken here. It is killed then.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime whose I/O and time are enabled.
    #[cfg(feature = "stdio")]
    pub async fn spawn(
        self,
        command: mcp_transport_stdio::child::ServerCommand,
    ) -> Result<Client, ClientError> {
        self.open(command).await
    }

    /// Connects to a server over a transport.
    ///
    /// # Errors
    ///
    /// When the server does not answer in time, or speaks no revision that is spoken here.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime whose time is enabled.
    pub async fn connect(self, transport: impl Transport) -> Result<Client, ClientError> {
        self.open(Made(Some(transport))).await
    }

    pub(crate) async fn open<S: Source>(mut self, mut source: S) -> Result<Client, ClientError> {
        self.config.capabilities = self.host.capabilities().into();
        let hub = Arc::new(Hub::new(self.in_flight));
        let plan = Plan {
            config: self.config,
            opening: self.opening,
            connect_timeout: self.connect_timeout,
            ping: self.ping,
            restarts: self.restarts,
            host: self.host.clone(),
            hub: hub.clone(),
        };
        let (stop, stopped) = watch::channel(false);
        let connection = open(&mut source, &plan, &stopped).await?;
        let first = connection.link.clone();
        let (status, seen) = watch::channel(Status::Up(first.clone()));
        let server = first.server().clone();
        tokio::spawn(supervise(source, plan, connection, status, stopped));
        Ok(Client(Arc::new(Inner {
            first,
            status: seen,
            stop,
            hub,
            server: server.into(),
            host: self.host,
            options: self.options,
            rounds: self.rounds,
            caches: self.caches,
            restarts: self.restarts,
            #[cfg(feature = "validate")]
            outputs: self.validates.then(crate::validate::Outputs::new),
        })))
    }
}
