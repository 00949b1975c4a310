//! What a server needs of the user before there can be a result. Since 2026-07-28.
//!
//! Spec: [multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CreateMessageParams, ElicitParams, EmptyParams};
use crate::RawJson;
use crate::meta::ResultMeta;
use crate::methods::{Method, ServerRequest};
use crate::wire::wire;

wire! {
    /// The result of a request that cannot be answered yet. Since 2026-07-28.
    ///
    /// The client sends the request again, with answers.
    pub open struct InputRequiredResult is "resultType" = "input_required" {
        /// What is needed, by names that the server chooses.
        optional "inputRequests" => input_requests: BTreeMap<String, InputRequest>,
        /// What the client sends back unchanged.
        optional "requestState" => request_state: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }
}

/// One thing that a server needs. Since 2026-07-28.
///
/// It is answered with the result of the method of the same name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// A question to the user.
    Elicit(ElicitParams),
    /// A question to the language model.
    CreateMessage(CreateMessageParams),
    /// The roots.
    ListRoots(EmptyParams),
    /// Of a kind that this crate does not know.
    Unknown(RawJson),
}

impl InputRequest {
    /// The method whose result answers it.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::Elicit(_) => Method::Elicit,
            Self::CreateMessage(_) => Method::CreateMessage,
            Self::ListRoots(_) => Method::ListRoots,
            Self::Unknown(request) => {
                let call = request.decode::<Call>();
                call.map_or("".into(), |call| call.method.as_str().into())
            }
        }
    }

    /// The question as the request that it would have been up to 2025-11-25. `None` if its kind
    /// is unknown.
    #[must_use]
    pub fn into_request(self) -> Option<ServerRequest> {
        match self {
            Self::Elicit(params) => Some(ServerRequest::Elicit(params)),
            Self::CreateMessage(params) => Some(ServerRequest::CreateMessage(params)),
            Self::ListRoots(params) => Some(ServerRequest::ListRoots(params)),
            Self::Unknown(_) => None,
        }
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn call<S: Serializer>(
            serializer: S,
            method: &Method,
            params: Option<&impl Serialize>,
        ) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry("method", method)?;
            if let Some(params) = params {
                map.serialize_entry("params", params)?;
            }
            map.end()
        }

        match self {
            Self::Elicit(params) => call(serializer, &Method::Elicit, Some(params)),
            Self::CreateMessage(params) => call(serializer, &Method::CreateMessage, Some(params)),
            Self::ListRoots(params) => {
                let params = Some(params).filter(|params| **params != EmptyParams::default());
                call(serializer, &Method::ListRoots, params)
            }
            Self::Unknown(request) => request.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let call = Call::deserialize(deserializer)?;
        let params = || call.params.clone().unwrap_or(RawJson::empty_object());
        match Method::from(&*call.method) {
            Method::Elicit => params().decode().map(Self::Elicit),
            Method::CreateMessage => params().decode().map(Self::CreateMessage),
            Method::ListRoots => params().decode().map(Self::ListRoots),
            _ => RawJson::encode(&call).map(Self::Unknown),
        }
        .map_err(D::Error::custom)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for InputRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InputRequest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": { "method": { "type": "string" }, "params": { "type": "object" } },
            "required": ["method"],
        })
    }
}

wire! {
    /// What an [`InputRequest`] is read as, before its kind is known.
    open struct Call {
        required "method" => method: String,
        optional "params" => params: RawJson,
    }
}
