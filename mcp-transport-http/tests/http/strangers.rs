//! The client's half, and whoever may be at a URL.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::types::SubscriptionFilter;
use mcp_client::{
    CallError, Client, ClientBuilder, ClientError, NegotiationError, Opening, async_trait,
};
use mcp_protocol::connection::Change;
use mcp_protocol::transport::NoAnswer;
use mcp_transport_http::{Authorization, BoxError, HttpTransport, Refused, bearer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::sockets::soon;
use crate::support::MODERN;

/// What a stranger was asked.
#[derive(Clone, Debug)]
struct Asked {
    verb: String,
    path: String,
    headers: HashMap<String, String>,
    body: Value,
}

impl Asked {
    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Somebody who answers requests one at a time, with whatever is made up for each.
#[derive(Clone)]
struct Stranger {
    origin: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stranger {
    async fn new(answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let stranger = Self {
            origin: format!("http://{address}"),
            asked: Arc::default(),
        };
        let answer = Arc::new(answer);
        let seen = stranger.asked.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answer, seen) = (answer.clone(), seen.clone());
                tokio::spawn(async move {
                    let Some(asked) = read(&mut socket).await else {
                        return;
                    };
                    seen.lock().expect("nobody panics").push(asked.clone());
                    let answer = answer(&asked);
                    let endless = answer.ends_with(ENDLESS);
                    let unfinished = answer.strip_suffix(UNFINISHED);
                    let text = unfinished.unwrap_or(&answer);
                    // Who is answered enough goes away.
                    let _ = socket.write_all(text.as_bytes()).await;
                    while endless && socket.write_all(ENDLESS.as_bytes()).await.is_ok() {}
                    if unfinished.is_some() {
                        let _ = socket.read(&mut [0]).await;
                        let verb = "CLOSED".to_owned();
                        let closed = Asked { verb, ..asked };
                        seen.lock().expect("nobody panics").push(closed);
                    }
                });
            }
        });
        stranger
    }

    fn transport(&self) -> HttpTransport {
        HttpTransport::new(&format!("{}/mcp", self.origin)).expect("it is a URL")
    }

    /// What was asked, by HTTP method and by method.
    fn asked(&self) -> Vec<(String, String)> {
        let asked = self.seen().into_iter();
        asked
            .map(|asked| (asked.verb.clone(), asked.method().to_owned()))
            .collect()
    }

    fn seen(&self) -> Vec<Asked> {
        self.asked.lock().expect("nobody panics").clone()
    }
}

/// The end of what is followed by nothing, until the client goes away.
const UNFINISHED: &str = "\0";

/// The end of a body that has none.
const ENDLESS: &str = "                                                                ";

async fn read(socket: &mut TcpStream) -> Option<Asked> {
    let mut text = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let read = socket
            .read(&mut buffer)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        text.extend_from_slice(&buffer[..read]);
        let whole = String::from_utf8(text.clone()).expect("it is text");
        let Some((head, body)) = whole.split_once("\r\n\r\n") else {
            continue;
        };
        let mut lines = head.lines();
        let mut first = lines.next()?.split(' ').map(str::to_owned);
        let headers: HashMap<_, _> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.get("content-length");
        let length = length.map_or(0, |length| length.parse().expect("it is a number"));
        if body.len() < length {
            continue;
        }
        return Some(Asked {
            verb: first.next()?,
            path: first.next()?,
            headers,
            body: serde_json::from_str(body).unwrap_or_default(),
        });
    }
}

fn answer(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} Any\r\nconnection: close\r\n{headers}\r\n{body}")
}

fn json_of(status: u16, body: &Value) -> String {
    answer(
        status,
        "content-type: application/json\r\n",
        &body.to_string(),
    )
}

fn events(text: &str) -> String {
    answer(200, "content-type: text/event-stream\r\n", text)
}

fn result(asked: &Asked, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": asked.body["id"], "result": result })
}

/// What a good server says about itself.
fn discovered(asked: &Asked) -> String {
    let about = json!({
        "resultType": "complete", "supportedVersions": [MODERN], "ttlMs": 0,
        "cacheScope": "private", "capabilities": { "tools": { "listChanged": true } },
    });
    json_of(200, &result(asked, about))
}

/// What a good legacy server answers to what is not a call of a tool.
fn opened(asked: &Asked) -> String {
    let about = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
        "serverInfo": { "name": "stranger", "version": "1" },
    });
    let session = "content-type: application/json\r\nmcp-session-id: s1\r\n";
    match (&*asked.verb, asked.method()) {
        ("POST", "initialize") => answer(200, session, &result(asked, about).to_string()),
        ("POST", "notifications/initialized") => answer(202, "", ""),
        ("DELETE", _) => answer(204, "", ""),
        ("GET", _) => answer(405, "", ""),
        _ => answer(400, "", "Bad Request: session required"),
    }
}

fn called(asked: &Asked) -> Value {
    let content = json!([{ "type": "text", "text": "called" }]);
    result(
        asked,
        json!({ "resultType": "complete", "content": content }),
    )
}

async fn in_time<O>(future: impl IntoFuture<Output = O>) -> O {
    timeout(Duration::from_secs(10), future.into_future())
        .await
        .expect("it comes in time")
}

fn builder() -> ClientBuilder {
    Client::builder("test", "1")
}

/// Connects to a modern server, and calls a tool that is answered so.
async fn call(
    made_up: impl Fn(&Asked) -> String + Send + Sync + 'static,
) -> Result<(), ClientError> {
    let stranger = Stranger::new(move |asked| match asked.method() {
        "server/discover" => discovered(asked),
        _ => made_up(asked),
    })
    .await;
    let server = stranger.transport().max_message(100_000);
    let client = in_time(builder().connect(server)).await?;
    let called = in_time(client.call("any", json!({}))).await;
    client.close().await;
    called.map(drop)
}

fn why(outcome: &Result<(), ClientError>) -> &NoAnswer {
    match outcome {
        Err(ClientError::NoAnswer(why)) => why,
        Err(ClientError::Negotiation(negotiation)) => match &**negotiation {
            NegotiationError::Failed {
                error: CallError::NoAnswer(why),
                ..
            } => why,
            why => panic!("{why}"),
        },
        outcome => panic!("{outcome:?}"),
    }
}

/// Covers H13.
#[tokio::test]
async fn a_refusal_is_read_before_anything_is_concluded() {
    let bodies = [
        "".to_owned(),
        "<h1>Bad Request</h1>".to_owned(),
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "no" } })
            .to_string(),
        json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "no" } }).to_string(),
    ];
    for status in [400, 404, 405, 500] {
        for body in bodies.clone() {
            let stranger = Stranger::new(move |asked| match asked.method() {
                "server/discover" => answer(status, "", &body),
                _ => opened(asked),
            })
            .await;
            let client = in_time(builder().connect(stranger.transport())).await;
            let client = client.expect("it falls back");
            assert_eq!(client.server().version.as_str(), "2025-11-25");
            client.close().await;
            let initialize = &stranger.seen()[1];
            assert_eq!(initialize.header("mcp-protocol-version"), None);
            assert_eq!(initialize.header("mcp-method"), None);
        }
    }
    let data = json!({ "supported": ["2030-01-01"], "requested": MODERN });
    let error = json!({ "code": -32022, "message": "no", "data": data });
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let stranger = Stranger::new(move |_| json_of(400, &error)).await;
    let refused = in_time(builder().connect(stranger.transport()))
        .await
        .map(drop);
    assert!(
        matches!(&refused, Err(ClientError::Negotiation(why))
        if matches!(**why, NegotiationError::NoCommonVersion { .. })),
        "{refused:?}"
    );
    assert_eq!(
        stranger.asked().len(),
        1,
        "a modern server is not initialized"
    );
}

/// Covers H03, H08, H10, H12.
#[tokio::test]
async fn each_era_has_its_own_headers() {
    let modern = Stranger::new(|asked| match asked.method() {
        "server/discover" => discovered(asked),
        _ => json_of(200, &called(asked)),
    })
    .await;
    let client = in_time(builder().connect(modern.transport())).await;
    let client = client.expect("it connects");
    client.call("a b", json!({})).await.expect("an answer");
    client.close().await;
    let seen = modern.seen();
    assert_eq!(seen.len(), 2, "no session, no other verbs: {seen:?}");
    assert_eq!(seen[1].header("mcp-protocol-version"), Some(MODERN));
    assert_eq!(seen[1].header("mcp-method"), Some("tools/call"));
    assert_eq!(seen[1].header("mcp-name"), Some("a b"));
    assert_eq!(seen[1].path, "/mcp");

    let legacy = Stranger::new(|asked| match asked.method() {
        "tools/call" => json_of(200, &called(asked)),
        _ => opened(asked),
    })
    .await;
    let client = builder().opening(Opening::Legacy);
    let client = in_time(client.connect(legacy.transport())).await;
    let client = client.expect("it connects");
    client.call("a", json!({})).await.expect("an answer");
    client.close().await;
    let seen = legacy.seen();
    assert_eq!(seen[0].header("mcp-protocol-version"), None);
    for asked in &seen[1..] {
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-11-25"));
        assert_eq!(asked.header("mcp-session-id"), Some("s1"), "{asked:?}");
        assert_eq!(asked.header("mcp-name"), None);
    }
    assert_eq!(seen[1].method(), "notifications/initialized");
    assert_eq!(seen.last().map(|asked| &*asked.verb), Some("DELETE"));
}

/// Covers H14.
#[tokio::test]
async fn who_is_refused_for_missing_headers_looks_them_up_once() {
    let server = Stranger::new(|asked| match asked.method() {
        "server/discover" => discovered(asked),
        "tools/list" => {
            let region = json!({ "type": "string", "x-mcp-header": "Region" });
            let schema = json!({ "type": "object", "properties": { "region": region } });
            let tools = json!([{ "name": "good", "inputSchema": schema }]);
            let list = json!({
                "resultType": "complete", "tools": tools, "ttlMs": 60_000, "cacheScope": "private",
            });
            json_of(200, &result(asked, list))
        }
        _ if asked.header("mcp-param-region") == Some("eu") => json_of(200, &called(asked)),
        _ => {
            let error = json!({ "code": -32020, "message": "Header mismatch" });
            let body = json!({ "jsonrpc": "2.0", "id": asked.body["id"], "error": error });
            json_of(400, &body)
        }
    })
    .await;
    let client = in_time(builder().connect(server.transport())).await;
    let client = client.expect("it connects");
    let arguments = json!({ "region": "eu" });
    let result = in_time(client.call("good", arguments.clone())).await;
    result.expect("it is called with what the list wants");
    in_time(client.call("good", arguments.clone()))
        .await
        .expect("it is known now");
    let refused = in_time(client.call("bad", arguments)).await;
    assert!(matches!(refused, Err(ClientError::Rpc(_))), "{refused:?}");
    client.close().await;
    let asked: Vec<_> = server
        .asked()
        .into_iter()
        .map(|(_, method)| method)
        .collect();
    let (list, call) = ("tools/list", "tools/call");
    assert_eq!(asked[1..], [call, list, call, call, call, list, call]);
}

/// Covers H09.
#[tokio::test]
async fn a_modern_server_is_told_of_a_cancellation_by_closing_alone() {
    let stranger = Stranger::new(|asked| match asked.method() {
        "server/discover" => discovered(asked),
        "tools/call" => events(&format!(": wait\n\n{UNFINISHED}")),
        _ => answer(202, "", ""),
    })
    .await;
    let client = in_time(builder().connect(stranger.transport())).await;
    let client = client.expect("it connects");
    let call = client.call("any", json!({})).into_future();
    let call = tokio::spawn(call);
    soon(|| stranger.asked().len() == 2).await;
    call.abort();
    soon(|| stranger.asked().len() == 3).await;
    client.close().await;
    let asked = stranger.asked();
    assert_eq!(asked[2], ("CLOSED".to_owned(), "tools/call".to_owned()));
    assert_eq!(asked.len(), 3);
}

/// Covers S07.
#[tokio::test]
async fn a_stream_of_changes_that_is_cut_off_is_opened_again() {
    let stranger = Stranger::new(|asked| {
        if asked.method() == "server/discover" {
            return discovered(asked);
        }
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": asked.body["id"] });
        let granted = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
        let method = "notifications/subscriptions/acknowledged";
        let acknowledged = json!({ "jsonrpc": "2.0", "method": method, "params": granted });
        events(&format!("data: {acknowledged}\n\n"))
    })
    .await;
    let client = in_time(builder().connect(stranger.transport())).await;
    let client = client.expect("it connects");
    let filter = SubscriptionFilter::new().tools_list_changed(true);
    let mut listening = client.listen(filter).await.expect("it is granted");
    // Nobody knows what was missed.
    assert_eq!(in_time(listening.next()).await, Some(Change::Everything));
    drop(listening);
    client.close().await;
}

/// Covers H11.
#[tokio::test]
async fn a_legacy_servers_own_stream_is_followed_though_its_place_is_forgotten() {
    let gets = AtomicUsize::new(0);
    let stranger = Stranger::new(move |asked| {
        let number = gets.fetch_add(usize::from(asked.verb == "GET"), Ordering::SeqCst);
        match (&*asked.verb, number) {
            ("GET", 0) => events("id: e1\nretry: 1\ndata:\n\n"),
            ("GET", 1) => answer(400, "", "no such event"),
            ("GET", _) => events(&format!(": wait\n\n{UNFINISHED}")),
            _ => opened(asked),
        }
    })
    .await;
    let client = builder().opening(Opening::Legacy);
    let client = in_time(client.connect(stranger.transport())).await;
    let client = client.expect("it connects");
    let gets = || {
        let seen = stranger.seen().into_iter();
        let gets = seen.filter(|asked| asked.verb == "GET");
        gets.map(|asked| asked.header("last-event-id").map(str::to_owned))
            .collect::<Vec<_>>()
    };
    soon(|| gets().len() == 3).await;
    assert_eq!(gets(), [None, Some("e1".to_owned()), None]);
    client.close().await;
}

#[tokio::test]
async fn what_is_no_answer_is_not_taken_for_one() {
    let cases = [
        (
            answer(502, "content-type: text/html\r\n", "<h1>Oops</h1>"),
            "502 Bad Gateway",
        ),
        (
            answer(200, "content-type: text/html\r\n", "<h1>Hi</h1>"),
            "text/html",
        ),
        (answer(202, "", ""), "202 Accepted"),
        (json_of(200, &json!({ "no": "message" })), "no"),
        (events(&format!("data: {ENDLESS}")), "100000 bytes"),
        (
            answer(
                200,
                "content-type: application/json\r\n",
                &format!("{{{ENDLESS}"),
            ),
            "100000 bytes",
        ),
    ];
    for (answer, part) in cases {
        let outcome = call(move |_| answer.clone()).await;
        let why = why(&outcome);
        assert!(matches!(why, NoAnswer::Unusable(_)), "{why:?}");
        assert!(why.to_string().contains(part), "{why}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_missed_at_once() {
    let half = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"resu";
    for cut in [
        events(half),
        events("id: 1\ndata:\n\n"),
        answer(
            200,
            "content-length: 100\r\ncontent-type: application/json\r\n",
            "{",
        ),
        String::new(),
    ] {
        let outcome = call(move |_| cut.clone()).await;
        let why = why(&outcome);
        assert!(matches!(why, NoAnswer::Unreachable(_)), "{why:?}");
    }
}

#[tokio::test]
async fn an_error_is_an_answer_whatever_the_status_and_the_id() {
    for (status, id) in [(200, json!(2)), (400, json!(null)), (503, json!(2))] {
        let error = json!({ "code": -31503, "message": "busy" });
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        let outcome = call(move |_| json_of(status, &error)).await;
        assert!(
            matches!(&outcome, Err(ClientError::Rpc(error)) if error.message == "busy"),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn events_of_no_message_are_passed_over() {
    let outcome = call(|asked| {
        let message = called(asked);
        events(&format!(
            ": hello\n\nevent: ping\ndata: {{}}\n\ndata: no json\n\ndata: {message}\n\n"
        ))
    })
    .await;
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// Covers H11.
#[tokio::test]
async fn a_legacy_stream_is_gone_on_with_when_the_server_wants_it() {
    let call = Arc::new(Mutex::new(None::<Asked>));
    let stranger = Stranger::new(move |asked| {
        let mut call = call.lock().expect("nobody panics");
        match (asked.method(), asked.header("last-event-id"), &*call) {
            ("tools/call", ..) => {
                *call = Some(asked.clone());
                events("id: e1\nretry: 300\ndata:\n\ndata: cut o")
            }
            (_, Some("e1"), _) => answer(503, "", ""),
            (_, Some(_), _) => answer(400, "", ""),
            _ => opened(asked),
        }
    })
    .await;
    let client = builder().opening(Opening::Legacy);
    let client = in_time(client.connect(stranger.transport())).await;
    let client = client.expect("it connects");
    let slow = client
        .call("any", json!({}))
        .timeout(Duration::from_millis(700));
    let slow = in_time(slow).await.map(drop);
    assert!(
        matches!(slow, Err(ClientError::TimedOut { .. })),
        "{slow:?}"
    );
    let resumed = stranger.seen();
    let resumed = resumed
        .iter()
        .filter(|asked| asked.header("last-event-id") == Some("e1"));
    // After 300 ms; the next would have been 600 ms later, beyond the timeout.
    assert_eq!(resumed.count(), 1);
    client.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_asked_before_the_server_knows_that_its_session_has_begun() {
    let begun = AtomicUsize::new(0);
    let stranger = Stranger::new(move |asked| match asked.method() {
        "notifications/initialized" => {
            // Long enough for what does not wait to come first.
            std::thread::sleep(Duration::from_millis(50));
            begun.store(1, Ordering::SeqCst);
            opened(asked)
        }
        "tools/call" if begun.load(Ordering::SeqCst) == 1 => json_of(200, &called(asked)),
        _ => opened(asked),
    })
    .await;
    let client = builder().opening(Opening::Legacy);
    let client = in_time(client.connect(stranger.transport())).await;
    let client = client.expect("it connects");
    let called = in_time(client.call("any", json!({}))).await;
    assert!(called.is_ok(), "{called:?}");
    client.close().await;
}

/// Covers H10.
#[tokio::test]
async fn a_session_that_is_gone_ends_the_connection_and_the_next_one_begins() {
    let calls = AtomicUsize::new(0);
    let stranger = Stranger::new(move |asked| match asked.method() {
        "tools/call" if calls.fetch_add(1, Ordering::SeqCst) == 0 => answer(404, "", ""),
        "tools/call" => json_of(200, &called(asked)),
        _ => opened(asked),
    })
    .await;
    let client = builder().opening(Opening::Legacy).restart(true);
    let client = in_time(client.connect(stranger.transport())).await;
    let client = client.expect("it connects");
    let lost = in_time(client.call("any", json!({}))).await;
    let Err(ClientError::Closed { report, .. }) = lost else {
        panic!("{lost:?}");
    };
    let why = report.transport.as_deref().unwrap_or_default();
    assert!(why.contains("ended the session"), "{report}");
    let again = in_time(client.call("any", json!({}))).await;
    assert!(again.is_ok(), "{again:?}");
    client.close().await;
}

#[tokio::test]
async fn requests_are_sent_on_within_the_server_only() {
    let good = |asked: &Asked| match asked.method() {
        "server/discover" => discovered(asked),
        _ => json_of(200, &called(asked)),
    };
    let within = Stranger::new(move |asked| match &*asked.path {
        "/mcp" => answer(307, "location: /mcp/\r\n", ""),
        _ => good(asked),
    })
    .await;
    let client = in_time(builder().connect(within.transport())).await;
    let client = client.expect("it connects");
    client.call("any", json!({})).await.expect("an answer");
    client.close().await;

    let other = Stranger::new(good).await;
    for (status, target) in [
        (307, format!("{}/mcp", other.origin)),
        (308, format!("//{}/mcp", &other.origin["http://".len()..])),
        (302, "/mcp/".to_owned()),
        (307, "/mcp".to_owned()),
        (307, String::new()),
    ] {
        let location = format!("location: {target}\r\n");
        let away = Stranger::new(move |asked| match &*asked.path {
            "/mcp" => answer(status, &location, ""),
            _ => good(asked),
        })
        .await;
        let server = away.transport().bearer("secret").expect("it is ASCII");
        let outcome = in_time(builder().connect(server)).await.map(drop);
        assert!(
            why(&outcome).to_string().contains("not followed"),
            "{outcome:?}"
        );
    }
    assert!(other.asked().is_empty(), "nothing goes to another origin");
}

/// Gets a better token each time it is asked, up to a last one.
struct Tokens {
    last: usize,
    now: AtomicUsize,
    refused: Arc<Mutex<Vec<Refused>>>,
}

#[async_trait]
impl Authorization for Tokens {
    async fn authorize(&self, request: &mut http::request::Parts) -> Result<(), BoxError> {
        let token = format!("t{}", self.now.load(Ordering::SeqCst));
        request.headers.insert("authorization", bearer(&token)?);
        Ok(())
    }

    async fn refused(&self, refused: Refused) -> Result<(), BoxError> {
        self.refused.lock().expect("nobody panics").push(refused);
        match self.now.fetch_add(1, Ordering::SeqCst) < self.last {
            true => Ok(()),
            false => Err("the user has not logged in".into()),
        }
    }
}

#[tokio::test]
async fn who_authorizes_is_asked_once_for_each_refused_request() {
    let challenge = "www-authenticate: Bearer scope=\"a\"\r\n";
    let guarded = || {
        Stranger::new(
            move |asked| match (asked.header("authorization"), asked.method()) {
                (Some("Bearer t1"), "server/discover") => discovered(asked),
                (Some("Bearer t1"), _) => answer(403, challenge, ""),
                (Some("Bearer t2"), _) => json_of(200, &called(asked)),
                _ => answer(401, challenge, ""),
            },
        )
    };
    for (last, calls) in [(0, 0), (1, 0), (2, 1)] {
        let stranger = guarded().await;
        let refused = Arc::default();
        let tokens = Tokens {
            last,
            now: AtomicUsize::new(0),
            refused: Arc::clone(&refused),
        };
        let server = stranger.transport().authorization(tokens);
        let outcome = match in_time(builder().connect(server)).await {
            Err(error) => Err(error),
            Ok(client) => {
                let call = in_time(client.call("any", json!({}))).await;
                client.close().await;
                call.map(drop)
            }
        };
        let refused = refused.lock().expect("nobody panics");
        assert_eq!(refused[0].status, 401);
        assert_eq!(refused[0].challenges, ["Bearer scope=\"a\""]);
        assert_eq!(
            refused.len(),
            (last + 1).min(2),
            "never without being refused"
        );
        if calls == 1 {
            assert!(outcome.is_ok(), "{outcome:?}");
            continue;
        }
        let why = why(&outcome);
        assert_eq!(
            *why,
            NoAnswer::Unauthorized("the user has not logged in".into())
        );
        let initialized = stranger.seen();
        assert!(
            initialized
                .iter()
                .all(|asked| asked.method() != "initialize")
        );
    }
}

#[tokio::test]
async fn a_request_that_is_refused_again_is_given_up() {
    let stranger = Stranger::new(|_| answer(401, "", "")).await;
    let refused = Arc::default();
    let tokens = Tokens {
        last: 100,
        now: AtomicUsize::new(0),
        refused: Arc::clone(&refused),
    };
    let server = stranger.transport().authorization(tokens);
    let outcome = in_time(builder().connect(server)).await.map(drop);
    assert!(why(&outcome).to_string().contains("401"), "{outcome:?}");
    assert_eq!(stranger.asked().len(), 2);
    assert_eq!(refused.lock().expect("nobody panics").len(), 1);
}

#[tokio::test]
async fn who_is_refused_with_a_token_is_told_what_was_wanted() {
    let stranger = Stranger::new(|asked| {
        assert_eq!(asked.header("authorization"), Some("Bearer secret"));
        assert_eq!(asked.header("x-key"), Some("k"));
        answer(
            401,
            "www-authenticate: Bearer error=\"invalid_token\"\r\n",
            "",
        )
    })
    .await;
    let server = stranger.transport().bearer("secret").expect("it is ASCII");
    let server = server.header(
        http::HeaderName::from_static("x-key"),
        http::HeaderValue::from_static("k"),
    );
    let outcome = in_time(builder().connect(server)).await.map(drop);
    let why = why(&outcome).to_string();
    assert!(
        why.contains("401 Unauthorized: Bearer error=\"invalid_token\""),
        "{why}"
    );
    assert!(!why.contains("secret"));
    assert_eq!(stranger.asked().len(), 1);
}

/// A server that asks all the time and never takes an answer holds a few of them, and not more.
#[tokio::test]
async fn answers_that_a_server_does_not_take_are_bounded() {
    const PINGS: usize = 2_000;

    let stranger = Stranger::new(|asked| match (&*asked.verb, asked.method()) {
        ("GET", _) => {
            let ping = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            let pings = (0..PINGS).map(|id| format!("data: {}\n\n", ping(id)));
            events(&pings.collect::<String>()) + UNFINISHED
        }
        ("POST", "") => UNFINISHED.to_owned(),
        _ => opened(asked),
    })
    .await;
    let client = Client::builder("test", "1").opening(Opening::Legacy);
    let _client = in_time(client.connect(stranger.transport())).await;
    let answers = || {
        let asked = stranger.asked().into_iter();
        asked
            .filter(|(verb, method)| verb == "POST" && method.is_empty())
            .count()
    };
    soon(|| answers() >= 64).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(answers(), 64);
}
