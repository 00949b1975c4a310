//! What a server is made of.

mod custom;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_protocol::connection::{Limits, ServerConfig};
use mcp_protocol::transport::Transport;
use mcp_protocol::types::{
    Declared, Implementation, PromptsCapability, ResourcesCapability, ToolsCapability,
};
use mcp_protocol::{ErrorCode, ProtocolVersion};
use tokio::sync::watch;
use tower::{BoxError, Layer, Service};
use tracing::Span;

use self::custom::{Settings, by_method, declared, is_heard};
use crate::attempt::{Attempt, Next, Outcome};
use crate::cache::Cache;
use crate::changes::Changes;
use crate::custom::{Handler, Method};
use crate::error::{BuildError, ServeError};
use crate::handle::{Parts, ServerHandle, Stop};
use crate::limit::InFlight;
use crate::output::Compile;
use crate::prompt::{Prompt, Render};
use crate::resource::{Directory, Resource, Template};
use crate::rounds::Rules;
use crate::router::Router;
use crate::router::prompts::Prompts;
use crate::router::resources::Resources;
use crate::router::tools::{CompileInput, ToolRules, Tools};
use crate::seal::{Seal, StateKey};
use crate::span::OnSpan;
use crate::tool::{Run, RunBlocking, RunTools, Tool};

/// How arguments and outputs are validated, in a build that can.
#[cfg(feature = "validate")]
const COMPILE: (Option<CompileInput>, Option<Compile>) = (
    Some(crate::validate::compile_input),
    Some(crate::validate::compile),
);
#[cfg(not(feature = "validate"))]
const COMPILE: (Option<CompileInput>, Option<Compile>) = (None, None);

type ApplyLayer = Box<dyn FnOnce(Next) -> Next + Send>;
type BindHandler<S> = Box<dyn FnOnce(Arc<S>) -> Handler + Send>;

/// A server's description: its tools, its layers and its limits.
///
/// [`build`](Self::build) checks it. [`serve`](Self::serve) is `build` for a server that
/// serves one connection and ends with it, as a server on stdio does.
///
/// ```
/// use mcp_server::prelude::*;
///
/// /// Say hello.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Greet {
///     /// Whom to greet.
///     name: String,
/// }
///
/// impl Run for Greet {
///     async fn run(self, _cx: &Context) -> Result<String, ToolError> {
///         Ok(format!("Hello, {}!", self.name))
///     }
/// }
///
/// let server = Server::new("greeter", "1.0.0").tool::<Greet>().build()?;
/// # Ok::<(), BuildError>(())
/// ```
pub struct Server<S = ()> {
    config: ServerConfig,
    state: S,
    tools: Vec<Arc<dyn Tool<S>>>,
    prompts: Vec<Arc<dyn Prompt<S>>>,
    resources: Vec<Arc<dyn Resource<S>>>,
    templates: Vec<Box<dyn Template<S>>>,
    resource_cache: Cache,
    empty_lists: bool,
    tool_rules: ToolRules,
    methods: Vec<(String, Box<dyn Method<S>>)>,
    notifications: Vec<(String, BindHandler<S>)>,
    extensions: Vec<(String, Settings)>,
    layers: Vec<ApplyLayer>,
    on_span: Option<OnSpan>,
    max_in_flight: usize,
    share: Option<usize>,
    in_flight_bytes: usize,
    output_bytes: usize,
    flush: Duration,
    page_size: usize,
    state_keys: Vec<StateKey>,
    state_age: Duration,
    state_bytes: usize,
    rounds: usize,
}

impl Server {
    /// A server of this name and version, without state.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_state(name, version, ())
    }
}

impl<S: Send + Sync + 'static> Server<S> {
    /// A server whose handlers share `state`: see [`Context::state`](crate::Context::state).
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use mcp_server::prelude::*;
    ///
    /// /// Count one more.
    /// #[derive(Deserialize, JsonSchema, Tool)]
    /// #[tool(content = u64)]
    /// struct Count {}
    ///
    /// impl Run<AtomicU64> for Count {
    ///     async fn run(self, cx: &Context<AtomicU64>) -> Result<u64, ToolError> {
    ///         Ok(cx.state().fetch_add(1, Ordering::Relaxed) + 1)
    ///     }
    /// }
    ///
    /// let server = Server::with_state("counter", "1.0.0", AtomicU64::new(0)).tool::<Count>();
    /// ```
    #[must_use]
    pub fn with_state(name: impl Into<String>, version: impl Into<String>, state: S) -> Self {
        Self {
            config: ServerConfig::new(Implementation::new(name, version)),
            state,
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            resource_cache: Cache::default(),
            empty_lists: false,
            tool_rules: ToolRules {
                as_written: false,
                compile_input: COMPILE.0,
                compile: COMPILE.1.filter(|_| cfg!(debug_assertions)),
            },
            methods: Vec::new(),
            notifications: Vec::new(),
            extensions: Vec::new(),
            layers: Vec::new(),
            on_span: None,
            max_in_flight: 512,
            share: None,
            in_flight_bytes: 64 << 20,
            output_bytes: 64 << 20,
            flush: Duration::from_secs(2),
            page_size: usize::MAX,
            state_keys: Vec::new(),
            state_age: Duration::from_secs(600),
            state_bytes: 64 << 10,
            rounds: 8,
        }
    }

    /// More about the server than its name and version: a title, a website, icons.
    #[must_use]
    pub fn info(mut self, describe: impl FnOnce(Implementation) -> Implementation) -> Self {
        self.config.info = describe((*self.config.info).clone()).into();
        self
    }

    /// Tells models how to use this server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.config.instructions = Some(text.into());
        self
    }

    /// Sets the revisions that are spoken. Default: all. A client that speaks none of them is
    /// told which they are.
    #[must_use]
    pub fn versions(mut self, versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        self.config.versions = versions.into_iter().collect();
        self
    }

    /// Lets handlers send log messages to the client: see [`Context::log`](crate::Context::log).
    ///
    /// Without it, what handlers log is not sent, and clients cannot set a level. It has
    /// nothing to do with what the server writes into its own log.
    ///
    /// Spec: [logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.config.capabilities.logging = Some(Declared::new());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool<T: Run<S>>(self) -> Self {
        self.dyn_tool(crate::tool::from_run::<T, S>())
    }

    /// Adds a tool whose handler is synchronous: it may block the thread that it gets.
    #[must_use]
    pub fn blocking_tool<T: RunBlocking<S>>(self) -> Self {
        self.dyn_tool(crate::tool::from_run_blocking::<T, S>())
    }

    /// Adds every tool of an enum.
    #[must_use]
    pub fn tools<T: RunTools<S>>(mut self) -> Self {
        self.tools.extend(crate::tool::from_run_tools::<T, S>());
        self
    }

    /// Adds a tool that was made by hand.
    #[must_use]
    pub fn dyn_tool(mut self, tool: Arc<dyn Tool<S>>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Shows the schemas of tools as they were written, with every keyword of JSON Schema, and
    /// not in the form that all hosts take: see [`schema`](crate::schema). For tools of another
    /// server, and for hosts that are known.
    ///
    /// Hosts drop a tool, or a whole list, for a schema that they do not understand. What the
    /// derives write is in that form anyway.
    #[must_use]
    pub fn schemas_as_written(mut self) -> Self {
        self.tool_rules.as_written = true;
        self
    }

    /// Whether the arguments of each call are held against the input schema of the tool, before
    /// the tool is called. Default yes, in every build with the feature `validate`; without it,
    /// what a schema says beyond the type of the tool (`range`, `length`, `pattern`) is shown and
    /// not held.
    ///
    /// Arguments that do not fit are answered with a failed result that says where and what was
    /// expected, for the model to call again. `null` for what may be left out is taken, and so is
    /// what a derived tool reads although it is not shown, such as `#[serde(alias)]`. The
    /// schema is compiled when the tool is registered; one that cannot be is refused. It is
    /// trusted: for tools that another server describes, turn this off.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validate_input(mut self, validate: bool) -> Self {
        self.tool_rules.compile_input = COMPILE.0.filter(|_| validate);
        self
    }

    /// Whether the structured output of each tool is held against its output schema. Default
    /// in a build with debug assertions only.
    ///
    /// An output that does not fit becomes an internal error, and a warning in the log says
    /// where it does not. A number that JSON does not have, NaN or an infinity, is `null` and
    /// fits no schema of a number. What a schema refers to outside of itself is never fetched.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validate_output(mut self, validate: bool) -> Self {
        self.tool_rules.compile = COMPILE.1.filter(|_| validate);
        self
    }

    /// Adds something that can be read at one URI.
    #[must_use]
    pub fn resource(mut self, resource: impl Resource<S>) -> Self {
        self.resources.push(Arc::new(resource));
        self
    }

    /// Adds what can be read at the URIs of a template. A URI that more than one template fits
    /// is read from the first one that has something there, and a [`resource`](Self::resource)
    /// of that URI comes before all of them.
    #[must_use]
    pub fn template(mut self, template: impl Template<S>) -> Self {
        self.templates.push(Box::new(template));
        self
    }

    /// Adds the files of a directory.
    #[must_use]
    pub fn directory(self, directory: Directory) -> Self {
        self.template(directory)
    }

    /// How long clients may keep the lists of resources and what they have read. Default not
    /// at all.
    #[must_use]
    pub fn resource_cache(mut self, cache: Cache) -> Self {
        self.resource_cache = cache;
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt<P: Render<S>>(self) -> Self {
        self.dyn_prompt(crate::prompt::from_render::<P, S>())
    }

    /// Adds a prompt that was made by hand.
    #[must_use]
    pub fn dyn_prompt(mut self, prompt: Arc<dyn Prompt<S>>) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Offers tools, resources and prompts although there may be none: their lists are empty
    /// until some are added while the server runs. Some hosts ask for every list, and take an
    /// error for a failed connection.
    #[must_use]
    pub fn empty_lists(mut self) -> Self {
        self.empty_lists = true;
        self
    }

    /// Wraps every call in a tower layer. Of several, the first is the outermost.
    ///
    /// The layer is applied once, when the server is built, and its service is cloned for each
    /// call, so the service has to be `Clone`. One that is not, such as tower's `RateLimit`,
    /// goes under a `BufferLayer`, in one stack: a second `.layer` would see them apart. A
    /// buffer has to be built within a tokio runtime.
    ///
    /// ```
    /// # use mcp_server::{Attempt, Server};
    /// use std::time::Duration;
    /// use tower::ServiceBuilder;
    /// use tower::buffer::BufferLayer;
    /// use tower::limit::RateLimitLayer;
    /// use tower::timeout::TimeoutLayer;
    ///
    /// let server = Server::new("patient", "1.0.0")
    ///     .layer(TimeoutLayer::new(Duration::from_secs(30)))
    ///     .layer(
    ///         ServiceBuilder::new()
    ///             .layer(BufferLayer::<Attempt>::new(64))
    ///             .layer(RateLimitLayer::new(10, Duration::from_secs(1))),
    ///     );
    /// ```
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<Next> + Send + 'static,
        L::Service: Service<Attempt, Response = Outcome> + Clone + Send + Sync + 'static,
        <L::Service as Service<Attempt>>::Error: Into<BoxError>,
        <L::Service as Service<Attempt>>::Future: Send,
    {
        let apply = move |next| Next::layered(layer.layer(next));
        self.layers.push(Box::new(apply));
        self
    }

    /// Is shown the `tracing` span of each call before it is entered, when a parent can still be
    /// set: a tower layer is inside of the span, where that is too late. Only if there is one:
    /// where no subscriber wants the span (its level is `info`), this is not called, so what has
    /// to be done for every call belongs into a [`layer`](Self::layer). Runs where messages are
    /// read, so it must neither wait nor panic. See the [crate](crate#spans) for what is in
    /// a span.
    ///
    /// With `tracing-opentelemetry`, `set_parent` is its `OpenTelemetrySpanExt::set_parent` of
    /// what a propagator has extracted:
    ///
    /// ```
    /// # fn set_parent(_: &tracing::Span, _: &str, _: Option<&str>) {}
    /// use mcp_server::Server;
    ///
    /// let server = Server::new("traced", "1.0.0").on_span(|span, attempt| {
    ///     if let Some(trace) = attempt.meta().trace_context() {
    ///         set_parent(span, trace.traceparent(), trace.tracestate());
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn on_span(mut self, show: impl Fn(&Span, &Attempt) + Send + Sync + 'static) -> Self {
        self.on_span = Some(Arc::new(show));
        self
    }

    /// Calls in flight on the whole server. Default 512. Stops clients from piling up work;
    /// a call beyond it is answered `server_busy`.
    #[must_use]
    pub fn max_in_flight(mut self, calls: usize) -> Self {
        self.max_in_flight = calls;
        self
    }

    /// Calls in flight on one connection. Default half of [`max_in_flight`], at least 1. Stops
    /// one client from using up what others need. A server that ever has one client only may
    /// as well let it have all.
    ///
    /// [`max_in_flight`]: Self::max_in_flight
    #[must_use]
    pub fn max_in_flight_per_connection(mut self, calls: usize) -> Self {
        self.share = Some(calls);
        self
    }

    /// Bytes that one connection's calls in flight may keep in memory. Default 64 MiB.
    /// Stops a client from filling memory with few large calls; a call beyond it is answered
    /// `server_busy`.
    #[must_use]
    pub fn in_flight_bytes(mut self, bytes: usize) -> Self {
        self.in_flight_bytes = bytes;
        self
    }

    /// Bytes written to a connection that its client has not read. Default 64 MiB. Beyond it,
    /// reading pauses until the client reads. Stops a client that writes and never reads from
    /// filling memory; large enough that one which writes a lot before it reads is not stuck.
    #[must_use]
    pub fn output_bytes(mut self, bytes: usize) -> Self {
        self.output_bytes = bytes;
        self
    }

    /// How long calls may go on once their client is gone or the server shuts down. Default
    /// 1 s; zero cancels them at once. Stops a stuck handler from keeping the process alive.
    ///
    /// A call that waits for its user's answer then is not waited for: it ends at once, without
    /// a reply. Requests that still come are not answered.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.config.limits.grace = grace;
        self
    }

    /// How long the last replies may take to be read. Default 2 s. Stops a client that does
    /// not read from keeping the process alive.
    #[must_use]
    pub fn flush(mut self, flush: Duration) -> Self {
        self.flush = flush;
        self
    }

    /// Items on one page of a list. Default all: many hosts read the first page only. Stops
    /// one reply from growing with what is registered.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        self.page_size = items;
        self
    }

    /// The keys that what clients carry between rounds is authenticated with: the first one
    /// for what is sent, all of them for what comes back. Default one that is made when the
    /// server is built. Servers that answer for one another share theirs; to change a key, the
    /// new one is put first until the old one's states have expired.
    #[must_use]
    pub fn state_keys(mut self, keys: impl IntoIterator<Item = StateKey>) -> Self {
        self.state_keys = keys.into_iter().collect();
        self
    }

    /// How long what a client carries is taken. Default 10 minutes. Stops an old answer from
    /// being used for ever.
    #[must_use]
    pub fn state_age(mut self, age: Duration) -> Self {
        self.state_age = age;
        self
    }

    /// The longest state that a client is made to carry, in bytes. Default 64 KiB. Stops
    /// answers from piling up.
    #[must_use]
    pub fn state_bytes(mut self, bytes: usize) -> Self {
        self.state_bytes = bytes;
        self
    }

    /// Rounds of questions in one call. Default 8. Stops a handler from asking for ever.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// The other bounds of a connection.
    #[must_use]
    pub fn limits(mut self, set: impl FnOnce(&mut Limits)) -> Self {
        set(&mut self.config.limits);
        self
    }

    /// The code of `server_busy`. Default -31503; clients should look at `data.error` instead.
    #[must_use]
    pub fn busy_code(mut self, code: ErrorCode) -> Self {
        self.config.busy_code = code;
        self
    }

    /// Checks the description and makes a server of it.
    ///
    /// # Errors
    ///
    /// When something in the description cannot work: see [`BuildError`].
    pub fn build(self) -> Result<ServerHandle<S>, BuildError> {
        self.check_limits()?;
        let share = self.share.unwrap_or((self.max_in_flight / 2).max(1));
        if share > self.max_in_flight {
            return Err(BuildError::ShareTooLarge {
                share,
                max_in_flight: self.max_in_flight,
            });
        }
        let mut config = self.config;
        let state = Arc::new(self.state);
        let bound = |(name, bind): (String, BindHandler<S>)| (name, bind(state.clone()));
        let handlers = by_method(self.notifications.into_iter().map(bound), is_heard)?;
        let methods = by_method(self.methods, mcp_protocol::Method::is_custom)?;
        config.methods = methods.iter().map(|(name, _)| name.clone()).collect();
        config.capabilities.extensions = declared(self.extensions)?;
        let router = Arc::new(Router {
            state,
            methods,
            tools: Tools::new(self.tool_rules),
            prompts: Prompts::default(),
            resources: Resources::new(self.resource_cache),
            page_size: self.page_size,
        });
        for tool in self.tools {
            router.tools.add(tool)?;
        }
        for prompt in self.prompts {
            router.prompts.add(prompt)?;
        }
        for resource in self.resources {
            router.resources.add(resource)?;
        }
        for template in self.templates {
            router.resources.add_template(template)?;
        }
        let all = self.empty_lists;
        if all || !router.resources.is_empty() {
            let capability = ResourcesCapability::new()
                .subscribe(true)
                .list_changed(true);
            config.capabilities.resources = Some(capability);
        }
        if all || !router.tools.is_empty() {
            config.capabilities.tools = Some(ToolsCapability::new().list_changed(true));
        }
        if all || !router.prompts.is_empty() {
            config.capabilities.prompts = Some(PromptsCapability::new().list_changed(true));
        }
        if all || !router.prompts.is_empty() || router.resources.has_templates() {
            config.capabilities.completions = Some(Declared::new());
        }
        let mut keys = self.state_keys;
        if keys.is_empty() {
            keys.push(StateKey::random());
        }
        let service = self
            .layers
            .into_iter()
            .rev()
            .fold(Next::innermost(router.clone()), |next, apply| apply(next));
        Ok(ServerHandle {
            parts: Arc::new(Parts {
                config: Arc::new(config),
                service,
                handlers: Arc::new(handlers),
                on_span: self.on_span,
                in_flight: InFlight::new(self.max_in_flight),
                share,
                in_flight_bytes: self.in_flight_bytes,
                output_bytes: self.output_bytes,
                flush: self.flush,
                rules: Arc::new(Rules {
                    seal: Seal {
                        keys,
                        age: self.state_age,
                        max_bytes: self.state_bytes,
                    },
                    most: self.rounds,
                }),
                stop: watch::Sender::new(Stop::No),
                changes: Changes::default(),
                counters: Arc::default(),
                paces: Arc::default(),
            }),
            router,
        })
    }

    fn check_limits(&self) -> Result<(), BuildError> {
        let limits = &self.config.limits;
        let zero = [
            ("max_in_flight", self.max_in_flight == 0),
            ("max_in_flight_per_connection", self.share == Some(0)),
            ("in_flight_bytes", self.in_flight_bytes == 0),
            ("output_bytes", self.output_bytes == 0),
            ("flush", self.flush.is_zero()),
            ("page_size", self.page_size == 0),
            ("state_age", self.state_age.is_zero()),
            ("state_bytes", self.state_bytes == 0),
            ("rounds", self.rounds == 0),
            ("versions", self.config.versions.is_empty()),
            ("limits.batch", limits.batch == 0),
            ("limits.listens", limits.listens == 0),
            ("limits.subscriptions", limits.subscriptions == 0),
            ("limits.asks", limits.asks == 0),
            ("limits.ask", limits.ask.is_zero()),
        ];
        match zero.into_iter().find(|(_, zero)| *zero) {
            Some((name, _)) => Err(BuildError::ZeroLimit { name }),
            None => Ok(()),
        }
    }

    /// Builds the server and serves one client, until that is done.
    ///
    /// # Errors
    ///
    /// When the description is wrong, and as [`ServerHandle::serve`].
    pub async fn serve(self, transport: impl Transport) -> Result<(), ServeError> {
        self.build()?.serve(transport).await
    }

    /// Builds the server and serves the process that started this one, over stdin and stdout.
    ///
    /// # Errors
    ///
    /// When the description is wrong, and as [`ServerHandle::serve_stdio`].
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        self.build()?.serve_stdio().await
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.config.info)
            .field("tools", &self.tools.len())
            .field("prompts", &self.prompts.len())
            .finish_non_exhaustive()
    }
}
