//! Cancellation.
//!
//! Spec: [cancellation](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation).

use crate::RequestId;
use crate::meta::NotificationMeta;
use crate::wire::wire;

wire! {
    /// The parameters of `notifications/cancelled`.
    pub open struct CancelledParams {
        /// The request that is no longer wanted. Only 2025-11-25 may leave it out, for tasks.
        optional "requestId" => request_id: RequestId,
        /// Why, for a log or a person.
        optional "reason" => reason: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }
}
