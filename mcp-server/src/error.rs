//! Errors: of a tool, of serving, and what comes out of a layer.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use mcp_protocol::ErrorObject;
use mcp_protocol::transport::TransportError;
use tower::BoxError;

use crate::attempt::{Needs, Outcome};
use crate::schema::SchemaError;

/// Why a tool did not give a result.
///
/// Any error converts into one, so `?` works in a tool; what the model then reads is the
/// error's text. For a result whose error is not a [`std::error::Error`] (`anyhow`'s, or a
/// boxed one) there is [`ToolResultExt::tool`].
#[derive(Debug)]
pub struct ToolError(pub(crate) Kind);

#[derive(Debug)]
pub(crate) enum Kind {
    Failed(String),
    Refused(ErrorObject),
    Needs(Needs),
    Down(ServiceDown),
}

impl ToolError {
    /// The tool failed, in a way that a model can read and act upon.
    ///
    /// Becomes a result with `isError`, which only tools have: of a prompt it becomes an
    /// internal error with this message. Spec: [tool errors].
    ///
    /// [tool errors]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
    #[must_use]
    pub fn failed(message: impl fmt::Display) -> Self {
        Self(Kind::Failed(message.to_string()))
    }

    /// The request itself is refused, with a JSON-RPC error that the model may never see.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(Kind::Refused(error))
    }

    /// What it means for any request but a tool's, which alone has a result that failed.
    pub(crate) fn into_outcome(self) -> Result<Outcome, BoxError> {
        match self.0 {
            Kind::Failed(message) => Ok(Outcome::Refused(ErrorObject::internal(message))),
            Kind::Refused(error) => Ok(Outcome::Refused(error)),
            Kind::Needs(needs) => Ok(Outcome::Needs(needs)),
            Kind::Down(down) => Err(down.into()),
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error: BoxError = Box::new(error);
        match error.downcast::<ServiceDown>() {
            Ok(down) => Self(Kind::Down(*down)),
            Err(error) => Self::failed(error),
        }
    }
}

/// Turns the errors of other results into [`ToolError`]s.
pub trait ToolResultExt<T> {
    /// The value, or a [`ToolError`] that says what the error says.
    ///
    /// # Errors
    ///
    /// When the result is one.
    fn tool(self) -> Result<T, ToolError>;
}

impl<T, E: fmt::Display> ToolResultExt<T> for Result<T, E> {
    fn tool(self) -> Result<T, ToolError> {
        self.map_err(ToolError::failed)
    }
}

/// The service can do no more work.
///
/// A layer or a handler that returns this ends the whole server, whose
/// [`serve`](crate::Server::serve) then returns [`ServeError::Down`]. A layer that is not
/// ready because of an error, which to tower means that it never will be again, is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceDown {
    reason: String,
}

impl ServiceDown {
    /// Says why.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }

    pub(crate) fn because(error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(down) => *down,
            Err(error) => Self::new(error.to_string()),
        }
    }
}

impl fmt::Display for ServiceDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl StdError for ServiceDown {}

/// What an error out of the layers means for the call, or for everything.
pub(crate) fn sort(error: BoxError) -> Result<ErrorObject, ServiceDown> {
    let error = match error.downcast::<ServiceDown>() {
        Ok(down) => return Err(*down),
        Err(error) => error,
    };
    let error = match error.downcast::<ErrorObject>() {
        Ok(refusal) => return Ok(*refusal),
        Err(error) => error,
    };
    if error.is::<tower::timeout::error::Elapsed>() {
        return Ok(ErrorObject::internal("the call timed out"));
    }
    // What went wrong inside is for the log, not for the peer.
    tracing::error!(%error, "a layer failed");
    Ok(ErrorObject::internal("internal error"))
}

/// Why a server cannot be built: what is wrong, and where.
///
/// Its `Debug` says the same as its `Display`, for it is what a `main` that returns it prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A limit of zero would let nothing through.
    #[error("the limit `{name}` is zero, which lets nothing through")]
    ZeroLimit {
        /// The name of the limit.
        name: &'static str,
    },
    /// A connection was given more than the whole server has.
    #[error(
        "`max_in_flight_per_connection` is {share}, which is more than the {max_in_flight} of \
         `max_in_flight` for the whole server"
    )]
    ShareTooLarge {
        /// The share.
        share: usize,
        /// All there is.
        max_in_flight: usize,
    },
    /// A name that hosts refuse. Spec: [tool names].
    ///
    /// [tool names]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
    #[error("the tool name {name:?} is not 1 to 128 of A-Z a-z 0-9 _ - .")]
    ToolName {
        /// The name.
        name: String,
    },
    /// Two tools of one name, of which a client could call but one.
    #[error(
        "two tools are named {name:?}: rename one of them, by `#[tool(name = \"…\")]` if it is derived"
    )]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// A resource whose URI is none: it has to begin with a scheme and to hold no spaces.
    #[error("{uri:?} is no URI: it begins with a scheme, as `file:///` does, and holds no spaces")]
    ResourceUri {
        /// The URI.
        uri: String,
    },
    /// Two resources at one URI, of which a client could read but one.
    #[error("two resources are at {uri:?}")]
    DuplicateResource {
        /// The URI.
        uri: String,
    },
    /// A URI template that is none, or beyond what can be matched: see
    /// [`Template`](crate::Template).
    #[error("the URI template {template:?} has, at byte {at}, {why}")]
    UriTemplate {
        /// The template.
        template: String,
        /// Bytes before the place.
        at: usize,
        /// What is there.
        why: &'static str,
    },
    /// The same URI template twice.
    #[error("two templates of resources are {template:?}")]
    DuplicateTemplate {
        /// The template.
        template: String,
    },
    /// A prompt without a name, which no client could get.
    #[error("a prompt has no name")]
    PromptWithoutName,
    /// Two prompts of one name, of which a client could get but one.
    #[error(
        "two prompts are named {name:?}: rename one, by `#[prompt(name = \"…\")]` if it is derived"
    )]
    DuplicatePrompt {
        /// The name.
        name: String,
    },
    /// A method that an application cannot have: one of the specification's, one that begins
    /// with `rpc.`, or none.
    #[error(
        "the method {name:?} is not one that an application can have: name it such as `acme/reindex`"
    )]
    MethodName {
        /// The name.
        name: String,
    },
    /// Two handlers of one method, or of notifications of one method.
    #[error("the method {name:?} has two handlers")]
    DuplicateMethod {
        /// The name.
        name: String,
    },
    /// An extension that cannot be declared.
    #[error("the extension {identifier:?} cannot be declared: {why}")]
    Extension {
        /// The identifier.
        identifier: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A schema that hosts cannot use.
    #[error("the {which} schema of the tool {name:?}: {error}")]
    Schema {
        /// The tool.
        name: String,
        /// Whether the input or the output schema.
        which: &'static str,
        /// What is wrong with it, and where.
        error: SchemaError,
    },
}

/// Why [`serve`](crate::Server::serve) ended, if not because the client was done.
///
/// Its `Debug` says the same as its `Display`, for it is what a `main` that returns it prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The server's description is wrong.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The process's own streams cannot be used.
    #[error("cannot serve stdio: {0}")]
    Stdio(#[source] io::Error),
    /// The transport failed. A client that has gone away is no failure.
    #[error("the transport failed: {0}")]
    Transport(#[source] TransportError),
    /// The service said that it can do no more work.
    #[error("the service is down: {0}")]
    Down(#[source] ServiceDown),
    /// The connection's task panicked, which is a bug in the transport or in this crate.
    #[error("the connection panicked: {0}")]
    Panicked(String),
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
