//! Log messages for the client.
//!
//! Deprecated by 2026-07-28, which still has them.
//! Spec: [logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).

use serde::{Deserialize, Serialize};

use crate::RawJson;
use crate::meta::{NotificationMeta, RequestMeta};
use crate::wire::wire;

/// How bad it is, as in RFC 5424. Worse is greater.
///
/// The set is closed: a level that is not known could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoggingLevel {
    /// For debugging.
    Debug,
    /// As it should be.
    Info,
    /// As it should be, but worth a look.
    Notice,
    /// May become an error.
    Warning,
    /// Something failed.
    Error,
    /// A part of the system failed.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

wire! {
    /// The parameters of `logging/setLevel`. Up to 2025-11-25.
    pub open struct SetLevelParams {
        /// The lowest level that is wanted.
        required "level" => level: LoggingLevel,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The parameters of `notifications/message`.
    pub open struct LogMessageParams {
        /// How bad it is.
        required "level" => level: LoggingLevel,
        /// What happened: any JSON, `null` included.
        required "data" => data: RawJson,
        /// Which part of the server says it.
        optional "logger" => logger: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }
}
