//! Progress.
//!
//! Spec: [progress](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress).

use crate::ProgressToken;
use crate::meta::NotificationMeta;
use crate::wire::wire;

wire! {
    /// The parameters of `notifications/progress`.
    pub open struct ProgressParams {
        /// What the request asked for them with.
        required "progressToken" => progress_token: ProgressToken,
        /// How far it is; more with each notification.
        required "progress" => progress: f64,
        /// How far it will be in the end, if that is known.
        optional "total" => total: f64,
        /// What is being done, for people. Since 2025-03-26.
        optional "message" => message: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }
}
