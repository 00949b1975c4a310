//! What a legacy server may ask of a client.

use crate::error::ErrorObject;
use crate::jsonrpc::RawJson;
use crate::methods::{Method, ServerRequest};
use crate::types::ClientCapabilities;

/// Gives a question its type, if a client of these capabilities may be asked it.
///
/// The revision does not matter: who declares a capability can be asked.
pub(super) fn admit(
    method: Method,
    params: Option<RawJson>,
    client: &ClientCapabilities,
) -> Result<ServerRequest, ErrorObject> {
    if !client.answers(&method) {
        return Err(ErrorObject::method_not_found(method.as_str()));
    }
    let request = ServerRequest::parse(method, params)?;
    let undeclared = match &request {
        ServerRequest::Elicit(params) => !client.elicits(params),
        ServerRequest::CreateMessage(params) => !client.samples(params),
        _ => false,
    };
    if undeclared {
        return Err(ErrorObject::invalid_params(
            "Invalid params: the client has not declared that",
        ));
    }
    Ok(request)
}
