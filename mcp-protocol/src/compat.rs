//! Every difference between revisions, handled in one place.
//!
//! Types are those of all revisions together, and handlers speak the newest. Before a message
//! is sent it is fitted to the revision that its receiver speaks: what that revision lacks is
//! removed or said in another way, and what it demands is filled in. Fitting twice is fitting
//! once. Nothing here fails: what has no form at all in a revision stays as it is, and that it
//! is not sent there is for capabilities to see to.
//!
//! | what | revisions | the others get | in |
//! |---|---|---|---|
//! | `resultType` of results | from 2026-07-28, `complete` if absent | nothing | [`fit_result`] |
//! | `ttlMs`, `cacheScope` | from 2026-07-28, zero and private if absent | nothing | [`fit_result`] |
//! | result of `ping`, `logging/setLevel`, `resources/subscribe`, `resources/unsubscribe` | up to 2025-11-25, exactly `{}` | – | [`fit_result`] |
//! | result of a custom method | as it is, but for `resultType` | | [`fit_result`] |
//! | reserved members of `_meta` | from 2026-07-28 | nothing | [`fit_request_meta`], [`fit_result_meta`], [`fit_notification_meta`] |
//! | `_meta` of tools, prompts, resources, templates, content, contents, roots | from 2025-06-18 | nothing | each |
//! | `_meta` of a sampling message | from 2025-11-25 | nothing | [`fit_sampling_message`] |
//! | `_meta` of elicitation and sampling parameters, of an elicitation's and roots' results | up to 2025-11-25 | nothing | [`fit_elicit_params`], [`fit_create_message_params`], [`fit_client_result`] |
//! | `inputResponses`, `requestState` | from 2026-07-28 | nothing | [`fit_client_request`] |
//! | `task` of parameters | 2025-11-25 | nothing | [`fit_client_request`], [`fit_elicit_params`], [`fit_create_message_params`] |
//! | `message` of progress | from 2025-03-26 | nothing | [`fit_progress`] |
//! | `context` of completion | from 2025-06-18 | nothing | [`fit_client_request`] |
//! | `completions` of a server | from 2025-03-26 | nothing | [`fit_server_capabilities`] |
//! | `elicitation` of a client | from 2025-06-18 | nothing | [`fit_client_capabilities`] |
//! | `elicitation.form`, `elicitation.url` | from 2025-11-25 | `{}` if it has forms | [`fit_client_capabilities`] |
//! | `sampling.context`, `sampling.tools` | from 2025-11-25 | nothing | [`fit_client_capabilities`] |
//! | `roots.listChanged` | up to 2025-11-25 | nothing | [`fit_client_capabilities`] |
//! | `tasks` of either | 2025-11-25 | nothing | [`fit_client_capabilities`], [`fit_server_capabilities`] |
//! | `extensions` of either | from 2026-07-28 | nothing | [`fit_client_capabilities`], [`fit_server_capabilities`] |
//! | `title` of implementations, tools, prompts, their arguments and references, resources, templates | from 2025-06-18 | nothing | each |
//! | `icons` of implementations, tools, prompts, resources, templates, links | from 2025-11-25 | nothing | each |
//! | `description`, `websiteUrl` of an implementation | from 2025-11-25 | nothing | [`fit_implementation`] |
//! | `annotations.lastModified` | from 2025-06-18 | nothing | [`fit_annotations`] |
//! | `annotations` of a tool | from 2025-03-26 | nothing | [`fit_tool`] |
//! | `execution` of a tool | 2025-11-25 | nothing | [`fit_tool`] |
//! | a property schema of `true` or `false` | from 2026-07-28 | `{}`, `{"not":{}}` | [`fit_tool`] |
//! | `outputSchema`, `structuredContent` | from 2025-06-18 | nothing | [`fit_tool`], [`fit_call_tool_result`] |
//! | the same, not of an object | from 2026-07-28 | `{"result": …}`, as schema and as value | [`fit_tool`], [`fit_call_tool_result`] |
//! | audio content | from 2025-03-26 | an embedded resource; to a model, a note | [`fit_content`], [`fit_sampling_message`] |
//! | resource links | from 2025-06-18 | text: name and URI | [`fit_content`] |
//! | arrays of sampling content | from 2025-11-25 | a message for each block; in a result, one text | [`fit_create_message_params`], [`fit_create_message_result`] |
//! | `tool_use`, `tool_result` | from 2025-11-25 | their JSON, as text | [`fit_sampling_message`] |
//! | `tools`, `toolChoice` of sampling | from 2025-11-25 | nothing | [`fit_create_message_params`] |
//! | `mode` of an elicitation form | from 2025-11-25 | nothing | [`fit_elicit_params`] |
//! | `elicitationId` | 2025-11-25, the URL if absent | nothing | [`fit_elicit_params`] |
//! | `$schema`, `default` (but of a boolean), choices in `oneOf` | from 2025-11-25 | nothing; `enum` and `enumNames` | [`fit_elicit_params`] |
//! | -32002 and -32042 | up to 2025-11-25; 2025-11-25 | -32602; -32600 | [`fit_error`] |
//!
//! No older form exists for an elicitation by web page, for a field with many choices, for
//! content of an unknown kind, and for an `input_required` result.

mod capabilities;
mod client;
mod content;
mod server;

use std::sync::Arc;

pub use self::capabilities::{
    fit_client_capabilities, fit_implementation, fit_server_capabilities,
};
pub use self::client::{
    fit_create_message_params, fit_create_message_result, fit_elicit_params, fit_sampling_message,
};
pub use self::content::{fit_annotations, fit_content, fit_contents};
pub use self::server::{
    fit_call_tool_result, fit_prompt, fit_resource, fit_resource_template, fit_tool,
};
use crate::RawJson;
use crate::error::{ErrorCode, ErrorObject};
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::methods::{
    ClientNotification, ClientRequest, ClientResult, ServerNotification, ServerRequest,
    ServerResult,
};
use crate::types::*;
use crate::version::Era;
use crate::version::ProtocolVersion::{self, *};
use crate::wire::wire;

/// What every result of a method has.
macro_rules! fit_common {
    ($result:expr, $version:expr) => {{
        fit_result_type(&mut $result.result_type, $version);
        fit_result_meta(&mut $result.meta, $version);
    }};
}

/// What the results that may be kept have beside.
macro_rules! fit_cacheable {
    ($result:expr, $version:expr) => {{
        fit_common!($result, $version);
        fit_cache(&mut $result.ttl_ms, &mut $result.cache_scope, $version);
    }};
}

/// Fits what a server answers.
pub fn fit_result(result: &mut ServerResult, version: ProtocolVersion) {
    match result {
        ServerResult::CallTool(result) => {
            fit_common!(result, version);
            fit_call_tool_result(result, version);
        }
        ServerResult::ListTools(result) => {
            fit_cacheable!(result, version);
            each(&mut result.tools, version, fit_tool);
        }
        ServerResult::ListPrompts(result) => {
            fit_cacheable!(result, version);
            each(&mut result.prompts, version, fit_prompt);
        }
        ServerResult::GetPrompt(result) => {
            fit_common!(result, version);
            for message in &mut result.messages {
                fit_content(&mut message.content, version);
            }
        }
        ServerResult::ListResources(result) => {
            fit_cacheable!(result, version);
            each(&mut result.resources, version, fit_resource);
        }
        ServerResult::ListResourceTemplates(result) => {
            fit_cacheable!(result, version);
            let templates = &mut result.resource_templates;
            each(templates, version, fit_resource_template);
        }
        ServerResult::ReadResource(result) => {
            fit_cacheable!(result, version);
            each(&mut result.contents, version, fit_contents);
        }
        ServerResult::Complete(result) => fit_common!(result, version),
        ServerResult::Initialize(result) => {
            fit_common!(result, version);
            fit_server_capabilities(&mut result.capabilities, version);
            fit_implementation(&mut result.server_info, version);
        }
        ServerResult::Discover(result) => {
            fit_cacheable!(result, version);
            fit_server_capabilities(&mut result.capabilities, version);
        }
        ServerResult::Listen(result) => fit_common!(result, version),
        ServerResult::Subscribe(result)
        | ServerResult::Unsubscribe(result)
        | ServerResult::SetLevel(result)
        | ServerResult::Ping(result) => fit_empty(result, version),
        ServerResult::GetTask(result) | ServerResult::CancelTask(result) => {
            fit_common!(result, version);
        }
        ServerResult::GetTaskPayload(result) => fit_common!(result, version),
        ServerResult::ListTasks(result) => fit_common!(result, version),
        ServerResult::InputRequired(result) => {
            fit_result_meta(&mut result.meta, version);
            for request in result
                .input_requests
                .iter_mut()
                .flat_map(|r| r.values_mut())
            {
                fit_input_request(request, version);
            }
        }
        ServerResult::Custom(result) => fit_custom(result, version),
    }
}

/// Fits what a client answers.
///
/// From 2026-07-28 on the answers to elicitation, sampling and roots travel as
/// `inputResponses`, where they are not results and have no `resultType`.
pub fn fit_client_result(result: &mut ClientResult, version: ProtocolVersion) {
    match result {
        ClientResult::CreateMessage(result) => {
            fit_result_meta(&mut result.meta, version);
            fit_create_message_result(result, version);
        }
        ClientResult::Elicit(result) => fit_answer_meta(&mut result.meta, version),
        ClientResult::ListRoots(result) => {
            fit_answer_meta(&mut result.meta, version);
            each(&mut result.roots, version, fit_root);
        }
        ClientResult::Ping(result) => fit_empty(result, version),
        ClientResult::GetTask(result) | ClientResult::CancelTask(result) => {
            fit_common!(result, version);
        }
        ClientResult::GetTaskPayload(result) => fit_common!(result, version),
        ClientResult::ListTasks(result) => fit_common!(result, version),
        ClientResult::InputRequired(result) => fit_result_meta(&mut result.meta, version),
        ClientResult::Custom(result) => fit_custom(result, version),
    }
}

/// Fits what a client asks for.
pub fn fit_client_request(request: &mut ClientRequest, version: ProtocolVersion) {
    fit_request_meta(request.meta_mut(), version);
    let modern = version.era() == Era::Modern;
    match request {
        ClientRequest::CallTool(params) => {
            keep(&mut params.task, version == V2025_11_25);
            keep(&mut params.input_responses, modern);
            keep(&mut params.request_state, modern);
        }
        ClientRequest::GetPrompt(params) => {
            keep(&mut params.input_responses, modern);
            keep(&mut params.request_state, modern);
        }
        ClientRequest::ReadResource(params) => {
            keep(&mut params.input_responses, modern);
            keep(&mut params.request_state, modern);
        }
        ClientRequest::Complete(params) => {
            keep(&mut params.context, version >= V2025_06_18);
            if let Reference::Prompt(prompt) = &mut params.reference {
                keep(&mut prompt.title, version >= V2025_06_18);
            }
        }
        ClientRequest::Initialize(params) => {
            fit_client_capabilities(&mut params.capabilities, version);
            fit_implementation(&mut params.client_info, version);
        }
        _ => {}
    }
}

/// Fits what a server asks for.
pub fn fit_server_request(request: &mut ServerRequest, version: ProtocolVersion) {
    fit_request_meta(request.meta_mut(), version);
    match request {
        ServerRequest::CreateMessage(params) => fit_create_message_params(params, version),
        ServerRequest::Elicit(params) => fit_elicit_params(params, version),
        _ => {}
    }
}

/// Fits what a server asks for in an `input_required` result.
pub fn fit_input_request(request: &mut InputRequest, version: ProtocolVersion) {
    match request {
        InputRequest::CreateMessage(params) => fit_create_message_params(params, version),
        InputRequest::Elicit(params) => fit_elicit_params(params, version),
        InputRequest::ListRoots(params) => fit_request_meta(&mut params.meta, version),
        InputRequest::Unknown(_) => {}
    }
}

/// Fits what a server notifies of.
pub fn fit_notification(notification: &mut ServerNotification, version: ProtocolVersion) {
    let meta = match notification {
        ServerNotification::LogMessage(params) => &mut params.meta,
        ServerNotification::ResourceUpdated(params) => &mut params.meta,
        ServerNotification::ResourceListChanged(params)
        | ServerNotification::ToolListChanged(params)
        | ServerNotification::PromptListChanged(params) => &mut params.meta,
        ServerNotification::ElicitationComplete(params) => &mut params.meta,
        ServerNotification::SubscriptionsAcknowledged(params) => &mut params.meta,
        ServerNotification::Cancelled(params) => &mut params.meta,
        ServerNotification::Progress(params) => {
            fit_progress(params, version);
            &mut params.meta
        }
        ServerNotification::TaskStatus(params) => &mut params.meta,
        ServerNotification::Custom(..) => return,
    };
    fit_notification_meta(meta, version);
}

/// Fits what a client notifies of.
pub fn fit_client_notification(notification: &mut ClientNotification, version: ProtocolVersion) {
    let meta = match notification {
        ClientNotification::Initialized(params) | ClientNotification::RootsListChanged(params) => {
            &mut params.meta
        }
        ClientNotification::Cancelled(params) => &mut params.meta,
        ClientNotification::Progress(params) => {
            fit_progress(params, version);
            &mut params.meta
        }
        ClientNotification::TaskStatus(params) => &mut params.meta,
        ClientNotification::Custom(..) => return,
    };
    fit_notification_meta(meta, version);
}

/// Fits the code of an error.
///
/// "No such resource" has a code of its own up to 2025-11-25 and is a matter of parameters
/// from then on. That a URL has to be visited first can be said by a code in 2025-11-25 only.
pub fn fit_error(error: &mut ErrorObject, version: ProtocolVersion) {
    error.code = match error.code {
        ErrorCode::RESOURCE_NOT_FOUND if version > V2025_11_25 => ErrorCode::INVALID_PARAMS,
        ErrorCode::URL_ELICITATION_REQUIRED if version != V2025_11_25 => ErrorCode::INVALID_REQUEST,
        code => code,
    };
}

/// Fits the `_meta` of a request.
///
/// Up to 2025-11-25 it does not say who is asking; from 2026-07-28 on the capabilities that
/// it says are those of that revision.
pub fn fit_request_meta(meta: &mut Option<RequestMeta>, version: ProtocolVersion) {
    let Some(members) = meta else { return };
    if version.era() == Era::Modern {
        let unfit = |known: &&mut Arc<ClientCapabilities>| {
            let changes = known.roots.as_ref().and_then(|roots| roots.list_changed);
            known.tasks.is_some() || changes.is_some()
        };
        if let Some(known) = members.client_capabilities.as_mut().filter(unfit) {
            fit_client_capabilities(Arc::make_mut(known), version);
        }
        return;
    }
    let removed = [
        members.protocol_version.take().is_some(),
        members.client_capabilities.take().is_some(),
        members.client_info.take().is_some(),
        members.log_level.take().is_some(),
    ];
    if removed.contains(&true) && *members == RequestMeta::new() {
        *meta = None;
    }
}

/// Fits the `_meta` of a result. Up to 2025-11-25: none of the reserved members.
pub fn fit_result_meta(meta: &mut Option<ResultMeta>, version: ProtocolVersion) {
    let Some(members) = meta.as_mut().filter(|_| version.era() == Era::Legacy) else {
        return;
    };
    let removed = [
        members.server_info.take().is_some(),
        members.subscription_id.take().is_some(),
    ];
    if removed.contains(&true) && *members == ResultMeta::new() {
        *meta = None;
    }
}

/// Fits the `_meta` of a notification. Up to 2025-11-25: none of the reserved members.
pub fn fit_notification_meta(meta: &mut Option<NotificationMeta>, version: ProtocolVersion) {
    let Some(members) = meta.as_mut().filter(|_| version.era() == Era::Legacy) else {
        return;
    };
    if members.subscription_id.take().is_some() && *members == NotificationMeta::new() {
        *meta = None;
    }
}

/// Fits progress. Before 2025-03-26: no message.
pub fn fit_progress(params: &mut ProgressParams, version: ProtocolVersion) {
    keep(&mut params.message, version >= V2025_03_26);
}

/// Fits a root. Before 2025-06-18: no `_meta`.
pub fn fit_root(root: &mut Root, version: ProtocolVersion) {
    keep(&mut root.meta, version >= V2025_06_18);
}

fn fit_result_type(result_type: &mut Option<ResultType>, version: ProtocolVersion) {
    match version.era() {
        Era::Modern => {
            result_type.get_or_insert(ResultType::Complete);
        }
        Era::Legacy => *result_type = None,
    }
}

fn fit_cache(
    ttl_ms: &mut Option<TtlMs>,
    cache_scope: &mut Option<CacheScope>,
    version: ProtocolVersion,
) {
    match version.era() {
        Era::Modern => {
            ttl_ms.get_or_insert_default();
            cache_scope.get_or_insert_default();
        }
        Era::Legacy => {
            *ttl_ms = None;
            *cache_scope = None;
        }
    }
}

/// Peers up to 2025-11-25 take nothing but `{}`.
fn fit_empty(result: &mut EmptyResult, version: ProtocolVersion) {
    match version.era() {
        Era::Modern => fit_common!(result, version),
        Era::Legacy => *result = EmptyResult::new(),
    }
}

/// From 2026-07-28 on an elicitation's and the roots' answer have no `_meta`.
fn fit_answer_meta(meta: &mut Option<ResultMeta>, version: ProtocolVersion) {
    match version.era() {
        Era::Modern => *meta = None,
        Era::Legacy => fit_result_meta(meta, version),
    }
}

/// What a custom method answers is its own, but for `resultType`.
fn fit_custom(result: &mut RawJson, version: ProtocolVersion) {
    wire! {
        open struct Custom {
            optional "resultType" => result_type: ResultType,
        }
    }

    let Ok(mut custom) = result.decode::<Custom>() else {
        return;
    };
    let before = custom.result_type.clone();
    fit_result_type(&mut custom.result_type, version);
    if custom.result_type != before {
        *result = RawJson::encode(&custom).expect("what was JSON encodes as JSON");
    }
}

fn each<T>(values: &mut [T], version: ProtocolVersion, fit: fn(&mut T, ProtocolVersion)) {
    for value in values {
        fit(value, version);
    }
}

/// Removes a member from where it does not exist.
fn keep<T>(member: &mut Option<T>, exists: bool) {
    if !exists {
        *member = None;
    }
}
