//! What each side sends.

use crate::error::{ErrorCode, ErrorObject};
use crate::jsonrpc::{Encode, ReplyId, RequestId, encode_response};
use crate::methods::{
    ClientNotification, ClientRequest, ClientResult, ServerNotification, ServerRequest,
    ServerResult,
};

/// A message on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// The message.
    pub message: ServerMessage,
    /// The request that it belongs to, for transports that answer each on its own stream.
    pub about: Option<RequestId>,
}

/// Defines what a side sends.
macro_rules! messages {
    ($(#[$doc:meta])* $name:ident: $request:ident, $notification:ident, $result:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            /// The answer to a request.
            Response {
                /// The id of the request, if it could be read.
                id: ReplyId,
                /// What came of it.
                outcome: Result<Box<$result>, ErrorObject>,
            },
            /// Something happened.
            Notification(Box<$notification>),
            /// A request.
            Request {
                /// This side's id.
                id: RequestId,
                /// What is asked for.
                request: Box<$request>,
            },
            /// The answers to a batch. 2025-03-26 only.
            Batch(Vec<$name>),
        }

        impl $name {
            /// The same reply with an error for its outcome.
            pub(super) fn failed(self, error: ErrorObject) -> Self {
                match self {
                    Self::Response { id, .. } => Self::Response { id, outcome: Err(error) },
                    other => other,
                }
            }
        }

        impl Encode for $name {
            fn outcome(&self) -> Option<Result<(), ErrorCode>> {
                match self {
                    Self::Response { outcome, .. } => {
                        Some(outcome.as_ref().map(drop).map_err(|error| error.code))
                    }
                    Self::Batch(_) => Some(Ok(())),
                    Self::Notification(_) | Self::Request { .. } => None,
                }
            }

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
    };
}

messages! {
    /// What a server sends. Its requests are questions to a legacy client.
    ServerMessage: ServerRequest, ServerNotification, ServerResult
}

impl ServerMessage {
    /// The request that this is the answer to; of a batch, one of them.
    pub(super) fn answers(&self) -> Option<&RequestId> {
        match self {
            Self::Response {
                id: ReplyId::Known(id),
                ..
            } => Some(id),
            Self::Batch(members) => members.iter().find_map(Self::answers),
            _ => None,
        }
    }
}

messages! {
    /// What a client sends. Its answers are those to questions of a legacy server.
    ClientMessage: ClientRequest, ClientNotification, ClientResult
}
