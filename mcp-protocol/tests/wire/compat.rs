//! One test for each difference between revisions.

use mcp_protocol::ProtocolVersion::{self, *};
use mcp_protocol::types::*;
use mcp_protocol::{
    ClientNotification, ClientRequest, ClientResult, ErrorCode, ErrorObject, Method, RawJson,
    ServerNotification, ServerRequest, ServerResult, compat,
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

fn notification(method: Method, of: Value, version: ProtocolVersion) -> Value {
    let mut server =
        ServerNotification::parse(method.clone(), Some(raw(of.clone()))).expect("it fits");
    compat::fit_notification(&mut server, version);
    let written = params(|out| server.encode(out));
    let mut client = ClientNotification::parse(method, Some(raw(of))).expect("it fits");
    if !matches!(client, ClientNotification::Custom(..)) {
        compat::fit_client_notification(&mut client, version);
        assert_eq!(
            params(|out| client.encode(out)),
            written,
            "either side writes the same"
        );
    }
    written
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
fn reserved_metadata_is_modern() {
    let info = json!({ "name": "a", "version": "1" });
    let reserved = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": info,
        "io.modelcontextprotocol/logLevel": "info",
        "io.modelcontextprotocol/serverInfo": info,
        "io.modelcontextprotocol/subscriptionId": 7,
    });
    let mut all = reserved.clone();
    all["com.acme/a"] = json!(1);
    let own = |value: &Value, known: &[&str]| {
        let meta = value["_meta"].as_object().expect("it has some");
        assert_eq!(meta["com.acme/a"], 1);
        known.iter().filter(|key| meta.contains_key(**key)).count()
    };
    let request = [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/logLevel",
    ];
    let result_members = [
        "io.modelcontextprotocol/serverInfo",
        "io.modelcontextprotocol/subscriptionId",
    ];
    let notice = ["io.modelcontextprotocol/subscriptionId"];
    let of = json!({ "_meta": all, "name": "a", "content": [], "uri": "a:b" });
    for version in ALL {
        let modern = version == V2026_07_28;
        let asked = client_request(Method::CallTool, of.clone(), version);
        assert_eq!(own(&asked, &request), if modern { 4 } else { 0 });
        let answered = result(Method::CallTool, of.clone(), version);
        assert_eq!(own(&answered, &result_members), if modern { 2 } else { 0 });
        let noticed = notification(Method::ResourceUpdated, of.clone(), version);
        assert_eq!(own(&noticed, &notice), usize::from(modern));
    }
    // What is left without members is left out.
    let bare = json!({
        "name": "a",
        "content": [],
        "_meta": { "io.modelcontextprotocol/logLevel": "info" },
    });
    assert_eq!(
        client_request(Method::GetPrompt, bare, V2025_11_25).get("_meta"),
        None
    );
    let bare = json!({ "content": [], "_meta": { "io.modelcontextprotocol/serverInfo": info } });
    assert_eq!(
        result(Method::CallTool, bare, V2025_11_25),
        json!({ "content": [] })
    );
    let bare = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": 1 } });
    assert_eq!(
        notification(Method::ToolListChanged, bare, V2025_11_25),
        json!({})
    );
    // An empty one that was meant to be there stays.
    let empty = json!({ "content": [], "_meta": {} });
    assert_eq!(result(Method::CallTool, empty.clone(), V2025_11_25), empty);
}

#[test]
fn a_request_may_say_capabilities_of_its_revision_only() {
    for (said, fitted) in [
        (
            json!({ "roots": { "listChanged": true } }),
            json!({ "roots": {} }),
        ),
        (
            json!({ "tasks": {}, "extensions": {} }),
            json!({ "extensions": {} }),
        ),
        (
            json!({ "roots": {}, "sampling": {} }),
            json!({ "roots": {}, "sampling": {} }),
        ),
    ] {
        let key = "io.modelcontextprotocol/clientCapabilities";
        let of = json!({ "name": "a", "_meta": { key: said } });
        let request = client_request(Method::CallTool, of, V2026_07_28);
        assert_eq!(request["_meta"][key], fitted);
    }
}

#[test]
fn metadata_of_parts_came_with_2025_06_18() {
    let meta = json!({ "com.acme/a": 1 });
    let only = |fitted: &dyn Fn(ProtocolVersion) -> Value| {
        only_in(V2025_06_18.., &["_meta"], fitted);
    };
    only(&|v| tool(json!({ "name": "a", "inputSchema": {}, "_meta": meta }), v));
    only(&|v| {
        let of = json!({ "prompts": [{ "name": "a", "_meta": meta }] });
        result(Method::ListPrompts, of, v)["prompts"][0].clone()
    });
    only(&|v| {
        let of = json!({ "resources": [{ "uri": "a:b", "name": "a", "_meta": meta }] });
        result(Method::ListResources, of, v)["resources"][0].clone()
    });
    only(&|v| {
        let of =
            json!({ "resourceTemplates": [{ "uriTemplate": "a:b", "name": "a", "_meta": meta }] });
        result(Method::ListResourceTemplates, of, v)["resourceTemplates"][0].clone()
    });
    for contents in ["text", "blob"] {
        only(&|v| {
            let of = json!({ "contents": [{ "uri": "a:b", contents: "a", "_meta": meta }] });
            result(Method::ReadResource, of, v)["contents"][0].clone()
        });
        only(&|v| {
            let of = json!({
                "type": "resource",
                "resource": { "uri": "a:b", contents: "a", "_meta": meta },
            });
            block(of, v)["resource"].clone()
        });
    }
    for of in [
        json!({ "type": "text", "text": "a", "_meta": meta }),
        json!({ "type": "image", "data": "", "mimeType": "a/b", "_meta": meta }),
        json!({ "type": "audio", "data": "", "mimeType": "a/b", "_meta": meta }),
        json!({ "type": "resource_link", "uri": "a:b", "name": "a", "_meta": meta }),
        json!({ "type": "resource", "resource": { "uri": "a:b", "text": "" }, "_meta": meta }),
    ] {
        only(&|v| block(of.clone(), v));
    }
    only(&|v| {
        let content = json!({ "type": "text", "text": "a", "_meta": meta });
        let of = json!({ "role": "user", "content": content, "model": "m" });
        client_result(Method::CreateMessage, of, v)["content"].clone()
    });
    only(&|v| {
        let of = json!({ "roots": [{ "uri": "file:///", "_meta": meta }] });
        client_result(Method::ListRoots, of, v)["roots"][0].clone()
    });
}

#[test]
fn metadata_of_a_sampling_message_came_with_2025_11_25() {
    let message = json!({
        "role": "user", "content": { "type": "text", "text": "" }, "_meta": { "a": 1 },
    });
    only_in(V2025_11_25.., &["_meta"], |version| {
        let of = json!({ "maxTokens": 1, "messages": [message] });
        server_request(Method::CreateMessage, of, version)["messages"][0].clone()
    });
}

#[test]
fn questions_and_two_of_the_answers_have_no_metadata_in_the_modern_era() {
    let meta = json!({ "progressToken": 1, "com.acme/a": 1 });
    let only = |fitted: &dyn Fn(ProtocolVersion) -> Value| {
        only_in(..=V2025_11_25, &["_meta"], fitted);
    };
    only(&|v| {
        let of = json!({ "maxTokens": 1, "messages": [], "_meta": meta });
        server_request(Method::CreateMessage, of, v)
    });
    only(&|v| server_request(Method::Elicit, json!({ "message": "", "_meta": meta }), v));
    only(&|v| {
        client_result(
            Method::Elicit,
            json!({ "action": "cancel", "_meta": meta }),
            v,
        )
    });
    only(&|v| client_result(Method::ListRoots, json!({ "roots": [], "_meta": meta }), v));
}

#[test]
fn inputs_are_modern() {
    let of = json!({ "name": "a", "uri": "a:b", "inputResponses": {}, "requestState": "s" });
    for method in [Method::CallTool, Method::GetPrompt, Method::ReadResource] {
        only_in(
            V2026_07_28..,
            &["inputResponses", "requestState"],
            |version| client_request(method.clone(), of.clone(), version),
        );
    }
}

/// Covers X03.
#[test]
fn input_requests_are_fitted_like_requests() {
    let of = json!({
        "resultType": "input_required",
        "inputRequests": {
            "a": { "method": "elicitation/create", "params": {
                "mode": "url", "message": "", "url": "a:b", "elicitationId": "1", "task": {},
                "_meta": {},
            } },
            "b": { "method": "sampling/createMessage", "params": {
                "maxTokens": 1, "messages": [], "task": {}, "_meta": {},
            } },
            "c": { "method": "roots/list" },
        },
    });
    let fitted = result(Method::CallTool, of, V2026_07_28);
    assert_eq!(
        fitted["inputRequests"],
        json!({
            "a": { "method": "elicitation/create", "params": {
                "mode": "url", "message": "", "url": "a:b",
            } },
            "b": { "method": "sampling/createMessage", "params": {
                "maxTokens": 1, "messages": [],
            } },
            "c": { "method": "roots/list" },
        })
    );
}

#[test]
fn tasks_are_2025_11_25_only() {
    let in_one = V2025_11_25..=V2025_11_25;
    let task = json!({ "ttl": 1 });
    only_in(in_one.clone(), &["task"], |v| {
        client_request(Method::CallTool, json!({ "name": "a", "task": task }), v)
    });
    only_in(in_one.clone(), &["task"], |v| {
        let of = json!({ "maxTokens": 1, "messages": [], "task": task });
        server_request(Method::CreateMessage, of, v)
    });
    only_in(in_one.clone(), &["task"], |v| {
        server_request(Method::Elicit, json!({ "message": "", "task": task }), v)
    });
    only_in(in_one.clone(), &["tasks"], |v| {
        client_capabilities(json!({ "tasks": {} }), v)
    });
    only_in(in_one.clone(), &["tasks"], |v| {
        server_capabilities(json!({ "tasks": {} }), v)
    });
    only_in(in_one, &["execution"], |v| {
        let execution = json!({ "taskSupport": "optional" });
        tool(
            json!({ "name": "a", "inputSchema": {}, "execution": execution }),
            v,
        )
    });
}

fn client_capabilities(capabilities: Value, version: ProtocolVersion) -> Value {
    let of = json!({
        "protocolVersion": "", "capabilities": capabilities,
        "clientInfo": { "name": "a", "version": "1" },
    });
    client_request(Method::Initialize, of, version)["capabilities"].clone()
}

fn server_capabilities(capabilities: Value, version: ProtocolVersion) -> Value {
    let of = json!({ "supportedVersions": [], "capabilities": capabilities });
    let discovered = result(Method::Discover, of, version)["capabilities"].clone();
    let of = json!({
        "protocolVersion": "", "capabilities": capabilities,
        "serverInfo": { "name": "a", "version": "1" },
    });
    let initialized = result(Method::Initialize, of, version)["capabilities"].clone();
    assert_eq!(discovered, initialized);
    initialized
}

#[test]
fn the_message_of_progress_came_with_2025_03_26() {
    let of = json!({ "progressToken": 1, "progress": 1.0, "message": "half" });
    only_in(V2025_03_26.., &["message"], |v| {
        notification(Method::Progress, of.clone(), v)
    });
}

#[test]
fn the_context_of_completion_came_with_2025_06_18() {
    let of = json!({
        "ref": { "type": "ref/prompt", "name": "a", "title": "A" },
        "argument": { "name": "a", "value": "" },
        "context": {},
    });
    let fitted = |v| client_request(Method::Complete, of.clone(), v);
    only_in(V2025_06_18.., &["context"], fitted);
    only_in(V2025_06_18.., &["title"], |v| fitted(v)["ref"].clone());
}

#[test]
fn capabilities_are_those_of_the_revision() {
    let extensions = json!({ "extensions": {} });
    only_in(V2026_07_28.., &["extensions"], |v| {
        client_capabilities(extensions.clone(), v)
    });
    only_in(V2026_07_28.., &["extensions"], |v| {
        server_capabilities(extensions.clone(), v)
    });
    let completions = json!({ "completions": {} });
    only_in(V2025_03_26.., &["completions"], |v| {
        server_capabilities(completions.clone(), v)
    });
    only_in(..=V2025_11_25, &["listChanged"], |v| {
        client_capabilities(json!({ "roots": { "listChanged": true } }), v)["roots"].clone()
    });
    let kinds = json!({ "context": {}, "tools": {} });
    only_in(V2025_11_25.., &["context", "tools"], |v| {
        client_capabilities(json!({ "sampling": kinds }), v)["sampling"].clone()
    });
}

#[test]
fn kinds_of_elicitation_came_with_2025_11_25() {
    let fitted = |of: Value, version| {
        let capabilities = client_capabilities(json!({ "elicitation": of }), version);
        capabilities.get("elicitation").cloned()
    };
    for of in [
        json!({}),
        json!({ "form": {} }),
        json!({ "form": {}, "url": {} }),
    ] {
        for version in split(..V2025_06_18).0 {
            assert_eq!(fitted(of.clone(), version), None);
        }
        assert_eq!(fitted(of.clone(), V2025_06_18), Some(json!({})));
        for version in split(V2025_11_25..).0 {
            assert_eq!(fitted(of.clone(), version), Some(of.clone()));
        }
    }
    assert_eq!(fitted(json!({ "url": {} }), V2025_06_18), None);
    assert_eq!(
        fitted(json!({ "url": {} }), V2025_11_25),
        Some(json!({ "url": {} }))
    );
}

#[test]
fn titles_came_with_2025_06_18_and_icons_with_2025_11_25() {
    let icons = json!([{ "src": "data:," }]);
    let check = |fitted: &dyn Fn(ProtocolVersion) -> Value| {
        only_in(V2025_06_18.., &["title"], fitted);
        only_in(V2025_11_25.., &["icons"], fitted);
    };
    let part = json!({
        "name": "a", "title": "A", "icons": icons, "version": "1", "inputSchema": {},
        "uri": "a:b", "uriTemplate": "a:b",
    });
    check(&|v| tool(part.clone(), v));
    check(&|v| result(Method::ListPrompts, json!({ "prompts": [part] }), v)["prompts"][0].clone());
    check(&|v| {
        let of = json!({ "resources": [part] });
        result(Method::ListResources, of, v)["resources"][0].clone()
    });
    check(&|v| {
        let of = json!({ "resourceTemplates": [part] });
        result(Method::ListResourceTemplates, of, v)["resourceTemplates"][0].clone()
    });
    check(&|v| {
        let of = json!({ "protocolVersion": "", "capabilities": {}, "serverInfo": part });
        result(Method::Initialize, of, v)["serverInfo"].clone()
    });
    check(&|v| {
        let of = json!({ "protocolVersion": "", "capabilities": {}, "clientInfo": part });
        client_request(Method::Initialize, of, v)["clientInfo"].clone()
    });
    only_in(V2025_06_18.., &["title"], |v| {
        let of = json!({ "prompts": [{ "name": "a", "arguments": [part] }] });
        result(Method::ListPrompts, of, v)["prompts"][0]["arguments"][0].clone()
    });
    only_in(V2025_11_25.., &["icons"], |v| {
        block(
            json!({ "type": "resource_link", "name": "a", "uri": "a:b", "icons": icons }),
            v,
        )
    });
}

#[test]
fn an_implementation_describes_itself_since_2025_11_25() {
    let info = json!({ "name": "a", "version": "1", "description": "d", "websiteUrl": "a:b" });
    only_in(V2025_11_25.., &["description", "websiteUrl"], |v| {
        let of = json!({ "protocolVersion": "", "capabilities": {}, "clientInfo": info });
        client_request(Method::Initialize, of, v)["clientInfo"].clone()
    });
}

#[test]
fn the_time_of_the_last_change_came_with_2025_06_18() {
    let annotations = json!({ "lastModified": "2025-01-12T15:00:58Z", "priority": 0.5 });
    let only = |fitted: &dyn Fn(ProtocolVersion) -> Value| {
        only_in(V2025_06_18.., &["lastModified"], fitted);
        only_in(V2024_11_05.., &["priority"], fitted);
    };
    only(&|v| {
        block(
            json!({ "type": "text", "text": "", "annotations": annotations }),
            v,
        )["annotations"]
            .clone()
    });
    let part = json!({
        "name": "a", "uri": "a:b", "uriTemplate": "a:b", "annotations": annotations,
    });
    only(&|v| {
        let of = json!({ "resources": [part] });
        result(Method::ListResources, of, v)["resources"][0]["annotations"].clone()
    });
    only(&|v| {
        let of = json!({ "resourceTemplates": [part] });
        result(Method::ListResourceTemplates, of, v)["resourceTemplates"][0]["annotations"].clone()
    });
    only(&|v| {
        let content = json!({ "type": "text", "text": "", "annotations": annotations });
        let of = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": content }] });
        server_request(Method::CreateMessage, of, v)["messages"][0]["content"]["annotations"]
            .clone()
    });
}

#[test]
fn annotations_of_a_tool_came_with_2025_03_26() {
    let of = json!({ "name": "a", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
    only_in(V2025_03_26.., &["annotations"], |v| tool(of.clone(), v));
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
        if version >= V2025_06_18 {
            assert_eq!(fitted["outputSchema"], spelled);
        }
    }
    assert_eq!(tool(of.clone(), V2026_07_28), of);
    // What needs no change is passed on byte for byte.
    let text = r#"{ "properties":{"b":{},"a" : 1.0 }, "type":"object"}"#;
    let mut tool = Tool::new("a", RawJson::parse(text).expect("JSON"));
    compat::fit_tool(&mut tool, V2025_11_25);
    assert_eq!(tool.input_schema.as_str(), text);
}

#[test]
fn structured_results_came_with_2025_06_18() {
    let of = json!({ "content": [], "structuredContent": { "a": 1 } });
    only_in(V2025_06_18.., &["structuredContent"], |v| {
        result(Method::CallTool, of.clone(), v)
    });
    let of = json!({ "name": "a", "inputSchema": {}, "outputSchema": { "type": "object" } });
    only_in(V2025_06_18.., &["outputSchema"], |v| tool(of.clone(), v));
}

/// Covers B-121.
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
        json!({ "$ref": "#/definitions/s", "definitions": { "s": { "type": "string" } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "const": 5 }),
        json!({ "type": "object", "required": ["a"] }),
    ];
    let fits = |schema: &Value, value: &Value| {
        let validator = jsonschema::validator_for(schema).expect("it is a schema");
        validator.is_valid(value)
    };
    for schema in &schemas {
        for version in [V2025_06_18, V2025_11_25] {
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
fn audio_came_with_2025_03_26() {
    let annotations = json!({ "priority": 0.5 });
    let of = json!({
        "type": "audio", "data": "YQ==", "mimeType": "audio/wav", "annotations": annotations,
    });
    let resource = json!({ "uri": "about:audio", "blob": "YQ==", "mimeType": "audio/wav" });
    assert_eq!(
        block(of.clone(), V2024_11_05),
        json!({ "type": "resource", "resource": resource, "annotations": annotations })
    );
    for version in split(V2025_03_26..).0 {
        assert_eq!(block(of.clone(), version), of);
    }
    let message = |version| {
        let of = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": of }] });
        server_request(Method::CreateMessage, of, version)["messages"][0]["content"].clone()
    };
    assert_eq!(
        message(V2024_11_05),
        json!({ "type": "text", "text": "(audio/wav)" })
    );
    assert_eq!(message(V2025_03_26), of);
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
    only_in(V2025_11_25.., &["tools", "toolChoice"], fitted);
    only_in(V2025_11_25..=V2025_11_25, &["execution"], |v| {
        fitted(v)["tools"][0].clone()
    });
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
fn the_mode_of_elicitation_came_with_2025_11_25() {
    let of = json!({ "message": "", "mode": "form" });
    only_in(V2025_11_25.., &["mode"], |v| {
        server_request(Method::Elicit, of.clone(), v)
    });
}

/// Covers EL05.
#[test]
fn a_web_page_has_an_id_in_2025_11_25_only() {
    let fitted = |of: &Value, version| server_request(Method::Elicit, of.clone(), version);
    let without = json!({ "message": "", "mode": "url", "url": "https://a.b/c" });
    let mut with = without.clone();
    with["elicitationId"] = json!("1");
    assert_eq!(
        fitted(&without, V2025_11_25)["elicitationId"],
        "https://a.b/c"
    );
    assert_eq!(fitted(&with, V2025_11_25), with);
    assert_eq!(fitted(&with, V2026_07_28), without);
    assert_eq!(fitted(&without, V2026_07_28), without);
    let form = json!({ "message": "" });
    assert_eq!(fitted(&form, V2025_11_25), form);
}

#[test]
fn fields_of_a_form_are_plainer_in_2025_06_18() {
    let schema = json!({
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "z": { "type": "string", "default": "a", "pattern": "b" },
            "a": { "type": "integer", "default": 5 },
            "m": { "type": "boolean", "default": true },
            "b": { "type": "string", "enum": ["a"], "default": "a" },
            "c": { "type": "string", "default": "a", "oneOf": [
                { "const": "a", "title": "A" }, { "const": "b", "title": "B" },
            ] },
            "d": { "type": "string", "enum": ["a"], "enumNames": ["A"] },
        },
    });
    let of = json!({ "message": "", "requestedSchema": schema });
    let fitted =
        |version| server_request(Method::Elicit, of.clone(), version)["requestedSchema"].clone();
    assert_eq!(
        fitted(V2025_06_18),
        json!({
            "type": "object",
            "properties": {
                "z": { "type": "string", "pattern": "b" },
                "a": { "type": "integer" },
                "m": { "type": "boolean", "default": true },
                "b": { "type": "string", "enum": ["a"] },
                "c": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] },
                "d": { "type": "string", "enum": ["a"], "enumNames": ["A"] },
            },
        })
    );
    for version in split(V2025_11_25..).0 {
        assert_eq!(fitted(version), schema);
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
            ServerResult::CallTool(samples::call_tool_result()),
            ServerResult::ListTools(ListToolsResult::new([samples::tool()])),
            ServerResult::GetPrompt(samples::get_prompt_result()),
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
            ServerRequest::CreateMessage(samples::create_message_params()),
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
