//! What a server sends.

use crate::error::ErrorObject;
use crate::jsonrpc::{Encode, ReplyId, RequestId, encode_response};
use crate::methods::{ServerNotification, ServerRequest, ServerResult};

/// A message on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// The message.
    pub message: ServerMessage,
    /// The request that it belongs to, for transports that answer each on its own stream.
    pub about: Option<RequestId>,
}

/// What a server sends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerMessage {
    /// The answer to a request.
    Response {
        /// The id of the request, if it could be read.
        id: ReplyId,
        /// What came of it.
        outcome: Result<Box<ServerResult>, ErrorObject>,
    },
    /// Something happened.
    Notification(Box<ServerNotification>),
    /// A question to a legacy client.
    Request {
        /// This side's id.
        id: RequestId,
        /// What is asked.
        request: Box<ServerRequest>,
    },
    /// The answers to a batch. 2025-03-26 only.
    Batch(Vec<ServerMessage>),
}

impl Encode for ServerMessage {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Response { id, outcome } => encode_response(out, id, outcome.as_deref()),
            Self::Notification(notification) => notification.encode(out),
            Self::Request { id, request } => request.encode(id, out),
            Self::Batch(members) => {
                out.push(b'[');
                for (at, member) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    member.encode(out);
                }
                out.push(b']');
            }
        }
    }
}
