//! What a server has to read: the traits that the author of a server implements, and resources
//! that are ready to be used.

mod below;
mod directory;
pub(crate) mod template;

use std::collections::BTreeMap;
use std::future::Future;

use async_trait::async_trait;
use mcp_protocol::types::{
    BlobResourceContents, Resource as Definition, ResourceContents, ResourceTemplate,
    TextResourceContents,
};

use crate::context::Context;
use crate::error::ToolError;

pub use self::directory::Directory;
pub use self::template::Variables;

/// Something that can be read at one URI.
///
/// What is the same at each reading is a [`StaticResource`], and what one closure can read is
/// made by [`resource_fn`]. Clients that have subscribed to it are told that it has changed by
/// [`Changes::resource`](crate::Changes::resource).
///
/// ```
/// use mcp_server::prelude::*;
/// use mcp_server::types::{self, ResourceContents};
/// use mcp_server::{Resource, async_trait};
///
/// struct Uptime(std::time::Instant);
///
/// #[async_trait]
/// impl<S: Send + Sync + 'static> Resource<S> for Uptime {
///     fn definition(&self) -> types::Resource {
///         types::Resource::new("status://uptime", "uptime").mime_type("text/plain")
///     }
///
///     async fn read(&self, _: Context<S>) -> Result<Vec<ResourceContents>, ToolError> {
///         let seconds = self.0.elapsed().as_secs();
///         Ok(vec![ResourceContents::text("status://uptime", seconds.to_string())])
///     }
/// }
///
/// let server = Server::new("status", "1.0.0").resource(Uptime(std::time::Instant::now()));
/// # server.build()?;
/// # Ok::<(), BuildError>(())
/// ```
///
/// Spec: [resources](https://modelcontextprotocol.io/specification/2026-07-28/server/resources).
#[async_trait]
pub trait Resource<S>: Send + Sync + 'static {
    /// What `resources/list` shows. Asked for once, when the resource is registered.
    fn definition(&self) -> Definition;

    /// Reads it. No contents at all are answered as if there were no such resource.
    ///
    /// # Errors
    ///
    /// When it could not be read. A [failure](ToolError::failed) becomes an internal error with
    /// its text.
    async fn read(&self, cx: Context<S>) -> Result<Vec<ResourceContents>, ToolError>;
}

/// Many things that can be read, at the URIs that a template describes.
///
/// A [`Directory`] is one that is ready to be used. The template is one of [RFC 6570], levels 1
/// to 3; a server with another is not built:
///
/// | | made of | takes |
/// |---|---|---|
/// | `{x}` | `v` | at least one letter, up to `/`, `?` or `#` |
/// | `{x,y}` | `v,w` | the same, up to `,` as well |
/// | `{+x}` | `v/w` | anything, slashes as well |
/// | `{#x}` | `#v` | the same |
/// | `{.x}` `{/x}` | `.v` `/v` | as `{x}`; `{/x,y}` is `/v/w` |
/// | `{;x}` | `;x=v` | up to `/`, `?`, `#` or `;` |
/// | `{?x,y}` `{&x}` | `?x=v&y=w` `&x=v` | up to `&` or `#`, in this order |
///
/// Values are percent-decoded, exactly once, so even that of `{x}` can hold a slash. What
/// begins with a sign of its own may be missing, and then has no value. A URI that more than
/// one assignment fits gives each value as few letters as can be. URIs are compared as they
/// are, but for letters that may be escaped or not, such as `é`; one of more than 64 KiB fits
/// none.
///
/// ```
/// use mcp_server::prelude::*;
/// use mcp_server::types::{ResourceContents, ResourceTemplate};
/// use mcp_server::{Template, Variables, async_trait};
///
/// struct Rows;
///
/// #[async_trait]
/// impl Template<()> for Rows {
///     fn definition(&self) -> ResourceTemplate {
///         ResourceTemplate::new("db://{table}/{row}", "row")
///     }
///
///     async fn read(
///         &self,
///         uri: &str,
///         variables: &Variables,
///         _: Context,
///     ) -> Result<Option<Vec<ResourceContents>>, ToolError> {
///         Ok(match (variables.get("table"), variables.get("row")) {
///             (Some("people"), Some("1")) => Some(vec![ResourceContents::text(uri, "Ada")]),
///             _ => None,
///         })
///     }
/// }
///
/// # Server::new("db", "1.0.0").template(Rows).build()?;
/// # Ok::<(), BuildError>(())
/// ```
///
/// [RFC 6570]: https://www.rfc-editor.org/rfc/rfc6570
#[async_trait]
pub trait Template<S>: Send + Sync + 'static {
    /// What `resources/templates/list` shows. Asked for once, when the template is registered.
    fn definition(&self) -> ResourceTemplate;

    /// Reads what is at this URI, which the template fits. `None` if there is nothing, and then
    /// other templates are asked.
    ///
    /// The values come from the client, and nothing about them has been checked.
    ///
    /// # Errors
    ///
    /// When it could not be read. A [failure](ToolError::failed) becomes an internal error with
    /// its text.
    async fn read(
        &self,
        uri: &str,
        variables: &Variables,
        cx: Context<S>,
    ) -> Result<Option<Vec<ResourceContents>>, ToolError>;

    /// Values that a variable may get, of which the client has written the beginning; `context`
    /// has the variables that are decided. None by default.
    ///
    /// Spec: [completion](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion).
    async fn complete(
        &self,
        _variable: &str,
        _value: &str,
        _context: &BTreeMap<String, String>,
        _cx: Context<S>,
    ) -> Vec<String>
    where
        S: Send + Sync + 'static,
    {
        Vec::new()
    }
}

/// A resource that is the same at each reading.
///
/// ```
/// use mcp_server::{Server, StaticResource};
///
/// let server = Server::new("manual", "1.0.0").resource(
///     StaticResource::text("manual://style", "style", "# Style\n\nBe brief.")
///         .describe(|style| style.title("How to write").mime_type("text/markdown")),
/// );
/// # server.build()?;
/// # Ok::<(), mcp_server::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StaticResource {
    definition: Definition,
    contents: ResourceContents,
}

impl StaticResource {
    /// Text, of the media type `text/plain`.
    #[must_use]
    pub fn text(uri: impl Into<String>, name: impl Into<String>, text: impl Into<String>) -> Self {
        let (uri, text) = (uri.into(), text.into());
        Self {
            definition: Definition::new(uri.clone(), name)
                .mime_type("text/plain")
                .size(text.len() as u64),
            contents: TextResourceContents::new(uri, text).into(),
        }
    }

    /// Anything else, of the media type `application/octet-stream`.
    #[must_use]
    pub fn binary(
        uri: impl Into<String>,
        name: impl Into<String>,
        bytes: impl AsRef<[u8]>,
    ) -> Self {
        let (uri, bytes) = (uri.into(), bytes.as_ref());
        Self {
            definition: Definition::new(uri.clone(), name)
                .mime_type("application/octet-stream")
                .size(bytes.len() as u64),
            contents: BlobResourceContents::new(uri, base64(bytes)).into(),
        }
    }

    /// More about it than its URI and name: another media type, a title, a description.
    #[must_use]
    pub fn describe(mut self, describe: impl FnOnce(Definition) -> Definition) -> Self {
        self.definition = describe(self.definition);
        self
    }
}

#[async_trait]
impl<S: Send + Sync + 'static> Resource<S> for StaticResource {
    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    async fn read(&self, _: Context<S>) -> Result<Vec<ResourceContents>, ToolError> {
        let mut contents = self.contents.clone();
        let (uri, mime_type) = match &mut contents {
            ResourceContents::Text(text) => (&mut text.uri, &mut text.mime_type),
            ResourceContents::Blob(blob) => (&mut blob.uri, &mut blob.mime_type),
            _ => return Ok(vec![contents]),
        };
        uri.clone_from(&self.definition.uri);
        mime_type.clone_from(&self.definition.mime_type);
        Ok(vec![contents])
    }
}

/// A resource that a closure reads.
///
/// ```
/// use mcp_server::prelude::*;
/// use mcp_server::{resource_fn, types};
///
/// let definition = types::Resource::new("app://greeting", "greeting");
/// let greeting = resource_fn(definition, async |cx: Context<String>| {
///     Ok(vec![types::ResourceContents::text("app://greeting", cx.state().clone())])
/// });
/// let server = Server::with_state("app", "1.0.0", "hello".to_owned()).resource(greeting);
/// # server.build()?;
/// # Ok::<(), BuildError>(())
/// ```
pub fn resource_fn<S, F, R>(definition: Definition, read: F) -> impl Resource<S>
where
    S: Send + Sync + 'static,
    F: Fn(Context<S>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<ResourceContents>, ToolError>> + Send,
{
    ReadBy { definition, read }
}

struct ReadBy<F> {
    definition: Definition,
    read: F,
}

#[async_trait]
impl<S, F, R> Resource<S> for ReadBy<F>
where
    S: Send + Sync + 'static,
    F: Fn(Context<S>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<ResourceContents>, ToolError>> + Send,
{
    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    async fn read(&self, cx: Context<S>) -> Result<Vec<ResourceContents>, ToolError> {
        (self.read)(cx).await
    }
}

/// Writes bytes as base64, for [`ResourceContents::blob`] and for pictures and sound.
///
/// Spec: [RFC 4648](https://www.rfc-editor.org/rfc/rfc4648#section-4), with padding.
#[must_use]
pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    data_encoding::BASE64.encode(bytes.as_ref())
}
