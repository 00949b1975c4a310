//! A server that was built.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::connection::ServerConfig;
use mcp_protocol::transport::Transport;
use mcp_protocol::types;
use tokio::sync::watch;

use crate::attempt::Next;
use crate::changes::Changes;
use crate::custom::Handlers;
use crate::error::{BuildError, ServeError, ServiceDown};
use crate::limit::{InFlight, Share};
use crate::pace::Paces;
use crate::prompt::Prompt;
use crate::resource::{Resource, Template};
use crate::rounds::Rules;
use crate::router::Router;
use crate::serve::Serving;
use crate::span::OnSpan;
use crate::stats::{Counters, Stats};
use crate::tool::Tool;

/// A server that was built: serves any number of connections at once.
///
/// Cheap to clone; all clones are the same server.
pub struct ServerHandle<S = ()> {
    pub(crate) parts: Arc<Parts>,
    pub(crate) router: Arc<Router<S>>,
}

impl<S> Clone for ServerHandle<S> {
    fn clone(&self) -> Self {
        Self {
            parts: self.parts.clone(),
            router: self.router.clone(),
        }
    }
}

pub(crate) struct Parts {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) service: Next,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) on_span: Option<OnSpan>,
    pub(crate) in_flight: InFlight,
    pub(crate) share: usize,
    pub(crate) in_flight_bytes: usize,
    pub(crate) output_bytes: usize,
    pub(crate) flush: Duration,
    pub(crate) rules: Arc<Rules>,
    pub(crate) stop: watch::Sender<Stop>,
    pub(crate) changes: Changes,
    pub(crate) counters: Arc<Counters>,
    pub(crate) paces: Arc<Paces>,
}

/// What all connections of a server have to stop for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    No,
    ShutDown,
    Down(ServiceDown),
}

impl Parts {
    /// Ends all connections, unless they end already and for no lesser reason.
    pub(crate) fn stop(&self, stop: Stop) {
        self.stop.send_if_modified(|now| {
            let worse = matches!(now, Stop::No) || matches!(stop, Stop::Down(_));
            if worse {
                *now = stop;
            }
            worse
        });
    }
}

impl<S: Send + Sync + 'static> ServerHandle<S> {
    /// Serves one client until it is done, or the server is shut down.
    ///
    /// When the client sends nothing more, calls in flight have
    /// [`grace`](crate::Server::grace) to end and finished replies are written; those that wait for an
    /// answer of that client end at once. Has to be called within a tokio runtime. Dropping it ends the connection at once.
    ///
    /// # Errors
    ///
    /// When the transport fails (a client that has gone away is no failure), or the service
    /// is down: see [`ServeError`].
    pub async fn serve(&self, transport: impl Transport) -> Result<(), ServeError> {
        self.serve_sharing(transport, self.share(), self.parts.output_bytes)
            .await
    }

    /// A share of the calls in flight for one client, however many connections it has: see
    /// [`serve_sharing`](Self::serve_sharing).
    #[must_use]
    pub fn share(&self) -> Share {
        let Parts {
            in_flight,
            share,
            in_flight_bytes,
            config,
            ..
        } = &*self.parts;
        in_flight.share(*share, *in_flight_bytes, config.busy_code)
    }

    /// Begins to serve one of several connections of a client: for a transport on which each
    /// request comes on a connection of its own.
    ///
    /// As [`serve`](Self::serve), but the calls take from `share`, and nothing more is taken
    /// while `output_bytes` have not been read.
    pub fn serve_sharing(
        &self,
        transport: impl Transport,
        share: Share,
        output_bytes: usize,
    ) -> Serving {
        Serving::start(self.parts.clone(), transport, share, output_bytes)
    }

    /// What the server says of itself, and what its connections may hold.
    #[must_use]
    pub fn config(&self) -> &ServerConfig {
        &self.parts.config
    }

    /// The definition of a tool, as clients see it.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<types::Tool> {
        self.router.tools.definition(name)
    }

    /// Serves the process that started this one, over stdin and stdout.
    ///
    /// See [`mcp_transport_stdio::stdio`] for what becomes of the process's own streams.
    ///
    /// # Errors
    ///
    /// When the streams cannot be used, and as [`serve`](Self::serve).
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let transport = mcp_transport_stdio::stdio().map_err(ServeError::Stdio)?;
        self.serve(transport).await
    }

    /// Ends all connections: calls in flight have [`grace`](crate::Server::grace) to end, but for
    /// those that wait for a user, which end at once and without a reply. Requests that still
    /// come are neither started nor answered.
    pub fn shut_down(&self) {
        self.parts.stop(Stop::ShutDown);
    }

    /// Ends all connections at once, with [`ServeError::Down`].
    ///
    /// For a server that finds out, outside of any call, that it can do no more work.
    pub fn fail(&self, reason: ServiceDown) {
        self.parts.stop(Stop::Down(reason));
    }

    /// Tells clients that something has changed.
    #[must_use]
    pub fn changes(&self) -> Changes {
        self.parts.changes.clone()
    }

    /// Adds a tool while the server runs, and tells the clients.
    ///
    /// # Errors
    ///
    /// When hosts could not use the tool, or there is one of its name.
    pub fn add_tool(&self, tool: Arc<dyn Tool<S>>) -> Result<(), BuildError> {
        self.router.tools.add(tool)?;
        self.parts.changes.tools();
        Ok(())
    }

    /// Removes a tool while the server runs, and tells the clients. Calls of it that run go
    /// on. Says whether there was a tool of this name.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.removed(self.router.tools.remove(name), Changes::tools)
    }

    /// Adds a resource while the server runs, and tells the clients. A server that was built
    /// with neither a resource nor a template offers some only with
    /// [`empty_lists`](crate::Server::empty_lists).
    ///
    /// # Errors
    ///
    /// When its URI is none, or there is a resource there.
    pub fn add_resource(&self, resource: impl Resource<S>) -> Result<(), BuildError> {
        self.router.resources.add(Arc::new(resource))?;
        self.parts.changes.resources();
        Ok(())
    }

    /// Removes a resource while the server runs, and tells the clients. Says whether there was
    /// one at this URI.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.removed(self.router.resources.remove(uri), Changes::resources)
    }

    /// Adds a template while the server runs, and tells the clients. A server that was built
    /// with neither a resource nor a template offers some only with
    /// [`empty_lists`](crate::Server::empty_lists).
    ///
    /// # Errors
    ///
    /// When its URI template cannot be matched, or is there already.
    pub fn add_template(&self, template: impl Template<S>) -> Result<(), BuildError> {
        self.router.resources.add_template(Box::new(template))?;
        self.parts.changes.resources();
        Ok(())
    }

    /// Removes the template with this URI template while the server runs, and tells the
    /// clients. Says whether there was one.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.removed(
            self.router.resources.remove_template(uri_template),
            Changes::resources,
        )
    }

    /// Adds a prompt while the server runs, and tells the clients.
    ///
    /// Clients ask for prompts only on a server that was built with one, or with
    /// [`empty_lists`](crate::Server::empty_lists).
    ///
    /// # Errors
    ///
    /// When it has no name, or there is one of its name.
    pub fn add_prompt(&self, prompt: Arc<dyn Prompt<S>>) -> Result<(), BuildError> {
        self.router.prompts.add(prompt)?;
        self.parts.changes.prompts();
        Ok(())
    }

    /// Removes a prompt while the server runs, and tells the clients. Says whether there was a
    /// prompt of this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.removed(self.router.prompts.remove(name), Changes::prompts)
    }

    fn removed(&self, removed: bool, tell: fn(&Changes)) -> bool {
        if removed {
            tell(&self.parts.changes);
        }
        removed
    }

    /// Waits until the server has been told to end, by [`shut_down`](Self::shut_down),
    /// [`fail`](Self::fail) or a signal. For a loop that accepts connections.
    ///
    /// Cancel safe.
    pub async fn ending(&self) {
        let mut stop = self.parts.stop.subscribe();
        // The sender lives as long as `self`, so there is no error to wait for.
        let _ = stop.wait_for(|stop| *stop != Stop::No).await;
    }

    /// How many calls are in flight, on all connections.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.parts.in_flight.len()
    }

    /// What the server has had to do so far, in numbers: for a health check or a collector of
    /// metrics. Cheap enough to be asked for at any time.
    ///
    /// ```
    /// # use mcp_server::Server;
    /// let server = Server::new("idle", "1.0.0").build()?;
    /// let stats = server.stats();
    /// assert_eq!((stats.connections, stats.started), (0, 0));
    /// # Ok::<(), mcp_server::BuildError>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.parts.counters.read(self.in_flight())
    }

    /// Shuts the server down at the first SIGINT or SIGTERM (Ctrl-C elsewhere) and ends the
    /// process at the second. A signal that comes after this has returned is not missed.
    ///
    /// Has to be called within a tokio runtime. The SDK installs no signal handler by itself.
    #[cfg(feature = "signal")]
    pub fn shut_down_on_signal(&self) {
        crate::signal::shut_down(self.clone());
    }
}

impl<S> fmt::Debug for ServerHandle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle")
            .field("info", &self.parts.config.info)
            .field("in_flight", &self.parts.in_flight.len())
            .finish_non_exhaustive()
    }
}
