//! Streamable HTTP for the Model Context Protocol.
//!
//! [`Http`] makes a tower service of a [`mcp_server`] server, to be mounted in hyper, axum or
//! whatever takes one; [`serve_http`] is for a server that has nothing else to serve. Clients of
//! every revision are served at the same endpoint. [`HttpTransport`] takes a client to a server of
//! any revision.
//!
//! ```no_run
//! use mcp_server::prelude::*;
//!
//! /// Say hello.
//! #[derive(Deserialize, JsonSchema, Tool)]
//! struct Greet {
//!     name: String,
//! }
//!
//! impl Run for Greet {
//!     async fn run(self, _cx: &Context) -> Result<String, ToolError> {
//!         Ok(format!("Hello, {}!", self.name))
//!     }
//! }
//!
//! # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new("greeter", "1.0.0").tool::<Greet>().build()?;
//! mcp_transport_http::serve_http(server, "127.0.0.1:3000").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # The way of a request
//!
//! ```text
//!  POST ─► host and origin ─► body ─┬─ modern ──► a connection of its own ─┬─► JSON, or a stream
//!                                   └─ session ─► its connection ──────────┘
//!  GET ──► host and origin ──────────── session ─► a stream, resumed or not
//! ```
//!
//! A connection is what [`mcp_server`] serves on any transport. Nothing of the protocol is
//! decided here but what HTTP adds to it: headers that repeat the body, statuses, sessions.
//!
//! # What it refuses by itself
//!
//! | what | status |
//! |---|---|
//! | another host or origin than its own | 403 |
//! | a body that is not JSON, or is encoded; answers that the client does not accept | 415, 406 |
//! | a body that is too long, or takes too long | 413, 408 |
//! | too many bodies, streams or sessions: see [`Limits`] | 503 |
//! | headers that say something else than the body, or stand there twice | 400 |
//! | a session that is not there, or is somebody else's | 404 |
//!
//! Authentication is a layer around it: see [`Http::principal`].
//!
//! # The way of a client's message
//!
//! ```text
//!             ┌─ POST, its own ─► endpoint ─┬─ JSON ───────────┐
//!  message ───┤     ▲                       └─ a stream ─┐     ├─► one queue ─► client
//!             │     └ cancelled: closed         GET ◄ cut off  │
//!             └─ legacy: GET, a stream of the server's own ────┘
//! ```
//!
//! What is sent waits for nothing but the beginning of a session. What comes waits when the
//! client does not take it. A request that fails fails alone; a session that is gone ends the
//! connection.
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `server` | yes | [`Http`] |
//! | `serve` | yes | [`serve_http`], [`Http::serve`] |
//! | `client` | no | [`HttpTransport`], [`Authorization`] |

#[cfg(feature = "client")]
mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod headers;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "client")]
pub use async_trait::async_trait;
#[cfg(feature = "client")]
pub use client::{
    Authorization, BoxError, HttpReceiver, HttpSender, HttpTransport, Refused, UrlError, bearer,
};
#[cfg(feature = "server")]
pub use server::{Body, Http, Limits, Peer};
#[cfg(feature = "serve")]
pub use server::{PATH, serve_http};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
