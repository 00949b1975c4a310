//! What a legacy server may ask of a client.

use crate::error::ErrorObject;
use crate::jsonrpc::RawJson;
use crate::methods::{Method, ServerRequest};
use crate::types::{ClientCapabilities, CreateMessageParams, ElicitMode, ElicitParams};

/// Gives a question its type, if a client of these capabilities may be asked it.
///
/// The revision does not matter: who declares a capability can be asked.
pub(super) fn admit(
    method: Method,
    params: Option<RawJson>,
    client: &ClientCapabilities,
) -> Result<ServerRequest, ErrorObject> {
    let declared = match method {
        Method::Ping => true,
        Method::CreateMessage => client.sampling.is_some(),
        Method::Elicit => client.elicitation.is_some(),
        Method::ListRoots => client.roots.is_some(),
        _ => false,
    };
    if !declared {
        return Err(ErrorObject::method_not_found(method.as_str()));
    }
    let request = ServerRequest::parse(method, params)?;
    let undeclared = match &request {
        ServerRequest::Elicit(params) => !shows(client, params),
        ServerRequest::CreateMessage(params) => !samples(client, params),
        _ => false,
    };
    if undeclared {
        return Err(ErrorObject::invalid_params(
            "Invalid params: the client has not declared that",
        ));
    }
    Ok(request)
}

fn shows(client: &ClientCapabilities, params: &ElicitParams) -> bool {
    let Some(declared) = &client.elicitation else {
        return false;
    };
    match &params.mode {
        None | Some(ElicitMode::Form) => declared.has_form(),
        Some(ElicitMode::Url) => declared.url.is_some(),
        Some(_) => false,
    }
}

fn samples(client: &ClientCapabilities, params: &CreateMessageParams) -> bool {
    let wants_tools = params.tools.is_some() || params.tool_choice.is_some();
    let declared = client.sampling.as_ref();
    !wants_tools || declared.is_some_and(|sampling| sampling.tools.is_some())
}
