//! The parts of a server that the specification does not know.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use mcp_protocol::{ErrorObject, Method, RawJson};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Server;
use crate::context::Context;
use crate::custom::{AnsweredBy, handled_by, object};
use crate::error::BuildError;
use crate::key::{is_key, is_reserved};
use crate::named::Named;

impl<S: Send + Sync + 'static> Server<S> {
    /// Answers requests of a method of one's own, in every revision.
    ///
    /// Such a request is work like a call of a tool: it is counted among the calls in flight,
    /// goes through the layers and can be cancelled. Its parameters, without `_meta`, have to
    /// fit `P`, or it is refused with -32602; [`Context::meta`] has the rest. What the closure
    /// returns has to be an object, or nothing (`()`), which becomes an empty one. It cannot
    /// [ask](Context::input), as the specification lets only its own methods.
    ///
    /// A method of the specification, an empty name and one that begins with `rpc.`, which
    /// JSON-RPC has reserved, are refused when the server is built.
    ///
    /// ```
    /// use mcp_server::prelude::*;
    /// use mcp_server::ErrorObject;
    ///
    /// #[derive(Deserialize)]
    /// struct Reindex {
    ///     table: String,
    /// }
    ///
    /// #[derive(Serialize)]
    /// struct Reindexed {
    ///     rows: u64,
    /// }
    ///
    /// let server = Server::new("db", "1.0.0").method(
    ///     "acme/reindex",
    ///     async |params: Reindex, cx: Context| {
    ///         if params.table.is_empty() {
    ///             return Err(ErrorObject::invalid_params("which table?"));
    ///         }
    ///         cx.notify("acme/locked", Reindexed { rows: 3 });
    ///         Ok(Reindexed { rows: 3 })
    ///     },
    /// );
    /// # server.build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn method<P, F, A, R>(mut self, name: impl Into<String>, answer: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, Context<S>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, ErrorObject>> + Send,
        R: Serialize,
    {
        let method = Box::new(AnsweredBy::new(answer));
        self.methods.push((name.into(), method));
        self
    }

    /// Handles notifications of a method of one's own, or that a client up to 2025-11-25 has
    /// other roots (`notifications/roots/list_changed`, without parameters).
    ///
    /// Those of one connection are handled one after another, beside its calls; each takes a
    /// slot of the calls in flight until it has been, and where none is free it is dropped. So
    /// is one whose parameters do not fit `P`. What the client has sent before its end is
    /// still handled, for as long as [`grace`](Self::grace) lets it.
    ///
    /// The other names of the specification are refused, as they are for a
    /// [`method`](Self::method): what they tell is the server's to know, not its tools'.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use mcp_server::prelude::*;
    ///
    /// #[derive(Deserialize)]
    /// struct Seen {
    ///     rows: u64,
    /// }
    ///
    /// let server = Server::with_state("db", "1.0.0", AtomicU64::new(0)).on_notification(
    ///     "acme/seen",
    ///     async |seen: Seen, state: Arc<AtomicU64>| {
    ///         state.fetch_add(seen.rows, Ordering::Relaxed);
    ///     },
    /// );
    /// # server.build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn on_notification<P, F, H>(mut self, name: impl Into<String>, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, Arc<S>) -> H + Send + Sync + 'static,
        H: Future<Output = ()> + Send + 'static,
    {
        let bind = Box::new(move |state| handled_by(handle, state));
        self.notifications.push((name.into(), bind));
        self
    }

    /// Declares a protocol extension, with its settings: an object, or `()` for an empty one.
    ///
    /// What the extension adds is the application's to do; whether the client has declared it
    /// too is said by [`Caller::extension`](crate::Caller::extension). Extensions are of
    /// 2026-07-28; clients of older revisions are told as well, and may not know the word. An
    /// identifier without prefix, such as `com.acme/` is one, is refused when the server is
    /// built, and so is one with a reserved prefix (its second label is `modelcontextprotocol`
    /// or `mcp`), but for the specification's own, `io.modelcontextprotocol/`.
    ///
    /// ```
    /// use mcp_server::prelude::*;
    ///
    /// let server = Server::new("db", "1.0.0").extension("com.acme/replicas", ());
    /// # server.build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// Spec: [extensions](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities).
    #[must_use]
    pub fn extension(mut self, identifier: impl Into<String>, settings: impl Serialize) -> Self {
        self.extensions.push((identifier.into(), object(&settings)));
        self
    }
}

/// The prefix of the specification's own extensions, which anybody may build. The others that
/// are reserved have none.
const OFFICIAL: &str = "io.modelcontextprotocol/";

/// The settings of an extension, if they are an object.
pub(super) type Settings = Option<RawJson>;

/// Whether notifications of this method can be handled.
pub(super) fn is_heard(method: &Method) -> bool {
    method.is_custom() || *method == Method::RootsListChanged
}

/// Handlers by their method, which each has to have for itself, and which has to be allowed.
pub(super) fn by_method<H>(
    handlers: impl IntoIterator<Item = (String, H)>,
    is_allowed: fn(&Method) -> bool,
) -> Result<Named<H>, BuildError> {
    let mut by_method = Named::default();
    for (name, handler) in handlers {
        if !is_allowed(&Method::from(&*name)) {
            return Err(BuildError::MethodName { name });
        }
        if by_method.insert(name.clone(), handler).is_some() {
            return Err(BuildError::DuplicateMethod { name });
        }
    }
    Ok(by_method)
}

/// What is declared of extensions, if there is one.
pub(super) fn declared(
    extensions: Vec<(String, Settings)>,
) -> Result<Option<BTreeMap<String, RawJson>>, BuildError> {
    let mut declared = BTreeMap::new();
    for (identifier, settings) in extensions {
        let why = match settings {
            _ if !is_key(&identifier) || !identifier.contains('/') => {
                "its identifier has no prefix such as `com.acme/`"
            }
            _ if is_reserved(&identifier) && !identifier.starts_with(OFFICIAL) => {
                "its prefix is reserved"
            }
            _ if declared.contains_key(&identifier) => "it is declared twice",
            None => "its settings are not an object",
            Some(settings) => {
                declared.insert(identifier, settings);
                continue;
            }
        };
        return Err(BuildError::Extension { identifier, why });
    }
    Ok((!declared.is_empty()).then_some(declared))
}
