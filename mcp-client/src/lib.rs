//! Model Context Protocol clients.
//!
//! One handle for a server of any revision from 2024-11-05 to 2026-07-28: over a child process that it
//! starts, watches and ends, or over any transport. What was a request in one revision and is a
//! result in another is the same call here.
//!
//! ```no_run
//! use mcp_client::{Client, ClientError};
//! use serde_json::json;
//!
//! # #[cfg(feature = "stdio")]
//! # async fn doc() -> Result<(), ClientError> {
//! let client = Client::spawn("npx", ["-y", "@modelcontextprotocol/server-everything"]).await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call("echo", json!({ "message": "hello" })).await?;
//! println!("{:?}", result.content);
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # The way of a call
//!
//! ```text
//!  Call ─► cache ─► rounds ─► turn ─► driver ─► connection ─► transport ─► server
//!             questions │ ▲                │ ▲
//!   of a result (2026)  ▼ │    of a server ▼ │ (up to 2025)
//!                      Host               Host
//! ```
//!
//! The connection, a value of [`mcp_protocol::connection`], relates messages to each other. One
//! task drives it: it reads, decides and writes, and waits for nobody. A [`Call`] is
//! made in the task that awaits it, and its result gets its type there; dropping it there
//! cancels it.
//!
//! # When things go wrong
//!
//! Everything that waits for a server waits for a time: 60 s to connect and for each call, if
//! nothing else is said. When the server ends, or cannot be reached any more, all calls fail at
//! once, and [`ClientError::Closed`] says how it ended, what it wrote to standard error last, and
//! whether the request may have reached it. Nothing is ever called twice by itself.
//!
//! ```no_run
//! # use std::time::Duration;
//! # use mcp_client::{Client, ClientError};
//! # use serde_json::json;
//! # async fn doc(client: Client) {
//! let call = client.call("ship", json!({ "to": "here" })).timeout(Duration::from_secs(5));
//! match call.await {
//!     Ok(result) if result.is_error == Some(true) => println!("the tool failed: {:?}", result.content),
//!     Ok(result) => println!("{:?}", result.content),
//!     Err(ClientError::Rpc(error)) => println!("the server refused: {error}"),
//!     Err(ClientError::Closed { written: false, .. }) => println!("not shipped, and safe to try again"),
//!     Err(error) => println!("it may have been shipped, or not: {error}"),
//! }
//! # }
//! ```
//!
//! # Where things are
//!
//! | to | see |
//! |---|---|
//! | connect | [`Client::spawn`], [`Client::connect`], [`Client::builder`] |
//! | say how a server is started | `child::ServerCommand` |
//! | call | [`Client::call_tool`] by type, [`Client::call`] by name, [`Client::request`] for anything |
//! | limit, follow or give up a call | [`Call`] |
//! | answer what a server asks | [`Host`] |
//! | hear of changes | [`Client::listen`]; [`Client::notifications`] for everything |
//! | have a server started again | [`ClientBuilder::restart`] |
//! | notice that one is gone without a word | [`ClientBuilder::ping_every`] |
//! | know what went wrong | [`ClientError`], [`Closed`] |
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `stdio` | yes | servers as child processes: [`Client::spawn`] and the module `child` |
//! | `validate` | no | `ClientBuilder::validate_output`: outputs have to fit the schemas of their tools |

#![cfg_attr(not(feature = "stdio"), allow(rustdoc::broken_intra_doc_links))]

#[cfg(test)]
extern crate self as mcp_client;

mod answers;
mod builder;
mod cache;
mod call;
mod client;
mod connect;
mod drive;
mod error;
mod feed;
mod host;
mod hub;
mod link;
mod listen;
mod process;
mod replies;
mod turns;
#[cfg(feature = "validate")]
mod validate;

pub use async_trait::async_trait;
pub use mcp_protocol::connection::{CallError, Change, NegotiationError, Peer};
pub use mcp_protocol::tool::ToolArgs;
pub use mcp_protocol::{
    ClientNotification, ClientRequest, ErrorCode, ErrorObject, Method, ProtocolVersion, RawJson,
    ServerNotification, ServerResult, Shared, transport, types,
};
#[cfg(feature = "stdio")]
pub use mcp_transport_stdio::child;

pub use builder::ClientBuilder;
pub use call::Call;
pub use client::{Client, WeakClient};
pub use connect::Opening;
pub use error::{ClientError, Closed};
pub use feed::Feed;
pub use host::Host;
pub use listen::Listening;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
