//! One full value of each type. The minimal ones are what `new` gives.

use std::collections::BTreeMap;

use mcp_protocol::types::*;
use mcp_protocol::{Meta, NotificationMeta, ProtocolVersion, RawJson, RequestMeta, ResultMeta};
use serde_json::{Value, json};

pub(crate) fn raw(value: Value) -> RawJson {
    RawJson::from(value)
}

fn map<T>(name: &str, value: T) -> BTreeMap<String, T> {
    [(name.to_owned(), value)].into()
}

fn experimental() -> BTreeMap<String, RawJson> {
    map("com.example/thing", raw(json!({ "a": 1 })))
}

pub(crate) fn meta() -> Meta {
    let mut meta = Meta::new();
    meta.extra
        .insert("com.example/key", raw(json!({ "a": [1] })));
    meta
}

/// What every request of 2026-07-28 has.
pub(crate) fn request_meta() -> RequestMeta {
    RequestMeta::new()
        .protocol_version(ProtocolVersion::LATEST.as_str())
        .client_capabilities(client_capabilities())
}

pub(crate) fn full_request_meta() -> RequestMeta {
    let mut meta = request_meta()
        .client_info(implementation())
        .log_level(LoggingLevel::Warning)
        .progress_token("token");
    meta.extra = self::meta().extra;
    meta
}

pub(crate) fn notification_meta() -> NotificationMeta {
    let mut meta = NotificationMeta::new().subscription_id(7);
    meta.extra = self::meta().extra;
    meta
}

pub(crate) fn result_meta() -> ResultMeta {
    let mut meta = ResultMeta::new()
        .server_info(implementation())
        .subscription_id(7);
    meta.extra = self::meta().extra;
    meta
}

pub(crate) fn icon() -> Icon {
    Icon::new("https://example.com/a.png")
        .mime_type("image/png")
        .sizes(["48x48".to_owned(), "any".to_owned()])
        .theme(IconTheme::Dark)
}

pub(crate) fn implementation() -> Implementation {
    Implementation::new("example", "1.0.0")
        .title("Example")
        .description("An example")
        .website_url("https://example.com")
        .icons([icon()])
}

pub(crate) fn client_capabilities() -> ClientCapabilities {
    ClientCapabilities::new()
        .experimental(experimental())
        .extensions(experimental())
        .roots(RootsCapability::new().list_changed(true))
        .sampling(
            SamplingCapability::new()
                .context(Declared::new())
                .tools(Declared::new()),
        )
        .elicitation(
            ElicitationCapability::new()
                .form(Declared::new())
                .url(Declared::new()),
        )
        .tasks(
            ClientTasksCapability::new()
                .list(Declared::new())
                .cancel(Declared::new())
                .requests(
                    ClientTaskRequests::new()
                        .sampling(SamplingTaskRequests::new().create_message(Declared::new()))
                        .elicitation(ElicitationTaskRequests::new().create(Declared::new())),
                ),
        )
}

pub(crate) fn server_capabilities() -> ServerCapabilities {
    ServerCapabilities::new()
        .experimental(experimental())
        .extensions(experimental())
        .logging(Declared::new())
        .completions(Declared::new())
        .prompts(PromptsCapability::new().list_changed(true))
        .resources(
            ResourcesCapability::new()
                .list_changed(true)
                .subscribe(true),
        )
        .tools(ToolsCapability::new().list_changed(true))
        .tasks(
            ServerTasksCapability::new()
                .list(Declared::new())
                .cancel(Declared::new())
                .requests(
                    ServerTaskRequests::new().tools(ToolTaskRequests::new().call(Declared::new())),
                ),
        )
}

pub(crate) fn annotations() -> Annotations {
    Annotations::new()
        .audience([Role::User, Role::Assistant])
        .priority(0.5)
        .last_modified("2025-01-12T15:00:58Z")
}

pub(crate) fn text() -> TextContent {
    TextContent::new("a")
        .annotations(annotations())
        .meta(meta())
}

pub(crate) fn image() -> ImageContent {
    ImageContent::new("YQ==", "image/png")
        .annotations(annotations())
        .meta(meta())
}

pub(crate) fn audio() -> AudioContent {
    AudioContent::new("YQ==", "audio/wav")
        .annotations(annotations())
        .meta(meta())
}

pub(crate) fn resource_link() -> ResourceLink {
    ResourceLink::from(resource())
}

pub(crate) fn text_contents() -> TextResourceContents {
    TextResourceContents::new("file:///a", "a")
        .mime_type("text/plain")
        .meta(meta())
}

pub(crate) fn blob_contents() -> BlobResourceContents {
    BlobResourceContents::new("file:///a", "YQ==")
        .mime_type("a/b")
        .meta(meta())
}

pub(crate) fn embedded() -> EmbeddedResource {
    EmbeddedResource::new(text_contents())
        .annotations(annotations())
        .meta(meta())
}

/// Every kind of content that a revision has, or that is said in another way in it.
pub(crate) fn blocks(version: ProtocolVersion) -> Vec<ContentBlock> {
    let mut blocks = vec![
        text().into(),
        image().into(),
        resource_link().into(),
        embedded().into(),
        EmbeddedResource::new(blob_contents()).into(),
    ];
    if version >= ProtocolVersion::V2025_03_26 {
        blocks.push(audio().into());
    }
    blocks
}

pub(crate) fn resource() -> Resource {
    Resource::new("file:///a", "a")
        .title("A")
        .description("An a")
        .mime_type("text/plain")
        .size(5)
        .annotations(annotations())
        .icons([icon()])
        .meta(meta())
}

pub(crate) fn resource_template() -> ResourceTemplate {
    ResourceTemplate::new("file:///{a}", "a")
        .title("A")
        .description("An a")
        .mime_type("text/plain")
        .annotations(annotations())
        .icons([icon()])
        .meta(meta())
}

pub(crate) fn tool() -> Tool {
    let input = json!({
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": { "a": true, "b": { "type": "string" }, "c": false },
        "required": ["b"],
        "additionalProperties": false,
    });
    let output =
        json!({ "type": "array", "items": { "$ref": "#/$defs/a" }, "$defs": { "a": true } });
    Tool::new("a", raw(input))
        .title("A")
        .description("An a")
        .output_schema(raw(output))
        .annotations(tool_annotations())
        .execution(tool_execution())
        .icons([icon()])
        .meta(meta())
}

pub(crate) fn tool_annotations() -> ToolAnnotations {
    ToolAnnotations::new()
        .title("A")
        .read_only_hint(false)
        .destructive_hint(true)
        .idempotent_hint(false)
        .open_world_hint(true)
}

pub(crate) fn tool_execution() -> ToolExecution {
    ToolExecution::new().task_support(TaskSupport::Optional)
}

pub(crate) fn prompt() -> Prompt {
    Prompt::new("a")
        .title("A")
        .description("An a")
        .arguments([prompt_argument(), PromptArgument::new("b")])
        .icons([icon()])
        .meta(meta())
}

pub(crate) fn prompt_argument() -> PromptArgument {
    PromptArgument::new("a")
        .title("A")
        .description("An a")
        .required(true)
}

pub(crate) fn input_responses() -> BTreeMap<String, RawJson> {
    let accepted = json!({ "action": "accept", "content": { "a": "b" } });
    map("a", raw(accepted))
}

pub(crate) fn call_tool_params() -> CallToolParams {
    CallToolParams::new("a")
        .arguments(raw(json!({ "a": 1 })))
        .task(task_metadata())
        .input_responses(input_responses())
        .request_state("state")
}

pub(crate) fn call_tool_result(version: ProtocolVersion) -> CallToolResult {
    CallToolResult::new()
        .content(blocks(version))
        .structured_content(raw(json!([1])))
        .is_error(false)
        .result_type(ResultType::Complete)
        .meta(result_meta())
}

pub(crate) fn get_prompt_params() -> GetPromptParams {
    GetPromptParams::new("a")
        .arguments(map("a", "b".to_owned()))
        .input_responses(input_responses())
        .request_state("state")
}

pub(crate) fn get_prompt_result(version: ProtocolVersion) -> GetPromptResult {
    let messages: Vec<_> = blocks(version)
        .into_iter()
        .map(PromptMessage::user)
        .collect();
    GetPromptResult::new(messages)
        .description("An a")
        .result_type(ResultType::Complete)
        .meta(result_meta())
}

pub(crate) fn read_resource_params() -> ReadResourceParams {
    ReadResourceParams::new("file:///a")
        .input_responses(input_responses())
        .request_state("state")
}

pub(crate) fn complete_params() -> CompleteParams {
    CompleteParams::new(
        PromptReference::new("a").title("A"),
        CompleteArgument::new("a", "b"),
    )
    .context(CompleteContext::new().arguments(map("a", "b".to_owned())))
}

pub(crate) fn complete_result() -> CompleteResult {
    let completion = Completion::new(["a".to_owned()]).total(5).has_more(true);
    CompleteResult::new(completion)
        .result_type(ResultType::Complete)
        .meta(result_meta())
}

/// Every kind of field that a revision has.
pub(crate) fn fields(version: ProtocolVersion) -> Vec<(&'static str, PrimitiveSchema)> {
    let titled = || vec![TitledChoice::new("a", "A"), TitledChoice::new("b", "B")];
    let legacy = SingleSelectSchema::of(["a", "b"])
        .choice_names(["A".to_owned(), "B".to_owned()])
        .title("E");
    let number = NumberSchema::new(NumberKind::Integer)
        .title("N")
        .description("An n")
        .minimum(0)
        .maximum(100)
        .default_value(5);
    let string = StringSchema::new()
        .title("S")
        .description("An s")
        .min_length(1)
        .max_length(9)
        .format(StringFormat::Email)
        .default_value("a@b.c");
    let boolean = BooleanSchema::new()
        .title("B")
        .description("A b")
        .default_value(true);
    let mut fields: Vec<(&str, PrimitiveSchema)> = vec![
        ("string", string.into()),
        ("number", number.into()),
        ("boolean", boolean.into()),
        (
            "single",
            SingleSelectSchema::of(["a", "b"]).default_value("a").into(),
        ),
        (
            "titled",
            SingleSelectSchema::titled(titled())
                .default_value("a")
                .into(),
        ),
        ("legacy", legacy.into()),
    ];
    if version >= ProtocolVersion::V2025_11_25 {
        let several = MultiSelectSchema::of(["a", "b"])
            .title("M")
            .description("An m")
            .min_items(1)
            .max_items(2)
            .default_value(["a".to_owned()]);
        fields.push(("several", several.into()));
        fields.push(("titled several", MultiSelectSchema::titled(titled()).into()));
    }
    fields
}

pub(crate) fn form(version: ProtocolVersion) -> ElicitParams {
    let schema = RequestedSchema::new(fields(version).into_iter().collect::<Properties>())
        .required(["string".to_owned()])
        .schema("https://json-schema.org/draft/2020-12/schema");
    ElicitParams::form("Well?", schema)
        .mode(ElicitMode::Form)
        .task(task_metadata())
        .meta(full_request_meta())
}

pub(crate) fn page() -> ElicitParams {
    ElicitParams::page("Well?", "https://example.com/a").meta(full_request_meta())
}

pub(crate) fn elicit_result() -> ElicitResult {
    ElicitResult::new(ElicitAction::Accept)
        .content(raw(json!({ "a": "b", "c": 5, "d": true })))
        .meta(result_meta())
}

pub(crate) fn tool_use() -> ToolUseContent {
    ToolUseContent::new("1", "a", raw(json!({ "a": 1 }))).meta(meta())
}

pub(crate) fn tool_result() -> ToolResultContent {
    ToolResultContent::new("1")
        .content(blocks(ProtocolVersion::LATEST))
        .structured_content(raw(json!(null)))
        .is_error(false)
        .meta(meta())
}

pub(crate) fn sampling_blocks(version: ProtocolVersion) -> Vec<SamplingBlock> {
    let mut blocks = vec![
        text().into(),
        image().into(),
        tool_use().into(),
        tool_result().into(),
    ];
    if version >= ProtocolVersion::V2025_03_26 {
        blocks.push(audio().into());
    }
    blocks
}

pub(crate) fn model_preferences() -> ModelPreferences {
    ModelPreferences::new()
        .hints([ModelHint::new().name("a"), ModelHint::new()])
        .cost_priority(0.0)
        .speed_priority(0.5)
        .intelligence_priority(1.0)
}

pub(crate) fn create_message_params(version: ProtocolVersion) -> CreateMessageParams {
    let mut messages: Vec<_> = sampling_blocks(version)
        .into_iter()
        .map(|block| SamplingMessage::user(block).meta(meta()))
        .collect();
    messages.push(SamplingMessage::assistant(sampling_blocks(version)));
    messages.push(SamplingMessage::assistant(Vec::new()));
    CreateMessageParams::new(messages, 100)
        .system_prompt("Well?")
        .model_preferences(model_preferences())
        .include_context(IncludeContext::ThisServer)
        .temperature(0.5)
        .stop_sequences(["a".to_owned()])
        .metadata(raw(json!({ "a": 1 })))
        .tools([tool()])
        .tool_choice(ToolChoice::new().mode(ToolChoiceMode::Auto))
        .task(task_metadata())
        .meta(full_request_meta())
}

pub(crate) fn create_message_result(version: ProtocolVersion) -> CreateMessageResult {
    CreateMessageResult::new(Role::Assistant, sampling_blocks(version), "model")
        .stop_reason(StopReason::ToolUse)
        .meta(result_meta())
}

pub(crate) fn root() -> Root {
    Root::new("file:///a").name("A").meta(meta())
}

pub(crate) fn filter() -> SubscriptionFilter {
    SubscriptionFilter::new()
        .tools_list_changed(true)
        .prompts_list_changed(true)
        .resources_list_changed(true)
        .resource_subscriptions(["file:///a".to_owned()])
}

pub(crate) fn input_required(version: ProtocolVersion) -> InputRequiredResult {
    let requests = [
        ("form", InputRequest::Elicit(form(version))),
        ("page", InputRequest::Elicit(page().elicitation_id("1"))),
        (
            "model",
            InputRequest::CreateMessage(create_message_params(version)),
        ),
        ("roots", InputRequest::ListRoots(EmptyParams::new())),
        (
            "more roots",
            InputRequest::ListRoots(EmptyParams::new().meta(full_request_meta())),
        ),
    ];
    let requests = requests.map(|(name, request)| (name.to_owned(), request));
    InputRequiredResult::new()
        .input_requests(BTreeMap::from(requests))
        .request_state("state")
        .meta(result_meta())
}

pub(crate) fn task_metadata() -> TaskMetadata {
    TaskMetadata::new().ttl(60_000)
}

pub(crate) fn task() -> Task {
    Task::new(
        "t",
        TaskStatus::Working,
        "2025-11-25T10:30:00Z",
        "2025-11-25T10:40:00Z",
        Some(5),
    )
    .status_message("it is")
    .poll_interval(5_000)
}

pub(crate) fn task_result() -> TaskResult {
    TaskResult::new(
        "t",
        TaskStatus::Working,
        "2025-11-25T10:30:00Z",
        "2025-11-25T10:40:00Z",
        None,
    )
    .status_message("it is")
    .poll_interval(5_000)
    .meta(result_meta())
}
