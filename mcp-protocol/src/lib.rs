//! The Model Context Protocol as types and a connection value.
//!
//! Every revision from 2024-11-05 to 2026-07-28: one set of types, one table of methods, and
//! [`ServerConnection`](connection::ServerConnection) and
//! [`ClientConnection`](connection::ClientConnection), which take what a peer sends and say
//! what to do about it. There is no I/O in this crate, no clock, no async and no runtime; it
//! can be used alone, by a proxy, a test or another SDK.
//!
//! ```text
//!  bytes ─► Incoming ─► ServerConnection ─► Start { request: ClientRequest, caller }
//!           (a frame,     │        ▲
//!            read once)   │        └── reply(call, ServerResult)
//!                         ▼
//!                       Send(ServerMessage) ─► bytes
//! ```
//!
//! ```
//! use std::sync::Arc;
//!
//! use mcp_protocol::connection::{Output, ServerConfig, ServerConnection};
//! use mcp_protocol::types::Implementation;
//! use mcp_protocol::{Encode, Frame, Incoming};
//!
//! let config = ServerConfig::new(Implementation::new("example", "1.0.0"));
//! let mut connection = ServerConnection::new(Arc::new(config));
//!
//! let line = Frame::from_static(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
//! connection.receive(Incoming::parse(&line));
//!
//! let Some(Output::Send(reply)) = connection.poll() else { panic!("a ping is answered") };
//! let mut text = Vec::new();
//! reply.message.encode(&mut text);
//! assert_eq!(text, br#"{"jsonrpc":"2.0","id":"a","result":{}}"#);
//! ```
//!
//! # What holds everywhere
//!
//! * Lenient inbound: unknown members, words, content types and capabilities never fail a
//!   message, and are kept where somebody may pass them on. Strict outbound: `null` is never
//!   written for what is absent, and [`compat`] says what the peer's revision has no room for as
//!   that revision says it. Members that are new to a peer are sent all the same.
//! * JSON whose type is not known here stays [`RawJson`], byte for byte.
//! * An id is kept exactly, with its type.
//! * Nothing that a peer sends panics or fails: it is answered, or ignored.
//!
//! # I want to …
//!
//! | change | open |
//! |---|---|
//! | a method | one row in `methods.rs`, its parameters and result in `types/` |
//! | to follow a new revision | `version.rs`, the ranges in `methods.rs`, [`compat`] |
//! | an ordering rule of the specification | `connection/calls.rs`, `session.rs` or `subscriptions.rs`, of a client `client.rs` or `negotiate.rs`; a script and a promise in the tests |
//! | a limit | [`connection::Limits`], and the place that counts |
//! | who is taken for whom | `connection/classify.rs`, the one place that decides the era |
//! | a transport | implement [`transport::Transport`] |
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `schemars` | no | `JsonSchema` for the wire types |

mod busy;
pub mod compat;
pub mod connection;
mod error;
mod jsonrpc;
mod meta;
mod methods;
mod shared;
pub mod tool;
pub mod transport;
pub mod types;
mod version;
mod wire;

pub use busy::{BusyData, BusyScope, SERVER_BUSY};
pub use error::{
    ErrorCode, ErrorObject, MissingCapabilityData, UnsupportedVersionData,
    UrlElicitationRequiredData,
};
pub use jsonrpc::{
    BadMessage, Batch, Encode, Frame, Incoming, Message, Notification, ProgressToken, RawJson,
    ReplyId, Request, RequestId, Response,
};
pub use meta::{Meta, NotificationMeta, RequestMeta, ResultMeta, TraceContext};
pub use methods::{
    ClientNotification, ClientRequest, ClientResult, Method, ResultError, ServerNotification,
    ServerRequest, ServerResult,
};
pub use shared::Shared;
pub use version::{Era, ProtocolVersion, UnknownVersion};
pub use wire::Extra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
