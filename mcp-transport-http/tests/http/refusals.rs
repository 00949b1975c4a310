//! What the endpoint refuses before it looks at a message.

use http::{Method, Version};
use http_body_util::StreamBody;
use mcp_transport_http::Http;
use serde_json::json;
use tower::ServiceExt as _;

use crate::support::{LEGACY, Session, endpoint, send, server, tool};

/// Covers H07.
#[tokio::test]
async fn only_known_hosts_and_origins_are_served() {
    let (http, _) = endpoint();
    let http = http
        .allow_host("mcp.example.com")
        .allow_origin("https://app.example.com");
    let cases = [
        ("localhost", None, 200),
        ("localhost:3000", None, 200),
        ("LocalHost:3000", None, 200),
        ("127.0.0.1:3000", None, 200),
        ("127.1.2.3", None, 200),
        ("[::1]:3000", None, 200),
        ("mcp.example.com", None, 200),
        ("MCP.example.com:443", None, 200),
        ("evil.example.com", None, 403),
        ("localhost.evil.example.com", None, 403),
        ("192.168.1.2:3000", None, 403),
        ("0.0.0.0:3000", None, 403),
        ("", None, 400),
        ("not a host", None, 400),
        ("me@localhost:3000", None, 400),
        ("localhost:99999", None, 400),
        ("localhost:http", None, 400),
        ("localhost:3000", Some("http://localhost:3000"), 200),
        ("localhost:3000", Some("http://LOCALHOST:3000"), 200),
        ("localhost:80", Some("http://localhost"), 200),
        ("localhost", Some("http://localhost:80"), 200),
        ("localhost", Some("https://localhost"), 200),
        ("localhost", Some("https://localhost:443"), 200),
        ("[::1]", Some("http://[::1]:80"), 200),
        ("localhost:443", Some("http://localhost"), 403),
        ("localhost", Some("http://localhost:443"), 403),
        ("localhost:3000", Some("http://me@localhost:3000"), 403),
        ("localhost:3000", Some("https://app.example.com"), 200),
        ("localhost:3000", Some("https://app.example.com:443"), 200),
        ("localhost:3000", Some("https://app.example.com:80"), 403),
        ("localhost:3000", Some("http://localhost:8080"), 403),
        ("localhost:3000", Some("http://127.0.0.1:3000"), 403),
        ("localhost:3000", Some("http://evil.example.com"), 403),
        (
            "localhost:3000",
            Some("https://app.example.com.evil.org"),
            403,
        ),
        ("localhost:3000", Some("ftp://localhost:3000"), 403),
        ("localhost:3000", Some("localhost:3000"), 403),
        ("localhost:3000", Some("null"), 403),
        ("localhost:3000", Some(""), 403),
    ];
    for (host, origin, status) in cases {
        let mut call = tool(1, "echo", json!({ "text": "hi" })).with("host", host);
        if let Some(origin) = origin {
            call = call.and("origin", origin);
        }
        let got = call.send(&http).await.status();
        assert_eq!(got.as_u16(), status, "host {host:?}, origin {origin:?}");
        let got = send(&http, call.request(Method::DELETE, "")).await.status();
        let refused = if status == 200 { 405 } else { status };
        assert_eq!(got.as_u16(), refused, "{host:?}, {origin:?}");
    }
}

/// Covers H07.
#[tokio::test]
async fn a_host_is_named_once_and_may_be_in_the_uri() {
    let (http, _) = endpoint();
    let call = tool(1, "echo", json!({ "text": "hi" }));
    let twice = call.clone().and("host", "localhost");
    assert_eq!(twice.send(&http).await.refusal().await, (400, -32600));
    let none = call.without("host");
    assert_eq!(none.send(&http).await.refusal().await, (400, -32600));
    let other = [none.clone(), none.clone().and("host", "localhost:3000")];
    for (host, status) in [("localhost:3000", 200), ("evil.example.com", 403)] {
        for call in &other {
            let mut request = call.post();
            *request.version_mut() = Version::HTTP_2;
            *request.uri_mut() = format!("http://{host}/mcp").parse().expect("it is a URI");
            assert_eq!(send(&http, request).await.status(), status);
        }
    }
    let http = http.allow_any_host();
    assert_eq!(none.send(&http).await.status(), 200);
    let elsewhere = none.with("host", "anything.example.com");
    assert_eq!(elsewhere.send(&http).await.status(), 200);
}

/// Covers H02.
#[tokio::test]
async fn the_body_is_json_and_the_answer_may_be_either() {
    let (http, _) = endpoint();
    let call = tool(1, "echo", json!({ "text": "hi" }));
    let cases = [
        ("content-type", "application/json; charset=utf-8", 200),
        ("content-type", "Application/JSON", 200),
        ("content-type", "text/plain", 415),
        ("content-type", "application/jsonp", 415),
        ("accept", "*/*", 200),
        ("accept", "application/*, text/*;q=0.5", 200),
        ("accept", "text/event-stream, application/json;q=0.9", 200),
        ("accept", "application/json", 406),
        ("accept", "text/event-stream", 406),
        ("accept", "text/html", 406),
        ("accept", "", 200),
        ("accept", "*/*, application/json;q=0", 406),
        ("accept", "application/json, text/event-stream;Q=0.000", 406),
        ("accept", "application/json;q=0.001, */*;q=0.5", 200),
        ("accept", "application/json, text/*, */*;q=0", 200),
        (
            "accept",
            "application/json, text/event-stream, text/*; q=0",
            200,
        ),
        ("content-encoding", "identity", 200),
        ("content-encoding", "gzip", 415),
        ("transfer-encoding", "chunked", 200),
        ("transfer-encoding", "gzip, chunked", 501),
    ];
    for (name, value, status) in cases {
        let got = call.clone().with(name, value).send(&http).await.status();
        assert_eq!(got.as_u16(), status, "{name}: {value}");
    }
    assert_eq!(
        call.clone()
            .without("content-type")
            .send(&http)
            .await
            .status(),
        415
    );
    let twice = call.clone().and("content-type", "application/json");
    assert_eq!(twice.send(&http).await.refusal().await, (400, -32600));
    assert_eq!(call.without("accept").send(&http).await.status(), 200);
}

/// Covers H04.
#[tokio::test]
async fn only_what_repeats_the_body_can_differ_from_it() {
    let (http, _) = endpoint();
    let call = tool(1, "echo", json!({ "text": "hi" }));
    for (name, code) in [
        ("host", -32600),
        ("origin", -32600),
        ("mcp-method", -32020),
        ("mcp-name", -32020),
        ("mcp-protocol-version", -32020),
    ] {
        let twice = call.clone().and(name, "a").and(name, "b");
        let refusal = twice.send(&http).await.refusal().await;
        assert_eq!(refusal, (400, code), "{name}");
    }
    let session = Session::open(&http, LEGACY).await;
    let ping = session.call(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    let twice = ping.and("mcp-session-id", &session.id);
    assert_eq!(twice.send(&http).await.refusal().await, (400, -32600));
}

#[tokio::test]
async fn a_long_body_is_refused() {
    let (http, _) = endpoint();
    let call = tool(1, "echo", json!({ "text": "x".repeat(1000) }));
    let length = call.body.to_string().len();
    let exactly = http.clone().limits(|limits| limits.body = length);
    assert_eq!(call.send(&exactly).await.status(), 200);
    let shorter = http.limits(|limits| limits.body = length - 1);
    assert_eq!(call.send(&shorter).await.refusal().await, (413, -32700));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_refused() {
    let (server, _) = server(|server| server);
    let call = tool(1, "echo", json!({ "text": "hi" }));
    let (parts, _) = call.post().into_parts();
    type Piece = Result<http_body::Frame<bytes::Bytes>, std::io::Error>;
    let never = StreamBody::new(tokio_stream::pending::<Piece>());
    let request = http::Request::from_parts(parts, never);
    let Ok(response) = Http::new(server).oneshot(request).await;
    assert_eq!(response.status(), 408);
}
