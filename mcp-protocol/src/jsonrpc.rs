//! JSON-RPC 2.0: bytes to messages and back.
//!
//! A frame is read once. The envelope borrows from it, `params`, `result` and `error` stay
//! [`RawJson`] slices of it until their type is known, and whatever is wrong with a message
//! is told apart as far as its id can still be read. This module knows method names, and
//! nothing about when which of them is allowed.

mod id;
mod outline;
mod raw;
mod scan;
mod text;
mod write;

use std::fmt;

use bytes::Bytes;
use serde::Serialize;

pub use self::id::{ProgressToken, RequestId};
pub(crate) use self::outline::Outline;
use self::outline::{PARAMS, RESULT};
pub use self::raw::RawJson;
pub(crate) use self::raw::serialize_raw;
pub(crate) use self::scan::Members;
pub(crate) use self::text::string;
use self::write::write;
use crate::error::{ErrorCode, ErrorObject};
use crate::methods::Method;

/// The bytes of one message, without delimiter.
pub type Frame = Bytes;

/// One JSON-RPC message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Asks for a response.
    Request(Request),
    /// Asks for nothing.
    Notification(Notification),
    /// Answers a request.
    Response(Response),
}

/// A message that asks for a response.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the response will carry.
    pub id: RequestId,
    /// What is asked for.
    pub method: Method,
    /// The parameters; `None` when absent or `null`.
    pub params: Option<RawJson>,
    /// Bytes that the request keeps in memory as long as its parameters are kept: the whole
    /// frame that they are a part of, and the id.
    pub size: usize,
    /// What was seen of the parameters.
    pub(crate) outline: Outline,
}

/// A message that asks for nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// What happened.
    pub method: Method,
    /// The parameters; `None` when absent or `null`.
    pub params: Option<RawJson>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The id of the request; `None` when its receiver could not read it.
    pub id: Option<RequestId>,
    /// What came of it.
    pub outcome: Result<RawJson, ErrorObject>,
    /// What was seen of the result.
    pub(crate) outline: Outline,
}

/// What one frame turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// One message.
    Message(Message),
    /// An array, which only 2025-03-26 allows.
    Batch(Batch),
    /// Not a message.
    Bad(BadMessage),
}

/// An array of what may be messages, not yet looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    members: RawJson,
    len: usize,
}

impl Batch {
    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members, each read as a message of its own.
    #[must_use]
    pub fn members(&self) -> Vec<Result<Message, BadMessage>> {
        let mut members = Members::of(self.members.as_bytes());
        let mut messages = Vec::with_capacity(self.len);
        while let Ok(Some(member)) = members.next_element() {
            // Each its own copy, or the one that is kept longest would keep them all.
            let frame = Frame::copy_from_slice(member);
            messages.push(Message::read(&frame, &frame, b""));
        }
        messages
    }
}

/// Why a frame is not a message, and whom to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct BadMessage {
    /// The id, if there is one that can be relied on.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub error: ErrorObject,
    /// Whether it was meant as a response or a notification, which are never answered.
    pub expects_no_answer: bool,
    /// Whether it was meant as a response: that to the request of its id, if it has one.
    pub is_response: bool,
}

impl BadMessage {
    fn new(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self {
            id,
            error,
            expects_no_answer: false,
            is_response: false,
        }
    }

    /// -32700: the frame is not JSON.
    fn parse_error(reason: impl fmt::Display) -> Self {
        // Nothing in a text that is not JSON can be relied on, the id least of all: of a line
        // that was cut off, `"id":12` may be the beginning of 123.
        Self::new(
            None,
            ErrorObject::new(ErrorCode::PARSE_ERROR, format!("Parse error: {reason}")),
        )
    }

    fn invalid(id: Option<RequestId>, reason: impl fmt::Display) -> Self {
        Self::new(
            id,
            ErrorObject::invalid_request(format!("Invalid request: {reason}")),
        )
    }

    /// -32700 for a frame that was longer than the receiver takes; `data.error` is
    /// `line_too_long` and `data.limit` the limit in bytes.
    #[must_use]
    pub fn too_long(limit: usize) -> Self {
        let mut bad = Self::parse_error(format_args!("the message is longer than {limit} bytes"));
        bad.error.data = Some(RawJson::from(serde_json::json!({
            "error": "line_too_long",
            "limit": limit,
        })));
        bad
    }
}

impl Incoming {
    /// Reads one frame. Every input gives a value: what is wrong with a frame is part of it.
    #[must_use]
    pub fn parse(frame: &Frame) -> Self {
        Self::parse_after(frame, b"")
    }

    /// The same, of a peer whose parameters or results had this `_meta` the last time: an object, or
    /// nothing. It is not looked through again.
    pub(crate) fn parse_after(frame: &Frame, meta: &[u8]) -> Self {
        // Most messages are ASCII, which is quicker to see than that they are UTF-8.
        if !frame.is_ascii() {
            if let Err(error) = std::str::from_utf8(frame) {
                return Self::Bad(BadMessage::parse_error(format_args!(
                    "not UTF-8 from byte {}",
                    error.valid_up_to()
                )));
            }
        }
        let text = trim(frame);
        let read = match text.first() {
            Some(b'{') => Message::read(text, frame, meta).map(Self::Message),
            Some(b'[') => count_members(text).map(|len| {
                Self::Batch(Batch {
                    members: RawJson::slice_of(frame, text),
                    len,
                })
            }),
            _ => Err(match scan::check(text) {
                Ok(()) => BadMessage::invalid(None, "the message is not an object"),
                Err(error) => BadMessage::parse_error(error),
            }),
        };
        read.unwrap_or_else(Self::Bad)
    }
}

/// The text without the white space of JSON around it.
fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] = text {
        text = rest;
    }
    text
}

/// Counts the members of an array without keeping any: a line of `1,` must cost no memory.
fn count_members(text: &[u8]) -> Result<usize, BadMessage> {
    let mut members = Members::of(text);
    let mut len = 0;
    while members
        .next_element()
        .map_err(BadMessage::parse_error)?
        .is_some()
    {
        len += 1;
    }
    Ok(len)
}

impl Message {
    /// Reads the text of one message, which is a part of a frame.
    fn read(text: &[u8], frame: &Frame, meta: &[u8]) -> Result<Self, BadMessage> {
        let mut envelope = Envelope::default();
        envelope.read(text, meta)?;
        envelope.message(frame)
    }
}

/// The members of a message, none of them looked at yet.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    /// A name that stood there twice.
    repeated: Option<&'static str>,
    /// Whether that is so of the id, which then cannot be told.
    id_repeated: bool,
    /// What was seen of `params`.
    outline: Outline,
    /// What was seen of `result`.
    result_outline: Outline,
}

impl<'a> Envelope<'a> {
    /// Takes the members apart. Fails only on what is not JSON, or no object.
    fn read(&mut self, text: &'a [u8], meta: &[u8]) -> Result<(), BadMessage> {
        if !text.starts_with(b"{") {
            return Err(BadMessage::invalid(None, "the message is not an object"));
        }
        let mut members = Members::of(text);
        while let Some(name) = members.next_name().map_err(BadMessage::parse_error)? {
            let mut outline = Outline::default();
            let names = match &*name {
                b"params" => Some(PARAMS),
                b"result" => Some(RESULT),
                _ => None,
            };
            let value = match names {
                Some(names) => members
                    .outlined(meta, |name, place| outline.see(names, name, place))
                    .inspect(|value| {
                        outline.begin_at(value.as_ptr().addr() - text.as_ptr().addr())
                    }),
                None => members.value(),
            };
            let value = value.map_err(BadMessage::parse_error)?;
            let (slot, name) = match &*name {
                b"jsonrpc" => (&mut self.jsonrpc, "jsonrpc"),
                b"id" => (&mut self.id, "id"),
                b"method" => (&mut self.method, "method"),
                b"params" => {
                    self.outline = outline;
                    (&mut self.params, "params")
                }
                b"result" => {
                    self.result_outline = outline;
                    (&mut self.result, "result")
                }
                b"error" => (&mut self.error, "error"),
                _ => continue,
            };
            if slot.replace(value).is_some() {
                self.repeated = Some(name);
                self.id_repeated |= name == "id";
            }
        }
        Ok(())
    }

    /// Decides what kind of message this is. `frame` is what the text was read from.
    fn message(&self, frame: &Bytes) -> Result<Message, BadMessage> {
        let id = match self.id {
            _ if self.id_repeated => None,
            Some(id) => RequestId::read(id),
            None => None,
        };
        let Some(method) = self.method else {
            return self.response(id, frame);
        };
        let Some(method) = Method::read(method) else {
            return Err(BadMessage::invalid(id, "`method` is not a string"));
        };
        let refusal = if let Some(name) = self.repeated {
            Some(format!("`{name}` stands there twice"))
        } else if self.result.is_some() || self.error.is_some() {
            Some("both a method and an answer".to_owned())
        } else if !self.is_version_2() {
            Some("`jsonrpc` is not \"2.0\"".to_owned())
        } else if self.id.is_some() && id.is_none() {
            Some("`id` is neither an integer nor a string".to_owned())
        } else {
            None
        };
        if let Some(reason) = refusal {
            return Err(BadMessage {
                expects_no_answer: self.id.is_none() && self.repeated.is_none(),
                ..BadMessage::invalid(id, reason)
            });
        }
        let params = self
            .params
            .filter(|params| *params != b"null")
            .map(|params| RawJson::slice_of(frame, params));
        Ok(match id {
            Some(id) => Message::Request(Request {
                size: frame.len() + id.as_str().map_or(0, str::len),
                id,
                method,
                params,
                outline: self.outline.clone(),
            }),
            None => Message::Notification(Notification { method, params }),
        })
    }

    fn response(&self, id: Option<RequestId>, frame: &Bytes) -> Result<Message, BadMessage> {
        let bad = |reason: &str| BadMessage {
            // Answering what is meant as an answer could keep two peers busy for ever.
            expects_no_answer: self.result.is_some() || self.error.is_some(),
            // Without any of its members, what looks like a log in JSON is none.
            is_response: self.result.is_some() || self.error.is_some() || self.is_version_2(),
            ..BadMessage::invalid(id.clone(), reason)
        };
        let outcome = match (self.result, self.error) {
            _ if self.repeated.is_some() => return Err(bad("a member stands there twice")),
            _ if !self.is_version_2() => return Err(bad("`jsonrpc` is not \"2.0\"")),
            (Some(result), None) => Ok(RawJson::slice_of(frame, result)),
            (None, Some(error)) => {
                let error = RawJson::slice_of(frame, error);
                // The request it answers must not hang because its error is malformed.
                Err(error.decode().unwrap_or_else(|_| {
                    ErrorObject::internal("the peer sent a malformed error").data(error)
                }))
            }
            (Some(_), Some(_)) => return Err(bad("both `result` and `error`")),
            (None, None) => return Err(bad("neither `method` nor `result` nor `error`")),
        };
        if id.is_none() && (outcome.is_ok() || self.id.is_some_and(|id| id != b"null")) {
            return Err(bad("an answer without the id of its request"));
        }
        Ok(Message::Response(Response {
            id,
            outcome,
            outline: self.result_outline.clone(),
        }))
    }

    fn is_version_2(&self) -> bool {
        self.jsonrpc.is_some_and(|version| {
            version == b"\"2.0\""
                || serde_json::from_slice::<String>(version).is_ok_and(|text| text == "2.0")
        })
    }
}

/// The id of a response that this side sends.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyId {
    /// The id of the request.
    Known(RequestId),
    /// Unreadable; `"id":null`, as JSON-RPC has it.
    Null,
    /// Unreadable; no `id`, as revisions from 2025-11-25 have it.
    Absent,
}

/// A message that can be written onto the wire.
///
/// Implemented by what the connections hand out; a [`Sender`](crate::transport::Sender)
/// calls it with its write buffer, so that a message is encoded once, where it is sent from.
pub trait Encode {
    /// Appends the message, on one line and without delimiter.
    fn encode(&self, out: &mut Vec<u8>);

    /// What came of the request, if the message is the response to it: for transports that
    /// answer each request on a stream of its own, which ends with it.
    fn outcome(&self) -> Option<Result<(), ErrorCode>> {
        None
    }
}

/// A message that is encoded already, as a proxy passes it on.
impl Encode for Frame {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

pub(crate) fn encode_request(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: &impl Serialize,
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write(out, id);
    encode_call(out, method, params);
}

pub(crate) fn encode_notification(out: &mut Vec<u8>, method: &str, params: &impl Serialize) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    encode_call(out, method, params);
}

fn encode_call(out: &mut Vec<u8>, method: &str, params: &impl Serialize) {
    out.extend_from_slice(br#","method":"#);
    write(out, method);
    out.extend_from_slice(br#","params":"#);
    write(out, params);
    out.push(b'}');
}

pub(crate) fn encode_response(
    out: &mut Vec<u8>,
    id: &ReplyId,
    outcome: Result<&impl Serialize, &ErrorObject>,
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    match id {
        ReplyId::Known(id) => {
            out.extend_from_slice(br#""id":"#);
            write(out, id);
            out.push(b',');
        }
        ReplyId::Null => out.extend_from_slice(br#""id":null,"#),
        ReplyId::Absent => {}
    }
    match outcome {
        Ok(result) => {
            out.extend_from_slice(br#""result":"#);
            write(out, result);
        }
        Err(error) => {
            out.extend_from_slice(br#""error":"#);
            write(out, error);
        }
    }
    out.push(b'}');
}
