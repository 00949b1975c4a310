//! Model Context Protocol servers.
//!
//! Tools are derived from types, every call goes through tower layers, each connection has a
//! fair share of the calls in flight, and any transport carries it. A handler is written once
//! for every revision of the protocol.
//!
//! ```no_run
//! use mcp_server::prelude::*;
//!
//! /// Arithmetic.
//! #[derive(Tools)]
//! enum Calculator {
//!     /// Add two numbers.
//!     Add { a: f64, b: f64 },
//!     /// Divide a by b.
//!     Divide { a: f64, b: f64 },
//! }
//!
//! impl RunTools for Calculator {
//!     async fn run(self, _cx: &Context) -> Result<impl IntoContent, ToolError> {
//!         match self {
//!             Self::Add { a, b } => Ok(a + b),
//!             Self::Divide { b: 0.0, .. } => Err(ToolError::failed("cannot divide by zero")),
//!             Self::Divide { a, b } => Ok(a / b),
//!         }
//!     }
//! }
//!
//! # async fn main_() -> Result<(), ServeError> {
//! Server::new("calculator", "1.0.0").tools::<Calculator>().serve_stdio().await
//! # }
//! ```
//!
//! The [guides](guide) take one task each, from the first server to serving HTTP.
//!
//! # The way of a call
//!
//! ```text
//!  transport ─ frame ─► connection ─ Start ─► limit ─► your layers ─► router ─► tool
//!      ▲                    │ ▲                                                  │
//!      └────── message ─────┘ └───────────── progress, log, outcome ◄────────────┘
//! ```
//!
//! The connection, a value of [`mcp_protocol::connection`], relates messages to each other; a
//! layer sees one [`Attempt`] and gives one [`Outcome`]; a tool sees its arguments and a
//! [`Context`]. A call that exceeds what its connection or the server may have in flight is
//! answered `server_busy` at once: see [`limit`].
//!
//! # Where things are
//!
//! | to | see |
//! |---|---|
//! | write a tool | [`Run`], [`RunTools`] for several, [`RunBlocking`] for one that blocks, [`tool_fn`] for a closure |
//! | give something to read | [`StaticResource`], [`Directory`], [`Resource`], [`Template`] |
//! | say what a tool takes and gives | `#[derive(Tool)]`, `#[derive(Tools)]`, [`IntoContent`], [`schema`] |
//! | write a prompt | [`Render`], `#[derive(Prompt)]`, [`IntoMessages`] |
//! | read or write `_meta` | [`Context::meta`], [`Context::add_meta`], [`Attempt::meta`] |
//! | ask the user | [`Context::input`], [`input`], `#[derive(Form)]` |
//! | have methods, notifications or extensions of your own | [`Server::method`], [`Server::on_notification`], [`Context::notify`], [`Server::extension`] |
//! | put a server together | [`Server`] |
//! | wrap every call | [`Server::layer`] |
//! | serve many connections, shut down | [`ServerHandle`] |
//! | see how busy it is | [`ServerHandle::stats`] |
//! | test it | `testing` |
//! | trace its calls | [spans](#spans), [`Server::on_span`] |
//!
//! # Spans
//!
//! Each call is a `tracing` span, `mcp.call`, at the level `info`. It has the attributes that
//! OpenTelemetry's [conventions for MCP] give a server's span, and the fields from which
//! `tracing-opentelemetry` takes a name, a kind and a status. Handlers and layers run within
//! it. It is no child of the connection's span, `mcp.connection`, which it follows: to make it
//! a child of the client's, see [`Server::on_span`].
//!
//! | field | of a call | of a connection |
//! |---|---|---|
//! | `otel.name` | method, and tool or prompt | |
//! | `otel.kind` | `server` | |
//! | `otel.status_code` | `ERROR`, if there is an `error.type` | the same |
//! | `mcp.method.name` | method | |
//! | `mcp.protocol.version` | revision, which tells the era | |
//! | `mcp.resource.uri` | URI that is read | |
//! | `jsonrpc.request.id` | id | |
//! | `gen_ai.operation.name` | `execute_tool` of a tool | |
//! | `gen_ai.tool.name`, `gen_ai.prompt.name` | tool, prompt | |
//! | `network.transport` | what carries it, if the [transport](transport::Transport::network) says so | the same |
//! | `traceparent`, `tracestate` | what the client says of its trace, if it is well-formed | |
//! | `outcome` | `done`, `input_required`, `failed`: a tool says so, `refused`: an error, `busy`, `timed_out`: by tower's timeout, `panicked`, `cancelled`: also by the end of the connection, `down` | |
//! | `rpc.response.status_code` | code of the error | |
//! | `error.type` | the same; `tool_error`, `down` | `down`, `panicked`, `transport` |
//!
//! What a client can choose is cut: URIs to 2,048 letters, all else to 128; only `tracestate` is
//! as long as W3C lets it be. Arguments, results
//! and the texts of errors are not told, and no `mcp.session.id` is, as no transport here has
//! one. A last event, at the level `debug`, says how many seconds it took:
//! `mcp.server.operation.duration` of a call, `mcp.server.session.duration` of a connection.
//! One call is one span, also when it asks a client up to 2025-11-25 in its course.
//!
//! [conventions for MCP]: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `stdio` | yes | [`Server::serve_stdio`], `testing` |
//! | `signal` | no | `ServerHandle::shut_down_on_signal` |
//! | `validate` | no | `Server::validate_input`: arguments have to fit their schemas; without it, what a schema says beyond a type (`range`, `length`, `pattern`) is shown and not held. `Server::validate_output`: in debug builds, so have outputs |
//!
//! A handler that panics costs its own call only, which is answered with an error. That needs
//! unwinding: with `panic = "abort"` in a profile, one panic ends the process.

mod attempt;
mod blocking;
mod cache;
mod canonical;
mod changes;
mod content;
mod context;
mod custom;
mod derived;
mod error;
mod events;
mod field;
pub mod guide;
mod handle;
pub mod input;
mod key;
pub mod limit;
mod named;
mod output;
mod pace;
mod prompt;
mod registry;
mod resource;
mod rounds;
mod router;
pub mod schema;
mod seal;
mod serve;
mod server;
#[cfg(feature = "signal")]
mod signal;
mod span;
mod stats;
#[cfg(feature = "stdio")]
pub mod testing;
mod tool;
#[cfg(feature = "validate")]
mod validate;
mod work;

pub use async_trait::async_trait;
pub use mcp_macros::{Prompt, Tool, Tools};
pub use mcp_protocol::connection::{Caller, Limits, ServerConfig};
pub use mcp_protocol::tool::{ArgumentError, ToolArgs, ToolSet};
pub use mcp_protocol::{
    ClientRequest, ErrorCode, ErrorObject, Method, ProtocolVersion, RawJson, RequestMeta,
    ServerNotification, ServerResult, Shared, TraceContext, transport, types,
};
pub use schemars;

pub use attempt::{Attempt, Needs, Next, Outcome};
pub use cache::Cache;
pub use changes::Changes;
pub use content::{IntoContent, Json, Structured};
pub use context::Context;
pub use error::{BuildError, ServeError, ServiceDown, ToolError, ToolResultExt};
pub use handle::ServerHandle;
pub use prompt::{IntoMessages, Prompt, PromptArgs, Render, optional_argument, required_argument};
pub use resource::{Directory, Resource, StaticResource, Template, Variables, base64, resource_fn};
pub use seal::StateKey;
pub use serve::Serving;
pub use server::Server;
pub use stats::Stats;
pub use tool::{Run, RunBlocking, RunTools, Running, Tool, tool_fn};

/// What a server needs: `use mcp_server::prelude::*;`.
pub mod prelude {
    pub use schemars::{self, JsonSchema};
    pub use serde::{Deserialize, Serialize};

    pub use crate::input::Form;
    pub use crate::{
        BuildError, Context, IntoContent, IntoMessages, Json, Prompt, Render, Run, RunBlocking,
        RunTools, ServeError, Server, ServerHandle, Structured, Tool, ToolError, ToolResultExt,
        Tools,
    };
}

/// What the derives name. Not for use by hand: everything here has a public home.
#[doc(hidden)]
pub mod __private {
    pub use mcp_protocol::RawJson;
    pub use mcp_protocol::tool::{ArgumentError, ToolArgs, ToolSet};
    pub use mcp_protocol::types::{
        CallToolResult, Icon, Prompt, PromptArgument, Properties, RequestedSchema,
        SingleSelectSchema, StringFormat, TitledChoice, Tool, ToolAnnotations,
    };
    pub use schemars;
    pub use serde;
    pub use serde_json;

    pub use crate::content::IntoContent;
    pub use crate::derived::{Described, ReadArguments, WriteOutput};
    pub use crate::field::{Choice, FieldSchema, at_least, at_most, field, of_format, preset};
    pub use crate::input::Form;
    pub use crate::prompt::{PromptArgs, optional_argument, required_argument};
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
