//! What a tool does: the traits that the author of a server implements.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_protocol::tool::{ArgumentError, ToolArgs, ToolSet};
use mcp_protocol::types::{CallToolResult, Tool as Definition};
use mcp_protocol::{ErrorObject, RawJson};

use crate::blocking;
use crate::content::IntoContent;
use crate::context::Context;
use crate::error::ToolError;

/// What a tool does.
///
/// The derive says what the tool is called and which arguments it takes; this says what it does
/// with them. It is written as an `async fn`:
///
/// ```
/// use mcp_server::prelude::*;
///
/// /// Greets a person.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Greet {
///     /// Who is greeted.
///     name: String,
/// }
///
/// impl Run for Greet {
///     async fn run(self, _: &Context) -> Result<String, ToolError> {
///         Ok(format!("Hello, {}!", self.name))
///     }
/// }
/// ```
///
/// `S` is the state of the server, which [`Context::state`] gives. When the call is cancelled
/// the future is dropped. A tool that blocks the thread implements [`RunBlocking`] instead: here
/// it could hold up all that its connection does, until it goes on.
///
/// # Without the derive
///
/// What `#[derive(Tool)]` writes for `Greet` is this:
///
/// ```
/// # use mcp_server::prelude::*;
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Greet { /** Who is greeted. */ name: String }
/// use mcp_server::schema::{closed_input_schema, decode_closed_arguments};
/// use mcp_server::{ArgumentError, RawJson, ToolArgs, types};
///
/// impl ToolArgs for Greet {
///     type Output = String;
///
///     const NAME: &'static str = "greet";
///
///     fn definition() -> types::Tool {
///         types::Tool::new(Self::NAME, closed_input_schema::<Self>())
///             .description("Greets a person.")
///     }
///
///     fn parse(arguments: &RawJson) -> Result<Self, ArgumentError> {
///         decode_closed_arguments(arguments)
///     }
///
///     fn result(output: String) -> serde_json::Result<types::CallToolResult> {
///         output.into_content()
///     }
/// }
/// # /// Greets a person.
/// # #[derive(Deserialize, JsonSchema, Tool)]
/// # #[tool(name = "greet")]
/// # struct Derived { /** Who is greeted. */ name: String }
/// # assert_eq!(Greet::definition(), Derived::definition());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it does on a server whose state is `{S}`",
    label = "write `impl Run<{S}> for {Self}`, with an `async fn run(self, cx: &Context<{S}>)`",
    note = "the state is what `Server::with_state` is given; that of `Server::new` is `()`"
)]
pub trait Run<S = ()>: ToolArgs {
    /// Does it.
    ///
    /// # Errors
    ///
    /// When it could not be done; see [`ToolError`] for who gets to read which error.
    // Shown by the compiler when a future is not `Send`.
    fn run(self, cx: &Context<S>) -> impl Running<Self::Output> + Send; // `Arc` for `Rc`; drop guards before `.await`
}

/// A future that ends with an output or an error: `Future<Output = Result<O, ToolError>>`.
///
/// Every such future is one, and so is an `async fn` that returns `Result<O, ToolError>`. It has
/// a name so that the compiler can say what [`Run::run`] has to return.
#[diagnostic::on_unimplemented(
    message = "`run` has to be an `async fn` that returns `Result<{O}, ToolError>` here",
    label = "return that, or say what else it gives: `#[tool(content = …)]` or `#[tool(output = …)]`"
)]
pub trait Running<O>: Future<Output = Result<O, ToolError>> {}

#[diagnostic::do_not_recommend]
impl<O, F: Future<Output = Result<O, ToolError>>> Running<O> for F {}

/// What a tool does that blocks the thread: computes for long, or waits for a file or a lock.
///
/// Each call runs on a thread that is not the runtime's, so that other calls go on. A thread
/// cannot be stopped: a cancelled call is not answered, but it runs to its end, and counts as
/// in flight until then.
///
/// ```
/// use mcp_server::prelude::*;
///
/// /// Counts the words of a file.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// #[tool(content = usize, read_only)]
/// struct CountWords {
///     path: String,
/// }
///
/// impl RunBlocking for CountWords {
///     fn run(self, _: &Context) -> Result<usize, ToolError> {
///         Ok(std::fs::read_to_string(&self.path)?.split_whitespace().count())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it does on a server whose state is `{S}`",
    label = "write `impl RunBlocking<{S}> for {Self}`, with a `fn run(self, cx: &Context<{S}>)`",
    note = "the state is what `Server::with_state` is given; that of `Server::new` is `()`"
)]
pub trait RunBlocking<S = ()>: ToolArgs {
    /// Does it, on a thread of its own.
    ///
    /// # Errors
    ///
    /// When it could not be done; see [`ToolError`] for who gets to read which error.
    fn run(self, cx: &Context<S>) -> Result<Self::Output, ToolError>;
}

/// What each tool of a set does.
///
/// One `async fn` with a `match`, which the compiler checks for completeness:
///
/// ```
/// use mcp_server::prelude::*;
///
/// #[derive(Tools)]
/// enum Counter {
///     /// Adds to the count.
///     Add {
///         /// How much.
///         amount: u32,
///     },
///     /// Shows the count.
///     #[tool(read_only)]
///     Show,
/// }
///
/// impl RunTools for Counter {
///     async fn run(self, _: &Context) -> Result<impl IntoContent, ToolError> {
///         Ok(match self {
///             Self::Add { amount } => amount,
///             Self::Show => 0,
///         })
///     }
/// }
/// ```
///
/// Branches that give different things turn them into a result themselves; see [`IntoContent`].
/// Write the return type with `impl IntoContent`: the compiler warns of a more exact one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what its tools do on a server whose state is `{S}`",
    label = "write `impl RunTools<{S}> for {Self}`, with an \
             `async fn run(self, cx: &Context<{S}>) -> Result<impl IntoContent, ToolError>`"
)]
pub trait RunTools<S = ()>: ToolSet {
    /// Does what the variant says.
    ///
    /// A variant with `#[tool(output = T)]` returns [`Structured`](crate::Structured) of a `T`,
    /// or fails. That it is structured is checked when it runs; that it is of a `T` only where
    /// [outputs are validated](crate#features).
    ///
    /// # Errors
    ///
    /// When it could not be done; see [`ToolError`] for who gets to read which error.
    fn run(
        self,
        cx: &Context<S>,
    ) -> impl Future<Output = Result<impl IntoContent + Send, ToolError>> + Send;
}

/// A tool as the server holds it: a definition, and a way to call it.
///
/// The server makes one from [`Run`], [`RunBlocking`] and each variant of [`RunTools`].
/// A closure becomes one by [`tool_fn`]. Implement it directly for another tool that is only known
/// at run time, such as one that is forwarded to another server:
///
/// ```
/// use mcp_server::prelude::*;
/// use mcp_server::{RawJson, Tool, async_trait, types};
///
/// struct Echo;
///
/// #[async_trait]
/// impl Tool<()> for Echo {
///     fn definition(&self) -> types::Tool {
///         types::Tool::new("echo", RawJson::empty_object())
///     }
///
///     async fn call(
///         &self,
///         arguments: RawJson,
///         _: Context<()>,
///     ) -> Result<types::CallToolResult, ToolError> {
///         Ok(arguments.to_string().into_content()?)
///     }
/// }
/// ```
#[async_trait]
pub trait Tool<S>: Send + Sync + 'static {
    /// What `tools/list` shows. Asked for once, when the tool is registered; the schemas need
    /// not be [conservative](crate::schema) yet.
    fn definition(&self) -> Definition;

    /// Answers one call. The arguments are an object; nothing else has been checked, but where
    /// [inputs are validated](crate#features).
    ///
    /// # Errors
    ///
    /// When it could not be done; see [`ToolError`] for who gets to read which error.
    async fn call(&self, arguments: RawJson, cx: Context<S>) -> Result<CallToolResult, ToolError>;

    /// Whether arguments are of the type of the tool, if it has one: what such a tool takes and
    /// refuses is its own, and only the bounds that a schema adds are held besides.
    #[doc(hidden)]
    fn read(&self, arguments: &RawJson) -> Option<Result<(), ArgumentError>> {
        let _ = arguments;
        None
    }
}

/// A tool that a closure does: for one whose name and schema are only known at run time, or
/// are written by hand.
///
/// The arguments are an object. Whether they fit the schema is only checked where [inputs are
/// validated](crate#features). With an output schema, the closure returns
/// [`Structured`](crate::Structured), which is held against it in the same way.
///
/// ```
/// use std::sync::Arc;
///
/// use mcp_server::prelude::*;
/// use mcp_server::{RawJson, tool_fn, types};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "key": { "type": "string" } } });
/// let definition = types::Tool::new("lookup", schema).description("Look a key up.");
/// let lookup = tool_fn(definition, async |arguments: RawJson, cx: Context<String>| {
///     Ok(format!("{}: {arguments}", cx.state()))
/// });
/// let server = Server::with_state("table", "1.0.0", "found".to_owned()).dyn_tool(Arc::new(lookup));
/// # server.build()?;
/// # Ok::<(), BuildError>(())
/// ```
pub fn tool_fn<S, F, C, R>(definition: Definition, call: F) -> impl Tool<S>
where
    S: Send + Sync + 'static,
    F: Fn(RawJson, Context<S>) -> C + Send + Sync + 'static,
    C: Future<Output = Result<R, ToolError>> + Send,
    R: IntoContent,
{
    CalledBy { definition, call }
}

struct CalledBy<F> {
    definition: Definition,
    call: F,
}

#[async_trait]
impl<S, F, C, R> Tool<S> for CalledBy<F>
where
    S: Send + Sync + 'static,
    F: Fn(RawJson, Context<S>) -> C + Send + Sync + 'static,
    C: Future<Output = Result<R, ToolError>> + Send,
    R: IntoContent,
{
    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    async fn call(&self, arguments: RawJson, cx: Context<S>) -> Result<CallToolResult, ToolError> {
        let content = (self.call)(arguments, cx).await?.into_content();
        content.map_err(unwritable)
    }
}

/// A tool that awaits.
pub(crate) fn from_run<T: Run<S>, S: Send + Sync + 'static>() -> Arc<dyn Tool<S>> {
    Arc::new(Awaiting::<T>(PhantomData))
}

/// A tool that blocks.
pub(crate) fn from_run_blocking<T: RunBlocking<S>, S: Send + Sync + 'static>() -> Arc<dyn Tool<S>> {
    Arc::new(Blocking::<T>(PhantomData))
}

/// The tools of a set, in their order.
pub(crate) fn from_run_tools<T: RunTools<S>, S: Send + Sync + 'static>() -> Vec<Arc<dyn Tool<S>>> {
    let member = |definition| -> Arc<dyn Tool<S>> {
        Arc::new(Member::<T> {
            definition,
            set: PhantomData,
        })
    };
    T::definitions().into_iter().map(member).collect()
}

struct Awaiting<T>(PhantomData<fn() -> T>);

#[async_trait]
impl<T: Run<S>, S: Send + Sync + 'static> Tool<S> for Awaiting<T> {
    fn definition(&self) -> Definition {
        T::definition()
    }

    async fn call(&self, arguments: RawJson, cx: Context<S>) -> Result<CallToolResult, ToolError> {
        match T::parse(&arguments) {
            Ok(tool) => T::result(tool.run(&cx).await?).map_err(unwritable),
            Err(error) => Ok(misfit(T::NAME, &error)),
        }
    }

    fn read(&self, arguments: &RawJson) -> Option<Result<(), ArgumentError>> {
        Some(T::parse(arguments).map(drop))
    }
}

struct Blocking<T>(PhantomData<fn() -> T>);

#[async_trait]
impl<T: RunBlocking<S>, S: Send + Sync + 'static> Tool<S> for Blocking<T> {
    fn definition(&self) -> Definition {
        T::definition()
    }

    async fn call(&self, arguments: RawJson, cx: Context<S>) -> Result<CallToolResult, ToolError> {
        match T::parse(&arguments) {
            Ok(tool) => blocking::run(cx, |cx| T::result(tool.run(cx)?).map_err(unwritable)).await,
            Err(error) => Ok(misfit(T::NAME, &error)),
        }
    }

    fn read(&self, arguments: &RawJson) -> Option<Result<(), ArgumentError>> {
        Some(T::parse(arguments).map(drop))
    }
}

/// One tool of a set.
struct Member<T> {
    definition: Definition,
    set: PhantomData<fn() -> T>,
}

#[async_trait]
impl<T: RunTools<S>, S: Send + Sync + 'static> Tool<S> for Member<T> {
    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    async fn call(&self, arguments: RawJson, cx: Context<S>) -> Result<CallToolResult, ToolError> {
        let name = &self.definition.name;
        let tool = match T::parse(name, &arguments) {
            Some(Ok(tool)) => tool,
            Some(Err(error)) => return Ok(misfit(name, &error)),
            None => {
                let error = format!("the tool `{name}` is listed, but its set does not know it");
                return Err(ToolError::refused(ErrorObject::internal(error)));
            }
        };
        let content = tool.run(&cx).await?.into_content();
        content.map_err(unwritable)
    }

    fn read(&self, arguments: &RawJson) -> Option<Result<(), ArgumentError>> {
        T::parse(&self.definition.name, arguments).map(|read| read.map(drop))
    }
}

#[cold]
fn unwritable(error: serde_json::Error) -> ToolError {
    tracing::error!(%error, "the output of a tool cannot be JSON");
    ToolError::refused(ErrorObject::internal("the output cannot be JSON"))
}

/// The answer to arguments that do not fit. It is the model's to read, which can then call
/// again, so it is not an error of the protocol.
pub(crate) fn misfit(name: &str, error: &ArgumentError) -> CallToolResult {
    CallToolResult::error(format!("invalid arguments for `{name}`: {error}"))
}
