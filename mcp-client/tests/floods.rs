//! More than anybody takes, from either side.

mod support;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_client::transport::{
    Encode, Frame, Receiver, RequestId, Sender, Transport, TransportError,
};
use mcp_client::{ClientError, ClientNotification, Method, RawJson, ServerNotification};
use serde_json::{Value, json};
use support::{Server, builder, legacy, modern, said};
use tokio::time::{Instant, timeout};

const FLOOD: usize = 20_000;

/// Covers P05c, SE06c, B-218.
#[tokio::test(start_paused = true)]
async fn what_nobody_takes_is_bounded_and_the_replies_come_through() {
    let (client, mut server) = modern(builder()).await;
    let mut heard = client.notifications();
    let (call, mut reports) = client.call("chatty", ()).progress_stream();
    let called = tokio::spawn(call.into_future());
    let request = server.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    for number in 0..FLOOD {
        let report = json!({ "progressToken": token, "progress": number });
        server.notify("notifications/progress", report).await;
        let message = json!({ "level": "info", "data": number });
        server.notify("notifications/message", message).await;
    }
    server.answer(&request, said("done")).await;
    called.await.unwrap().unwrap();
    // The newest are there.
    for number in FLOOD - 64..FLOOD {
        assert_eq!(reports.next().await.unwrap().progress, number as f64);
    }
    assert!(reports.next().await.is_none());
    for number in FLOOD - 256..FLOOD {
        let ServerNotification::LogMessage(message) = heard.next().await.unwrap() else {
            panic!("it is a log message");
        };
        assert_eq!(message.data, RawJson::from(json!(number)));
    }
    let more = timeout(Duration::from_secs(1), heard.next()).await;
    assert!(more.is_err(), "nothing else waits");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_takes_is_bounded_however_large_it_is() {
    let (client, mut server) = modern(builder()).await;
    let mut heard = client.notifications();
    let (call, mut reports) = client.call("chatty", ()).progress_stream();
    let called = tokio::spawn(call.into_future());
    let request = server.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    let large = "x".repeat(3 << 20);
    for number in 1..=8 {
        let report = json!({ "progressToken": token, "progress": number, "message": large });
        server.notify("notifications/progress", report).await;
        let message = json!({ "level": "info", "data": large });
        server.notify("notifications/message", message).await;
    }
    server.answer(&request, said("done")).await;
    called.await.unwrap().unwrap();
    // Five have 15 MiB.
    for number in 4..=8 {
        assert_eq!(reports.next().await.unwrap().progress, f64::from(number));
        heard.next().await.unwrap();
    }
    assert!(reports.next().await.is_none());
    client.close().await;
    assert!(heard.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn results_that_are_kept_are_bounded_in_all() {
    let (client, mut server) = modern(builder()).await;
    let contents = json!([{ "uri": "a:b", "text": "x".repeat(7 << 20) }]);
    let result = json!({ "contents": contents, "ttlMs": 60_000 });
    for uri in ["a:1", "a:2", "a:3"] {
        let read = client.read_resource(uri).into_future();
        let (read, _) = tokio::join!(read, server.serve("resources/read", result.clone()));
        read.unwrap();
    }
    for uri in ["a:1", "a:2"] {
        client.read_resource(uri).await.unwrap();
    }
    let read = client.read_resource("a:3").into_future();
    let (read, _) = tokio::join!(read, server.serve("resources/read", result));
    read.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_server_that_does_not_read_end_in_time_or_are_refused_at_once() {
    let (client, mut server) = modern(builder().timeout(Duration::from_secs(3))).await;
    let large = |size| client.call("large", json!({ "text": "x".repeat(size) }));
    let began = Instant::now();
    for call in 1..=5 {
        let error = large(15 << 20).await.unwrap_err();
        assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
        assert_eq!(began.elapsed(), Duration::from_secs(3 * call));
    }
    let error = client.call("small", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Unread { waiting } if waiting > 70 << 20),
        "{error}"
    );
    let method = Method::from("notifications/own");
    client.notify(ClientNotification::parse(method, None).unwrap());
    // The server is heard, and makes room by reading.
    let mut heard = client.notifications();
    let message = json!({ "level": "info", "data": "here" });
    server.notify("notifications/message", message).await;
    heard.next().await.expect("it is heard");
    assert_eq!(began.elapsed(), Duration::from_secs(15));
    for method in ["tools/call", "notifications/cancelled"].repeat(5) {
        server.expect(method).await;
    }
    let call = client.call("small", ()).into_future();
    let (called, _) = tokio::join!(call, server.serve("tools/call", said("done")));
    called.unwrap();
}

/// How many messages come until the client writes no more.
async fn count(server: &mut Server) -> usize {
    let mut count = 0;
    while server.next().await.is_some() {
        count += 1;
    }
    count
}

#[tokio::test(start_paused = true)]
async fn an_application_that_floods_does_not_keep_its_client_from_reading() {
    let (client, mut server) = legacy(builder()).await;
    let called = tokio::spawn(client.call("quick", ()).into_future());
    server.serve("tools/call", said("done")).await;
    for _ in 0..FLOOD {
        let method = Method::from("notifications/own");
        let notification = ClientNotification::parse(method, None);
        client.notify(notification.expect("it has no parameters"));
    }
    let (_, written) = tokio::join!(
        async {
            called.await.unwrap().unwrap();
            client.close().await;
        },
        count(&mut server)
    );
    assert!(written < FLOOD / 10, "{written} messages came first");
}

/// A server that has always something to say, up to a limit, and answers whatever it is asked.
#[derive(Clone, Default)]
struct Chatterbox(Arc<Mutex<Said>>);

#[derive(Default)]
struct Said {
    asked: VecDeque<Value>,
    count: usize,
}

impl Transport for Chatterbox {
    type Receiver = Self;
    type Sender = Self;

    fn split(self) -> (Self, Self) {
        (self.clone(), self)
    }
}

impl Receiver for Chatterbox {
    fn poll_receive(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Frame, TransportError>>> {
        let mut said = self.0.lock().unwrap();
        said.count += 1;
        let chatter = json!({
            "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "info", "data": "never mind" },
        });
        let answer = said.asked.pop_front().map(|request| {
            let result = match request["method"].as_str() {
                Some("server/discover") => {
                    json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
                }
                _ => support::said("done"),
            };
            json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
        });
        let message = answer.unwrap_or(chatter).to_string();
        Poll::Ready((said.count < FLOOD).then(|| Ok(message.into())))
    }
}

impl Sender for Chatterbox {
    fn send(&mut self, message: &dyn Encode, _: Option<&RequestId>) {
        let mut text = Vec::new();
        message.encode(&mut text);
        let message = serde_json::from_slice(&text).unwrap();
        self.0.lock().unwrap().asked.push_back(message);
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn queued(&self) -> usize {
        0
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_floods_does_not_keep_its_client_from_writing() {
    let server = Chatterbox::default();
    let client = builder().connect(server.clone()).await.unwrap();
    for _ in 0..10 {
        client.call("quick", ()).await.unwrap();
    }
    let count = server.0.lock().unwrap().count;
    assert!(count < FLOOD / 10, "{count} messages came first");
}
