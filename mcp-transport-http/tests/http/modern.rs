//! Requests that speak for themselves: an exchange each.

use http::Method;
use mcp_transport_http::Http;
use serde_json::{Value, json};

use crate::support::{
    CAPABILITIES, ENVELOPE, Event, Reply, Seen, endpoint, is_pending, modern, send, server, text,
    tool, until, watched_tool,
};

/// Covers H01, H02.
#[tokio::test]
async fn a_request_is_answered_by_one_message() {
    let (http, _) = endpoint();
    for id in [json!(1), json!("1"), json!(0), json!("")] {
        let reply = tool(id.clone(), "echo", json!({ "text": "hi" }))
            .send(&http)
            .await;
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.header("mcp-session-id"), None);
        let message = reply.json().await;
        assert_eq!(text(&message), "hi");
        assert_eq!(message["id"], id);
        assert_eq!(message["result"]["resultType"], "complete");
    }
}

/// Covers H02.
#[tokio::test]
async fn progress_makes_a_stream_that_ends_with_the_response() {
    let (http, _) = endpoint();
    let call = watched_tool(1, "steps", json!({ "steps": 3, "width": 1 }));
    let mut reply = call.send(&http).await;
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.header("x-accel-buffering").as_deref(), Some("no"));
    let first = reply.event().await.expect("there is progress");
    assert_eq!(first.id, None, "nothing is resumed");
    assert_eq!(first.json()["params"]["progress"], 1.0);
    let messages = reply.messages().await;
    assert_eq!(
        text(messages.last().expect("there is a response")),
        "stepped"
    );
}

/// Covers H03, H04.
#[tokio::test]
async fn headers_that_do_not_repeat_the_body_are_refused() {
    let (http, _) = endpoint();
    let good = tool(7, "echo", json!({ "text": "hi" }));
    let resource = modern(7, "resources/read", json!({ "uri": "test://a%20b" }));
    let bad = [
        good.clone().without("mcp-protocol-version"),
        good.clone().with("mcp-protocol-version", "2025-11-25"),
        good.clone().without("mcp-method"),
        good.clone().with("mcp-method", "tools/list"),
        good.clone().with("mcp-method", "TOOLS/CALL"),
        good.clone().and("mcp-method", "tools/call"),
        good.clone().without("mcp-name"),
        good.clone().with("mcp-name", "Echo"),
        good.clone().with("mcp-name", "=?base64?ZWNobw?="),
        good.clone().with("mcp-name", "=?base64?!!!!?="),
        good.clone().with("mcp-name", "=?base64?//8=?="),
        good.clone().with("mcp-name", "echo\u{e9}"),
        resource.clone().without("mcp-name"),
        resource.clone().with("mcp-name", "test://b"),
    ];
    for call in bad {
        let reply = call.send(&http).await;
        let status = reply.status();
        let message = reply.json().await;
        assert_eq!(
            message["error"]["code"], -32020,
            "{:?}: {message}",
            call.headers
        );
        assert_eq!((status.as_u16(), &message["id"]), (400, &json!(7)));
    }
    let twice = good.clone().and("mcp-protocol-version", "2026-07-28");
    assert_eq!(twice.send(&http).await.refusal().await, (400, -32020));
    for call in [
        good.clone().with("mcp-name", "  echo "),
        good.clone().with("mcp-name", "=?base64?ZWNobw==?="),
        resource.clone(),
        resource.with("mcp-name", "=?base64?dGVzdDovL2ElMjBi?="),
    ] {
        let reply = call.send(&http).await;
        assert_eq!(reply.status(), 200, "{:?}", call.headers);
    }
}

/// Covers H14.
#[tokio::test]
async fn schemas_choose_the_arguments_that_headers_repeat() {
    let (http, _) = endpoint();
    let cases = [
        (json!({}), vec![], true),
        (json!({ "region": null }), vec![], true),
        (
            json!({ "region": "eu" }),
            vec![("mcp-param-region", "eu")],
            true,
        ),
        (json!({ "region": "eu" }), vec![], false),
        (
            json!({ "region": "eu" }),
            vec![("mcp-param-region", "EU")],
            false,
        ),
        (
            json!({ "region": "" }),
            vec![("mcp-param-region", "")],
            true,
        ),
        (json!({}), vec![("mcp-param-region", "eu")], false),
        (
            json!({ "region": "ü" }),
            vec![("mcp-param-region", "=?base64?w7w=?=")],
            true,
        ),
        (
            json!({ "region": "ü" }),
            vec![("mcp-param-region", "=?base64?w7w?=")],
            false,
        ),
        (
            json!({ "region": "=?base64?" }),
            vec![("mcp-param-region", "=?base64?")],
            true,
        ),
        (
            json!({ "level": 42 }),
            vec![("mcp-param-level", "42")],
            true,
        ),
        (
            json!({ "level": 42 }),
            vec![("mcp-param-level", "42.0")],
            true,
        ),
        (
            json!({ "level": -7 }),
            vec![("mcp-param-level", "-7")],
            true,
        ),
        (
            json!({ "level": 42 }),
            vec![("mcp-param-level", "43")],
            false,
        ),
        (
            json!({ "level": 42 }),
            vec![("mcp-param-level", "x")],
            false,
        ),
        (
            json!({ "level": 9_007_199_254_740_993_i64 }),
            vec![("mcp-param-level", "9007199254740992")],
            false,
        ),
        (
            json!({ "level": 9_007_199_254_740_993_i64 }),
            vec![("mcp-param-level", "9007199254740993")],
            true,
        ),
        (
            json!({ "dry": true }),
            vec![("mcp-param-dry", "true")],
            true,
        ),
        (
            json!({ "dry": true }),
            vec![("mcp-param-dry", "True")],
            false,
        ),
        (
            json!({ "inner": { "zone": "a" } }),
            vec![("mcp-param-zone", "a")],
            true,
        ),
        (json!({ "inner": { "zone": "a" } }), vec![], false),
        // Nobody's schema names it.
        (json!({}), vec![("mcp-param-other", "a")], true),
    ];
    for (arguments, headers, good) in cases {
        let call = tool(1, "route", arguments.clone());
        let call = headers
            .iter()
            .fold(call, |call, (name, value)| call.and(name, value));
        let reply = call.send(&http).await;
        let status = reply.status();
        let code = reply.json().await["error"]["code"].clone();
        match good {
            true => assert_eq!((status.as_u16(), code), (200, Value::Null), "{arguments}"),
            false => assert_eq!((status.as_u16(), code), (400, json!(-32020)), "{arguments}"),
        }
    }
}

/// Covers H05.
#[tokio::test]
async fn error_codes_have_their_status() {
    let (http, _) = endpoint();
    let without = |key: &str| {
        let mut call = modern(1, "server/discover", json!({}));
        let meta = call.body["params"]["_meta"].as_object_mut();
        meta.expect("it is an object").remove(key);
        call
    };
    let mut unknown = modern(1, "tools/list", json!({}));
    unknown.body["params"]["_meta"][ENVELOPE] = "v999.0.0".into();
    let mut bare = modern(1, "tools/list", json!({}));
    bare.body["params"] = Value::Null;
    let mut array = modern(1, "tools/list", json!({}));
    array.body = json!([array.body]);
    let mut number = modern(1, "tools/list", json!({}));
    number.body = json!(5);
    let mut response = modern(1, "tools/list", json!({}));
    response.body = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    let cases = [
        (without(ENVELOPE), 400, -32602),
        (without(CAPABILITIES), 400, -32602),
        (bare, 400, -32602),
        (
            unknown.with("mcp-protocol-version", "v999.0.0"),
            400,
            -32022,
        ),
        (tool(1, "ask", json!({})), 400, -32021),
        (modern(1, "unknown/method", json!({})), 404, -32601),
        (modern(1, "initialize", json!({})), 404, -32601),
        (modern(1, "ping", json!({})), 404, -32601),
        (number, 400, -32600),
        (array, 400, -32600),
        (response, 400, -32600),
        // What comes of a handler is an answer like any other.
        (tool(1, "refuse", json!({})), 200, -32602),
        (tool(1, "nobody", json!({})), 200, -32602),
    ];
    for (call, status, code) in cases {
        let refusal = call.send(&http).await.refusal().await;
        assert_eq!(refusal, (status, code), "{}", call.body);
    }
}

/// Covers H05, J06, J10.
#[tokio::test]
async fn a_body_that_is_no_message_is_refused_without_an_id() {
    let (http, _) = endpoint();
    let call = modern(1, "tools/list", json!({}));
    let reply = send(&http, call.request(Method::POST, "{bad")).await;
    assert_eq!(reply.status(), 400);
    let message = reply.json().await;
    assert_eq!(message["error"]["code"], -32700);
    assert!(message.get("id").is_none(), "{message}");
    let call = call.without("mcp-protocol-version");
    let message = send(&http, call.request(Method::POST, "{bad"))
        .await
        .json()
        .await;
    assert_eq!(
        message.get("id"),
        Some(&Value::Null),
        "as older clients know it"
    );
}

/// Covers H06.
#[tokio::test]
async fn a_notification_is_accepted_without_a_word() {
    let (http, _) = endpoint();
    let mut call = modern(1, "notifications/cancelled", json!({ "requestId": 9 }));
    call.body
        .as_object_mut()
        .expect("it is an object")
        .remove("id");
    let mut reply = send(&http, call.post()).await;
    assert_eq!(reply.status(), 202);
    assert_eq!(reply.header("content-type"), None);
    reply = call.without("mcp-protocol-version").send(&http).await;
    assert_eq!(reply.status(), 202);
}

/// Covers H03, H04.
#[tokio::test]
async fn a_notification_whose_headers_say_something_else_is_refused() {
    let (http, _) = endpoint();
    let mut call = modern(1, "notifications/cancelled", json!({ "requestId": 9 }));
    let body = call.body.as_object_mut().expect("it is an object");
    body.remove("id");
    for (name, value) in [
        ("mcp-method", "tools/call"),
        ("mcp-protocol-version", "2026-07-29"),
    ] {
        let refusal = call.clone().with(name, value).send(&http).await;
        assert_eq!(refusal.refusal().await, (400, -32020), "{name}");
        assert_eq!(call.clone().without(name).send(&http).await.status(), 202);
    }
}

/// Covers H06.
#[tokio::test]
async fn a_notification_reaches_who_waits_for_it() {
    let (server, _) = server(|server| {
        server.on_notification("acme/go", async |_: Value, seen: std::sync::Arc<Seen>| {
            seen.release(1);
        })
    });
    let http = Http::new(server);
    let mut reply = watched_tool(1, "wait", json!({})).send(&http).await;
    let mut call = modern(1, "acme/go", json!({}));
    call.body
        .as_object_mut()
        .expect("it is an object")
        .remove("id");
    assert_eq!(call.send(&http).await.status(), 202);
    let messages = reply.messages().await;
    assert_eq!(text(messages.last().expect("it is answered")), "waited");
    drop(reply);
    until(|| http.server().stats().connections == 0).await;
}

/// Covers H08.
#[tokio::test]
async fn there_are_no_sessions_and_no_other_verbs() {
    let (http, _) = endpoint();
    let call = tool(1, "echo", json!({ "text": "hi" })).and("mcp-session-id", "made-up");
    let call = call.and("last-event-id", "1-2");
    let reply = call.send(&http).await;
    assert_eq!(
        (reply.status().as_u16(), reply.header("mcp-session-id")),
        (200, None)
    );
    for verb in [Method::GET, Method::PUT, Method::HEAD, Method::OPTIONS] {
        let reply = send(&http, call.request(verb.clone(), "")).await;
        assert_eq!(reply.status(), 405, "{verb}");
        assert_eq!(reply.header("allow").as_deref(), Some("POST"));
    }
    let older = call
        .without("mcp-protocol-version")
        .request(Method::PUT, "");
    let reply = send(&http, older.clone()).await;
    assert_eq!(reply.header("allow").as_deref(), Some("POST, GET, DELETE"));
    let http = http.limits(|limits| limits.sessions = 0);
    let reply = send(&http, older).await;
    assert_eq!(reply.header("allow").as_deref(), Some("POST"));
}

/// Covers H09, S09.
#[tokio::test]
async fn closing_the_answer_cancels_the_request() {
    let (http, seen) = endpoint();
    let mut reply = watched_tool(1, "wait", json!({})).send(&http).await;
    assert_eq!(reply.message().await["method"], "notifications/progress");
    drop(reply);
    until(|| seen.dropped() == 1).await;

    // Also before it has begun.
    assert!(is_pending(tool(1, "wait", json!({})).send(&http)).await);
    until(|| seen.dropped() == 2).await;

    let mut reply = listen(&http).await;
    reply.message().await;
    until(|| http.server().stats().connections == 1).await;
    drop(reply);
    until(|| http.server().stats().connections == 0).await;
    assert_eq!(http.server().in_flight(), 0);
}

async fn listen(http: &Http<Seen>) -> Reply {
    let params = json!({ "notifications": { "toolsListChanged": true } });
    modern("watch", "subscriptions/listen", params)
        .send(http)
        .await
}

/// Covers S01, S02, S06.
#[tokio::test]
async fn a_subscription_is_a_stream() {
    let (http, _) = endpoint();
    let mut reply = listen(&http).await;
    let acknowledged = reply.message().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert!(is_pending(reply.event()).await);
    http.server().changes().tools();
    let notice = reply.message().await;
    assert_eq!(notice["method"], "notifications/tools/list_changed");
    let subscription = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(notice["params"]["_meta"][subscription], "watch");
    http.server().shut_down();
    let messages = reply.messages().await;
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["id"], "watch");
    assert_eq!(messages[0]["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_server_that_ends_says_so() {
    let (server, _) = server(|server| server);
    server.shut_down();
    let call = tool(1, "echo", json!({ "text": "hi" }));
    let refusal = call.send(&Http::new(server)).await.refusal().await;
    assert_eq!(refusal, (503, -32603));
}

/// Covers H02.
#[tokio::test(start_paused = true)]
async fn a_quiet_answer_becomes_a_stream_with_comments() {
    let (http, seen) = endpoint();
    let mut reply = tool(1, "wait", json!({})).send(&http).await;
    for _ in 0..3 {
        let event = reply.event().await.expect("the stream goes on");
        assert_eq!(event, Event::default(), "a comment");
    }
    seen.release(1);
    assert_eq!(text(&reply.message().await), "waited");
    assert_eq!(reply.event().await, None);
}
