//! Every example file of 2026-07-28, read with the type of its folder and written again.

use std::collections::BTreeMap;
use std::fmt::Debug;

use mcp_protocol::types::*;
use mcp_protocol::{
    ClientNotification, ClientRequest, ErrorObject, Frame, Incoming, Message, Method,
    MissingCapabilityData, RawJson, ServerNotification, ServerResult, UnsupportedVersionData,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::spec;

/// Covers B-077, B-077c.
#[test]
fn every_example_is_read_and_written_again() {
    let Some(folder) = spec::folder() else { return };
    let mut seen = 0;
    for folder in spec::entries(&folder.join("2026-07-28/examples")) {
        let kind = folder
            .file_name()
            .expect("it is an entry")
            .to_string_lossy();
        for file in spec::entries(&folder) {
            let example = spec::read(&file);
            let written = again(&kind, &example);
            assert!(
                same(&written, &expected(&kind, example.clone())),
                "{}\nread:    {example}\nwritten: {written}",
                file.display()
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 129, "the specification has that many examples");
}

/// The one example that breaks a rule of its own page: no `id` inside an input request.
fn expected(kind: &str, mut example: Value) -> Value {
    if kind == "ListRootsRequest" {
        let members = example.as_object_mut().expect("it is a request");
        members.remove("id");
    }
    example
}

fn again(kind: &str, example: &Value) -> Value {
    let typed = match kind {
        "AudioContent" | "EmbeddedResource" | "ImageContent" | "ResourceLink" | "TextContent" => {
            typed::<ContentBlock>
        }
        "BlobResourceContents" | "TextResourceContents" => typed::<ResourceContents>,
        "BooleanSchema"
        | "NumberSchema"
        | "StringSchema"
        | "TitledMultiSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "UntitledSingleSelectEnumSchema" => typed::<PrimitiveSchema>,
        "ToolResultContent" | "ToolUseContent" => typed::<SamplingBlock>,
        "CallToolRequestParams" => typed::<CallToolParams>,
        "CallToolResult" => typed::<CallToolResult>,
        "CancelledNotificationParams" => typed::<CancelledParams>,
        "ClientCapabilities" => typed::<ClientCapabilities>,
        "CompleteRequestParams" => typed::<CompleteParams>,
        "CompleteResult" => typed::<CompleteResult>,
        "CreateMessageRequestParams" => typed::<CreateMessageParams>,
        "CreateMessageResult" => typed::<CreateMessageResult>,
        "DiscoverResult" => typed::<DiscoverResult>,
        "ElicitRequestFormParams" | "ElicitRequestURLParams" => typed::<ElicitParams>,
        "ElicitResult" => typed::<ElicitResult>,
        "GetPromptRequestParams" => typed::<GetPromptParams>,
        "GetPromptResult" => typed::<GetPromptResult>,
        "InputRequests" => typed::<BTreeMap<String, InputRequest>>,
        "InputRequiredResult" => typed::<InputRequiredResult>,
        "InputResponses" => typed::<BTreeMap<String, RawJson>>,
        "InternalError" | "InvalidParamsError" | "MethodNotFoundError" | "ParseError" => {
            typed::<ErrorObject>
        }
        "ListPromptsResult" => typed::<ListPromptsResult>,
        "ListResourceTemplatesResult" => typed::<ListResourceTemplatesResult>,
        "ListResourcesResult" => typed::<ListResourcesResult>,
        "ListRootsResult" => typed::<ListRootsResult>,
        "ListToolsResult" => typed::<ListToolsResult>,
        "LoggingMessageNotificationParams" => typed::<LogMessageParams>,
        "ModelPreferences" => typed::<ModelPreferences>,
        "PaginatedRequestParams" => typed::<PaginatedParams>,
        "ProgressNotificationParams" => typed::<ProgressParams>,
        "ReadResourceResult" => typed::<ReadResourceResult>,
        "Resource" => typed::<Resource>,
        "ResourceUpdatedNotificationParams" => typed::<ResourceUpdatedParams>,
        "Root" => typed::<Root>,
        "SamplingMessage" => typed::<SamplingMessage>,
        "ServerCapabilities" => typed::<ServerCapabilities>,
        "SubscriptionsListenResult" => typed::<ListenResult>,
        "Tool" => typed::<Tool>,
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest" => typed::<InputRequest>,
        "CallToolResultResponse" => |example: &Value| response(Method::CallTool, example),
        "CompleteResultResponse" => |example: &Value| response(Method::Complete, example),
        "DiscoverResultResponse" => |example: &Value| response(Method::Discover, example),
        "GetPromptResultResponse" => |example: &Value| response(Method::GetPrompt, example),
        "ListPromptsResultResponse" => |example: &Value| response(Method::ListPrompts, example),
        "ListResourceTemplatesResultResponse" => {
            |example: &Value| response(Method::ListResourceTemplates, example)
        }
        "ListResourcesResultResponse" => |example: &Value| response(Method::ListResources, example),
        "ListToolsResultResponse" => |example: &Value| response(Method::ListTools, example),
        "ReadResourceResultResponse" => |example: &Value| response(Method::ReadResource, example),
        "SubscriptionsListenResultResponse" => |example: &Value| response(Method::Listen, example),
        "HeaderMismatchError" => error::<Value>,
        "MissingRequiredClientCapabilityError" => error::<MissingCapabilityData>,
        "UnsupportedProtocolVersionError" => error::<UnsupportedVersionData>,
        kind if kind.ends_with("Request") => request,
        kind if kind.ends_with("Notification") => notification,
        kind => panic!("no type for the examples in {kind}"),
    };
    typed(example)
}

fn typed<T: DeserializeOwned + Serialize + Debug>(example: &Value) -> Value {
    let value: T = RawJson::from(example.clone())
        .decode()
        .unwrap_or_else(|error| panic!("{error} in {example}"));
    serde_json::to_value(&value).expect("it came from JSON")
}

fn message(example: &Value) -> Message {
    match Incoming::parse(&Frame::from(example.to_string())) {
        Incoming::Message(message) => message,
        other => panic!("{other:?} from {example}"),
    }
}

fn request(example: &Value) -> Value {
    let Message::Request(request) = message(example) else {
        panic!("not a request: {example}");
    };
    let typed = ClientRequest::parse(request.method, request.params)
        .unwrap_or_else(|error| panic!("{error:?} in {example}"));
    assert!(!matches!(typed, ClientRequest::Custom(..)), "{typed:?}");
    let mut written = Vec::new();
    typed.encode(&request.id, &mut written);
    serde_json::from_slice(&written).expect("a request is JSON")
}

fn notification(example: &Value) -> Value {
    let Message::Notification(notification) = message(example) else {
        panic!("not a notification: {example}");
    };
    let (method, params) = (notification.method, notification.params);
    let mut written = Vec::new();
    let server = ServerNotification::parse(method.clone(), params.clone())
        .unwrap_or_else(|error| panic!("{error:?} in {example}"));
    assert!(
        !matches!(server, ServerNotification::Custom(..)),
        "{server:?}"
    );
    server.encode(&mut written);
    let client = ClientNotification::parse(method, params);
    if let Some(client) = client
        .ok()
        .filter(|c| !matches!(c, ClientNotification::Custom(..)))
    {
        let mut again = Vec::new();
        client.encode(&mut again);
        assert_eq!(again, written, "either side writes the same");
    }
    serde_json::from_slice(&written).expect("a notification is JSON")
}

fn response(method: Method, example: &Value) -> Value {
    let Message::Response(response) = message(example) else {
        panic!("not a response: {example}");
    };
    let result = response.outcome.expect("it is not an error");
    let typed = ServerResult::parse(&method, &result)
        .unwrap_or_else(|error| panic!("{error} in {example}"));
    assert!(!matches!(typed, ServerResult::Custom(..)), "{typed:?}");
    json!({ "jsonrpc": "2.0", "id": response.id, "result": typed })
}

fn error<T: DeserializeOwned + Serialize + Debug>(example: &Value) -> Value {
    let Message::Response(response) = message(example) else {
        panic!("not a response: {example}");
    };
    let mut error = response.outcome.expect_err("it is an error");
    if let Some(data) = &mut error.data {
        *data = RawJson::encode(&data.decode::<T>().expect("it fits the error"))
            .expect("it came from JSON");
    }
    json!({ "jsonrpc": "2.0", "id": response.id, "error": error })
}

/// Equal as JSON values: 50 and 50.0 are one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let known = |key| b.get(key).zip(a.get(key)).is_some_and(|(b, a)| same(a, b));
            a.len() == b.len() && a.keys().all(known)
        }
        (a, b) => a == b,
    }
}
