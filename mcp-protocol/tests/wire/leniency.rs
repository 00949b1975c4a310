//! Lenient inbound: what is not understood is kept, and fails as little as it can.

use mcp_protocol::types::*;
use mcp_protocol::{ClientRequest, Meta, Method, RawJson, RequestMeta, ResultError, ServerResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::samples::raw;

fn read<T: DeserializeOwned>(value: Value) -> T {
    RawJson::from(value.clone())
        .decode()
        .unwrap_or_else(|error| panic!("{error} in {value}"))
}

fn refused<T: DeserializeOwned>(value: Value) -> bool {
    RawJson::from(value).decode::<T>().is_err()
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("wire types encode")
}

fn again<T: DeserializeOwned + Serialize>(value: Value) -> Value {
    written(&read::<T>(value))
}

/// Covers J21, J21c, B-128.
#[test]
fn null_for_an_optional_member_is_absent_and_never_written() {
    let tool = json!({
        "name": "a", "inputSchema": {}, "title": null, "description": null,
        "outputSchema": null, "annotations": null, "icons": null, "_meta": null,
    });
    assert_eq!(
        again::<Tool>(tool),
        json!({ "name": "a", "inputSchema": {} })
    );
    let call = json!({ "name": "a", "arguments": null, "requestState": null, "_meta": null });
    assert_eq!(again::<CallToolParams>(call), json!({ "name": "a" }));
    let page = json!({ "tools": [], "nextCursor": null, "ttlMs": null, "cacheScope": null });
    assert_eq!(again::<ListToolsResult>(page), json!({ "tools": [] }));
    let result = json!({ "content": null, "resultType": null });
    assert_eq!(again::<CallToolResult>(result), json!({ "content": [] }));
}

#[test]
fn null_that_means_something_is_kept() {
    let result: CallToolResult = read(json!({ "structuredContent": null }));
    assert!(
        result
            .structured_content
            .as_ref()
            .is_some_and(RawJson::is_null)
    );
    assert_eq!(
        written(&result),
        json!({ "content": [], "structuredContent": null })
    );
    let absent: CallToolResult = read(json!({}));
    assert_eq!(absent.structured_content, None);

    let log = json!({ "level": "info", "data": null });
    assert_eq!(again::<LogMessageParams>(log.clone()), log);

    let mut task = json!({
        "taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": null,
    });
    assert_eq!(again::<Task>(task.clone()), task);
    task.as_object_mut().expect("it is one").remove("ttl");
    assert!(refused::<Task>(task));

    assert!(refused::<CallToolParams>(
        json!({ "name": "a", "inputResponses": null })
    ));
    assert!(refused::<CallToolParams>(
        json!({ "name": "a", "inputResponses": 5 })
    ));
    assert!(refused::<Tool>(json!({ "name": null, "inputSchema": {} })));
}

/// Covers J18, J18c, M11, M11c, M12, M12c, B-076, JS07c.
#[test]
fn members_that_are_not_known_are_written_back_as_they_came() {
    let text = r#"{"name":"a","inputSchema":{"x-b" : 1.0, "a":[1e2]},"x-one":{"b":1,"a":2},"x-two":12345678901234567890123}"#;
    let tool: Tool = RawJson::parse(text)
        .and_then(|tool| tool.decode())
        .expect("a tool");
    assert_eq!(
        tool.extra.get("x-two").map(RawJson::as_str),
        Some("12345678901234567890123")
    );
    assert_eq!(RawJson::encode(&tool).expect("it encodes").as_str(), text);

    let meta = r#"{"progressToken":1,"com.acme/a":[1],"io.modelcontextprotocol/new":null}"#;
    let read: RequestMeta = RawJson::parse(meta)
        .and_then(|meta| meta.decode())
        .expect("a meta");
    assert_eq!(RawJson::encode(&read).expect("it encodes").as_str(), meta);

    for capabilities in [
        json!({ "tools": { "new": 1 }, "newer": {}, "experimental": { "a": { "b": 1 } } }),
        json!({ "roots": { "new": 1 }, "newer": {}, "elicitation": { "voice": {} } }),
    ] {
        assert_eq!(
            again::<ServerCapabilities>(capabilities.clone()),
            capabilities
        );
        assert_eq!(
            again::<ClientCapabilities>(capabilities.clone()),
            capabilities
        );
    }
    let result = json!({ "content": [], "new": [1] });
    assert_eq!(again::<CallToolResult>(result.clone()), result);
}

#[test]
fn words_that_are_not_known_are_kept() {
    let annotations = json!({ "audience": ["user", "robot"] });
    let read_annotations: Annotations = read(annotations.clone());
    let audience = read_annotations.audience.clone().expect("there is one");
    assert_eq!(audience, [Role::User, Role::Other("robot".into())]);
    assert_eq!(written(&read_annotations), annotations);

    let result = json!({
        "role": "assistant", "model": "m", "stopReason": "bored",
        "content": { "type": "text", "text": "" },
    });
    assert_eq!(again::<CreateMessageResult>(result.clone()), result);
    let icon = json!({ "src": "data:,", "theme": "sepia" });
    assert_eq!(again::<Icon>(icon.clone()), icon);
    assert!(refused::<Icon>(json!({ "src": "data:,", "theme": 5 })));
}

#[test]
fn levels_are_a_closed_and_ordered_set() {
    use LoggingLevel::*;
    let levels = [
        Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency,
    ];
    assert!(levels.is_sorted());
    let words = written(&levels);
    assert_eq!(
        words,
        json!([
            "debug",
            "info",
            "notice",
            "warning",
            "error",
            "critical",
            "alert",
            "emergency"
        ])
    );
    assert_eq!(read::<[LoggingLevel; 8]>(words), levels);
    for level in [json!("loud"), json!("Info"), json!(5)] {
        assert!(
            refused::<SetLevelParams>(json!({ "level": level })),
            "{level}"
        );
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        assert!(refused::<RequestMeta>(meta), "{level}");
    }
}

#[test]
fn an_array_is_never_taken_for_an_object() {
    assert!(refused::<Implementation>(json!(["a", "1"])));
    assert!(refused::<EmptyParams>(json!([])));
    assert!(refused::<EmptyResult>(json!([])));
    assert!(refused::<ContentBlock>(json!(["text", "a"])));
    assert!(refused::<ClientCapabilities>(json!({ "roots": [] })));
    assert!(refused::<ElicitParams>(json!({
        "message": "", "requestedSchema": { "properties": [] },
    })));
    let error = ClientRequest::parse(Method::Ping, Some(RawJson::from(json!([]))));
    assert!(error.is_err());
    let result = RawJson::from(json!([]));
    assert!(ServerResult::parse(&Method::Ping, &result).is_err());
    assert!(ServerResult::parse(&Method::from("acme/custom"), &result).is_err());
}

#[test]
fn of_two_members_of_one_name_the_last_counts() {
    let text = r#"{"name":"a","name":"b","inputSchema":{},"title":"t","title":null,"x":1,"x":2}"#;
    let tool: Tool = RawJson::parse(text)
        .and_then(|tool| tool.decode())
        .expect("a tool");
    assert_eq!(tool.name, "b");
    assert_eq!(tool.title, None);
    assert_eq!(tool.extra.get("x").map(RawJson::as_str), Some("2"));
}

#[test]
fn a_block_is_told_by_its_type_wherever_that_stands() {
    for text in [
        r#"{"type":"text","text":"a","annotations":{"priority":0.5},"x":{"y":1}}"#,
        r#"{"text":"a","type":"text","annotations":{"priority":0.5},"x":{"y":1}}"#,
        r#"{"x":{"y":1},"annotations":{"priority":0.5},"text":"\u0061","type":"te\u0078t"}"#,
    ] {
        let block: ContentBlock = serde_json::from_str(text).expect("a block");
        assert_eq!(block.as_text(), Some("a"));
        let ContentBlock::Text(content) = &block else {
            unreachable!()
        };
        assert_eq!(content.annotations, Some(Annotations::new().priority(0.5)));
        assert_eq!(
            content.extra.get("x").map(RawJson::as_str),
            Some(r#"{"y":1}"#)
        );
        assert_eq!(
            RawJson::encode(&block).expect("it encodes").as_str(),
            r#"{"type":"text","text":"a","annotations":{"priority":0.5},"x":{"y":1}}"#
        );
    }
    assert!(refused::<ContentBlock>(json!({ "text": "a" })));
    assert!(refused::<ContentBlock>(json!({ "type": 5, "text": "a" })));
    assert!(refused::<ContentBlock>(json!({ "type": "text" })));
    let twice = r#"{"type":"text","text":"a","type":"image"}"#;
    assert!(serde_json::from_str::<ContentBlock>(twice).is_err());
}

#[test]
fn a_block_of_an_unknown_kind_is_kept() {
    for block in [
        json!({ "type": "hologram", "data": [1, { "a": null }] }),
        json!({ "data": [1, { "a": null }], "type": "hologram" }),
        json!({ "type": "" }),
    ] {
        let result = json!({ "content": [{ "type": "text", "text": "a" }, block] });
        let read: CallToolResult = read(result.clone());
        assert!(matches!(
            read.content[..],
            [ContentBlock::Text(_), ContentBlock::Unknown(_)]
        ));
        assert_eq!(written(&read), result);
        let message = json!({ "role": "user", "content": block });
        assert_eq!(again::<SamplingMessage>(message.clone()), message);
        let params = json!({ "ref": block, "argument": { "name": "", "value": "" } });
        assert_eq!(again::<CompleteParams>(params.clone()), params);
    }
    let first = RawJson::parse(r#"{"data":1.50,"type":"new","more":{"b":1,"a":2}}"#);
    let block: ContentBlock = first.and_then(|block| block.decode()).expect("a block");
    assert_eq!(
        RawJson::encode(&block).expect("it encodes").as_str(),
        r#"{"type":"new","data":1.50,"more":{"b":1,"a":2}}"#
    );
}

#[test]
fn contents_are_told_by_the_member_they_have() {
    let text = read(json!({ "blob": "YQ==", "text": "a", "uri": "a:b" }));
    assert!(matches!(&text, ResourceContents::Text(contents) if contents.text == "a"));
    assert_eq!(written(&text), json!({ "text": "a", "uri": "a:b" }));
    let blob = json!({ "blob": "YQ==", "uri": "a:b", "text": null, "x": 1 });
    assert!(matches!(read(blob), ResourceContents::Blob(contents) if contents.blob == "YQ=="));
    let neither = json!({ "uri": "a:b", "mimeType": "a/b", "x": 1 });
    assert!(matches!(
        read(neither.clone()),
        ResourceContents::Unknown(_)
    ));
    assert_eq!(again::<ResourceContents>(neither.clone()), neither);
    assert!(refused::<ResourceContents>(json!({ "text": "a" })));
}

#[test]
fn sampling_content_keeps_whether_it_was_an_array() {
    for content in [
        json!({ "type": "text", "text": "a" }),
        json!([{ "type": "text", "text": "a" }]),
        json!([]),
    ] {
        let message = json!({ "role": "user", "content": content });
        assert_eq!(again::<SamplingMessage>(message.clone()), message);
    }
    assert!(refused::<SamplingMessage>(
        json!({ "role": "user", "content": "a" })
    ));
}

#[test]
fn a_field_of_an_unknown_kind_is_kept_and_fields_keep_their_order() {
    let text = r#"{"type":"object","properties":{"z":{"type":"string","pattern":"a"},"a":{"type":"matrix"},"m":true,"b":{"type":"number","minimum":"low"}}}"#;
    let schema: RequestedSchema = RawJson::parse(text)
        .and_then(|schema| schema.decode())
        .expect("a schema");
    assert!(matches!(
        schema.properties.get("z"),
        Some(PrimitiveSchema::String(_))
    ));
    for unknown in ["a", "m", "b"] {
        assert!(matches!(
            schema.properties.get(unknown),
            Some(PrimitiveSchema::Unknown(_))
        ));
    }
    assert_eq!(RawJson::encode(&schema).expect("it encodes").as_str(), text);
}

#[test]
fn an_input_request_of_an_unknown_kind_is_kept() {
    let result = json!({
        "resultType": "input_required",
        "inputRequests": {
            "a": { "method": "acme/ask", "params": { "b": 1 }, "x": 1 },
            "b": { "method": "roots/list" },
            "c": { "method": "ping" },
        },
    });
    let typed = ServerResult::parse(&Method::CallTool, &RawJson::from(result.clone()));
    let typed = typed.expect("it is one");
    assert!(matches!(typed, ServerResult::InputRequired(_)));
    assert_eq!(written(&typed), result);
}

#[test]
fn a_result_is_what_its_type_says() {
    let parse = |result: Value| ServerResult::parse(&Method::CallTool, &RawJson::from(result));
    assert!(matches!(parse(json!({})), Ok(ServerResult::CallTool(_))));
    assert!(matches!(
        parse(json!({ "resultType": null })),
        Ok(ServerResult::CallTool(_))
    ));
    assert!(matches!(
        parse(json!({ "resultType": "complete" })),
        Ok(ServerResult::CallTool(_))
    ));
    let unknown = parse(json!({ "resultType": "task" }));
    assert!(matches!(unknown, Err(ResultError::UnknownType(word)) if word == "task"));
    let required = raw(json!({ "resultType": "input_required", "requestState": "s" }));
    for method in [
        Method::CallTool,
        Method::GetPrompt,
        Method::ReadResource,
        Method::from("acme/custom"),
    ] {
        let typed = ServerResult::parse(&method, &required);
        assert!(matches!(typed, Ok(ServerResult::InputRequired(_))));
    }
    for method in [
        Method::ListTools,
        Method::Complete,
        Method::Discover,
        Method::Ping,
    ] {
        let typed = ServerResult::parse(&method, &required);
        assert!(matches!(typed, Err(ResultError::UnknownType(_))));
    }
    let malformed = parse(json!({ "resultType": 5 }));
    assert!(matches!(malformed, Err(ResultError::Malformed(_))));
}

#[test]
fn hints_about_keeping_never_fail_a_result() {
    for (ttl, kept) in [
        (json!(60_000), 60_000),
        (json!(60_000.0), 60_000),
        (json!(0), 0),
        (json!(-5), 0),
        (json!(1.5), 0),
        (json!(1e300), 0),
        (json!("60"), 0),
        (json!(true), 0),
        (json!([60]), 0),
        (json!({ "ttl": 60 }), 0),
    ] {
        let page: ListToolsResult = read(json!({ "tools": [], "ttlMs": ttl }));
        assert_eq!(page.ttl_ms, Some(TtlMs(kept)), "{ttl}");
    }
    for (scope, kept) in [
        (json!("public"), CacheScope::Public),
        (json!("private"), CacheScope::Private),
        (json!(""), CacheScope::Private),
        (json!("Public"), CacheScope::Private),
        (json!(5), CacheScope::Private),
        (json!(["public"]), CacheScope::Private),
    ] {
        let page: ListToolsResult = read(json!({ "tools": [], "cacheScope": scope }));
        assert_eq!(page.cache_scope, Some(kept), "{scope}");
    }
}

#[test]
fn a_size_may_be_written_as_a_float() {
    let size =
        |size: Value| read::<Resource>(json!({ "uri": "a:b", "name": "", "size": size })).size;
    assert_eq!(size(json!(5)), Some(5));
    assert_eq!(size(json!(5.0)), Some(5));
    assert_eq!(size(json!(u64::MAX)), Some(u64::MAX));
    assert_eq!(size(json!(-1)), None);
    assert_eq!(size(json!(0.5)), None);
    assert_eq!(size(json!(1e300)), None);
    assert_eq!(size(json!(null)), None);
    assert!(refused::<Resource>(
        json!({ "uri": "a:b", "name": "", "size": "5" })
    ));
}

#[test]
fn a_cursor_may_be_empty() {
    let page: ListToolsResult = read(json!({ "tools": [], "nextCursor": "" }));
    assert_eq!(page.next_cursor.as_deref(), Some(""));
    assert_eq!(
        again::<PaginatedParams>(json!({ "cursor": "" })),
        json!({ "cursor": "" })
    );
}

/// Covers PR03.
#[test]
fn values_of_prompt_arguments_are_strings() {
    assert!(refused::<GetPromptParams>(
        json!({ "name": "a", "arguments": { "b": 5 } })
    ));
}

/// Covers J20, B-074.
#[test]
fn absent_parameters_are_an_empty_object() {
    assert!(matches!(
        ClientRequest::parse(Method::ListTools, None),
        Ok(ClientRequest::ListTools(_))
    ));
    assert!(ClientRequest::parse(Method::CallTool, None).is_err());
}

#[test]
fn members_that_are_not_known_can_be_set_and_removed() {
    let text = r#"{"a":1,"b":2,"a":3}"#;
    let mut meta: Meta = serde_json::from_str(text).expect("a meta");
    meta.extra.insert("b", raw(json!(4)));
    meta.extra.insert("c", raw(json!(5)));
    assert_eq!(meta.extra.remove("a"), Some(raw(json!(3))));
    assert_eq!(meta.extra.remove("a"), None);
    assert_eq!(written(&meta), json!({ "b": 4, "c": 5 }));
    assert!(!meta.extra.is_empty());
}
