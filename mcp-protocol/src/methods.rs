//! The table of methods, and the message enums made from it.
//!
//! A row says everything there is to know about a method outside of its types: its name, its
//! parameters and result, who may send it, and in which revisions it exists.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{ErrorObject, brief};
use crate::jsonrpc::{Outline, RawJson, RequestId, encode_notification, encode_request, string};
use crate::meta::{LastMeta, NotificationMeta, RequestMeta, ResultMeta};
use crate::types::*;
use crate::version::ProtocolVersion::{self, *};
use crate::wire::{Few, Key, wire};

macro_rules! methods {
    (
        requests {
            client { $( $cr:ident $cr_name:literal: $cr_params:ty => $cr_result:ty, $cr_since:ident..=$cr_until:ident; )* }
            server { $( $sr:ident $sr_name:literal: $sr_params:ty => $sr_result:ty, $sr_since:ident..=$sr_until:ident; )* }
            both { $( $br:ident $br_name:literal: $br_params:ty => $br_result:ty, $br_since:ident..=$br_until:ident; )* }
        }
        notifications {
            client { $( $cn:ident $cn_name:literal: $cn_params:ty, $cn_since:ident..=$cn_until:ident; )* }
            server { $( $sn:ident $sn_name:literal: $sn_params:ty, $sn_since:ident..=$sn_until:ident; )* }
            both { $( $bn:ident $bn_name:literal: $bn_params:ty, $bn_since:ident..=$bn_until:ident; )* }
        }
    ) => {
        methods! {@method
            $( $cr $cr_name $cr_since $cr_until; )*
            $( $sr $sr_name $sr_since $sr_until; )*
            $( $br $br_name $br_since $br_until; )*
            $( $cn $cn_name $cn_since $cn_until; )*
            $( $sn $sn_name $sn_since $sn_until; )*
            $( $bn $bn_name $bn_since $bn_until; )*
        }
        methods! {@requests
            /// A request that a client sends.
            ClientRequest
            $( $cr $cr_params; )* $( $br $br_params; )*
        }
        methods! {@requests
            /// A request that a server sends. Modern servers send none: they ask with
            /// [`InputRequiredResult`].
            ServerRequest
            $( $sr $sr_params; )* $( $br $br_params; )*
        }
        methods! {@notifications
            /// A notification that a client sends.
            ClientNotification
            $( $cn $cn_params; )* $( $bn $bn_params; )*
        }
        methods! {@notifications
            /// A notification that a server sends.
            ServerNotification
            $( $sn $sn_params; )* $( $bn $bn_params; )*
        }
        methods! {@results
            /// What a server answers a request with.
            ServerResult
            $( $cr $cr_result; )* $( $br $br_result; )*
        }
        methods! {@results
            /// What a client answers a request with.
            ClientResult
            $( $sr $sr_result; )* $( $br $br_result; )*
        }
    };

    (@method $( $method:ident $name:literal $since:ident $until:ident; )*) => {
        /// The name of a method.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $(
                #[doc = concat!("`", $name, "`")]
                $method,
            )*
            /// A method that is not in the table.
            Other(Box<str>),
        }

        impl Method {
            /// The name on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$method => $name, )*
                    Self::Other(name) => name,
                }
            }

            /// The revisions that have this method; `None` for one that is not in the table.
            #[must_use]
            pub fn versions(&self) -> Option<RangeInclusive<ProtocolVersion>> {
                match self {
                    $( Self::$method => Some($since..=$until), )*
                    Self::Other(_) => None,
                }
            }
        }

        impl Method {
            /// One that is in the table.
            fn known(name: &[u8]) -> Option<Self> {
                $( if name == $name.as_bytes() { return Some(Self::$method); } )*
                None
            }
        }
    };

    (@messages $(#[$doc:meta])* $enum:ident $( $method:ident $params:ty; )*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $enum {
            $(
                #[doc = concat!("[`Method::", stringify!($method), "`]")]
                $method($params),
            )*
            /// A method that is not in the table, or not one of this side's.
            Custom(Method, CustomParams),
        }

        impl $enum {
            /// Gives the parameters their type.
            ///
            /// # Errors
            ///
            /// [`ErrorCode::INVALID_PARAMS`](crate::ErrorCode::INVALID_PARAMS) when they do
            /// not fit the method. A notification is never answered: its error is for a log.
            pub fn parse(method: Method, params: Option<RawJson>) -> Result<Self, ErrorObject> {
                match method {
                    $( Method::$method => from_params(params).map(Self::$method), )*
                    method => from_params(params).map(|params| Self::Custom(method, params)),
                }
            }

            /// The method.
            #[must_use]
            pub fn method(&self) -> Method {
                match self {
                    $( Self::$method(_) => Method::$method, )*
                    Self::Custom(method, _) => method.clone(),
                }
            }
        }
    };

    (@requests $(#[$doc:meta])* $enum:ident $( $method:ident $params:ty; )*) => {
        methods! {@messages $(#[$doc])* $enum $( $method $params; )*}

        impl $enum {
            /// The `_meta` of the parameters.
            #[must_use]
            pub fn meta(&self) -> Option<&RequestMeta> {
                match self {
                    $( Self::$method(params) => params.meta.as_ref(), )*
                    Self::Custom(_, params) => params.meta.as_ref(),
                }
            }

            /// The `_meta` of the parameters, absent or not.
            pub fn meta_mut(&mut self) -> &mut Option<RequestMeta> {
                match self {
                    $( Self::$method(params) => &mut params.meta, )*
                    Self::Custom(_, params) => &mut params.meta,
                }
            }

            /// Appends the request to `out`, on one line and without delimiter.
            pub fn encode(&self, id: &RequestId, out: &mut Vec<u8>) {
                match self {
                    $( Self::$method(params) => {
                        encode_request(out, id, Method::$method.as_str(), params);
                    } )*
                    Self::Custom(method, params) => {
                        encode_request(out, id, method.as_str(), params);
                    }
                }
            }
        }
    };

    (@notifications $(#[$doc:meta])* $enum:ident $( $method:ident $params:ty; )*) => {
        methods! {@messages $(#[$doc])* $enum $( $method $params; )*}

        impl $enum {
            /// The `_meta` of the parameters, if they have a known form.
            #[must_use]
            pub fn meta(&self) -> Option<&NotificationMeta> {
                match self {
                    $( Self::$method(params) => params.meta.as_ref(), )*
                    Self::Custom(..) => None,
                }
            }

            /// Appends the notification to `out`, on one line and without delimiter.
            pub fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $( Self::$method(params) => {
                        encode_notification(out, Method::$method.as_str(), params);
                    } )*
                    Self::Custom(method, params) => {
                        encode_notification(out, method.as_str(), params);
                    }
                }
            }
        }
    };

    (@results $(#[$doc:meta])* $enum:ident $( $method:ident $result:ty; )*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum $enum {
            $(
                #[doc = concat!("The result of [`Method::", stringify!($method), "`]")]
                $method($result),
            )*
            /// What is still needed of the user before there can be a result. Since 2026-07-28.
            InputRequired(InputRequiredResult),
            /// Any JSON object: the result of a method that is not in the table.
            Custom(RawJson),
        }

        impl $enum {
            /// Gives the result of a request its type: that of the method that was asked, or
            /// what `resultType` says.
            ///
            /// # Errors
            ///
            /// When the result does not fit the method, or has a `resultType` that is neither
            /// absent nor `complete` nor, where the method has it, `input_required`.
            pub fn parse(method: &Method, result: &RawJson) -> Result<Self, ResultError> {
                match ResultType::of(result)? {
                    ResultType::Complete => {}
                    ResultType::InputRequired if method.may_need_input() => {
                        return Ok(result.decode().map(Self::InputRequired)?);
                    }
                    word => return Err(ResultError::UnknownType(word.to_string())),
                }
                Self::parse_complete(method, result)
            }

            /// Gives the result of a request the type of the method that was asked, whatever
            /// its `resultType` says: to a peer up to 2025-11-25 that is a foreign member.
            ///
            /// # Errors
            ///
            /// When the result does not fit the method.
            pub fn parse_complete(method: &Method, result: &RawJson) -> Result<Self, ResultError> {
                match method {
                    $( Method::$method => Ok(result.decode().map(Self::$method)?), )*
                    _ => Ok(Self::Custom(result.clone())),
                }
            }

            /// Edits the `_meta` of the result, absent or not. That of a custom result which is
            /// not as it should be stays as it is.
            pub fn edit_meta(&mut self, edit: impl FnOnce(&mut Option<ResultMeta>)) {
                match self {
                    $( Self::$method(result) => edit(&mut result.meta), )*
                    Self::InputRequired(result) => edit(&mut result.meta),
                    Self::Custom(result) => edit_custom_meta(result, edit),
                }
            }
        }
    };
}

methods! {
    requests {
        client {
            Initialize "initialize": Box<InitializeParams> => Box<InitializeResult>, V2024_11_05..=V2025_11_25;
            Discover "server/discover": EmptyParams => Box<DiscoverResult>, V2026_07_28..=V2026_07_28;
            ListTools "tools/list": PaginatedParams => ListToolsResult, V2024_11_05..=V2026_07_28;
            CallTool "tools/call": CallToolParams => CallToolResult, V2024_11_05..=V2026_07_28;
            ListPrompts "prompts/list": PaginatedParams => ListPromptsResult, V2024_11_05..=V2026_07_28;
            GetPrompt "prompts/get": GetPromptParams => GetPromptResult, V2024_11_05..=V2026_07_28;
            ListResources "resources/list": PaginatedParams => ListResourcesResult, V2024_11_05..=V2026_07_28;
            ListResourceTemplates "resources/templates/list": PaginatedParams => ListResourceTemplatesResult, V2024_11_05..=V2026_07_28;
            ReadResource "resources/read": ReadResourceParams => ReadResourceResult, V2024_11_05..=V2026_07_28;
            Subscribe "resources/subscribe": SubscribeParams => EmptyResult, V2024_11_05..=V2025_11_25;
            Unsubscribe "resources/unsubscribe": SubscribeParams => EmptyResult, V2024_11_05..=V2025_11_25;
            Listen "subscriptions/listen": ListenParams => ListenResult, V2026_07_28..=V2026_07_28;
            SetLevel "logging/setLevel": SetLevelParams => EmptyResult, V2024_11_05..=V2025_11_25;
            Complete "completion/complete": CompleteParams => CompleteResult, V2024_11_05..=V2026_07_28;
        }
        server {
            CreateMessage "sampling/createMessage": CreateMessageParams => CreateMessageResult, V2024_11_05..=V2025_11_25;
            ListRoots "roots/list": EmptyParams => ListRootsResult, V2024_11_05..=V2025_11_25;
            Elicit "elicitation/create": ElicitParams => ElicitResult, V2025_06_18..=V2025_11_25;
        }
        both {
            Ping "ping": EmptyParams => EmptyResult, V2024_11_05..=V2025_11_25;
            GetTask "tasks/get": TaskParams => TaskResult, V2025_11_25..=V2025_11_25;
            GetTaskPayload "tasks/result": TaskParams => TaskPayload, V2025_11_25..=V2025_11_25;
            CancelTask "tasks/cancel": TaskParams => TaskResult, V2025_11_25..=V2025_11_25;
            ListTasks "tasks/list": PaginatedParams => ListTasksResult, V2025_11_25..=V2025_11_25;
        }
    }
    notifications {
        client {
            Initialized "notifications/initialized": EmptyNotificationParams, V2024_11_05..=V2025_11_25;
            RootsListChanged "notifications/roots/list_changed": EmptyNotificationParams, V2024_11_05..=V2025_11_25;
        }
        server {
            LogMessage "notifications/message": LogMessageParams, V2024_11_05..=V2026_07_28;
            ResourceUpdated "notifications/resources/updated": ResourceUpdatedParams, V2024_11_05..=V2026_07_28;
            ResourceListChanged "notifications/resources/list_changed": EmptyNotificationParams, V2024_11_05..=V2026_07_28;
            ToolListChanged "notifications/tools/list_changed": EmptyNotificationParams, V2024_11_05..=V2026_07_28;
            PromptListChanged "notifications/prompts/list_changed": EmptyNotificationParams, V2024_11_05..=V2026_07_28;
            ElicitationComplete "notifications/elicitation/complete": ElicitationCompleteParams, V2025_11_25..=V2025_11_25;
            SubscriptionsAcknowledged "notifications/subscriptions/acknowledged": AcknowledgedParams, V2026_07_28..=V2026_07_28;
        }
        both {
            Cancelled "notifications/cancelled": CancelledParams, V2024_11_05..=V2026_07_28;
            Progress "notifications/progress": ProgressParams, V2024_11_05..=V2026_07_28;
            TaskStatus "notifications/tasks/status": Task, V2025_11_25..=V2025_11_25;
        }
    }
}

impl Method {
    /// Reads a JSON text. The name of a known method needs no escapes.
    pub(crate) fn read(literal: &[u8]) -> Option<Self> {
        let name = literal.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Self::known(name).or_else(|| serde_json::from_slice(literal).ok())
    }

    /// Whether an application can have a method of this name: one that neither the
    /// specification nor JSON-RPC has for itself.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        matches!(self, Self::Other(name) if !name.is_empty() && !name.starts_with("rpc."))
    }

    /// Whether the result may be an [`InputRequiredResult`]: of what is in the table, three.
    fn may_need_input(&self) -> bool {
        matches!(
            self,
            Self::CallTool | Self::GetPrompt | Self::ReadResource | Self::Other(_)
        )
    }
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        Self::known(name.as_bytes()).unwrap_or_else(|| Self::Other(name.into()))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Key::deserialize(deserializer).map(|name| name.as_str().into())
    }
}

/// Why a result cannot be given its type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The result does not fit the method that was asked.
    #[error("the result does not fit the method: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A `resultType` that nobody here has declared support for, or that the method has not.
    #[error("the result is of the unknown type `{0}`")]
    UnknownType(String),
}

fn edit_custom_meta(result: &mut RawJson, edit: impl FnOnce(&mut Option<ResultMeta>)) {
    wire! {
        open struct Custom {
            optional "_meta" => meta: ResultMeta,
        }
    }

    if let Ok(mut custom) = result.decode::<Custom>() {
        edit(&mut custom.meta);
        *result = RawJson::encode(&custom).expect("what was JSON encodes as JSON");
    }
}

impl ClientRequest {
    /// The same request with answers to what the server needs, and the state that it wants back.
    /// `None` if it is none of those to which a server may answer with an
    /// [`InputRequiredResult`].
    #[must_use]
    pub fn again(
        mut self,
        answers: Option<BTreeMap<String, RawJson>>,
        state: Option<String>,
    ) -> Option<Self> {
        let (responses, request_state) = match &mut self {
            Self::CallTool(params) => (&mut params.input_responses, &mut params.request_state),
            Self::GetPrompt(params) => (&mut params.input_responses, &mut params.request_state),
            Self::ReadResource(params) => (&mut params.input_responses, &mut params.request_state),
            _ => return None,
        };
        (*responses, *request_state) = (answers, state);
        Some(self)
    }

    /// [`parse`](Self::parse), for what most requests are: their members need not be looked for.
    ///
    /// `None` if there are others, or something is wrong. Shared from the beginning: it is large,
    /// and handed on from one to the next.
    pub(crate) fn outlined(
        method: &Method,
        params: &mut Option<RawJson>,
        outline: &Outline,
        last: &mut LastMeta,
    ) -> Option<Arc<Self>> {
        if outline.others || !params.as_ref().is_none_or(RawJson::is_object) {
            return None;
        }
        let whole = params.as_ref().map_or(&[][..], RawJson::as_bytes);
        let (name, arguments) = (outline.name(whole), outline.arguments(whole));
        let meta = match outline.meta(whole) {
            Some(text) => Some(last.read(text)?),
            None => None,
        };
        match (method, name) {
            (Method::CallTool, Some(name)) => {
                let name = string(name)?;
                let arguments = arguments.and_then(|place| Some(params.take()?.cut(place)));
                Some(Arc::new(Self::CallTool(CallToolParams {
                    arguments,
                    meta,
                    ..CallToolParams::new(name)
                })))
            }
            (Method::ListTools, None) if arguments.is_none() => {
                Some(Arc::new(Self::ListTools(PaginatedParams {
                    meta,
                    ..PaginatedParams::new()
                })))
            }
            _ => None,
        }
    }
}

impl ServerResult {
    /// [`parse`](Self::parse), for what most results are: their members need not be looked for.
    ///
    /// `None` if there are others, or something is wrong.
    pub(crate) fn outlined(
        method: &Method,
        result: &RawJson,
        outline: &Outline,
        meta: Option<ResultMeta>,
    ) -> Option<Self> {
        if outline.others || *method != Method::CallTool || !result.is_object() {
            return None;
        }
        let whole = result.as_bytes();
        let mut call = CallToolResult::new();
        if let Some(content) = outline.content(whole) {
            let content = RawJson::slice_of(result.bytes(), content);
            let Few(blocks) = content.decode().ok()?;
            call.content = blocks;
        }
        if outline.has_structured() {
            // Whoever keeps it is not to keep all that was read along with it.
            call.structured_content = Some(RawJson::copy_of(outline.structured(whole)?));
        }
        if let Some(word) = outline.result_type(whole) {
            call.result_type = (word == b"\"complete\"").then_some(ResultType::Complete);
            call.result_type.as_ref()?;
        }
        if let Some(word) = outline.is_error(whole) {
            call.is_error = Some(std::str::from_utf8(word).ok()?.parse().ok()?);
        }
        if outline.meta(whole).is_some() {
            call.meta = Some(meta?);
        }
        Some(Self::CallTool(call))
    }
}

/// Gives parameters their type.
fn from_params<T: DeserializeOwned>(params: Option<RawJson>) -> Result<T, ErrorObject> {
    let params = params.unwrap_or(RawJson::empty_object());
    params.decode().map_err(invalid_params)
}

fn invalid_params(error: serde_json::Error) -> ErrorObject {
    ErrorObject::invalid_params(format!("Invalid params: {}", brief(&error.to_string())))
}
