//! `server_busy`: how a call is refused because there are too many.
//!
//! The protocol asks servers to limit the rate of calls and names no error for it, so this is
//! this SDK's own, with a code outside of the ranges that JSON-RPC and the protocol reserve.

use crate::error::{ErrorCode, ErrorObject};
use crate::jsonrpc::RawJson;
use crate::wire::{wire, words};

/// The message of a `server_busy` error, and the `error` member of its data.
pub const SERVER_BUSY: &str = "server_busy";

words! {
    /// Whose share is used up.
    pub enum BusyScope {
        /// This connection's.
        Connection = "connection",
        /// The whole server's.
        Server = "server",
    }
}

wire! {
    /// The `data` of a `server_busy` error.
    ///
    /// A client that wants to know whether to try again later matches `error`, never the
    /// number of the code, which a server can choose.
    pub struct BusyData {
        /// [`SERVER_BUSY`].
        required "error" => error: String,
        /// Whose share is used up.
        required "scope" => scope: BusyScope,
        /// How large the share is.
        required "limit" => limit: u64,
        /// The method that was called.
        required "method" => method: String,
        /// What the limit counts, if not calls: `bytes`.
        optional "unit" => unit: String,
    }
}

impl BusyData {
    /// The error that carries this.
    #[must_use]
    pub fn into_error(self, code: ErrorCode) -> ErrorObject {
        ErrorObject::new(code, SERVER_BUSY)
            .data(RawJson::encode(&self).expect("strings and numbers always encode"))
    }
}
