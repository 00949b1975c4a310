//! The Model Context Protocol as types and a connection value.

mod busy;
pub mod compat;
pub mod connection;
mod error;
mod jsonrpc;
mod meta;
mod methods;
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
pub use meta::{Meta, NotificationMeta, RequestMeta, ResultMeta};
pub use methods::{
    ClientNotification, ClientRequest, ClientResult, Method, ResultError, ServerNotification,
    ServerRequest, ServerResult,
};
pub use version::{Era, ProtocolVersion, UnknownVersion};
pub use wire::Extra;
