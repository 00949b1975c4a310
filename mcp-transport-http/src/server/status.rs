//! Answers that are given without a connection, and the statuses of all.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use mcp_protocol::connection::ServerMessage;
use mcp_protocol::{Encode, ErrorCode, ErrorObject, ReplyId, RequestId};

use super::body::{Body, Events};

/// The status of the answer to a request that came on a connection of its own.
///
/// What a handler refuses is an answer like any other: clients hand it on only if the exchange
/// as such succeeded. `complete` is whether the request was one that a handler could get.
pub(super) fn of(outcome: Result<(), ErrorCode>, complete: bool) -> StatusCode {
    match outcome {
        Err(
            ErrorCode::PARSE_ERROR
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_VERSION,
        ) => StatusCode::BAD_REQUEST,
        Err(ErrorCode::INVALID_PARAMS) if !complete => StatusCode::BAD_REQUEST,
        Err(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// Why a request is answered without being looked at by a connection.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    answer: Box<(ReplyId, ErrorObject)>,
    /// The methods that would not have been refused.
    allow: Option<&'static str>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: ErrorObject) -> Self {
        Self {
            status,
            answer: Box::new((ReplyId::Absent, error)),
            allow: None,
        }
    }

    /// -32600, with a status that says more.
    pub(super) fn because(status: StatusCode, reason: impl Into<String>) -> Self {
        Self::new(status, ErrorObject::invalid_request(reason.into()))
    }

    /// Says which methods are allowed.
    pub(super) fn allowing(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Says which request it is about.
    pub(super) fn to(mut self, id: RequestId) -> Self {
        self.answer.0 = ReplyId::Known(id);
        self
    }

    /// Says that it is not known which, in the way of older revisions.
    pub(super) fn with_null_id(mut self) -> Self {
        self.answer.0 = ReplyId::Null;
        self
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let (id, error) = *self.answer;
        let message = ServerMessage::Response {
            id,
            outcome: Err(error),
        };
        let mut text = Vec::new();
        message.encode(&mut text);
        let mut response = json(self.status, text.into());
        if let Some(methods) = self.allow {
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(ALLOW, methods);
        }
        response
    }
}

/// One message.
pub(super) fn json(status: StatusCode, message: Bytes) -> Response<Body> {
    let mut response = empty(status);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    *response.body_mut() = Body::whole(message);
    response
}

/// A status that says it all.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// A stream of messages.
pub(super) fn stream(events: Events) -> Response<Body> {
    let mut response = Response::new(Body::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Otherwise a proxy may hold events back until it has gathered enough of them.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
