//! Every difference between revisions, handled in one place.
//!
//! Types are those of all revisions together, and handlers speak the newest. Objects are open in
//! every revision, so a member that the receiver's revision does not have yet is sent all the
//! same: who knows it has it, and everybody else ignores it. Before a message is sent, only that
//! is said in another way which its receiver's revision has no room for, and what that revision
//! demands is filled in. Fitting twice is fitting once. Nothing here fails: what has no older
//! form stays as it is, and that it is not sent is for capabilities to see to.
//!
//! | what | revisions | the others get | in |
//! |---|---|---|---|
//! | `resultType` of results | from 2026-07-28, `complete` if absent | nothing | [`fit_result`], [`fit_client_result`] |
//! | `ttlMs`, `cacheScope` | from 2026-07-28, zero and private if absent | nothing | [`fit_result`] |
//! | result of `ping`, `logging/setLevel`, `resources/subscribe`, `resources/unsubscribe` | up to 2025-11-25, exactly `{}` | – | [`fit_result`], [`fit_client_result`] |
//! | reserved members of a request's `_meta`, which make it modern | from 2026-07-28 | nothing | [`fit_client_request`] |
//! | `elicitation` of a client that shows no forms | from 2025-11-25 | nothing, or they would send forms | [`fit_client_request`] |
//! | `context` of a completion | from 2025-06-18 | nothing | [`fit_client_request`] |
//! | a property schema of `true` or `false` | from 2026-07-28 | `{}`, `{"not":{}}` | [`fit_tool`] |
//! | `outputSchema`, `structuredContent`, not of an object | from 2026-07-28 | `{"result": …}`, as schema and as value | [`fit_tool`], [`fit_call_tool_result`] |
//! | resource links | from 2025-06-18 | text: name and URI | [`fit_content`] |
//! | arrays of sampling content | from 2025-11-25 | a message for each block; in a result, one text | [`fit_create_message_params`], [`fit_create_message_result`] |
//! | `tool_use`, `tool_result` | from 2025-11-25 | their JSON, as text | [`fit_sampling_message`] |
//! | `elicitationId` of a web page | 2025-11-25, the question's id if absent | as it is | [`ask`](crate::connection::ServerConnection::ask) |
//! | choices in `oneOf` | from 2025-11-25 | `enum` and `enumNames` | [`fit_elicit_params`] |
//! | -32002 and -32042 | up to 2025-11-25; 2025-11-25 | -32602; -32600 | [`fit_error`] |
//!
//! No older form exists for audio, for an elicitation by web page, for a field with many
//! choices, for content of an unknown kind, and for an `input_required` result.

mod client;
mod content;
mod server;

pub use self::client::{
    fit_create_message_params, fit_create_message_result, fit_elicit_params, fit_sampling_message,
};
pub use self::content::fit_content;
pub use self::server::{fit_call_tool_result, fit_tool};
use crate::RawJson;
use crate::error::{ErrorCode, ErrorObject};
use crate::meta::RequestMeta;
use crate::methods::{ClientRequest, ClientResult, ServerRequest, ServerResult};
use crate::types::*;
use crate::version::Era;
use crate::version::ProtocolVersion::{self, *};
use crate::wire::wire;

/// What the results have that may be kept.
macro_rules! fit_cacheable {
    ($result:expr, $version:expr) => {{
        fit_result_type(&mut $result.result_type, $version);
        fit_cache(&mut $result.ttl_ms, &mut $result.cache_scope, $version);
    }};
}

/// Fits what a server answers.
pub fn fit_result(result: &mut ServerResult, version: ProtocolVersion) {
    match result {
        ServerResult::CallTool(result) => {
            fit_result_type(&mut result.result_type, version);
            fit_call_tool_result(result, version);
        }
        ServerResult::ListTools(result) => {
            fit_cacheable!(result, version);
            if version.era() == Era::Legacy {
                // No two of its revisions differ in this.
                result.tools.fit(|tool| fit_tool(tool, version));
            }
        }
        ServerResult::GetPrompt(result) => {
            fit_result_type(&mut result.result_type, version);
            for message in &mut result.messages {
                fit_content(&mut message.content, version);
            }
        }
        ServerResult::ListPrompts(result) => fit_cacheable!(result, version),
        ServerResult::ListResources(result) => fit_cacheable!(result, version),
        ServerResult::ListResourceTemplates(result) => fit_cacheable!(result, version),
        ServerResult::ReadResource(result) => fit_cacheable!(result, version),
        ServerResult::Discover(result) => fit_cacheable!(result, version),
        ServerResult::Complete(result) => fit_result_type(&mut result.result_type, version),
        ServerResult::Initialize(result) => fit_result_type(&mut result.result_type, version),
        ServerResult::Listen(result) => fit_result_type(&mut result.result_type, version),
        ServerResult::Subscribe(result)
        | ServerResult::Unsubscribe(result)
        | ServerResult::SetLevel(result)
        | ServerResult::Ping(result) => fit_empty(result, version),
        ServerResult::GetTask(result) | ServerResult::CancelTask(result) => {
            fit_result_type(&mut result.result_type, version);
        }
        ServerResult::GetTaskPayload(result) => fit_result_type(&mut result.result_type, version),
        ServerResult::ListTasks(result) => fit_result_type(&mut result.result_type, version),
        ServerResult::InputRequired(_) => {}
        ServerResult::Custom(result) => fit_custom(result, version),
    }
}

/// Fits what a client answers.
///
/// From 2026-07-28 on the answers to elicitation, sampling and roots travel as
/// `inputResponses`, where they are not results and have no `resultType`.
pub fn fit_client_result(result: &mut ClientResult, version: ProtocolVersion) {
    match result {
        ClientResult::CreateMessage(result) => fit_create_message_result(result, version),
        ClientResult::Ping(result) => fit_empty(result, version),
        ClientResult::GetTask(result) | ClientResult::CancelTask(result) => {
            fit_result_type(&mut result.result_type, version);
        }
        ClientResult::GetTaskPayload(result) => fit_result_type(&mut result.result_type, version),
        ClientResult::ListTasks(result) => fit_result_type(&mut result.result_type, version),
        ClientResult::Elicit(_) | ClientResult::ListRoots(_) | ClientResult::InputRequired(_) => {}
        ClientResult::Custom(result) => fit_custom(result, version),
    }
}

/// Fits what a client asks for.
///
/// Up to 2025-11-25 a request does not say who asks: a server of both eras would take it for a
/// modern one. Before 2025-11-25 users are asked by forms only: who shows none does not say that
/// it can ask them. Before 2025-06-18 an argument is completed whatever the others are.
pub fn fit_client_request(request: &mut ClientRequest, version: ProtocolVersion) {
    match request {
        ClientRequest::Initialize(params) if version < V2025_11_25 => {
            let elicitation = &mut params.capabilities.elicitation;
            elicitation.take_if(|how| !how.has_form());
        }
        ClientRequest::Complete(params) if version < V2025_06_18 => params.context = None,
        _ => {}
    }
    let meta = request.meta_mut();
    let Some(members) = meta.as_mut().filter(|_| version.era() == Era::Legacy) else {
        return;
    };
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

/// Fits what a server asks for.
pub fn fit_server_request(request: &mut ServerRequest, version: ProtocolVersion) {
    match request {
        ServerRequest::CreateMessage(params) => fit_create_message_params(params, version),
        ServerRequest::Elicit(params) => fit_elicit_params(params, version),
        _ => {}
    }
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
        Era::Modern => fit_result_type(&mut result.result_type, version),
        Era::Legacy => *result = EmptyResult::new(),
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
