//! Bytes, read as one message: as JSON by the same rules as `serde_json` has, and written again as
//! what was read.

#![no_main]

use std::collections::BTreeMap;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_protocol::connection::ClientMessage;
use mcp_protocol::{
    BadMessage, Batch, ClientRequest, Encode, ErrorCode, Incoming, Message, RequestId,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let frame = Bytes::copy_from_slice(bytes);
    let incoming = Incoming::parse(&frame);
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    let taken = !is_parse_error(&incoming);
    // A name that is no text is refused, where `serde_json` passes over it.
    let may_be_no_text = || text.to_ascii_lowercase().contains("\\ud");
    assert!(
        taken == is_json || is_json && may_be_no_text(),
        "{incoming:?}"
    );
    match incoming {
        Incoming::Message(message) => check(&message),
        Incoming::Batch(batch) => check_batch(&frame, &batch),
        Incoming::Bad(bad) => check_bad(&frame, &bad),
    }
});

fn is_parse_error(incoming: &Incoming) -> bool {
    matches!(incoming, Incoming::Bad(bad) if bad.error.code == ErrorCode::PARSE_ERROR)
}

/// A message is what it was when it is written and read again.
fn check(message: &Message) {
    let mut again = json!({ "jsonrpc": "2.0" });
    let (id, raw) = match message {
        Message::Request(request) => {
            again["method"] = json!(request.method.as_str());
            (Some(&request.id), request.params.as_ref())
        }
        Message::Notification(notification) => {
            again["method"] = json!(notification.method.as_str());
            (None, notification.params.as_ref())
        }
        Message::Response(response) => {
            let Ok(result) = &response.outcome else {
                return;
            };
            (response.id.as_ref(), Some(result))
        }
    };
    let mut text = again.to_string();
    text.pop();
    if let Some(id) = id {
        text += &format!(
            r#","id":{}"#,
            serde_json::to_string(id).expect("an id can be written")
        );
    }
    if let Some(raw) = raw {
        let name = match message {
            Message::Response(_) => "result",
            _ => "params",
        };
        text += &format!(r#","{name}":{raw}"#);
    }
    text.push('}');
    let read = Incoming::parse(&Bytes::from(text.clone()));
    let same = match (message, &read) {
        (Message::Request(one), Incoming::Message(Message::Request(other))) => {
            check_typed(
                &one.id,
                ClientRequest::parse(one.method.clone(), one.params.clone()).ok(),
            );
            (&one.id, &one.method, &one.params) == (&other.id, &other.method, &other.params)
        }
        (Message::Notification(one), Incoming::Message(Message::Notification(other))) => {
            one == other
        }
        (Message::Response(one), Incoming::Message(Message::Response(other))) => one == other,
        _ => false,
    };
    assert!(
        same,
        "{message:?} was written as {text} and read as {read:?}"
    );
}

/// So is one whose type is known, and it takes one line.
fn check_typed(id: &RequestId, request: Option<ClientRequest>) {
    let Some(request) = request else {
        return;
    };
    let id = id.clone();
    let message = ClientMessage::Request {
        id: id.clone(),
        request: Box::new(request.clone()),
    };
    let mut text = Vec::new();
    message.encode(&mut text);
    let text = Bytes::from(text);
    let Incoming::Message(Message::Request(read)) = Incoming::parse(&text) else {
        panic!("{request:?} was written as {text:?}");
    };
    let known = ClientRequest::parse(read.method, read.params);
    assert_eq!(
        (read.id, known.ok()),
        (id, Some(request)),
        "written as {text:?}"
    );
}

/// The members of a batch are what they would be by themselves.
fn check_batch(frame: &Bytes, batch: &Batch) {
    let members: Vec<&RawValue> = serde_json::from_slice(frame).expect("it is an array");
    assert_eq!(members.len(), batch.len());
    let read = batch.members();
    assert_eq!(read.len(), batch.len());
    for (member, read) in members.iter().zip(read) {
        let alone = Incoming::parse(&Bytes::from(member.get().to_owned()));
        let read = read.map_or_else(Incoming::Bad, Incoming::Message);
        // An array within an array is no batch.
        if !matches!(alone, Incoming::Batch(_)) {
            assert_eq!(read, alone);
        }
    }
}

/// An error can be sent, and its id is one that was there.
fn check_bad(frame: &Bytes, bad: &BadMessage) {
    let error = serde_json::to_string(&bad.error).expect("an error can be written");
    let error: Value = serde_json::from_str(&error).expect("as JSON");
    assert!(error["code"].is_i64() && error["message"].is_string());
    // Names that are no text fail here, and there may be an id all the same.
    let members = serde_json::from_slice::<BTreeMap<String, &RawValue>>(frame);
    if let (Some(id), Ok(members)) = (&bad.id, members) {
        let read = serde_json::from_str::<RequestId>(members["id"].get());
        assert_eq!(read.ok().as_ref(), Some(id));
    }
}
