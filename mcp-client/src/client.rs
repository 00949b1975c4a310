//! The handle to a server.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use mcp_protocol::connection::{CallOptions, Peer, RawResult};
use mcp_protocol::tool::{ToolArgs, decode_output, encode_arguments};
use mcp_protocol::transport::Transport;
use mcp_protocol::types::*;
use mcp_protocol::{
    ClientNotification, ClientRequest, ErrorCode, Method, RawJson, ServerNotification, ServerResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::builder::ClientBuilder;
use crate::call::{Call, Read};
use crate::connect::Status;
use crate::error::{ClientError, Closed};
use crate::feed::{Feed, Feeder};
use crate::host::Host;
use crate::hub::Hub;
use crate::link::{self, Link, Pending, Reply, Takes};

/// A connection to a server. Clones are the same connection.
///
/// When the last clone is dropped, the connection ends in the background, and with it the server
/// if it was started from here. [`close`](Self::close) does the same and waits for it.
///
/// ```no_run
/// use mcp_client::{Client, ClientError};
///
/// # #[cfg(feature = "stdio")]
/// # async fn doc() -> Result<(), ClientError> {
/// let client = Client::spawn("npx", ["-y", "@modelcontextprotocol/server-everything"]).await?;
/// for tool in client.list_tools().await? {
///     println!("{}", tool.name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

/// A [`Client`] that does not keep its connection open. Made by [`Client::downgrade`].
#[derive(Clone)]
pub struct WeakClient(Weak<Inner>);

impl WeakClient {
    /// The client, unless the last handle to it was dropped.
    #[must_use]
    pub fn upgrade(&self) -> Option<Client> {
        self.0.upgrade().map(Client)
    }
}

impl Debug for WeakClient {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakClient").finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    /// The first connection, which is mostly the only one. To look for it in `status` is
    /// dearer: all who call share the lock of that.
    pub(crate) first: Link,
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) hub: Arc<Hub>,
    /// As it was last seen.
    pub(crate) server: Mutex<Arc<Peer>>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) options: CallOptions,
    pub(crate) rounds: usize,
    pub(crate) caches: bool,
    pub(crate) restarts: bool,
    #[cfg(feature = "validate")]
    pub(crate) outputs: Option<crate::validate::Outputs>,
}

/// Takes the result of one method.
macro_rules! read {
    ($method:ident) => {
        |result| match result {
            ServerResult::$method(result) => Ok(result),
            result => Err(unexpected(&result)),
        }
    };
}

/// Getting one, and ending it.
impl Client {
    /// Sets a client up: its own name and version first.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(Implementation::new(name, version))
    }

    /// Starts a server and connects to it, with all defaults of [`ClientBuilder`] and of
    /// [`ServerCommand`](mcp_transport_stdio::child::ServerCommand). The client has the name of
    /// this crate. No arguments are `[""; 0]`: of `[]` it cannot be told what they would be.
    ///
    /// # Errors
    ///
    /// See [`ClientBuilder::spawn`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime whose I/O and time are enabled.
    #[cfg(feature = "stdio")]
    pub async fn spawn(
        command: impl Into<std::ffi::OsString>,
        args: impl IntoIterator<Item = impl Into<std::ffi::OsString>>,
    ) -> Result<Self, ClientError> {
        let command = mcp_transport_stdio::child::ServerCommand::new(command).args(args);
        Self::unnamed().spawn(command).await
    }

    /// Connects to a server over a transport, with all defaults of [`ClientBuilder`]. The client
    /// has the name of this crate.
    ///
    /// # Errors
    ///
    /// See [`ClientBuilder::connect`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime whose time is enabled.
    pub async fn connect(transport: impl Transport) -> Result<Self, ClientError> {
        Self::unnamed().connect(transport).await
    }

    fn unnamed() -> ClientBuilder {
        Self::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    /// The server as it has introduced itself, the last time that it did.
    #[must_use]
    pub fn server(&self) -> Arc<Peer> {
        let mut server = self.0.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Status::Up(link) = &*self.0.status.borrow() {
            *server = link.server().clone();
        }
        server.clone()
    }

    /// Ends the connection, for all clones of this handle, and waits until nothing is left of
    /// it. Calls in flight fail.
    ///
    /// A server that was started from here gets the time that its command gives it to end by
    /// itself, and is killed after that: it takes at most 7 s, if nothing else was said.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it goes on in the background.
    pub async fn close(&self) -> Arc<Closed> {
        // The driver may have ended by itself.
        self.0.stop.send_replace(true);
        self.closed().await
    }

    /// Whether the connection has ended, or is about to, and there will be no other: every call
    /// fails.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let ends = match &*self.0.status.borrow() {
            Status::Up(link) => !self.0.restarts && link.is_closed(),
            Status::Down(_) => !self.0.restarts,
            Status::Ended(_) => true,
        };
        // Without a driver there is nobody to set the status.
        ends || *self.0.stop.borrow() || self.0.status.has_changed().is_err()
    }

    /// A handle that does not keep the connection open: for a [`Host`], which the client keeps.
    #[must_use]
    pub fn downgrade(&self) -> WeakClient {
        WeakClient(Arc::downgrade(&self.0))
    }

    /// Waits until the connection has ended and there will be no other, and does nothing to
    /// bring it about. Who waits has to have a handle, which keeps the connection open.
    ///
    /// # Cancel safety
    ///
    /// It may be dropped and called again.
    pub async fn closed(&self) -> Arc<Closed> {
        let mut status = self.0.status.clone();
        let ended = status.wait_for(|status| matches!(status, Status::Ended(_)));
        match ended.await.as_deref() {
            Ok(Status::Ended(closed)) => closed.clone(),
            // The runtime that drives the connection is gone.
            _ => Arc::default(),
        }
    }
}

/// What servers offer.
impl Client {
    /// Calls a tool, and gives its result as it is. A tool that fails says so in there, by
    /// [`is_error`](CallToolResult::is_error). Its arguments are anything that is a JSON object,
    /// and are sent as they are, or `()` for none.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> Call<CallToolResult> {
        self.tool(name.into(), RawJson::encode(&arguments), read!(CallTool))
    }

    /// Calls a tool by the type of its arguments, the one that a server derives `Tool` for, and
    /// gives its output.
    ///
    /// The type must be [`Serialize`] here, and its output [`DeserializeOwned`]. A field that is
    /// `None` is not sent.
    pub fn call_tool<T>(&self, arguments: T) -> Call<T::Output>
    where
        T: ToolArgs + Serialize,
        T::Output: DeserializeOwned,
    {
        let arguments = encode_arguments(&arguments);
        self.tool(T::NAME.to_owned(), arguments, |result| match result {
            ServerResult::CallTool(result) if result.is_error == Some(true) => {
                Err(ClientError::Tool(result.into()))
            }
            ServerResult::CallTool(result) => {
                decode_output(&result).map_err(|error| ClientError::Protocol {
                    why: format!("the output of `{}` is of another type: {error}", T::NAME),
                    result: RawJson::encode(&result).ok(),
                })
            }
            result => Err(unexpected(&result)),
        })
    }

    /// Reads a resource, unless what was read before may still be used; see
    /// [`ClientBuilder::cache`].
    pub fn read_resource(&self, uri: impl Into<String>) -> Call<ReadResourceResult> {
        let request = ClientRequest::ReadResource(ReadResourceParams::new(uri));
        self.ask(request, read!(ReadResource))
    }

    /// Gets a prompt. All its arguments are text.
    pub fn get_prompt<N: Into<String>, V: Into<String>>(
        &self,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = (N, V)>,
    ) -> Call<GetPromptResult> {
        let mut params = GetPromptParams::new(name);
        let arguments = arguments.into_iter();
        let arguments = arguments.map(|(name, value)| (name.into(), value.into()));
        params.arguments = Some(arguments.collect());
        self.ask(ClientRequest::GetPrompt(params), read!(GetPrompt))
    }

    /// Asks how an argument can be completed.
    pub fn complete(&self, params: CompleteParams) -> Call<CompleteResult> {
        self.ask(ClientRequest::Complete(params), read!(Complete))
    }

    /// Makes any request, and gives its result as it is. One that the specification does not
    /// have is a [`ClientRequest::Custom`], which [`ClientRequest::parse`] makes of its name and
    /// parameters.
    pub fn request(&self, request: ClientRequest) -> Call<ServerResult> {
        self.ask(request, Ok)
    }

    /// Notifies the server of something, if its revision has such a notification and it is
    /// there. A report of progress is passed on if a question of the server's that is still open
    /// has asked for it, and says more than the last. Where a call would be
    /// [`ClientError::Unread`], it is left out with a warning.
    pub fn notify(&self, notification: ClientNotification) {
        if let Status::Up(link) = &*self.0.status.borrow() {
            link.notify(notification);
        }
    }

    /// Makes sure that the server is there. It has as much time as any call.
    ///
    /// # Errors
    ///
    /// When it does not answer, or refuses.
    pub async fn ping(&self) -> Result<(), ClientError> {
        let params = EmptyParams::new();
        let request = match self.has(&Method::Ping) {
            true => ClientRequest::Ping(params),
            false => ClientRequest::Discover(params),
        };
        self.request(request).await.map(|_| ())
    }

    /// Sets the lowest level of log messages that are wanted, which
    /// [`notifications`](Self::notifications) gives. Since 2026-07-28 it goes with each call
    /// from then on, before that the server is told now.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn set_level(&self, level: LoggingLevel) -> Result<(), ClientError> {
        if self.has(&Method::SetLevel) {
            let request = ClientRequest::SetLevel(SetLevelParams::new(level));
            self.request(request).await?;
        }
        self.0.hub.set_level(level);
        Ok(())
    }

    /// All that the server notifies of from now on, in order: log messages, changes, and what
    /// is not in the specification. Up to 256, and 16 MiB, wait to be taken; beyond it
    /// the oldest go.
    #[must_use]
    pub fn notifications(&self) -> Feed<ServerNotification> {
        self.0.hub.notifications()
    }
}

/// Defines how a list is got.
macro_rules! lists {
    ($( $what:literal $list:ident, $page:ident: $method:ident => $result:ident { $items:ident: $item:ident }; )*) => {
        /// Lists. Each comes in pages.
        impl Client {
            $(
                #[doc = concat!("The ", $what, ": all pages, in order. None of a server that offers none.")]
                ///
                /// # Errors
                ///
                /// When a page cannot be had, a cursor comes twice, or there are more than 1,000 pages.
                pub async fn $list(&self) -> Result<Vec<$item>, ClientError> {
                    let mut pages = Pages::default();
                    let mut all = Vec::new();
                    loop {
                        let page = match self.$page(pages.cursor.clone()).await {
                            Err(ClientError::Unsupported(_)) => return Ok(Vec::new()),
                            Err(error) if pages.are_old(&error) => {
                                self.0.hub.cache.forget_pages(&Method::$method);
                                (pages, all) = (Pages::again(), Vec::new());
                                continue;
                            }
                            page => page?,
                        };
                        all.extend(page.$items);
                        if !pages.next(page.next_cursor)? {
                            return Ok(all);
                        }
                    }
                }

                #[doc = concat!("One page of the ", $what, ": the first, or that at the cursor which another gave.")]
                pub fn $page(&self, cursor: Option<String>) -> Call<$result> {
                    let mut params = PaginatedParams::new();
                    params.cursor = cursor;
                    self.ask(ClientRequest::$method(params), read!($method))
                }
            )*
        }
    };
}

lists! {
    "tools" list_tools, list_tools_page: ListTools => ListToolsResult { tools: Tool };
    "resources" list_resources, list_resources_page: ListResources => ListResourcesResult { resources: Resource };
    "templates of resources" list_resource_templates, list_resource_templates_page: ListResourceTemplates => ListResourceTemplatesResult { resource_templates: ResourceTemplate };
    "prompts" list_prompts, list_prompts_page: ListPrompts => ListPromptsResult { prompts: Prompt };
}

/// How far a list was read.
#[derive(Default)]
struct Pages {
    cursor: Option<String>,
    seen: HashSet<String>,
    is_second_try: bool,
}

impl Pages {
    /// Pages of one list. Stops a server whose list has no end.
    const MOST: usize = 1_000;

    fn again() -> Self {
        Self {
            is_second_try: true,
            ..Self::default()
        }
    }

    /// Whether the server does not know the cursor any more, so that the pages before are old,
    /// too.
    fn are_old(&self, error: &ClientError) -> bool {
        let unknown = |error: &ClientError| matches!(error, ClientError::Rpc(error) if error.code == ErrorCode::INVALID_PARAMS);
        self.cursor.is_some() && !self.is_second_try && unknown(error)
    }

    /// Whether there is another page.
    fn next(&mut self, cursor: Option<String>) -> Result<bool, ClientError> {
        if let Some(cursor) = &cursor {
            if !self.seen.insert(cursor.clone()) {
                let why = "the server's list has no end: a cursor came twice";
                return Err(ClientError::protocol(why));
            }
            if self.seen.len() >= Self::MOST {
                let why = format!("the server's list has more than {} pages", Self::MOST);
                return Err(ClientError::protocol(why));
            }
        }
        self.cursor = cursor;
        Ok(self.cursor.is_some())
    }
}

/// For calls.
impl Client {
    fn tool<T, E: std::error::Error + Send + Sync + 'static>(
        &self,
        name: String,
        arguments: Result<RawJson, E>,
        read: Read<T>,
    ) -> Call<T> {
        let arguments = arguments.map_err(|error| ClientError::Arguments(Arc::new(error)));
        let request = arguments.and_then(|arguments| {
            let arguments = Some(arguments).filter(|arguments| !arguments.is_null());
            let mut objects = arguments.iter().map(|json| json.as_str().starts_with('{'));
            if objects.any(|is_object| !is_object) {
                return Err(ClientError::Arguments(Arc::new(NoObject)));
            }
            let mut params = CallToolParams::new(name);
            params.arguments = arguments;
            Ok(ClientRequest::CallTool(params).into())
        });
        Call::new(self.clone(), request, read)
    }

    fn ask<T>(&self, request: ClientRequest, read: Read<T>) -> Call<T> {
        Call::new(self.clone(), Ok(request.into()), read)
    }

    /// Whether the revision that the server speaks has this method.
    fn has(&self, method: &Method) -> bool {
        let versions = method.versions();
        versions.is_none_or(|versions| versions.contains(&self.server().version))
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.0.host
    }

    pub(crate) fn rounds(&self) -> usize {
        self.0.rounds
    }

    /// Makes one request, and waits for what comes of it.
    pub(crate) async fn attempt(
        &self,
        request: Box<ClientRequest>,
        options: &CallOptions,
        progress: Option<&Arc<Feeder<ProgressParams>>>,
    ) -> Reply {
        let _turn = match &self.0.hub.turns {
            Some(turns) => Some(Box::pin(turns.take()).await),
            None => None,
        };
        let next;
        let link = if self.0.first.is_closed() {
            match Box::pin(self.link(request.method(), options.timeout)).await {
                Ok(link) => next = link,
                Err(error) => return error.into(),
            }
            &next
        } else {
            &self.0.first
        };
        let takes = Takes {
            progress: progress.cloned(),
            stream: None,
        };
        match Pending::new(link, request, *options, takes).reply().await {
            Some(reply) => reply,
            None => Box::pin(self.gone()).await.into(),
        }
    }

    /// Gives a result its type.
    pub(crate) fn read(&self, result: RawResult) -> Result<ServerResult, ClientError> {
        let (result, left_out) = link::read(result)?;
        if let (Some(why), Some(link)) = (left_out, self.standing()) {
            link.left_out(why);
        }
        Ok(result)
    }

    fn standing(&self) -> Option<Link> {
        match &*self.0.status.borrow() {
            Status::Up(link) if !link.is_closed() => Some(link.clone()),
            _ => None,
        }
    }

    /// The way to the server, when there is one.
    pub(crate) async fn link(
        &self,
        method: Method,
        timeout: Option<Duration>,
    ) -> Result<Link, ClientError> {
        let mut status = self.0.status.clone();
        let stands = status.wait_for(|status| match status {
            Status::Up(link) => !link.is_closed(),
            Status::Down(_) => !self.0.restarts,
            Status::Ended(_) => true,
        });
        let stands = match timeout {
            Some(time) => tokio::time::timeout(time, stands).await,
            None => Ok(stands.await),
        };
        match stands.as_ref().map(|stands| stands.as_deref()) {
            Ok(Ok(Status::Up(link))) => Ok(link.clone()),
            Ok(Ok(Status::Down(report) | Status::Ended(report))) => Err(not_sent(report)),
            Ok(Err(_)) => Err(not_sent(&Arc::default())),
            Err(_) => Err(ClientError::TimedOut {
                method,
                after: timeout.unwrap_or_default(),
            }),
        }
    }

    /// Why a driver has gone without a word.
    pub(crate) async fn gone(&self) -> ClientError {
        let mut status = self.0.status.clone();
        let next =
            status.wait_for(|status| !matches!(status, Status::Up(link) if link.is_closed()));
        match next.await.as_deref() {
            Ok(Status::Down(report) | Status::Ended(report)) => not_sent(report),
            _ => not_sent(&Arc::default()),
        }
    }
}

/// Why arguments that are JSON are none.
#[derive(Debug, thiserror::Error)]
#[error("they are another value")]
struct NoObject;

fn not_sent(report: &Arc<Closed>) -> ClientError {
    ClientError::Closed {
        written: false,
        report: report.clone(),
    }
}

/// The connection gives each result the type of its request.
fn unexpected(result: &ServerResult) -> ClientError {
    ClientError::protocol(format!("a result of another method: {result:?}"))
}

impl Debug for Client {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server().info)
            .finish_non_exhaustive()
    }
}
