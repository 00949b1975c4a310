//! Headers: what a client accepts, and what it repeats of the body.
//!
//! Spec: [request metadata](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata).

use std::borrow::Cow;

use data_encoding::BASE64;
use http::StatusCode;
use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, TRANSFER_ENCODING,
};
use mcp_protocol::tool::header_arguments;
use mcp_protocol::types::{CallToolParams, Tool};
use mcp_protocol::{ClientRequest, ErrorCode, ErrorObject, Notification};
use serde_json::Value;

use super::status::Refusal;
pub(super) use crate::headers::{EVENTS, LAST_EVENT, SESSION, VERSION};
use crate::headers::{JSON, METHOD, NAME, PARAMETER, essence, name};

/// Whether the body is JSON as it stands, and both kinds of answers are accepted.
pub(super) fn check_post(headers: &HeaderMap) -> Result<(), Refusal> {
    let content = text(headers, CONTENT_TYPE.as_str())?;
    if !content.is_some_and(|content| essence(content).eq_ignore_ascii_case(JSON)) {
        let reason = "the body has to be `application/json`";
        return Err(Refusal::because(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    if items(headers, &CONTENT_ENCODING).any(|coding| !coding.eq_ignore_ascii_case("identity")) {
        let reason = "the body must not be encoded";
        return Err(Refusal::because(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    if items(headers, &TRANSFER_ENCODING).any(|coding| !coding.eq_ignore_ascii_case("chunked")) {
        let reason = "no transfer coding is known here but `chunked`";
        return Err(Refusal::because(StatusCode::NOT_IMPLEMENTED, reason));
    }
    check_accept(headers, &[JSON, EVENTS])
}

/// Whether these kinds of answers are accepted.
pub(super) fn check_accept(headers: &HeaderMap, kinds: &[&str]) -> Result<(), Refusal> {
    let accepts = |kind: &&str| {
        let group = kind.split('/').next();
        // The range that says most of a kind decides.
        let said = items(headers, &ACCEPT).filter_map(|item| {
            let range = essence(item);
            let says = match range.strip_suffix("/*") {
                Some("*") => 0,
                suffix if suffix.is_some() && suffix == group => 1,
                _ if range.eq_ignore_ascii_case(kind) => 2,
                _ => return None,
            };
            Some((says, !is_unwanted(item)))
        });
        said.max().is_some_and(|(_, wanted)| wanted)
    };
    if items(headers, &ACCEPT).next().is_none() || kinds.iter().all(accepts) {
        return Ok(());
    }
    let reason = format!("`Accept` has to name {}", kinds.join(" and "));
    Err(Refusal::because(StatusCode::NOT_ACCEPTABLE, reason))
}

/// Whether a range has the weight zero.
fn is_unwanted(range: &str) -> bool {
    let mut parameters = range
        .split(';')
        .skip(1)
        .filter_map(|one| one.split_once('='));
    let weight = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.is_some_and(|(_, weight)| weight.trim().parse() == Ok(0.0))
}

/// The members of a header that is a list.
fn items<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let items = values.flat_map(|value| value.split(',')).map(str::trim);
    items.filter(|item| !item.is_empty())
}

/// The value of a header that must not stand there twice, or who reads which one is open.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let text = values.next().map(|value| value.to_str());
    let what = match (text, values.next()) {
        (None, _) => return Ok(None),
        (Some(Ok(text)), None) => return Ok(Some(text.trim_matches([' ', '\t']))),
        (Some(Err(_)), _) => "has characters that no header may have",
        (_, Some(_)) => "stands there twice",
    };
    Err(match name {
        VERSION | METHOD | NAME => mismatch(name, what),
        name if name.starts_with(PARAMETER) => mismatch(name, what),
        // It repeats nothing of the body.
        name => Refusal::because(StatusCode::BAD_REQUEST, format!("`{name}` {what}")),
    })
}

/// Whether the headers repeat what the body of a modern request says.
///
/// What the body does not say at all is for the connection to refuse. `tool` gives the
/// definition of a tool, which may want arguments repeated.
pub(super) fn check_mirrored(
    headers: &HeaderMap,
    method: &str,
    request: Option<&ClientRequest>,
    tool: impl FnOnce(&str) -> Option<Tool>,
) -> Result<(), Refusal> {
    let named = request.and_then(|request| request.meta()?.protocol_version.as_deref());
    let version = text(headers, VERSION)?;
    if named.is_some() && named != version {
        return Err(mismatch(VERSION, "is not the revision of the request"));
    }
    if text(headers, METHOD)? != Some(method) {
        return Err(mismatch(METHOD, "is not the method of the request"));
    }
    let Some(name) = request.and_then(name) else {
        return Ok(());
    };
    if decoded(headers, NAME)?.as_deref() != Some(name) {
        return Err(mismatch(NAME, "is not what the request names"));
    }
    match request {
        Some(ClientRequest::CallTool(params)) => check_arguments(headers, params, tool(name)),
        _ => Ok(()),
    }
}

/// Whether the headers say nothing else than the body of a modern notification.
///
/// Which ones it has to have is left open by the specification.
pub(super) fn check_notification(
    headers: &HeaderMap,
    notification: &Notification,
) -> Result<(), Refusal> {
    let differs =
        |sent: Option<&str>, said: Option<&str>| sent.is_some() && said.is_some() && sent != said;
    let method = notification.method.as_str();
    if differs(text(headers, METHOD)?, Some(method)) {
        return Err(mismatch(METHOD, "is not the method of the notification"));
    }
    let params = notification.params.as_ref();
    let params = params.and_then(|params| params.decode::<Value>().ok());
    let params = params.unwrap_or_default();
    let said = params.pointer("/_meta/io.modelcontextprotocol~1protocolVersion");
    let said = said.and_then(Value::as_str);
    if differs(text(headers, VERSION)?, said) {
        return Err(mismatch(VERSION, "is not the revision of the notification"));
    }
    Ok(())
}

/// Whether the headers repeat the arguments that the schema of the tool wants repeated.
fn check_arguments(
    headers: &HeaderMap,
    params: &CallToolParams,
    tool: Option<Tool>,
) -> Result<(), Refusal> {
    let Some(schema) = tool.map(|tool| tool.input_schema) else {
        return Ok(());
    };
    // One that has an unusable header is not registered.
    let wanted = header_arguments(&schema).unwrap_or_default();
    if wanted.is_empty() {
        return Ok(());
    }
    let arguments = params.arguments.as_ref();
    let arguments = arguments.and_then(|arguments| arguments.decode::<Value>().ok());
    let arguments = arguments.unwrap_or_default();
    for argument in wanted {
        let header = format!("{PARAMETER}{}", argument.header());
        let sent = decoded(headers, &header)?;
        if !repeats(sent.as_deref(), argument.find(&arguments)) {
            return Err(mismatch(&header, "is not the argument of the call"));
        }
    }
    Ok(())
}

fn repeats(sent: Option<&str>, argument: Option<&Value>) -> bool {
    match (sent, argument) {
        (None, None) => true,
        (Some(sent), Some(Value::String(text))) => sent == text,
        (Some(sent), Some(Value::Bool(truth))) => sent == truth.to_string(),
        (Some(sent), Some(Value::Number(number))) => {
            // 42 may be written 42.0; but a float does not tell all integers beyond 2^53 apart.
            let exact = |value: &f64| value.abs() < 9_007_199_254_740_992.0;
            let number_sent = sent.parse().ok().filter(exact);
            sent == number.to_string() || number_sent.is_some() && number_sent == number.as_f64()
        }
        _ => false,
    }
}

/// The value of a header that may be in base64.
fn decoded<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
    let Some(value) = text(headers, name)? else {
        return Ok(None);
    };
    let encoded = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(encoded) = encoded else {
        return Ok(Some(value.into()));
    };
    let bytes = BASE64.decode(encoded.as_bytes()).ok();
    let decoded = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let decoded = decoded.ok_or_else(|| mismatch(name, "is no text in base64"))?;
    Ok(Some(decoded.into()))
}

fn mismatch(name: &str, what: &str) -> Refusal {
    let reason = format!("Header mismatch: `{name}` {what}");
    let error = ErrorObject::new(ErrorCode::HEADER_MISMATCH, reason);
    Refusal::new(StatusCode::BAD_REQUEST, error)
}
