//! What a prompt says: the traits that the author of a server implements.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_protocol::ErrorObject;
use mcp_protocol::tool::ArgumentError;
use mcp_protocol::types::{GetPromptResult, Prompt as Definition, PromptMessage};

use crate::context::Context;
use crate::error::ToolError;

/// Longest message of an error, in characters. What a client sent may be quoted in it.
const MESSAGE: usize = 400;

/// The arguments of a prompt, and what a person who chooses it may know of it.
///
/// Implemented by `#[derive(Prompt)]`, for a struct; [`Render`] says what becomes of them. By
/// hand it is this much:
///
/// ```
/// use std::collections::BTreeMap;
///
/// use mcp_server::types::{Prompt, PromptArgument};
/// use mcp_server::{ArgumentError, PromptArgs, optional_argument, required_argument};
///
/// struct Review {
///     code: String,
///     lines: Option<usize>,
/// }
///
/// impl PromptArgs for Review {
///     const NAME: &'static str = "review";
///
///     fn definition() -> Prompt {
///         Prompt::new(Self::NAME)
///             .description("Asks for a review.")
///             .arguments(vec![
///                 PromptArgument::new("code").required(true),
///                 PromptArgument::new("lines").description("How many to look at."),
///             ])
///     }
///
///     fn parse(arguments: &BTreeMap<String, String>) -> Result<Self, ArgumentError> {
///         Ok(Self {
///             code: required_argument(arguments, "code")?,
///             lines: optional_argument(arguments, "lines")?,
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which prompt it is",
    label = "derive it on a struct with named fields: `#[derive(Prompt)]`"
)]
pub trait PromptArgs: Sized + Send + 'static {
    /// The name that a client asks for.
    const NAME: &'static str;

    /// What `prompts/list` shows.
    fn definition() -> Definition;

    /// Reads the arguments, which are always strings. One that the prompt does not have means
    /// nothing.
    ///
    /// # Errors
    ///
    /// When they do not fit, with the name of the one that does not.
    fn parse(arguments: &BTreeMap<String, String>) -> Result<Self, ArgumentError>;
}

/// Reads an argument of a prompt that has to be there.
///
/// # Errors
///
/// When it is not there, or the text means nothing to the type.
pub fn required_argument<T: FromStr<Err: fmt::Display>>(
    arguments: &BTreeMap<String, String>,
    name: &str,
) -> Result<T, ArgumentError> {
    optional_argument(arguments, name)?.ok_or_else(|| missing(name))
}

/// Reads an argument of a prompt that may be left out. The empty string is an argument.
///
/// # Errors
///
/// When the text means nothing to the type.
pub fn optional_argument<T: FromStr<Err: fmt::Display>>(
    arguments: &BTreeMap<String, String>,
    name: &str,
) -> Result<Option<T>, ArgumentError> {
    arguments
        .get(name)
        .map(|text| text.parse())
        .transpose()
        .map_err(|error: T::Err| {
            let message: String = error.to_string().chars().take(MESSAGE).collect();
            ArgumentError::new(name, message)
        })
}

pub(crate) fn missing(name: &str) -> ArgumentError {
    ArgumentError::new("", format!("the argument `{name}` is missing"))
}

/// What a prompt says.
///
/// The derive says what the prompt is called and which arguments it takes; this says which
/// messages it makes of them. It is written as an `async fn`:
///
/// ```
/// use std::collections::BTreeMap;
///
/// use mcp_server::prelude::*;
///
/// /// Asks for a review of code.
/// #[derive(Prompt)]
/// struct Review {
///     /// The code.
///     code: String,
///     /// The language that it is written in.
///     language: Option<String>,
/// }
///
/// impl Render for Review {
///     async fn render(self, _: &Context) -> Result<impl IntoMessages, ToolError> {
///         let language = self.language.as_deref().unwrap_or("some language");
///         Ok(format!("Review this, which is written in {language}:\n\n{}", self.code))
///     }
///
///     async fn complete(
///         argument: &str,
///         value: &str,
///         _: &BTreeMap<String, String>,
///         _: &Context,
///     ) -> Vec<String> {
///         let known: &[&str] = match argument {
///             "language" => &["rust", "ruby", "python"],
///             _ => &[],
///         };
///         let known = known.iter().filter(|known| known.starts_with(value));
///         known.map(|&known| known.to_owned()).collect()
///     }
/// }
///
/// let server = Server::new("reviewer", "1.0.0").prompt::<Review>().build()?;
/// # Ok::<(), BuildError>(())
/// ```
///
/// `S` is the state of the server, which [`Context::state`] gives. When the call is cancelled
/// the future is dropped. Write the return type with `impl IntoMessages`: the compiler warns
/// of a more exact one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it renders on a server whose state is `{S}`",
    label = "write `impl Render<{S}> for {Self}`, with an \
             `async fn render(self, cx: &Context<{S}>) -> Result<impl IntoMessages, ToolError>`"
)]
pub trait Render<S = ()>: PromptArgs {
    /// Makes the messages.
    ///
    /// # Errors
    ///
    /// When it could not be done. A prompt has no result that says so, as a tool has: the text
    /// of [`ToolError::failed`] becomes the message of an internal error (-32603).
    fn render(
        self,
        cx: &Context<S>,
    ) -> impl Future<Output = Result<impl IntoMessages + Send, ToolError>> + Send;

    /// Proposes values for an argument, the best first, of which `value` is written so far;
    /// `context` has the arguments that are decided already. Proposes nothing unless written.
    ///
    /// Only asked about arguments that the prompt has. A client gets the first 100.
    fn complete(
        argument: &str,
        value: &str,
        context: &BTreeMap<String, String>,
        cx: &Context<S>,
    ) -> impl Future<Output = Vec<String>> + Send {
        let _ = (argument, value, context, cx);
        async { Vec::new() }
    }
}

/// What a prompt may give.
///
/// Text is one message of the user's. Called by the server on what a prompt returns; one whose
/// branches give different things calls it itself, as a [`GetPromptResult`] will do as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the messages of a prompt",
    label = "return text, a `PromptMessage`, several of them in a `Vec`, or a `GetPromptResult`"
)]
pub trait IntoMessages {
    /// Writes it as a result.
    fn into_messages(self) -> GetPromptResult;
}

impl IntoMessages for GetPromptResult {
    fn into_messages(self) -> GetPromptResult {
        self
    }
}

impl IntoMessages for Vec<PromptMessage> {
    fn into_messages(self) -> GetPromptResult {
        GetPromptResult::new(self)
    }
}

impl IntoMessages for PromptMessage {
    fn into_messages(self) -> GetPromptResult {
        vec![self].into_messages()
    }
}

impl IntoMessages for String {
    fn into_messages(self) -> GetPromptResult {
        PromptMessage::user(self).into_messages()
    }
}

impl IntoMessages for &str {
    fn into_messages(self) -> GetPromptResult {
        self.to_owned().into_messages()
    }
}

/// A prompt as the server holds it: a definition, and a way to get its messages.
///
/// The server makes one from [`Render`]. Implement it directly for a prompt that is only known
/// at run time, such as one that is read from a file:
///
/// ```
/// use std::collections::BTreeMap;
///
/// use mcp_server::prelude::*;
/// use mcp_server::{Prompt, async_trait, types};
///
/// struct Saved {
///     name: String,
///     text: String,
/// }
///
/// #[async_trait]
/// impl Prompt<()> for Saved {
///     fn definition(&self) -> types::Prompt {
///         types::Prompt::new(&self.name)
///     }
///
///     async fn get(
///         &self,
///         _: BTreeMap<String, String>,
///         _: Context<()>,
///     ) -> Result<types::GetPromptResult, ToolError> {
///         Ok(self.text.as_str().into_messages())
///     }
/// }
/// ```
#[async_trait]
pub trait Prompt<S>: Send + Sync + 'static {
    /// What `prompts/list` shows. Asked for once, when the prompt is registered.
    fn definition(&self) -> Definition;

    /// Makes the messages. The required arguments are there, and nothing else has been checked.
    ///
    /// # Errors
    ///
    /// When it could not be done: see [`Render::render`].
    async fn get(
        &self,
        arguments: BTreeMap<String, String>,
        cx: Context<S>,
    ) -> Result<GetPromptResult, ToolError>;

    /// Proposes values for an argument that the definition has: see [`Render::complete`].
    async fn complete(
        &self,
        argument: &str,
        value: &str,
        context: &BTreeMap<String, String>,
        cx: Context<S>,
    ) -> Vec<String>
    where
        S: Send + Sync + 'static,
    {
        let _ = (argument, value, context, cx);
        Vec::new()
    }
}

/// A prompt that is rendered.
pub(crate) fn from_render<P: Render<S>, S: Send + Sync + 'static>() -> Arc<dyn Prompt<S>> {
    Arc::new(Rendered::<P>(PhantomData))
}

struct Rendered<P>(PhantomData<fn() -> P>);

#[async_trait]
impl<P: Render<S>, S: Send + Sync + 'static> Prompt<S> for Rendered<P> {
    fn definition(&self) -> Definition {
        P::definition()
    }

    async fn get(
        &self,
        arguments: BTreeMap<String, String>,
        cx: Context<S>,
    ) -> Result<GetPromptResult, ToolError> {
        let prompt = P::parse(&arguments).map_err(|error| ToolError::refused(misfit(&error)))?;
        Ok(prompt.render(&cx).await?.into_messages())
    }

    async fn complete(
        &self,
        argument: &str,
        value: &str,
        context: &BTreeMap<String, String>,
        cx: Context<S>,
    ) -> Vec<String> {
        P::complete(argument, value, context, &cx).await
    }
}

/// The answer to arguments that do not fit.
pub(crate) fn misfit(error: &ArgumentError) -> ErrorObject {
    ErrorObject::invalid_params(format!("Invalid params: {error}"))
}
