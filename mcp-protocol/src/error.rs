//! Errors as the peer sees them.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::RawJson;
use crate::types::{ClientCapabilities, ElicitParams};
use crate::version::ProtocolVersion;
use crate::wire::wire;

/// The number of a JSON-RPC error.
///
/// Codes from -32768 to -32000 belong to JSON-RPC and to the protocol; an application's
/// own codes belong outside of that range. Spec: [error codes].
///
/// [error codes]: https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The line was not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// JSON, but not a message that is allowed here.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// No such method for this caller.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// HTTP headers and body disagree. Since 2026-07-28.
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a capability that its sender did not declare. Since 2026-07-28.
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The request names a revision that the receiver does not speak. Since 2026-07-28.
    pub const UNSUPPORTED_VERSION: Self = Self(-32022);
    /// No such resource. Up to 2025-11-25; later revisions say [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// The request needs the user to visit a URL first. 2025-11-25 only.
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// The user refused a sampling request. Up to 2025-11-25.
    pub const USER_REJECTED: Self = Self(-1);
    /// This SDK's own: the call was refused because too many are in flight.
    ///
    /// Outside the range that the protocol reserves. Match `data.error`, not the number:
    /// a server can choose another code.
    pub const SERVER_BUSY: Self = Self(-31503);
}

wire! {
    /// Why a request failed, as its sender is told.
    ///
    /// Spec: [error responses](https://modelcontextprotocol.io/specification/2026-07-28/basic#error-responses).
    pub struct ErrorObject {
        /// What kind of failure.
        required "code" => code: ErrorCode,
        /// One line for a person.
        required "message" => message: Cow<'static, str>,
        /// Anything a program may want to know.
        optional "data" => data: RawJson,
    }

    /// The `data` of [`ErrorCode::UNSUPPORTED_VERSION`].
    pub struct UnsupportedVersionData {
        /// The revisions that the receiver speaks.
        required "supported" => supported: Vec<String>,
        /// What the request named.
        required "requested" => requested: String,
    }

    /// The `data` of [`ErrorCode::MISSING_CLIENT_CAPABILITY`].
    pub struct MissingCapabilityData {
        /// What the request would need, in the shape in which a client declares it.
        required "requiredCapabilities" => required_capabilities: ClientCapabilities,
    }

    /// The `data` of [`ErrorCode::URL_ELICITATION_REQUIRED`].
    pub struct UrlElicitationRequiredData {
        /// The web pages that the user has to visit.
        required "elicitations" => elicitations: Vec<ElicitParams>,
    }
}

impl ErrorObject {
    /// -32600.
    #[must_use]
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// -32601.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("method not found: {}", brief(method)),
        )
    }

    /// -32602.
    #[must_use]
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// -32603. The message is sent to the peer: keep what is inside out of it.
    #[must_use]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }

    /// -32022, naming what is spoken here and what was asked for.
    #[must_use]
    pub fn unsupported_version(requested: &str, supported: &[ProtocolVersion]) -> Self {
        let data = UnsupportedVersionData {
            supported: supported.iter().map(ToString::to_string).collect(),
            requested: brief(requested).into_owned(),
        };
        Self::new(
            ErrorCode::UNSUPPORTED_VERSION,
            "unsupported protocol version",
        )
        .data(RawJson::encode(&data).expect("strings always encode"))
    }

    /// -32021, naming what the caller would have to declare.
    #[must_use]
    pub fn missing_capability(required: ClientCapabilities) -> Self {
        let data = MissingCapabilityData {
            required_capabilities: required,
        };
        Self::new(
            ErrorCode::MISSING_CLIENT_CAPABILITY,
            "the request needs a client capability that was not declared",
        )
        .data(RawJson::encode(&data).expect("capabilities always encode"))
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.0)
    }
}

impl std::error::Error for ErrorObject {}

/// As much of what a peer has sent as an answer repeats: a long text must not cost its reader
/// more than it cost its sender.
pub(crate) fn brief(text: &str) -> Cow<'_, str> {
    const MOST: usize = 100;
    let cut = text.char_indices().nth(MOST);
    match cut.and_then(|(end, _)| text.get(..end)) {
        Some(cut) => format!("{cut}\u{2026}").into(),
        None => text.into(),
    }
}
