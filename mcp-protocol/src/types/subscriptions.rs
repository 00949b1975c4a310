//! Who wants to hear of which change.
//!
//! Spec: [subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).

use super::ResultType;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::wire::wire;

wire! {
    /// The parameters of `resources/subscribe` and `resources/unsubscribe`.
    /// Up to 2025-11-25.
    pub open struct SubscribeParams {
        /// Which resource.
        required "uri" => uri: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The parameters of `subscriptions/listen`. Since 2026-07-28.
    pub open struct ListenParams {
        /// What is wanted.
        required "notifications" => notifications: SubscriptionFilter,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// Which changes somebody hears of. Since 2026-07-28.
    pub open struct SubscriptionFilter {
        /// The list of tools.
        optional "toolsListChanged" => tools_list_changed: bool,
        /// The list of prompts.
        optional "promptsListChanged" => prompts_list_changed: bool,
        /// The list of resources.
        optional "resourcesListChanged" => resources_list_changed: bool,
        /// These resources, by URI.
        optional "resourceSubscriptions" => resource_subscriptions: Vec<String>,
    }

    /// The parameters of `notifications/subscriptions/acknowledged`. Since 2026-07-28.
    pub open struct AcknowledgedParams {
        /// What was granted of what was wanted.
        required "notifications" => notifications: SubscriptionFilter,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }

    /// The result of `subscriptions/listen`: the subscription has ended. Since 2026-07-28.
    pub open struct ListenResult {
        /// What kind of result this is.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata; names the subscription.
        optional "_meta" => meta: ResultMeta,
    }
}
