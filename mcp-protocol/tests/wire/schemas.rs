//! What is written fits the schema of every revision that has the type: once with every member
//! that any revision knows, once with none that may be left out.

use std::collections::BTreeSet;

use mcp_protocol::ProtocolVersion::{self, *};
use mcp_protocol::types::*;
use mcp_protocol::{
    ClientNotification, ClientRequest, ClientResult, ErrorCode, ErrorObject, RequestId,
    ServerNotification, ServerRequest, ServerResult, UrlElicitationRequiredData, compat,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::samples::*;
use super::spec::Schema;

/// Covers D16.
#[test]
fn what_is_written_fits_2024_11_05() {
    check(V2024_11_05);
}

/// Covers D16.
#[test]
fn what_is_written_fits_2025_03_26() {
    check(V2025_03_26);
}

/// Covers D16.
#[test]
fn what_is_written_fits_2025_06_18() {
    check(V2025_06_18);
}

/// Covers D16, J07, J08, EL05, B-077, B-077c.
#[test]
fn what_is_written_fits_2025_11_25() {
    check(V2025_11_25);
}

/// Covers D16, J07, J08, X03, EL05, B-077, B-077c.
#[test]
fn what_is_written_fits_2026_07_28() {
    check(V2026_07_28);
}

fn check(version: ProtocolVersion) {
    let Some(schema) = Schema::of(version) else {
        return;
    };
    let written = written(version);
    let complaints = schema.complaints(&written);
    assert!(
        complaints.is_empty(),
        "{version}:\n{}",
        complaints.join("\n")
    );

    let mut missing: BTreeSet<_> = schema.definitions().collect();
    for (definition, _) in &written {
        missing.remove(definition);
    }
    for definition in NO_TYPES {
        missing.remove(definition);
    }
    assert!(
        missing.is_empty(),
        "{version}: nothing was written as {missing:?}"
    );
}

/// Definitions that are parts of others, or unions of others.
const NO_TYPES: &[&str] = &[
    // Parts.
    "Annotated",
    "BaseMetadata",
    "CacheableResult",
    "Cursor",
    "Error",
    "Icons",
    "InputResponseRequestParams",
    "JSONArray",
    "JSONObject",
    "JSONValue",
    "LoggingLevel",
    "Notification",
    "PaginatedRequest",
    "PaginatedResult",
    "ProgressToken",
    "Request",
    "RequestId",
    "ResourceContents",
    "ResourceRequestParams",
    "Result",
    "ResultType",
    "Role",
    "SubscriptionsListenResultMetaObject",
    "TaskAugmentedRequestParams",
    "TaskStatus",
    // In `_meta`, where it is a foreign member.
    "RelatedTaskMetadata",
    // Unions.
    "ClientNotification",
    "ClientRequest",
    "ClientResult",
    "ElicitRequestParams",
    "EnumSchema",
    "InputResponse",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
    "JSONRPCMessage",
    "JSONRPCResponse",
    "MultiSelectEnumSchema",
    "ServerNotification",
    "ServerRequest",
    "ServerResult",
    "SingleSelectEnumSchema",
    // Errors of which only the code is said.
    "InternalError",
    "InvalidParamsError",
    "InvalidRequestError",
    "MethodNotFoundError",
    "ParseError",
];

/// Values by the definition that they must fit, fitted to one revision.
struct Written {
    version: ProtocolVersion,
    values: Vec<(&'static str, Value)>,
}

impl Written {
    fn push(&mut self, definition: &'static str, value: &impl Serialize) {
        let value = serde_json::to_value(value).expect("wire types encode");
        self.values.push((definition, value));
    }

    fn part<T: Serialize>(
        &mut self,
        definition: &'static str,
        fit: impl Fn(&mut T, ProtocolVersion),
        values: impl IntoIterator<Item = T>,
    ) {
        for mut value in values {
            fit(&mut value, self.version);
            self.push(definition, &value);
        }
    }

    fn client_request(&mut self, definition: &'static str, requests: Vec<ClientRequest>) {
        for meta in [request_meta(), full_request_meta()] {
            for mut request in requests.clone() {
                *request.meta_mut() = Some(meta.clone());
                compat::fit_client_request(&mut request, self.version);
                self.request(definition, |id, out| request.encode(id, out));
            }
        }
    }

    fn server_request(&mut self, definition: &'static str, requests: Vec<ServerRequest>) {
        for mut request in requests {
            compat::fit_server_request(&mut request, self.version);
            self.request(definition, |id, out| request.encode(id, out));
        }
    }

    fn request(&mut self, definition: &'static str, encode: impl Fn(&RequestId, &mut Vec<u8>)) {
        for id in [7.into(), "seven".into()] {
            let mut text = Vec::new();
            encode(&id, &mut text);
            let request: Value = serde_json::from_slice(&text).expect("a request is JSON");
            if let Some(params) = self.params_of(definition) {
                self.values.push((params, request["params"].clone()));
            }
            self.values.push(("JSONRPCRequest", request.clone()));
            self.values.push((definition, request));
        }
    }

    /// From 2025-11-25 on parameters have definitions of their own.
    fn params_of(&self, definition: &str) -> Option<&'static str> {
        let params = match definition {
            "CallToolRequest" => "CallToolRequestParams",
            "CompleteRequest" => "CompleteRequestParams",
            "DiscoverRequest" | "PingRequest" => "RequestParams",
            "GetPromptRequest" => "GetPromptRequestParams",
            "InitializeRequest" => "InitializeRequestParams",
            "ListToolsRequest" => "PaginatedRequestParams",
            "ReadResourceRequest" => "ReadResourceRequestParams",
            "SetLevelRequest" => "SetLevelRequestParams",
            "SubscribeRequest" => "SubscribeRequestParams",
            "SubscriptionsListenRequest" => "SubscriptionsListenRequestParams",
            "UnsubscribeRequest" => "UnsubscribeRequestParams",
            "CancelledNotification" => "CancelledNotificationParams",
            "LoggingMessageNotification" => "LoggingMessageNotificationParams",
            "ProgressNotification" => "ProgressNotificationParams",
            "ResourceUpdatedNotification" => "ResourceUpdatedNotificationParams",
            "SubscriptionsAcknowledgedNotification" => {
                "SubscriptionsAcknowledgedNotificationParams"
            }
            "TaskStatusNotification" => "TaskStatusNotificationParams",
            "ToolListChangedNotification" => "NotificationParams",
            _ => return None,
        };
        Some(params).filter(|_| self.version >= V2025_11_25)
    }

    fn notification(&mut self, definition: &'static str, encode: impl Fn(&mut Vec<u8>)) {
        let mut text = Vec::new();
        encode(&mut text);
        let notification: Value = serde_json::from_slice(&text).expect("a notification is JSON");
        if let Some(params) = self.params_of(definition) {
            self.values.push((params, notification["params"].clone()));
        }
        self.values
            .push(("JSONRPCNotification", notification.clone()));
        self.values.push((definition, notification));
    }

    fn server_notification(&mut self, definition: &'static str, all: Vec<ServerNotification>) {
        for notification in all {
            self.notification(definition, |out| notification.encode(out));
        }
    }

    fn client_notification(&mut self, definition: &'static str, all: Vec<ClientNotification>) {
        for notification in all {
            self.notification(definition, |out| notification.encode(out));
        }
    }

    fn server_result(&mut self, definition: &'static str, results: Vec<ServerResult>) {
        for mut result in results {
            compat::fit_result(&mut result, self.version);
            self.push(definition, &result);
            let response = json!({ "jsonrpc": "2.0", "id": 7, "result": result });
            if let Some(of_method) = self.response_of(definition) {
                self.push(of_method, &response);
            }
            let name = match self.version {
                V2025_11_25 | V2026_07_28 => "JSONRPCResultResponse",
                _ => "JSONRPCResponse",
            };
            self.push(name, &response);
        }
    }

    /// In 2026-07-28 responses have definitions of their own.
    fn response_of(&self, definition: &str) -> Option<&'static str> {
        let response = match definition {
            "CallToolResult" => "CallToolResultResponse",
            "CompleteResult" => "CompleteResultResponse",
            "DiscoverResult" => "DiscoverResultResponse",
            "GetPromptResult" => "GetPromptResultResponse",
            "ListPromptsResult" => "ListPromptsResultResponse",
            "ListResourceTemplatesResult" => "ListResourceTemplatesResultResponse",
            "ListResourcesResult" => "ListResourcesResultResponse",
            "ListToolsResult" => "ListToolsResultResponse",
            "ReadResourceResult" => "ReadResourceResultResponse",
            "SubscriptionsListenResult" => "SubscriptionsListenResultResponse",
            _ => return None,
        };
        Some(response).filter(|_| self.version == V2026_07_28)
    }

    fn client_result(&mut self, definition: &'static str, results: Vec<ClientResult>) {
        for mut result in results {
            compat::fit_client_result(&mut result, self.version);
            self.push(definition, &result);
        }
    }
}

fn written(version: ProtocolVersion) -> Vec<(&'static str, Value)> {
    let mut written = Written {
        version,
        values: Vec::new(),
    };
    parts(&mut written);
    content(&mut written);
    client_requests(&mut written);
    server_requests(&mut written);
    server_results(&mut written);
    client_results(&mut written);
    notifications(&mut written);
    errors(&mut written);
    written.values
}

fn as_it_is<T>(_: &mut T, _: ProtocolVersion) {}

fn parts(w: &mut Written) {
    use compat::*;

    let minimal = || Implementation::new("a", "1");
    w.part("Implementation", as_it_is, [minimal(), implementation()]);
    let client = || [ClientCapabilities::new(), client_capabilities()];
    w.part("ClientCapabilities", as_it_is, client());
    let server = || [ServerCapabilities::new(), server_capabilities()];
    w.part("ServerCapabilities", as_it_is, server());
    let object = || raw(json!({ "type": "object" }));
    w.part("Tool", fit_tool, [Tool::new("a", object()), tool()]);
    for output in [
        json!(true),
        json!({}),
        json!({ "type": "object", "properties": { "a": true } }),
        json!({ "type": ["object", "null"] }),
        json!({ "type": "string" }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": {} } }),
    ] {
        // Before 2026-07-28 a schema of `true` is not one, and no fitted tool has it.
        let legal = output.is_object() || w.version < V2026_07_28;
        let tool = Tool::new("a", object()).output_schema(raw(output));
        w.part("Tool", fit_tool, legal.then_some(tool));
    }
    w.part(
        "Resource",
        as_it_is,
        [Resource::new("a:b", "a"), resource()],
    );
    let template = ResourceTemplate::new("a:b", "a");
    w.part(
        "ResourceTemplate",
        as_it_is,
        [template, resource_template()],
    );
    w.part("Prompt", as_it_is, [Prompt::new("a"), prompt()]);
    w.part(
        "PromptArgument",
        as_it_is,
        [PromptArgument::new("a"), prompt_argument()],
    );
    w.part("Root", as_it_is, [Root::new("file:///a"), root()]);
    w.part(
        "ModelHint",
        as_it_is,
        [ModelHint::new(), ModelHint::new().name("a")],
    );
    w.part(
        "ModelPreferences",
        as_it_is,
        [ModelPreferences::new(), model_preferences()],
    );
    w.part("PromptReference", as_it_is, [PromptReference::new("a")]);
    let template = match w.version {
        V2024_11_05 | V2025_03_26 => "ResourceReference",
        _ => "ResourceTemplateReference",
    };
    w.part(template, as_it_is, [ResourceTemplateReference::new("a:b")]);
    if w.version >= V2025_03_26 {
        w.part(
            "ToolAnnotations",
            as_it_is,
            [ToolAnnotations::new(), tool_annotations()],
        );
        let annotations = [Annotations::new(), annotations()];
        w.part("Annotations", as_it_is, annotations);
    }
    if w.version >= V2025_11_25 {
        w.part("Icon", as_it_is, [Icon::new("data:,"), icon()]);
        let choice = ToolChoice::new().mode(ToolChoiceMode::Required);
        w.part("ToolChoice", as_it_is, [ToolChoice::new(), choice]);
    }
    if w.version == V2025_11_25 {
        w.part(
            "ToolExecution",
            as_it_is,
            [ToolExecution::new(), tool_execution()],
        );
        w.part(
            "TaskMetadata",
            as_it_is,
            [TaskMetadata::new(), task_metadata()],
        );
        let forever = Task::new("t", TaskStatus::Completed, "", "", None::<u64>);
        w.part("Task", as_it_is, [forever, task()]);
    }
    if w.version == V2026_07_28 {
        w.part(
            "SubscriptionFilter",
            as_it_is,
            [SubscriptionFilter::new(), filter()],
        );
        w.part("MetaObject", as_it_is, [mcp_protocol::Meta::new(), meta()]);
        let requests = [request_meta(), full_request_meta()];
        w.part("RequestMetaObject", as_it_is, requests);
        w.part("NotificationMetaObject", as_it_is, [notification_meta()]);
        w.part("ResultMetaObject", as_it_is, [result_meta()]);
        w.part("InputResponses", as_it_is, [input_responses()]);
    }
}

fn content(w: &mut Written) {
    use compat::*;

    for mut block in blocks(w.version) {
        let definition = match &block {
            ContentBlock::Text(_) => "TextContent",
            ContentBlock::Image(_) => "ImageContent",
            ContentBlock::Audio(_) => "AudioContent",
            ContentBlock::ResourceLink(_) if w.version >= V2025_06_18 => "ResourceLink",
            ContentBlock::ResourceLink(_) => "TextContent",
            _ => "EmbeddedResource",
        };
        fit_content(&mut block, w.version);
        w.push(definition, &block);
        if w.version >= V2025_06_18 {
            w.push("ContentBlock", &block);
        }
        let mut message = PromptMessage::assistant(block);
        fit_content(&mut message.content, w.version);
        w.push("PromptMessage", &message);
    }
    let text = || ResourceContents::text("a:b", "a");
    w.part(
        "TextResourceContents",
        as_it_is,
        [text(), text_contents().into()],
    );
    let blob = || ResourceContents::blob("a:b", "YQ==");
    w.part(
        "BlobResourceContents",
        as_it_is,
        [blob(), blob_contents().into()],
    );

    for block in sampling_blocks(w.version) {
        let definition = match &block {
            SamplingBlock::ToolUse(_) => Some("ToolUseContent"),
            SamplingBlock::ToolResult(_) => Some("ToolResultContent"),
            _ => None,
        };
        let mut message = SamplingMessage::user(block).meta(meta());
        fit_sampling_message(&mut message, w.version);
        w.push("SamplingMessage", &message);
        if w.version >= V2025_11_25 {
            w.push("SamplingMessageContentBlock", &message.content);
            if let Some(definition) = definition {
                w.push(definition, &message.content);
            }
        }
    }
    if w.version >= V2025_11_25 {
        let many = SamplingMessage::user(sampling_blocks(w.version));
        w.part("SamplingMessage", fit_sampling_message, [many]);
    }
    if w.version >= V2025_06_18 {
        fields_of_forms(w);
    }
}

fn fields_of_forms(w: &mut Written) {
    let mut form = form(w.version);
    compat::fit_elicit_params(&mut form, w.version);
    let schema = form.requested_schema.expect("a form has one");
    for (name, field) in schema.properties.iter() {
        let definition = match (name, w.version) {
            ("string", _) => "StringSchema",
            ("number", _) => "NumberSchema",
            ("boolean", _) => "BooleanSchema",
            (_, V2025_06_18) => "EnumSchema",
            ("single", _) => "UntitledSingleSelectEnumSchema",
            ("titled", _) => "TitledSingleSelectEnumSchema",
            ("legacy", _) => "LegacyTitledEnumSchema",
            ("several", _) => "UntitledMultiSelectEnumSchema",
            _ => "TitledMultiSelectEnumSchema",
        };
        w.push(definition, field);
        w.push("PrimitiveSchemaDefinition", field);
    }
}

fn client_requests(w: &mut Written) {
    use ClientRequest::*;

    let page = || [PaginatedParams::new(), PaginatedParams::new().cursor("")];
    w.client_request("ListToolsRequest", page().map(ListTools).into());
    w.client_request("ListPromptsRequest", page().map(ListPrompts).into());
    w.client_request("ListResourcesRequest", page().map(ListResources).into());
    let templates = page().map(ListResourceTemplates);
    w.client_request("ListResourceTemplatesRequest", templates.into());
    let calls = [CallToolParams::new("a"), call_tool_params()].map(CallTool);
    w.client_request("CallToolRequest", calls.into());
    let prompts = [GetPromptParams::new("a"), get_prompt_params()].map(GetPrompt);
    w.client_request("GetPromptRequest", prompts.into());
    let reads = [ReadResourceParams::new("a:b"), read_resource_params()].map(ReadResource);
    w.client_request("ReadResourceRequest", reads.into());
    let reference = ResourceTemplateReference::new("a:{b}");
    let minimal = CompleteParams::new(reference, CompleteArgument::new("a", ""));
    w.client_request(
        "CompleteRequest",
        [minimal, complete_params()].map(Complete).into(),
    );
    if w.version <= V2025_11_25 {
        let version = w.version.as_str();
        let minimal = InitializeParams::new(
            version,
            ClientCapabilities::new(),
            mcp_protocol::types::Implementation::new("a", "1"),
        );
        let full = InitializeParams::new(version, client_capabilities(), implementation());
        w.client_request(
            "InitializeRequest",
            [minimal, full].map(Box::new).map(Initialize).into(),
        );
        w.client_request("PingRequest", vec![Ping(EmptyParams::new())]);
        let level = SetLevelParams::new(LoggingLevel::Emergency);
        w.client_request("SetLevelRequest", vec![SetLevel(level)]);
        let params = || SubscribeParams::new("a:b");
        w.client_request("SubscribeRequest", vec![Subscribe(params())]);
        w.client_request("UnsubscribeRequest", vec![Unsubscribe(params())]);
    }
    if w.version == V2025_11_25 {
        let task = || TaskParams::new("t");
        w.client_request("GetTaskRequest", vec![GetTask(task())]);
        w.client_request("GetTaskPayloadRequest", vec![GetTaskPayload(task())]);
        w.client_request("CancelTaskRequest", vec![CancelTask(task())]);
        w.client_request("ListTasksRequest", page().map(ListTasks).into());
    }
    if w.version == V2026_07_28 {
        w.client_request("DiscoverRequest", vec![Discover(EmptyParams::new())]);
        let listens = [SubscriptionFilter::new(), filter()]
            .map(ListenParams::new)
            .map(Listen);
        w.client_request("SubscriptionsListenRequest", listens.into());
    }
}

fn server_requests(w: &mut Written) {
    use ServerRequest::*;

    let minimal = || CreateMessageParams::new(Vec::new(), 1);
    let bare = || ElicitParams::form("", RequestedSchema::new(Properties::default()));
    let version = w.version;
    if version == V2026_07_28 {
        let input_required = input_required(version);
        let mut result = ServerResult::InputRequired(input_required);
        compat::fit_result(&mut result, version);
        w.push("InputRequiredResult", &result);
        w.push("InputRequiredResult", &InputRequiredResult::new());
        let ServerResult::InputRequired(result) = result else {
            unreachable!("it still is what it was")
        };
        let requests = result.input_requests.expect("it has some");
        w.push("InputRequests", &requests);
        let requests = requests.into_values().chain([
            InputRequest::Elicit(bare()),
            InputRequest::CreateMessage(minimal()),
        ]);
        for request in requests {
            w.push("InputRequest", &request);
            match &request {
                InputRequest::Elicit(params) => {
                    w.push("ElicitRequest", &request);
                    let by_page = params.mode == Some(ElicitMode::Url);
                    let params_of = if by_page {
                        "ElicitRequestURLParams"
                    } else {
                        "ElicitRequestFormParams"
                    };
                    w.push(params_of, params);
                }
                InputRequest::CreateMessage(params) => {
                    w.push("CreateMessageRequest", &request);
                    w.push("CreateMessageRequestParams", params);
                }
                _ => w.push("ListRootsRequest", &request),
            }
        }
        return;
    }
    let messages = [minimal(), create_message_params(w.version)].map(CreateMessage);
    w.server_request("CreateMessageRequest", messages.into());
    let roots = [
        EmptyParams::new(),
        EmptyParams::new().meta(full_request_meta()),
    ];
    w.server_request("ListRootsRequest", roots.clone().map(ListRoots).into());
    w.server_request("PingRequest", roots.map(Ping).into());
    if version >= V2025_06_18 {
        w.server_request("ElicitRequest", [bare(), form(version)].map(Elicit).into());
    }
    if version == V2025_11_25 {
        w.server_request("ElicitRequest", vec![Elicit(page().elicitation_id("1"))]);
        use compat::*;
        w.part(
            "ElicitRequestFormParams",
            fit_elicit_params,
            [bare(), form(version)],
        );
        w.part(
            "ElicitRequestURLParams",
            fit_elicit_params,
            [page().elicitation_id("1")],
        );
        let params = [minimal(), create_message_params(w.version)];
        w.part(
            "CreateMessageRequestParams",
            fit_create_message_params,
            params,
        );
    }
}

fn server_results(w: &mut Written) {
    use ServerResult::*;

    let ttl = || TtlMs(5);
    let scope = || CacheScope::Public;
    let cursor = "next";
    w.server_result(
        "CallToolResult",
        vec![
            CallTool(CallToolResult::new()),
            CallTool(call_tool_result(w.version)),
            CallTool(CallToolResult::new().structured_content(raw(json!(null)))),
            CallTool(CallToolResult::error("no")),
        ],
    );
    w.server_result(
        "ListToolsResult",
        vec![
            ListTools(ListToolsResult::new(Vec::new())),
            ListTools(
                ListToolsResult::new([tool()])
                    .next_cursor(cursor)
                    .ttl_ms(ttl())
                    .cache_scope(scope())
                    .meta(result_meta()),
            ),
        ],
    );
    w.server_result(
        "ListPromptsResult",
        vec![
            ListPrompts(ListPromptsResult::new(Vec::new())),
            ListPrompts(
                ListPromptsResult::new([prompt()])
                    .next_cursor(cursor)
                    .ttl_ms(ttl())
                    .cache_scope(scope())
                    .meta(result_meta()),
            ),
        ],
    );
    w.server_result(
        "ListResourcesResult",
        vec![
            ListResources(ListResourcesResult::new(Vec::new())),
            ListResources(
                ListResourcesResult::new([resource()])
                    .next_cursor(cursor)
                    .ttl_ms(ttl())
                    .cache_scope(scope())
                    .meta(result_meta()),
            ),
        ],
    );
    w.server_result(
        "ListResourceTemplatesResult",
        vec![
            ListResourceTemplates(ListResourceTemplatesResult::new(Vec::new())),
            ListResourceTemplates(
                ListResourceTemplatesResult::new([resource_template()])
                    .next_cursor(cursor)
                    .ttl_ms(ttl())
                    .cache_scope(scope())
                    .meta(result_meta()),
            ),
        ],
    );
    let contents = [text_contents().into(), blob_contents().into()];
    w.server_result(
        "ReadResourceResult",
        vec![
            ReadResource(ReadResourceResult::new(Vec::new())),
            ReadResource(
                ReadResourceResult::new(contents)
                    .ttl_ms(ttl())
                    .cache_scope(scope())
                    .meta(result_meta()),
            ),
        ],
    );
    w.server_result(
        "GetPromptResult",
        vec![
            GetPrompt(GetPromptResult::new(Vec::new())),
            GetPrompt(get_prompt_result(w.version)),
        ],
    );
    w.server_result(
        "CompleteResult",
        vec![
            Complete(CompleteResult::new(Completion::new(Vec::new()))),
            Complete(complete_result()),
        ],
    );
    let empty = EmptyResult::new().meta(result_meta());
    w.server_result("EmptyResult", vec![Ping(EmptyResult::new()), Ping(empty)]);
    if w.version <= V2025_11_25 {
        let version = w.version.as_str();
        let minimal = mcp_protocol::types::Implementation::new("a", "1");
        let minimal = InitializeResult::new(version, ServerCapabilities::new(), minimal);
        let full = InitializeResult::new(version, server_capabilities(), implementation())
            .instructions("do")
            .meta(result_meta());
        w.server_result(
            "InitializeResult",
            [minimal, full].map(Box::new).map(Initialize).into(),
        );
    }
    if w.version == V2025_11_25 {
        w.server_result("GetTaskResult", vec![GetTask(task_result())]);
        w.server_result("CancelTaskResult", vec![CancelTask(task_result())]);
        w.server_result(
            "GetTaskPayloadResult",
            vec![GetTaskPayload(TaskPayload::new())],
        );
        let list = ListTasksResult::new([task()])
            .next_cursor(cursor)
            .meta(result_meta());
        w.server_result("ListTasksResult", vec![ListTasks(list)]);
        w.push("CreateTaskResult", &CreateTaskResult::new(task()));
    }
    if w.version == V2026_07_28 {
        let versions = [w.version.as_str().to_owned()];
        let minimal = DiscoverResult::new(versions.clone(), ServerCapabilities::new());
        let full = DiscoverResult::new(versions, server_capabilities())
            .instructions("do")
            .ttl_ms(ttl())
            .cache_scope(scope())
            .meta(result_meta());
        w.server_result(
            "DiscoverResult",
            [minimal, full].map(Box::new).map(Discover).into(),
        );
        let ended = ListenResult::new().meta(result_meta());
        w.server_result("SubscriptionsListenResult", vec![Listen(ended)]);
    }
}

fn client_results(w: &mut Written) {
    use ClientResult::*;

    let minimal = CreateMessageResult::new(Role::Assistant, SamplingBlock::text("a"), "model");
    let messages = [minimal, create_message_result(w.version)].map(CreateMessage);
    w.client_result("CreateMessageResult", messages.into());
    let roots = ListRootsResult::new([Root::new("file:///a"), root()]).meta(result_meta());
    let all = [ListRootsResult::new(Vec::new()), roots].map(ListRoots);
    w.client_result("ListRootsResult", all.into());
    if w.version >= V2025_06_18 {
        let all = [ElicitResult::new(ElicitAction::Cancel), elicit_result()].map(Elicit);
        w.client_result("ElicitResult", all.into());
    }
}

fn notifications(w: &mut Written) {
    let empty = || {
        let full = EmptyNotificationParams::new().meta(notification_meta());
        [EmptyNotificationParams::new(), full]
    };
    let reason = CancelledParams::new()
        .request_id(7)
        .reason("late")
        .meta(notification_meta());
    let cancelled = [CancelledParams::new().request_id("seven"), reason];
    let full = ProgressParams::new("token", 1.0)
        .total(2.0)
        .message("half")
        .meta(notification_meta());
    let progress = [ProgressParams::new(7, 0.5), full];
    {
        use ClientNotification::*;
        w.client_notification(
            "CancelledNotification",
            cancelled.clone().map(Cancelled).into(),
        );
        w.client_notification(
            "ProgressNotification",
            progress.clone().map(Progress).into(),
        );
        if w.version <= V2025_11_25 {
            w.client_notification("InitializedNotification", empty().map(Initialized).into());
            let changed = empty().map(RootsListChanged);
            w.client_notification("RootsListChangedNotification", changed.into());
        }
    }
    use ServerNotification::*;
    w.server_notification("CancelledNotification", cancelled.map(Cancelled).into());
    w.server_notification("ProgressNotification", progress.map(Progress).into());
    let changed = empty().map(ResourceListChanged);
    w.server_notification("ResourceListChangedNotification", changed.into());
    w.server_notification(
        "ToolListChangedNotification",
        empty().map(ToolListChanged).into(),
    );
    let changed = empty().map(PromptListChanged);
    w.server_notification("PromptListChangedNotification", changed.into());
    let updated = ResourceUpdatedParams::new("file:///a").meta(notification_meta());
    let updated = [ResourceUpdatedParams::new("file:///a"), updated].map(ResourceUpdated);
    w.server_notification("ResourceUpdatedNotification", updated.into());
    let full = LogMessageParams::new(LoggingLevel::Alert, raw(json!({ "a": 1 })))
        .logger("a")
        .meta(notification_meta());
    let logs = [
        LogMessageParams::new(LoggingLevel::Debug, raw(json!(null))),
        full,
    ];
    w.server_notification("LoggingMessageNotification", logs.map(LogMessage).into());
    if w.version == V2025_11_25 {
        let done = ElicitationCompleteParams::new("1").meta(notification_meta());
        let done = [ElicitationCompleteParams::new("1"), done].map(ElicitationComplete);
        w.server_notification("ElicitationCompleteNotification", done.into());
        w.server_notification(
            "TaskStatusNotification",
            vec![TaskStatus(task().meta(notification_meta()))],
        );
    }
    if w.version == V2026_07_28 {
        let acknowledged = AcknowledgedParams::new(filter()).meta(notification_meta());
        w.server_notification(
            "SubscriptionsAcknowledgedNotification",
            vec![
                SubscriptionsAcknowledged(AcknowledgedParams::new(SubscriptionFilter::new())),
                SubscriptionsAcknowledged(acknowledged),
            ],
        );
    }
}

fn errors(w: &mut Written) {
    let response = |error: &ErrorObject| json!({ "jsonrpc": "2.0", "id": 7, "error": error });
    let mut error = ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "no such resource")
        .data(raw(json!({ "uri": "a:b" })));
    compat::fit_error(&mut error, w.version);
    let definition = match w.version {
        V2025_11_25 | V2026_07_28 => "JSONRPCErrorResponse",
        _ => "JSONRPCError",
    };
    w.push(definition, &response(&error));
    w.push(definition, &response(&ErrorObject::internal("")));
    if w.version == V2025_11_25 {
        let mut page = page().elicitation_id("1");
        compat::fit_elicit_params(&mut page, w.version);
        let data = UrlElicitationRequiredData::new([page]);
        let data = mcp_protocol::RawJson::encode(&data).expect("wire types encode");
        let error = ErrorObject::new(ErrorCode::URL_ELICITATION_REQUIRED, "visit").data(data);
        w.push("URLElicitationRequiredError", &response(&error));
    }
    if w.version == V2026_07_28 {
        let missing = ErrorObject::missing_capability(client_capabilities());
        w.push("MissingRequiredClientCapabilityError", &response(&missing));
        let unsupported = ErrorObject::unsupported_version("1900-01-01", &[w.version]);
        w.push("UnsupportedProtocolVersionError", &response(&unsupported));
        let mismatch = ErrorObject::new(ErrorCode::HEADER_MISMATCH, "they differ");
        w.push("HeaderMismatchError", &response(&mismatch));
    }
}
