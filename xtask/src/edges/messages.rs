//! Messages as the steps write them, and whether a message is what a step expects.

use serde_json::{Value, json};

use super::cases::MODERN;

/// Reads JSON that a case has.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|why| format!("{text}: {why}"))
}

/// An id as a step has it; a word needs no quotes.
pub(crate) fn id(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| json!(word))
}

/// `ID METHOD PARAMS`, `ID call TOOL ARGUMENTS`, or `METHOD PARAMS` for a notification.
pub(crate) fn message(
    said: &str,
    fit: impl Fn(&str, Value) -> (String, Value),
) -> Result<Value, String> {
    let mut message = json!({ "jsonrpc": "2.0" });
    let (first, rest) = said.split_once(' ').unwrap_or((said, ""));
    let (method, params) = match first.contains('/') {
        true => (first, rest),
        false => {
            message["id"] = id(first);
            rest.split_once(' ').unwrap_or((rest, ""))
        }
    };
    message["method"] = json!(method);
    if method == "call" {
        let (tool, arguments) = params.split_once(' ').unwrap_or((params, ""));
        message["method"] = json!("tools/call");
        let given = match arguments {
            "" => Value::Null,
            arguments => parse(arguments)?,
        };
        let (name, given) = fit(tool, given);
        message["params"]["name"] = json!(name);
        if !arguments.is_empty() {
            message["params"]["arguments"] = given;
        }
    } else if !params.is_empty() {
        message["params"] = parse(params)?;
    }
    Ok(message)
}

pub(crate) fn initialize(version: &str, capabilities: &Value) -> Value {
    let info = json!({ "name": "edge-table", "version": "1" });
    let params = json!({
        "protocolVersion": version, "capabilities": capabilities, "clientInfo": info,
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// The same request as 2026-07-28 has it, if its parameters have room for that.
pub(crate) fn modern(mut request: Value, capabilities: &Value) -> Value {
    let has_room = request.get("params").is_none_or(|params| {
        params.is_object() && params.get("_meta").is_none_or(Value::is_object)
    });
    if has_room && request.get("id").is_some() {
        let meta = &mut request["params"]["_meta"];
        for (key, value) in [
            ("protocolVersion", json!(MODERN)),
            ("clientCapabilities", capabilities.clone()),
            (
                "clientInfo",
                json!({ "name": "edge-table", "version": "1" }),
            ),
        ] {
            let key = format!("io.modelcontextprotocol/{key}");
            if meta.get(&key).is_none() {
                meta[key] = value;
            }
        }
    }
    request
}

/// A line as the other side wrote it.
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) message: Value,
}

impl Heard {
    /// What a person wants to know of it.
    pub(crate) fn brief(&self) -> String {
        let message = &self.message;
        if let Some(method) = message["method"].as_str() {
            return method.to_owned();
        }
        if let Some(members) = message.as_array() {
            return format!("array of {}", members.len());
        }
        let id = message
            .get("id")
            .map_or("no id".to_owned(), Value::to_string);
        let id: String = id.chars().take(24).collect();
        let what = match (
            message["error"]["code"].as_i64(),
            &message["result"]["isError"],
        ) {
            (Some(code), _) => code.to_string(),
            (None, Value::Bool(true)) => "isError".to_owned(),
            _ => "result".to_owned(),
        };
        format!("{id}: {what}")
    }

    /// Whether it is what a step expects.
    pub(crate) fn fits(&self, expected: &str) -> Result<bool, String> {
        let (first, rest) = expected.split_once(' ').unwrap_or((expected, ""));
        let message = &self.message;
        if first == "is" {
            return Ok(contains(message, &parse(rest)?));
        }
        if first == "has" {
            return Ok(self.text.contains(rest));
        }
        if first.contains('/') || first == "initialize" {
            let params = parse(if rest.is_empty() { "{}" } else { rest })?;
            return Ok(message["method"] == first && contains(&message["params"], &params));
        }
        let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        Ok(message["id"] == id(first)
            && message.get("method").is_none()
            && is(verb, rest, message)?)
    }
}

/// Whether a reply is what was expected of it.
fn is(verb: &str, expected: &str, reply: &Value) -> Result<bool, String> {
    let result = &reply["result"];
    let content = || parse(expected).map(|text| json!([{ "text": text }]));
    Ok(match verb {
        "ok" if expected.is_empty() => result.is_object(),
        "ok" => result.is_object() && contains(result, &parse(expected)?),
        "text" => result["isError"] != true && contains(result, &json!({ "content": content()? })),
        "failed" => {
            let members =
                json!({ "structuredContent": "absent", "isError": true, "content": content()? });
            contains(result, &members)
        }
        "wrong" => reply["error"].is_object() || result["isError"] == true,
        "error" => {
            let (code, members) = expected.split_once(' ').unwrap_or((expected, "{}"));
            let code: i64 = code.parse().map_err(|_| "no code")?;
            reply["error"]["code"] == code && contains(&reply["error"], &parse(members)?)
        }
        _ => return Err("no such expectation".to_owned()),
    })
}

/// Whether a value has at least the members of another. A member that is `"absent"` there must not
/// be, a text that begins with `~` is a part, and an array is as long as the other.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| match whole.get(key) {
                Some(whole) => contains(whole, part),
                None => part == "absent",
            })
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(a, b)| contains(a, b))
        }
        (Value::String(whole), Value::String(part)) => match part.strip_prefix('~') {
            Some(part) => whole.contains(part),
            None => whole == part,
        },
        (whole, part) => whole == part,
    }
}
