//! Legacy clients: sessions, and streams that they come back to.

use std::collections::HashSet;
use std::time::Duration;

use http::{Method, StatusCode};
use mcp_transport_http::Http;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::support::{
    Event, LEGACY, Session, endpoint, initialize, is_pending, legacy, send, server, text, tool,
    until,
};

fn list(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/list" })
}

/// Covers H10.
#[tokio::test]
async fn a_session_begins_with_an_id_and_ends_with_delete() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    assert!(session.id.len() >= 32 && session.id.bytes().all(|byte| byte.is_ascii_graphic()));
    let mut reply = session.call(list(1)).send(&http).await;
    let messages = reply.messages().await;
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["id"], 1);

    assert_eq!(session.delete().await, StatusCode::NO_CONTENT);
    assert_eq!(session.delete().await, StatusCode::NOT_FOUND);
    assert_eq!(session.get(None).await.status(), StatusCode::NOT_FOUND);
    let refusal = session.call(list(2)).send(&http).await.refusal().await;
    assert_eq!(refusal, (404, -32600));
    until(|| http.server().stats().connections == 0).await;
}

/// Covers H10.
#[tokio::test]
async fn no_two_sessions_have_the_same_id() {
    let (http, _) = endpoint();
    let mut ids = HashSet::new();
    for _ in 0..100 {
        assert!(ids.insert(Session::open(&http, LEGACY).await.id));
    }
}

/// Covers H10.
#[tokio::test]
async fn without_its_session_a_message_is_refused() {
    let (http, _) = endpoint();
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = json!({ "jsonrpc": "2.0", "id": "ask-0", "result": {} });
    let old = |body: Value| legacy(body).without("mcp-protocol-version");
    for (call, code) in [
        (legacy(list(1)), -32602),
        (old(list(1)), -32602),
        (legacy(notification), -32600),
        (legacy(answer), -32600),
        (old(json!([list(1)])), -32600),
    ] {
        let refusal = call.send(&http).await.refusal().await;
        assert_eq!(refusal, (400, code), "{}", call.body);
    }
    for verb in [Method::GET, Method::DELETE] {
        let request = legacy(Value::Null).request(verb, "");
        assert_eq!(send(&http, request).await.status(), 400);
    }
    // Whoever has not begun may still ask whether anybody is there.
    let ping = legacy(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(ping.send(&http).await.json().await["result"], json!({}));
}

#[tokio::test]
async fn a_handshake_that_fails_leaves_no_session() {
    let (http, _) = endpoint();
    let mut call = initialize(LEGACY);
    call.body["params"] = json!({});
    let reply = call.send(&http).await;
    assert_eq!(
        (reply.status().as_u16(), reply.header("mcp-session-id")),
        (400, None)
    );
    until(|| http.server().stats().connections == 0).await;

    let session = Session::open(&http, LEGACY).await;
    let again = initialize(LEGACY).and("mcp-session-id", &session.id);
    let message = again.send(&http).await.json().await;
    assert_eq!(
        message["error"]["code"], -32600,
        "the session has begun already"
    );
}

/// Covers H12.
#[tokio::test]
async fn the_revision_of_a_session_is_one_that_has_sessions() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let call = session.call(ping);
    for (version, status) in [
        ("2024-11-05", 200),
        ("2025-06-18", 200),
        ("2025-11-25", 200),
        ("2026-07-28", 400),
        ("1999-01-01", 400),
        ("nonsense", 400),
    ] {
        let call = call.clone().with("mcp-protocol-version", version);
        assert_eq!(call.send(&http).await.status(), status, "{version}");
        let mut told = call;
        told.body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = told.send(&http).await.status() == 202;
        assert_eq!(accepted, status == 200, "{version}");
    }
    let none = call.without("mcp-protocol-version");
    assert_eq!(none.send(&http).await.status(), 200);
}

/// Covers H10.
#[tokio::test(start_paused = true)]
async fn a_session_is_forgotten_when_nothing_happens() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.session_idle = Duration::from_secs(60));
    let session = Session::open(&http, LEGACY).await;
    let general = session.get(None).await;
    let left = Session::open(&http, LEGACY).await;
    sleep(Duration::from_secs(61)).await;
    assert_eq!(left.tell(list(1)).await, 404);
    assert_eq!(
        session
            .tell(json!({ "jsonrpc": "2.0", "method": "x" }))
            .await,
        202
    );
    // It counts from when the stream was closed.
    sleep(Duration::from_secs(3_600)).await;
    drop(general);
    sleep(Duration::from_secs(59)).await;
    assert_eq!(
        session
            .tell(json!({ "jsonrpc": "2.0", "method": "x" }))
            .await,
        202
    );
    sleep(Duration::from_secs(61)).await;
    assert_eq!(
        session
            .tell(json!({ "jsonrpc": "2.0", "method": "x" }))
            .await,
        404
    );
}

/// Covers H10.
#[tokio::test(start_paused = true)]
async fn a_session_is_kept_while_a_call_goes_on_and_for_a_while_after() {
    let (http, seen) = endpoint();
    let http = http.limits(|limits| limits.session_idle = Duration::from_secs(60));
    let session = Session::open(&http, LEGACY).await;
    drop(session.tool(1, "wait", json!({})).await);
    until(|| seen.started() == 1).await;
    sleep(Duration::from_secs(3_600)).await;
    seen.release(1);
    until(|| http.server().in_flight() == 0).await;
    sleep(Duration::from_secs(59)).await;
    assert_eq!(
        session
            .tell(json!({ "jsonrpc": "2.0", "method": "x" }))
            .await,
        202
    );
}

/// Covers H10.
#[tokio::test]
async fn a_session_that_is_deleted_ends_what_it_was_doing() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, "2025-06-18").await;
    let mut streaming = session.tool(1, "wait", json!({})).await;
    streaming.message().await;
    let mut body = list(2);
    body["method"] = "tools/call".into();
    body["params"] = json!({ "name": "wait" });
    let call = session.call(body);
    let mut waiting = Box::pin(call.send(&http));
    assert!(is_pending(&mut waiting).await);
    assert_eq!((seen.started(), http.server().in_flight()), (2, 2));
    assert_eq!(session.delete().await, 204);
    assert_eq!(waiting.await.refusal().await, (404, -32600));
    assert_eq!(streaming.event().await, None);
    assert_eq!((seen.dropped(), http.server().in_flight()), (2, 0));
}

#[tokio::test]
async fn an_endpoint_may_have_no_sessions() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.sessions = 0);
    assert_eq!(initialize(LEGACY).send(&http).await.status(), 503);
    for verb in [Method::GET, Method::DELETE] {
        let request = legacy(Value::Null).request(verb, "");
        assert_eq!(send(&http, request).await.status(), 405);
    }
}

/// Covers H10, SE07.
#[tokio::test]
async fn a_session_is_its_owners_alone() {
    let (http, _) = endpoint();
    let http = http.principal(|parts| {
        let user = parts.headers.get("x-user")?;
        user.to_str().ok().map(str::to_owned)
    });
    let reply = initialize(LEGACY).and("x-user", "ann").send(&http).await;
    let id = reply.header("mcp-session-id").expect("there is a session");
    let call = legacy(list(1)).and("mcp-session-id", &id);
    assert_eq!(call.send(&http).await.status(), 404);
    let ben = call.clone().and("x-user", "ben");
    assert_eq!(ben.send(&http).await.status(), 404);
    assert_eq!(
        send(&http, ben.request(Method::DELETE, "")).await.status(),
        404
    );
    assert_eq!(call.and("x-user", "ann").send(&http).await.status(), 200);
}

/// Covers H11.
#[tokio::test]
async fn a_stream_is_resumed_where_it_broke_off() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut reply = session.tool(1, "wait", json!({})).await;
    let priming = reply.event().await.expect("the stream begins");
    assert_eq!(priming.data.as_deref(), Some(""));
    assert_eq!(priming.retry.as_deref(), Some("1000"));
    let primed = priming.id.expect("one can come back to it");
    let progress = reply.event().await.expect("there is progress");
    assert_eq!(progress.json()["method"], "notifications/progress");
    drop(reply);

    // The call goes on, and what comes of it waits.
    seen.release(1);
    until(|| http.server().in_flight() == 0).await;
    assert_eq!(seen.dropped(), 0);
    let seen_last = progress.id.clone().expect("it has an id");
    let messages = session.get(Some(&seen_last)).await.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(text(&messages[0]), "waited");

    // What was lost on the way once may be so again.
    let messages = session.get(Some(&primed)).await.messages().await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[0], progress.json());
}

/// Covers H11.
#[tokio::test]
async fn nothing_is_sent_again_to_who_comes_back_to_the_beginning_of_a_resumed_stream() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut reply = session.tool(1, "wait", json!({})).await;
    reply.event().await.expect("the stream begins");
    let progress = reply.event().await.expect("there is progress");
    drop(reply);
    let mut place = progress.id;
    for _ in 0..2 {
        let mut resumed = session.get(place.as_deref()).await;
        place = resumed.event().await.expect("it is primed").id;
    }
    seen.release(1);
    let messages = session.get(place.as_deref()).await.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(text(&messages[0]), "waited");
}

/// Covers H11.
#[tokio::test]
async fn a_stream_is_resumed_while_its_call_goes_on() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut first = session.tool(1, "wait", json!({})).await;
    let mut other = session.tool(2, "wait", json!({})).await;
    let id = first
        .event()
        .await
        .and_then(|event| event.id)
        .expect("it is primed");
    first.message().await;
    let mut second = session.get(Some(&id)).await;
    // Nobody gets what another stream is for, and only the newest reader of one gets anything.
    assert_eq!(first.event().await, None);
    second.event().await.expect("it is primed");
    assert_eq!(second.message().await["method"], "notifications/progress");
    seen.release(2);
    assert_eq!(second.message().await["id"], 1);
    assert_eq!(second.event().await, None);
    let messages = other.messages().await;
    assert_eq!(messages.last().expect("it is answered")["id"], 2);
}

/// Covers H11.
#[tokio::test]
async fn what_waited_for_a_reader_waits_for_the_next() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut reply = session
        .tool(1, "steps", json!({ "steps": 3, "width": 1 }))
        .await;
    let id = reply
        .event()
        .await
        .and_then(|event| event.id)
        .expect("it is primed");
    until(|| http.server().in_flight() == 0).await;
    drop(reply);
    let messages = session.get(Some(&id)).await.messages().await;
    assert_eq!(messages.len(), 4, "{messages:?}");
    let progress = messages[..3]
        .iter()
        .map(|message| &message["params"]["progress"]);
    assert_eq!(
        progress.collect::<Vec<_>>(),
        [&json!(1.0), &json!(2.0), &json!(3.0)]
    );
    assert_eq!(text(&messages[3]), "stepped");
}

/// Covers H11.
#[tokio::test]
async fn what_was_never_sent_cannot_be_resumed() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    for event in ["", "x", "77-1", "1", "-", "1-x", "99999999999999999999-1"] {
        let refusal = session.get(Some(event)).await.refusal().await;
        assert_eq!(refusal, (400, -32600), "{event}");
    }
}

/// Covers H11.
#[tokio::test]
async fn the_general_stream_has_what_is_about_no_request() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    http.server().changes().tools();
    // It was sent while nobody was there.
    let mut general = session.get(None).await;
    general.event().await.expect("it is primed");
    let changed = general.event().await.expect("it has waited");
    assert_eq!(changed.json()["method"], "notifications/tools/list_changed");
    // The newest reader takes it over, and nothing comes twice.
    let mut newer = session.get(None).await;
    newer.event().await.expect("it is primed");
    assert!(is_pending(newer.event()).await);
    http.server().changes().resources();
    let message = newer.message().await;
    assert_eq!(message["method"], "notifications/resources/list_changed");
    // Unless the client says that it has not got it.
    let id = changed.id.as_ref().expect("it has an id");
    let before = id.split_once('-').map(|(stream, _)| format!("{stream}-0"));
    let mut again = session.get(before.as_deref()).await;
    again.event().await.expect("it is primed");
    assert_eq!(again.message().await, changed.json());
    assert_eq!(again.message().await, message);
}

/// Covers H11.
#[tokio::test]
async fn only_so_much_waits_for_a_client_to_come_back() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.replay = 4_096);
    let session = Session::open(&http, LEGACY).await;
    let arguments = json!({ "steps": 100, "width": 100 });
    let mut reply = session.tool(1, "steps", arguments).await;
    let id = reply
        .event()
        .await
        .and_then(|event| event.id)
        .expect("it is primed");
    reply.messages().await;
    let messages = session.get(Some(&id)).await.messages().await;
    assert!((2..20).contains(&messages.len()), "{}", messages.len());
    assert_eq!(text(messages.last().expect("there are some")), "stepped");
}

/// Covers H11.
#[tokio::test(start_paused = true)]
async fn a_stream_may_end_before_its_call_does() {
    let (http, seen) = endpoint();
    let http = http.limits(|limits| limits.stream_age = Some(Duration::from_secs(5)));
    let session = Session::open(&http, LEGACY).await;
    let mut reply = session.tool(1, "wait", json!({})).await;
    let primed = reply
        .event()
        .await
        .and_then(|event| event.id)
        .expect("it is primed");
    let messages = reply.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    drop(reply);
    seen.release(1);
    let messages = session.get(Some(&primed)).await.messages().await;
    assert_eq!(text(&messages[1]), "waited");
}

/// Covers H02.
#[tokio::test(start_paused = true)]
async fn a_response_that_is_quick_is_no_stream() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let arguments = json!({ "text": "x".repeat(2 << 20) });
    let reply = session.tool(1, "echo", arguments).await;
    assert_eq!(text(&reply.json().await).len(), 2 << 20);
    let wait = json!({ "name": "wait", "arguments": {} });
    let wait = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": wait });
    let mut reply = session.call(wait).send(&http).await;
    let priming = reply.event().await.expect("the stream begins");
    assert_eq!(
        (priming.data.as_deref(), priming.id.is_some()),
        (Some(""), true)
    );
    seen.release(1);
    assert_eq!(text(&reply.message().await), "waited");
}

/// Covers H02.
#[tokio::test]
async fn older_clients_get_no_event_without_a_message() {
    let (http, _) = endpoint();
    for version in ["2025-03-26", "2025-06-18"] {
        let session = Session::open(&http, version).await;
        let arguments = json!({ "steps": 2, "width": 1 });
        let mut reply = session.tool(1, "steps", arguments).await;
        let first = reply.event().await.expect("there is progress");
        assert_eq!(first.json()["params"]["progress"], 1.0);
        assert!(first.id.is_some());
        let reply = session.call(list(2)).send(&http).await;
        assert_eq!(reply.json().await["id"], 2, "one message is no stream");
    }
}

/// Covers C01, H10.
#[tokio::test]
async fn a_cancelled_request_ends_its_stream_without_a_response() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut reply = session.tool(1, "wait", json!({})).await;
    reply.event().await.expect("it is primed");
    reply.message().await;
    let params = json!({ "requestId": 1 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(session.tell(cancel).await, 202);
    // Its id is free in the same moment.
    let mut again = session.tool(1, "echo", json!({ "text": "again" })).await;
    assert_eq!(reply.event().await, None);
    assert_eq!(text(&again.messages().await[0]), "again");
    until(|| seen.dropped() == 1).await;
}

/// Covers J04.
#[tokio::test]
async fn an_id_that_is_open_is_refused_on_its_own_stream() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut first = session.tool(1, "wait", json!({})).await;
    until(|| seen.started() == 1).await;
    let mut second = session.tool(1, "echo", json!({ "text": "x" })).await;
    let messages = second.messages().await;
    assert_eq!(messages[0]["error"]["code"], -32600);
    seen.release(1);
    let messages = first.messages().await;
    assert_eq!(text(messages.last().expect("it is answered")), "waited");
}

#[tokio::test]
async fn a_question_is_asked_on_the_stream_of_its_call() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let mut general = session.get(None).await;
    general.event().await.expect("it is primed");
    let mut reply = session.tool(1, "ask", json!({})).await;
    reply.event().await.expect("it is primed");
    let question = reply.message().await;
    assert_eq!(question["method"], "elicitation/create");
    let result = json!({ "action": "accept", "content": { "yes": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(session.tell(answer).await, 202);
    assert_eq!(text(&reply.message().await), "yes: true");
    assert!(
        is_pending(general.event()).await,
        "each message is on one stream"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_where_it_was_asked() {
    let (http, _) = endpoint();
    let http = http.limits(|limits| limits.keep_alive = Duration::from_secs(3_600));
    let session = Session::open(&http, LEGACY).await;
    let mut general = session.get(None).await;
    general.event().await.expect("it is primed");
    let mut reply = session.tool(1, "ask", json!({})).await;
    reply.event().await.expect("it is primed");
    let question = reply.message().await;
    // Nobody answers.
    let withdrawn = reply.message().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert_eq!(reply.message().await["id"], 1);
    assert!(is_pending(general.event()).await);

    // The stream of a call that is cancelled has ended.
    let mut reply = session.tool(2, "ask", json!({})).await;
    reply.event().await.expect("it is primed");
    let question = reply.message().await;
    let params = json!({ "requestId": 2 });
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(session.tell(body).await, 202);
    assert_eq!(reply.event().await, None);
    let withdrawn = general.message().await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
}

/// Covers J15, J16.
#[tokio::test]
async fn a_batch_is_answered_at_once() {
    let (http, seen) = endpoint();
    let session = Session::open(&http, "2025-03-26").await;
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/x" });
    let batch = json!([list(1), told, list("b")]);
    let answers = session.call(batch).send(&http).await.json().await;
    assert_eq!(ids(&answers), [json!(1), json!("b")]);
    assert_eq!(session.tell(json!([told])).await, 202);
    for bad in [json!([]), json!([initialize(LEGACY).body])] {
        let message = session.call(bad).send(&http).await.json().await;
        assert_eq!(message["error"]["code"], -32600);
    }
    // A batch of which something still runs.
    let params = json!({ "name": "wait", "arguments": {} });
    let wait = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params });
    let batch = session.call(json!([wait, list(4)]));
    let (reply, ()) = tokio::join!(batch.send(&http), async {
        until(|| seen.started() == 1).await;
        seen.release(1);
    });
    assert_eq!(ids(&reply.json().await), [json!(4), json!(3)]);
}

fn ids(answers: &Value) -> Vec<Value> {
    let answers = answers.as_array().expect("they are many");
    answers.iter().map(|answer| answer["id"].clone()).collect()
}

/// Covers H11.
#[tokio::test]
async fn several_general_streams_of_a_session_leave_each_other_alone() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let primed = async || {
        let mut stream = session.get(None).await;
        stream.event().await.expect("it is primed");
        stream
    };
    let [mut first, mut second, mut third] = [primed().await, primed().await, primed().await];
    let change = || http.server().changes().tools();
    let list_changed = "notifications/tools/list_changed";

    // A message goes to the newest of them alone, and none of them ends.
    change();
    assert_eq!(third.message().await["method"], list_changed);
    assert!(is_pending(first.event()).await && is_pending(second.event()).await);
    // What one leaves behind is the next one's.
    change();
    assert!(is_pending(first.event()).await);
    drop(third);
    assert_eq!(second.message().await["method"], list_changed);
    // It may be waiting for that.
    let waiting = tokio::spawn(async move { (first.message().await, first) });
    tokio::task::yield_now().await;
    drop(second);
    change();
    let (message, mut first) = soon(waiting).await;
    assert_eq!(message["method"], list_changed);
    // And all of them end with the session.
    let newest = primed().await;
    let waiting = tokio::spawn(async move { first.event().await });
    tokio::task::yield_now().await;
    assert_eq!(session.delete().await, 204);
    assert_eq!(soon(waiting).await, None);
    drop(newest);
}

/// What a task gives without being woken by its next comment.
async fn soon<T>(task: JoinHandle<T>) -> T {
    let done = timeout(Duration::from_secs(10), task).await;
    done.expect("it is woken").expect("nothing panicked")
}

/// Covers D04.
#[tokio::test]
async fn modern_requests_pass_by_the_session() {
    let (http, _) = endpoint();
    let session = Session::open(&http, LEGACY).await;
    let call = tool(1, "echo", json!({ "text": "hi" })).and("mcp-session-id", &session.id);
    let message = call.send(&http).await.json().await;
    assert_eq!(message["result"]["resultType"], "complete");
    assert_eq!(session.delete().await, 204);
    assert_eq!(call.send(&http).await.status(), 200);
}

#[tokio::test]
async fn streams_end_when_the_server_does() {
    let (server, seen) = server(|server| server);
    let http = Http::new(server);
    let session = Session::open(&http, LEGACY).await;
    let mut general = session.get(None).await;
    general.event().await.expect("it is primed");
    let mut reply = session.tool(1, "wait", json!({})).await;
    until(|| seen.started() == 1).await;
    http.server().shut_down();
    // A call in flight has its grace.
    seen.release(1);
    let messages = reply.messages().await;
    assert_eq!(text(messages.last().expect("it is answered")), "waited");
    assert_eq!(general.event().await, None::<Event>);
    assert_eq!(session.tell(list(9)).await, 404, "the session has ended");
}
