//! One test for each difference between revisions.

use mcp_protocol::ProtocolVersion::{self, *};
use mcp_protocol::types::*;
use mcp_protocol::{
    ClientRequest, ClientResult, ErrorCode, ErrorObject, Method, RawJson, ServerRequest,
    ServerResult, compat,
};
use serde_json::{Value, json};

use super::samples::{self, raw};

const ALL: [ProtocolVersion; 5] = ProtocolVersion::ALL;

/// The revisions of a range, and the others.
fn split(
    range: impl std::ops::RangeBounds<ProtocolVersion>,
) -> (Vec<ProtocolVersion>, Vec<ProtocolVersion>) {
    ALL.into_iter().partition(|version| range.contains(version))
}

fn result(method: Method, result: Value, version: ProtocolVersion) -> Value {
    let mut result = ServerResult::parse(&method, &raw(result)).expect("it fits the method");
    compat::fit_result(&mut result, version);
    serde_json::to_value(&result).expect("wire types encode")
}

fn client_result(method: Method, result: Value, version: ProtocolVersion) -> Value {
    let mut result = ClientResult::parse(&method, &raw(result)).expect("it fits the method");
    compat::fit_client_result(&mut result, version);
    serde_json::to_value(&result).expect("wire types encode")
}

fn params(encode: impl Fn(&mut Vec<u8>)) -> Value {
    let mut text = Vec::new();
    encode(&mut text);
    let message: Value = serde_json::from_slice(&text).expect("a message is JSON");
    message["params"].clone()
}

fn client_request(method: Method, of: Value, version: ProtocolVersion) -> Value {
    let mut request = ClientRequest::parse(method, Some(raw(of))).expect("it fits the method");
    compat::fit_client_request(&mut request, version);
    params(|out| request.encode(&1.into(), out))
}

fn server_request(method: Method, of: Value, version: ProtocolVersion) -> Value {
    let mut request = ServerRequest::parse(method, Some(raw(of))).expect("it fits the method");
    compat::fit_server_request(&mut request, version);
    params(|out| request.encode(&1.into(), out))
}

/// A tool as a list shows it.
fn tool(tool: Value, version: ProtocolVersion) -> Value {
    result(Method::ListTools, json!({ "tools": [tool] }), version)["tools"][0].clone()
}

/// A block as a tool result and a prompt show it.
fn block(block: Value, version: ProtocolVersion) -> Value {
    let called = json!({ "content": [block] });
    let called = result(Method::CallTool, called, version)["content"][0].clone();
    let prompt = json!({ "messages": [{ "role": "user", "content": block }] });
    let prompt = result(Method::GetPrompt, prompt, version)["messages"][0]["content"].clone();
    assert_eq!(called, prompt);
    called
}

/// The members are there in some revisions, and only there.
fn only_in(
    range: impl std::ops::RangeBounds<ProtocolVersion>,
    members: &[&str],
    fitted: impl Fn(ProtocolVersion) -> Value,
) {
    for version in ALL {
        let value = fitted(version);
        for member in members {
            let there = value.get(member).is_some();
            assert_eq!(
                there,
                range.contains(&version),
                "{member} in {version}: {value}"
            );
        }
    }
}

/// Covers D16.
#[test]
fn results_have_a_type_in_the_modern_era_only() {
    for (method, of) in [
        (Method::CallTool, json!({ "content": [] })),
        (Method::ListTools, json!({ "tools": [] })),
        (Method::ListPrompts, json!({ "prompts": [] })),
        (Method::GetPrompt, json!({ "messages": [] })),
        (Method::ListResources, json!({ "resources": [] })),
        (
            Method::ListResourceTemplates,
            json!({ "resourceTemplates": [] }),
        ),
        (Method::ReadResource, json!({ "contents": [] })),
        (Method::Complete, json!({ "completion": { "values": [] } })),
        (
            Method::Discover,
            json!({ "supportedVersions": [], "capabilities": {} }),
        ),
        (Method::Listen, json!({})),
        (Method::Ping, json!({})),
        (Method::from("acme/custom"), json!({ "a": 1 })),
    ] {
        for version in ALL {
            let typed = (version == V2026_07_28).then(|| json!("complete"));
            let mut before = of.clone();
            assert_eq!(
                result(method.clone(), before.clone(), version).get("resultType"),
                typed.as_ref()
            );
            before["resultType"] = json!("complete");
            assert_eq!(
                result(method.clone(), before, version).get("resultType"),
                typed.as_ref()
            );
        }
    }
}

#[test]
fn a_custom_result_keeps_all_but_its_type() {
    let custom = || Method::from("acme/custom");
    let of = json!({ "ttlMs": 5, "_meta": { "io.modelcontextprotocol/serverInfo": 1 } });
    assert_eq!(result(custom(), of.clone(), V2025_11_25), of);
    let mut result = ServerResult::Custom(RawJson::parse("17").expect("JSON"));
    for version in ALL {
        compat::fit_result(&mut result, version);
        assert_eq!(
            result,
            ServerResult::Custom(RawJson::parse("17").expect("JSON"))
        );
    }
}

/// Covers CA01, CA02.
#[test]
fn six_results_say_how_long_they_may_be_kept() {
    for (method, of) in [
        (
            Method::Discover,
            json!({ "supportedVersions": [], "capabilities": {} }),
        ),
        (Method::ListTools, json!({ "tools": [] })),
        (Method::ListPrompts, json!({ "prompts": [] })),
        (Method::ListResources, json!({ "resources": [] })),
        (
            Method::ListResourceTemplates,
            json!({ "resourceTemplates": [] }),
        ),
        (Method::ReadResource, json!({ "contents": [] })),
    ] {
        let fitted = |of: &Value, version| result(method.clone(), of.clone(), version);
        only_in(V2026_07_28.., &["ttlMs", "cacheScope"], |version| {
            fitted(&of, version)
        });
        let filled = fitted(&of, V2026_07_28);
        assert_eq!(
            (&filled["ttlMs"], &filled["cacheScope"]),
            (&json!(0), &json!("private"))
        );
        let mut said = of.clone();
        said["ttlMs"] = json!(5);
        said["cacheScope"] = json!("public");
        only_in(V2026_07_28.., &["ttlMs", "cacheScope"], |version| {
            fitted(&said, version)
        });
        let kept = fitted(&said, V2026_07_28);
        assert_eq!(
            (&kept["ttlMs"], &kept["cacheScope"]),
            (&json!(5), &json!("public"))
        );
    }
    let required = json!({ "resultType": "input_required", "requestState": "s" });
    assert_eq!(
        result(Method::ReadResource, required.clone(), V2026_07_28),
        required
    );
}

#[test]
fn what_was_only_done_is_an_empty_object_to_legacy_peers() {
    let full = json!({ "resultType": "complete", "_meta": { "a": 1 }, "b": 2 });
    for version in split(..=V2025_11_25).0 {
        for method in [
            Method::Ping,
            Method::SetLevel,
            Method::Subscribe,
            Method::Unsubscribe,
        ] {
            assert_eq!(result(method, full.clone(), version), json!({}));
        }
        assert_eq!(
            client_result(Method::Ping, full.clone(), version),
            json!({})
        );
    }
    assert_eq!(result(Method::Ping, full.clone(), V2026_07_28), full);
}

/// Covers D16, M11.
#[test]
fn what_makes_a_request_modern_is_sent_to_modern_peers_only() {
    let reserved = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "a", "version": "1" },
        "io.modelcontextprotocol/logLevel": "info",
    });
    let mut all = reserved.clone();
    all["com.acme/a"] = json!(1);
    let meta = |meta: &Value, version| {
        let of = json!({ "name": "a", "_meta": meta });
        client_request(Method::CallTool, of, version)
            .get("_meta")
            .cloned()
    };
    for version in split(..=V2025_11_25).0 {
        assert_eq!(meta(&all, version), Some(json!({ "com.acme/a": 1 })));
        // What is left without members is left out; an empty one was meant to be there.
        assert_eq!(meta(&reserved, version), None);
        assert_eq!(meta(&json!({}), version), Some(json!({})));
    }
    assert_eq!(meta(&all, V2026_07_28), Some(all));
}

#[test]
fn members_that_a_revision_does_not_have_are_sent_all_the_same() {
    let meta = json!({ "com.acme/a": 1 });
    let icons = json!([{ "src": "data:," }]);
    let annotations = json!({ "lastModified": "2025-01-12T15:00:58Z" });
    let part = json!({
        "name": "a", "title": "A", "description": "d", "version": "1", "uri": "a:b",
        "uriTemplate": "a:b", "websiteUrl": "a:b", "inputSchema": {},
        "outputSchema": { "type": "object" }, "annotations": annotations, "icons": icons,
        "arguments": [{ "name": "a", "title": "A" }], "execution": {}, "_meta": meta,
    });
    let text = json!({ "type": "text", "text": "a", "annotations": annotations, "_meta": meta });
    let can = json!({
        "completions": {}, "extensions": {}, "tasks": {}, "roots": { "listChanged": true },
        "sampling": { "context": {}, "tools": {} }, "elicitation": { "form": {}, "url": {} },
    });
    for version in split(..=V2025_11_25).0 {
        for (method, of) in [
            (Method::ListTools, json!({ "tools": [part] })),
            (Method::ListPrompts, json!({ "prompts": [part] })),
            (Method::ListResources, json!({ "resources": [part] })),
            (
                Method::ListResourceTemplates,
                json!({ "resourceTemplates": [part] }),
            ),
            (
                Method::ReadResource,
                json!({ "contents": [{ "uri": "a:b", "text": "a", "_meta": meta }] }),
            ),
            (
                Method::CallTool,
                json!({ "content": [text], "structuredContent": { "a": 1 }, "_meta": meta }),
            ),
            (
                Method::Initialize,
                json!({ "protocolVersion": "", "capabilities": can, "serverInfo": part }),
            ),
        ] {
            assert_eq!(result(method, of.clone(), version), of, "{version}");
        }
        for (method, of) in [
            (
                Method::CallTool,
                json!({ "name": "a", "task": {}, "requestState": "s" }),
            ),
            (
                Method::Initialize,
                json!({ "protocolVersion": "", "capabilities": can, "clientInfo": part }),
            ),
            (
                Method::Complete,
                json!({
                    "ref": { "type": "ref/prompt", "name": "a", "title": "A" },
                    "argument": { "name": "a", "value": "" },
                }),
            ),
        ] {
            assert_eq!(client_request(method, of.clone(), version), of, "{version}");
        }
        for (method, of) in [
            (
                Method::Elicit,
                json!({ "message": "", "mode": "form", "task": {} }),
            ),
            (
                Method::CreateMessage,
                json!({
                    "messages": [{ "role": "user", "content": text, "_meta": meta }],
                    "maxTokens": 1, "tools": [part], "toolChoice": {}, "task": {},
                }),
            ),
        ] {
            assert_eq!(server_request(method, of.clone(), version), of, "{version}");
        }
        for (method, of) in [
            (Method::Elicit, json!({ "action": "cancel", "_meta": meta })),
            (
                Method::ListRoots,
                json!({ "roots": [{ "uri": "file:///", "_meta": meta }] }),
            ),
        ] {
            assert_eq!(client_result(method, of.clone(), version), of, "{version}");
        }
    }
}

#[test]
fn a_property_schema_is_an_object_to_legacy_peers() {
    let schema = json!({
        "type": "object",
        "properties": { "z": true, "a": false, "m": { "type": "string", "x-n": 1 } },
        "additionalProperties": false,
        "x-mcp": { "b": true },
    });
    let of = json!({ "name": "a", "inputSchema": schema, "outputSchema": schema });
    for version in split(..=V2025_11_25).0 {
        let mut spelled = schema.clone();
        spelled["properties"]["z"] = json!({});
        spelled["properties"]["a"] = json!({ "not": {} });
        let fitted = tool(of.clone(), version);
        assert_eq!(fitted["inputSchema"], spelled);
        assert_eq!(fitted["outputSchema"], spelled);
    }
    assert_eq!(tool(of.clone(), V2026_07_28), of);
    // What needs no change is passed on byte for byte.
    let text = r#"{ "properties":{"b":{},"a" : 1.0 }, "type":"object"}"#;
    let mut tool = Tool::new("a", RawJson::parse(text).expect("JSON"));
    compat::fit_tool(&mut tool, V2025_11_25);
    assert_eq!(tool.input_schema.as_str(), text);
}

#[test]
fn a_structured_result_is_an_object_to_legacy_peers_in_schema_and_value() {
    let values = [
        json!({ "a": 1 }),
        json!({}),
        json!({ "result": 5 }),
        json!([1, 2]),
        json!("a"),
        json!(5),
        json!(true),
        json!(null),
    ];
    let schemas = [
        json!(true),
        json!({}),
        json!({ "type": "array", "items": { "$ref": "#/$defs/n" }, "$defs": { "n": { "type": "integer" } } }),
        json!({ "type": ["integer", "null"] }),
        json!({ "type": ["object", "null"], "properties": { "a": { "type": "integer" } } }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "object", "required": ["a"] }] }),
        json!({ "anyOf": [{ "type": "integer" }, { "oneOf": [{ "type": "null" }, false] }] }),
        json!({ "oneOf": [{ "type": "array" }, { "anyOf": [true] }] }),
        json!({ "$ref": "#/definitions/s", "definitions": { "s": { "type": "string" } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "const": 5 }),
        json!({ "type": "object", "required": ["a"] }),
    ];
    let fits = |schema: &Value, value: &Value| {
        let validator = jsonschema::validator_for(schema).expect("it is a schema");
        validator.is_valid(value)
    };
    for schema in &schemas {
        for version in split(..=V2025_11_25).0 {
            let of = json!({ "name": "a", "inputSchema": {}, "outputSchema": schema });
            let fitted = tool(of, version)["outputSchema"].clone();
            assert_eq!(fitted["type"], "object");
            let takes_objects = values.iter().any(|v| v.is_object() && fits(schema, v));
            for value in &values {
                let of = json!({ "content": [], "structuredContent": value });
                let sent = result(Method::CallTool, of, version)["structuredContent"].clone();
                assert!(sent.is_object());
                let (before, after) = (fits(schema, value), fits(&fitted, &sent));
                // Of an object nobody can tell whether it was wrapped.
                let unclear = takes_objects || value.is_object();
                let same = before == after || (after && unclear);
                assert!(same, "{value} of {schema}, sent as {sent} of {fitted}");
            }
        }
        let of = json!({ "name": "a", "inputSchema": {}, "outputSchema": schema });
        assert_eq!(tool(of.clone(), V2026_07_28), of);
    }
    let array = json!({ "type": "array", "$defs": { "a": {} } });
    let of = json!({ "name": "a", "inputSchema": {}, "outputSchema": array });
    assert_eq!(
        tool(of, V2025_11_25)["outputSchema"],
        json!({
            "type": "object",
            "properties": { "result": { "type": "array" } },
            "required": ["result"],
            "$defs": { "a": {} },
        })
    );
    // What cannot be an object is the member and nothing else.
    let maybe = json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] });
    let of = json!({ "name": "a", "inputSchema": {}, "outputSchema": maybe });
    assert_eq!(
        tool(of, V2025_11_25)["outputSchema"],
        json!({ "type": "object", "properties": { "result": maybe }, "required": ["result"] })
    );
    let object = json!({ "content": [], "structuredContent": { "a": 1 } });
    assert_eq!(
        result(Method::CallTool, object.clone(), V2025_06_18),
        object
    );
    let null = json!({ "content": [], "structuredContent": null });
    let fitted = result(Method::CallTool, null, V2025_11_25);
    assert_eq!(fitted["structuredContent"], json!({ "result": null }));
}

#[test]
fn a_schema_of_any_depth_is_wrapped() {
    let levels = 10_000;
    let deep = format!(
        "{}{}{}",
        r#"{"anyOf":["#.repeat(levels),
        r#"{"type":"null"}"#,
        "]}".repeat(levels)
    );
    let object = RawJson::from(json!({ "type": "object" }));
    let mut tool =
        Tool::new("a", object).output_schema(RawJson::parse(deep.clone()).expect("JSON"));
    compat::fit_tool(&mut tool, V2025_11_25);
    let schema = tool.output_schema.expect("it still has one");
    assert!(schema.as_str().starts_with(r#"{"type":"object","#));
    assert!(schema.as_str().contains(&deep));
}

#[test]
fn audio_is_sent_as_it_is() {
    let of = json!({ "type": "audio", "data": "YQ==", "mimeType": "audio/wav" });
    for version in ALL {
        assert_eq!(block(of.clone(), version), of);
        let asked = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": of }] });
        let fitted = server_request(Method::CreateMessage, asked.clone(), version);
        assert_eq!(fitted, asked);
    }
}

#[test]
fn resource_links_came_with_2025_06_18() {
    let annotations = json!({ "audience": ["user"] });
    let of = json!({
        "type": "resource_link", "uri": "a:b", "name": "a", "annotations": annotations,
    });
    let mut titled = of.clone();
    titled["title"] = json!("A b");
    for version in split(..V2025_06_18).0 {
        let text = json!({ "type": "text", "text": "a: a:b", "annotations": annotations });
        assert_eq!(block(of.clone(), version), text);
        assert_eq!(block(titled.clone(), version)["text"], "A b: a:b");
    }
    for version in split(V2025_06_18..).0 {
        assert_eq!(block(titled.clone(), version), titled);
    }
}

#[test]
fn content_of_an_unknown_kind_is_left_alone() {
    let of = json!({ "type": "hologram", "_meta": { "a": 1 } });
    for version in ALL {
        assert_eq!(block(of.clone(), version), of);
    }
}

#[test]
fn many_blocks_are_many_messages_before_2025_11_25() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let said = |by: &str, content: Value| json!({ "role": by, "content": content });
    let messages = json!([
        said("user", text("a")),
        said("assistant", json!([text("b"), text("c")])),
        said("user", json!([])),
        said("user", json!([text("d")])),
    ]);
    let of = json!({ "maxTokens": 1, "messages": messages });
    let fitted = |version| server_request(Method::CreateMessage, of.clone(), version);
    for version in split(..V2025_11_25).0 {
        assert_eq!(
            fitted(version)["messages"],
            json!([
                said("user", text("a")),
                said("assistant", text("b")),
                said("assistant", text("c")),
                said("user", text("d")),
            ])
        );
    }
    for version in split(V2025_11_25..).0 {
        assert_eq!(fitted(version)["messages"], messages);
    }
}

#[test]
fn a_model_says_one_block_before_2025_11_25() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": "", "mimeType": "a/b" });
    let said = |content: &Value, version| {
        let of = json!({ "role": "assistant", "model": "m", "content": content });
        client_result(Method::CreateMessage, of, version)["content"].clone()
    };
    for (content, one) in [
        (text("a"), text("a")),
        (json!([image]), image.clone()),
        (json!([text("a"), image, text("b")]), text("a\nb")),
        (json!([]), text("")),
    ] {
        for version in split(..V2025_11_25).0 {
            assert_eq!(said(&content, version), one);
        }
        for version in split(V2025_11_25..).0 {
            assert_eq!(said(&content, version), content);
        }
    }
}

#[test]
fn tools_in_sampling_came_with_2025_11_25() {
    let used = json!({ "type": "tool_use", "id": "1", "name": "a", "input": { "b": 1 } });
    let answer = json!({ "type": "tool_result", "toolUseId": "1", "content": [] });
    let of = json!({
        "maxTokens": 1,
        "tools": [{ "name": "a", "inputSchema": {}, "execution": {} }],
        "toolChoice": {},
        "messages": [
            { "role": "assistant", "content": used },
            { "role": "user", "content": [answer] },
        ],
    });
    let fitted = |version| server_request(Method::CreateMessage, of.clone(), version);
    for version in split(..V2025_11_25).0 {
        for (message, block) in fitted(version)["messages"]
            .as_array()
            .expect("they are many")
            .iter()
            .zip([&used, &answer])
        {
            assert_eq!(message["content"]["type"], "text");
            let text = message["content"]["text"].as_str().expect("it is text");
            assert_eq!(
                serde_json::from_str::<Value>(text).expect("it is JSON"),
                *block
            );
        }
    }
    assert_eq!(fitted(V2025_11_25)["messages"], of["messages"]);
}

#[test]
fn what_a_tool_of_a_model_gave_is_an_object_in_2025_11_25() {
    let answer = json!({
        "type": "tool_result", "toolUseId": "1", "content": [], "structuredContent": 5,
    });
    let of = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": answer }] });
    let given = |version| {
        let fitted = server_request(Method::CreateMessage, of.clone(), version);
        fitted["messages"][0]["content"]["structuredContent"].clone()
    };
    assert_eq!(given(V2025_11_25), json!({ "result": 5 }));
    assert_eq!(given(V2026_07_28), 5);
}

#[test]
fn choices_with_names_are_older_before_2025_11_25() {
    let schema = json!({
        "type": "object",
        "properties": {
            "z": { "type": "string", "default": "a", "pattern": "b" },
            "a": { "type": "integer", "default": 5 },
            "c": { "type": "string", "default": "a", "oneOf": [
                { "const": "a", "title": "A" }, { "const": "b", "title": "B" },
            ] },
            "b": { "type": "string", "enum": ["a"], "enumNames": ["A"], "default": "a" },
        },
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    });
    let of = json!({ "message": "", "requestedSchema": schema });
    let fitted =
        |version| server_request(Method::Elicit, of.clone(), version)["requestedSchema"].clone();
    let mut older = schema.clone();
    older["properties"]["c"] = json!({
        "type": "string", "default": "a", "enum": ["a", "b"], "enumNames": ["A", "B"],
    });
    for version in ALL {
        let is_older = version < V2025_11_25;
        assert_eq!(
            fitted(version),
            if is_older {
                older.clone()
            } else {
                schema.clone()
            }
        );
    }
}

#[test]
fn what_has_no_older_form_is_left_alone() {
    let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
    let schema = json!({ "type": "object", "properties": { "a": several } });
    for of in [
        json!({ "message": "", "requestedSchema": schema }),
        json!({ "message": "", "mode": "url", "url": "a:b" }),
    ] {
        assert_eq!(server_request(Method::Elicit, of.clone(), V2025_06_18), of);
    }
}

/// Covers EC04, EC08.
#[test]
fn codes_of_errors_are_those_of_the_revision() {
    let fitted = |code, version| {
        let mut error = ErrorObject::new(code, "");
        compat::fit_error(&mut error, version);
        error.code
    };
    for version in ALL {
        let missing = match version {
            V2026_07_28 => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::RESOURCE_NOT_FOUND,
        };
        assert_eq!(fitted(ErrorCode::RESOURCE_NOT_FOUND, version), missing);
        let visit = match version {
            V2025_11_25 => ErrorCode::URL_ELICITATION_REQUIRED,
            _ => ErrorCode::INVALID_REQUEST,
        };
        assert_eq!(fitted(ErrorCode::URL_ELICITATION_REQUIRED, version), visit);
        assert_eq!(
            fitted(ErrorCode::SERVER_BUSY, version),
            ErrorCode::SERVER_BUSY
        );
    }
}

#[test]
fn fitting_twice_is_fitting_once() {
    for version in ALL {
        let results = [
            ServerResult::CallTool(samples::call_tool_result(version)),
            ServerResult::ListTools(ListToolsResult::new([samples::tool()])),
            ServerResult::GetPrompt(samples::get_prompt_result(version)),
            ServerResult::InputRequired(samples::input_required(version)),
            ServerResult::Custom(raw(json!({ "a": 1 }))),
        ];
        for mut result in results {
            compat::fit_result(&mut result, version);
            let once = result.clone();
            compat::fit_result(&mut result, version);
            assert_eq!(result, once, "{version}");
        }
        let requests = [
            ServerRequest::CreateMessage(samples::create_message_params(version)),
            ServerRequest::Elicit(samples::form(version)),
            ServerRequest::Elicit(samples::page()),
        ];
        for mut request in requests {
            compat::fit_server_request(&mut request, version);
            let once = request.clone();
            compat::fit_server_request(&mut request, version);
            assert_eq!(request, once, "{version}");
        }
    }
}
