//! Calls: their ends, their time, their rounds, and what is kept of them.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_client::types::{
    ClientCapabilities, ElicitAction, ElicitParams, ElicitResult, ElicitationCapability,
};
use mcp_client::{Client, ClientError, ErrorObject, Host, RawJson, async_trait};
use serde_json::{Value, json};
use support::{Server, builder, legacy, modern, said};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

type Called = JoinHandle<Result<String, ClientError>>;

/// Calls a tool in a task of its own.
fn call(client: &Client, name: &str) -> Called {
    let call = client.call(name, ());
    tokio::spawn(async move { call.await.map(|result| text(&result)) })
}

fn text(result: &mcp_client::types::CallToolResult) -> String {
    result.content[0].as_text().expect("it is text").to_owned()
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Asserts that the client writes nothing for a while.
async fn silence(server: &mut Server) {
    if let Ok(message) = timeout(secs(5), server.next()).await {
        panic!("{message:?}");
    }
}

/// Covers C01, C06, J19, B-207, B-209.
#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_once_and_an_answered_one_never() {
    for legacy_era in [false, true] {
        let (client, mut server) = match legacy_era {
            true => legacy(builder()).await,
            false => modern(builder()).await,
        };
        let called = call(&client, "slow");
        let request = server.expect("tools/call").await;
        called.abort();
        let cancelled = server.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], request["id"]);
        // The late answer belongs to nobody, and the next call gets its own.
        server.answer(&request, said("late")).await;
        let called = call(&client, "quick");
        server.serve("tools/call", said("quick")).await;
        assert_eq!(called.await.unwrap().unwrap(), "quick");
        silence(&mut server).await;
    }
}

/// Covers A-36, B-150, B-153, B-210.
#[tokio::test(start_paused = true)]
async fn a_call_times_out_and_the_server_is_told_once() {
    let (client, mut server) = modern(builder().timeout(secs(3))).await;
    let began = Instant::now();
    let called = call(&client, "slow");
    let request = server.expect("tools/call").await;
    let error = called.await.unwrap().unwrap_err();
    assert_eq!(began.elapsed(), secs(3));
    assert_eq!(error.to_string(), "no answer to `tools/call` within 3.0s");
    let cancelled = server.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    silence(&mut server).await;
}

/// Covers B-151.
#[tokio::test(start_paused = true)]
async fn progress_is_heard_in_order_and_gives_more_time_up_to_a_limit() {
    let (client, mut server) = modern(builder()).await;
    let (call, mut reports) = client
        .call("slow", ())
        .timeout(secs(2))
        .longest(secs(5))
        .progress_stream();
    let began = Instant::now();
    let called = tokio::spawn(call.into_future());
    let request = server.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    for step in 1..=4 {
        sleep(secs(1)).await;
        let report = json!({ "progressToken": token, "progress": step });
        server.notify("notifications/progress", report).await;
    }
    let error = called.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    assert_eq!(began.elapsed(), secs(5));
    for step in 1..=4 {
        assert_eq!(reports.next().await.unwrap().progress, f64::from(step));
    }
    assert!(reports.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_last_report_comes_before_the_outcome() {
    let (client, mut server) = modern(builder()).await;
    let (heard, hears) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counter = hears.clone();
    let call = client.call("steps", ()).on_progress(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let called = tokio::spawn(async move {
        call.await.unwrap();
        heard.store(hears.load(Ordering::Relaxed), Ordering::Relaxed);
        heard.load(Ordering::Relaxed)
    });
    let request = server.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    for step in 1..=3 {
        let report = json!({ "progressToken": token, "progress": step });
        server.notify("notifications/progress", report).await;
    }
    server.answer(&request, said("done")).await;
    assert_eq!(called.await.unwrap(), 3);
}

/// Covers T10, B-103, B-105.
#[tokio::test(start_paused = true)]
async fn all_who_wait_are_told_at_once_when_the_server_is_gone() {
    let (client, mut server) = modern(builder()).await;
    let called = call(&client, "one");
    server.expect("tools/call").await;
    let began = Instant::now();
    drop(server);
    let error = called.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, ClientError::Closed { written: true, report } if !report.by_us),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "the server closed the connection");
    let error = call(&client, "two").await.unwrap().unwrap_err();
    assert!(
        matches!(error, ClientError::Closed { written: false, .. }),
        "{error:?}"
    );
    assert!(began.elapsed() < secs(1));
    assert!(!client.closed().await.by_us);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_written_is_told_apart_from_what_was() {
    let (client, mut server) = modern(builder()).await;
    let first = call(&client, "first");
    server.expect("tools/call").await;
    // More than the pipe holds, so that what comes behind it waits.
    let large = client.call("large", json!({ "text": "x".repeat(1 << 20) }));
    let large = tokio::spawn(large.into_future());
    let last = call(&client, "last");
    sleep(secs(1)).await;
    drop(server);
    let written = |error| match error {
        ClientError::Closed { written, .. } => written,
        error => panic!("{error}"),
    };
    assert!(written(first.await.unwrap().unwrap_err()));
    assert!(!written(large.await.unwrap().unwrap_err()));
    assert!(!written(last.await.unwrap().unwrap_err()));
}

/// Covers B-041, B-043.
#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_written_to_is_heard_out() {
    let (client, mut server) = modern(builder()).await;
    let first = call(&client, "first");
    let request = server.expect("tools/call").await;
    server.stop_reading();
    let began = Instant::now();
    let second = call(&client, "second");
    sleep(Duration::from_millis(400)).await;
    server.answer(&request, said("first")).await;
    assert_eq!(first.await.unwrap().unwrap(), "first");
    let error = second.await.unwrap().unwrap_err();
    assert!(
        matches!(error, ClientError::Closed { written: false, .. }),
        "{error:?}"
    );
    assert_eq!(began.elapsed(), Duration::from_millis(500));
    assert!(client.closed().await.transport.is_some());
}

/// Covers L13c, B-222c.
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_pings_is_given_up() {
    let (client, mut server) = legacy(builder().ping_every(secs(10)).timeout(secs(999))).await;
    let began = Instant::now();
    let called = call(&client, "slow");
    server.expect("tools/call").await;
    for round in 1..=2 {
        server.serve("ping", json!({})).await;
        assert_eq!(began.elapsed(), secs(10) * round);
    }
    // One that comes late is one, and what answers is there, whatever it says.
    for late in 1..=2 {
        let ping = server.expect("ping").await;
        let cancelled = server.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], ping["id"]);
        assert_eq!(began.elapsed(), secs(20) * (late + 1));
    }
    let ping = server.expect("ping").await;
    server.refuse(&ping, -32601).await;
    let began = Instant::now();
    for missed in 1..=3 {
        server.expect("ping").await;
        server.expect("notifications/cancelled").await;
        assert_eq!(began.elapsed(), secs(20) * missed);
    }
    assert_eq!(server.next().await, None);
    let error = called.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, ClientError::Closed { written: true, report } if !report.by_us),
        "{error:?}"
    );
    let why = "the server is out of reach (3 pings in a row have no answer)";
    assert_eq!(error.to_string(), why);
    assert_eq!(client.closed().await.to_string(), why);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_pinged_without_need() {
    let (_client, mut server) = legacy(builder()).await;
    assert!(timeout(secs(9_999), server.next()).await.is_err());
    // There is no ping any more.
    let (_client, mut server) = modern(builder().ping_every(secs(1))).await;
    assert!(timeout(secs(9_999), server.next()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_or_closing_ends_the_connection() {
    let (client, mut server) = modern(builder()).await;
    let other = client.clone();
    drop(client);
    assert!(timeout(secs(1), server.next()).await.is_err());
    drop(other);
    assert_eq!(server.next().await, None);

    let (client, mut server) = modern(builder()).await;
    let called = call(&client, "slow");
    server.expect("tools/call").await;
    let (closed, _) = tokio::join!(client.close(), async {
        server.expect("notifications/cancelled").await;
        assert_eq!(server.next().await, None);
    });
    assert!(closed.by_us);
    let error = called.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the connection was closed from this side"
    );
    client.close().await;
}

///
#[tokio::test(start_paused = true)]
async fn calls_wait_for_their_turn() {
    let (client, mut server) = modern(builder().max_in_flight(1)).await;
    let (first, second) = (call(&client, "a"), call(&client, "b"));
    let request = server.expect("tools/call").await;
    silence(&mut server).await;
    server.answer(&request, said("a")).await;
    server.serve("tools/call", said("b")).await;
    assert_eq!(first.await.unwrap().unwrap(), "a");
    assert_eq!(second.await.unwrap().unwrap(), "b");
}

/// Says yes to forms.
struct Yes(Arc<AtomicUsize>);

#[async_trait]
impl Host for Yes {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::new().elicitation(ElicitationCapability::new())
    }

    async fn elicit(&self, _: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let content = RawJson::from(json!({ "yes": true }));
        Ok(ElicitResult::new(ElicitAction::Accept).content(content))
    }
}

fn form() -> Value {
    json!({
        "method": "elicitation/create",
        "params": { "message": "?", "requestedSchema": { "type": "object", "properties": {} } },
    })
}

fn needs(questions: Option<Value>, state: Option<&str>) -> Value {
    let mut result = json!({ "resultType": "input_required" });
    if let Some(questions) = questions {
        result["inputRequests"] = questions;
    }
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

/// Covers X11, X12.
#[tokio::test(start_paused = true)]
async fn a_call_is_made_again_with_the_answers_and_the_state_as_it_came() {
    const STATE: &str = "\u{fc}\"\\\u{1}\u{2028} =";
    let asked = Arc::new(AtomicUsize::new(0));
    let (client, mut server) = modern(builder().host(Yes(asked.clone()))).await;
    let call = client.call("deploy", json!({ "big": 9007199254740993_u64 }));
    let called = tokio::spawn(call.into_future());
    let first = server.expect("tools/call").await;
    let questions = json!({ "one": form(), "two": form() });
    server
        .answer(&first, needs(Some(questions), Some(STATE)))
        .await;
    let second = server.expect("tools/call").await;
    assert_ne!(second["id"], first["id"]);
    assert_eq!(second["params"]["arguments"], first["params"]["arguments"]);
    assert_eq!(second["params"]["requestState"], STATE);
    let answer = json!({ "action": "accept", "content": { "yes": true } });
    assert_eq!(
        second["params"]["inputResponses"],
        json!({ "one": answer, "two": answer })
    );
    // Nothing of an earlier round is repeated, and no question is no answer.
    server.answer(&second, needs(None, Some("s2"))).await;
    let third = server.expect("tools/call").await;
    assert_eq!(third["params"]["requestState"], "s2");
    assert_eq!(third["params"].get("inputResponses"), None);
    let questions = json!({ "one": form() });
    server.answer(&third, needs(Some(questions), None)).await;
    let fourth = server.expect("tools/call").await;
    assert_eq!(fourth["params"].get("requestState"), None);
    server.answer(&fourth, said("done")).await;
    assert_eq!(text(&called.await.unwrap().unwrap()), "done");
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

/// Covers X11.
#[tokio::test(start_paused = true)]
async fn a_server_that_needs_time_gets_more_of_it_each_time() {
    let (client, mut server) = modern(builder()).await;
    let called = call(&client, "slow");
    server.serve("tools/call", needs(None, Some("s"))).await;
    for pause in [100, 200, 400, 800, 1600, 3200, 6400] {
        let began = Instant::now();
        let again = server.expect("tools/call").await;
        assert_eq!(began.elapsed(), Duration::from_millis(pause));
        assert_eq!(again["params"].get("inputResponses"), None);
        let none = needs(Some(json!({})), Some("s"));
        server.answer(&again, none).await;
    }
    server.serve("tools/call", said("done")).await;
    assert_eq!(called.await.unwrap().unwrap(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_needs_nothing_is_not_called_again() {
    let (client, mut server) = modern(builder()).await;
    for questions in [None, Some(json!({}))] {
        let called = call(&client, "needy");
        server.serve("tools/call", needs(questions, None)).await;
        let error = called.await.unwrap().unwrap_err();
        assert!(matches!(error, ClientError::Protocol { .. }), "{error}");
        silence(&mut server).await;
    }
}

/// Covers X15, SE06c.
#[tokio::test(start_paused = true)]
async fn rounds_have_an_end() {
    let asked = Arc::new(AtomicUsize::new(0));
    let (client, mut server) = modern(builder().rounds(2).host(Yes(asked.clone()))).await;
    let called = call(&client, "endless");
    for _ in 0..3 {
        let questions = json!({ "one": form() });
        server
            .serve("tools/call", needs(Some(questions), None))
            .await;
    }
    let error = called.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::TooManyRounds { rounds: 2 }));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    silence(&mut server).await;
}

/// Covers X16, EC11, EL03, RO04.
#[tokio::test(start_paused = true)]
async fn what_was_not_declared_is_not_answered() {
    let asked = Arc::new(AtomicUsize::new(0));
    let page = json!({
        "method": "elicitation/create",
        "params": { "message": "?", "mode": "url", "url": "https://example.com" },
    });
    let (client, mut server) = modern(builder().host(Yes(asked.clone()))).await;
    let called = call(&client, "page");
    let questions = json!({ "page": page.clone() });
    server
        .serve("tools/call", needs(Some(questions), None))
        .await;
    let error = called.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, ClientError::Unanswered { question, .. } if question == "page"),
        "{error}"
    );
    silence(&mut server).await;
    let called = call(&client, "unknown");
    let questions = json!({ "own": { "method": "own/kind" } });
    server
        .serve("tools/call", needs(Some(questions), None))
        .await;
    let error = called.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("`own/kind`"), "{error}");

    let (_client, mut server) = legacy(builder().host(Yes(asked.clone()))).await;
    let mut request = page;
    request["id"] = "q".into();
    server.send(request).await;
    let answer = server.next().await.unwrap();
    assert_eq!(answer["error"]["code"], -32602);
    server
        .send(json!({ "id": 1, "method": "roots/list" }))
        .await;
    let answer = server.next().await.unwrap();
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

/// Covers PG01, PG02, PG05, SE06c, B-130.
#[tokio::test(start_paused = true)]
async fn lists_that_do_not_end_are_given_up() {
    let (client, mut server) = modern(builder()).await;
    let page = |cursor: Option<&str>| {
        let mut page = json!({ "tools": [{ "name": "t", "inputSchema": {} }], "ttlMs": 0 });
        if let Some(cursor) = cursor {
            page["nextCursor"] = cursor.into();
        }
        page
    };
    // An empty cursor is one.
    let lister = client.clone();
    let listed = tokio::spawn(async move { lister.list_tools().await });
    let first = server.serve("tools/list", page(Some(""))).await;
    assert_eq!(first["params"].get("cursor"), None);
    let second = server.serve("tools/list", page(Some("\u{fc}"))).await;
    assert_eq!(second["params"]["cursor"], "");
    let third = server.serve("tools/list", page(None)).await;
    assert_eq!(third["params"]["cursor"], "\u{fc}");
    assert_eq!(listed.await.unwrap().unwrap().len(), 3);

    let lister = client.clone();
    let listed = tokio::spawn(async move { lister.list_tools().await });
    for cursor in ["a", "b", "a"] {
        server.serve("tools/list", page(Some(cursor))).await;
    }
    let error = listed.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Protocol { .. }), "{error}");
    silence(&mut server).await;

    let listed = tokio::spawn(async move { client.list_tools().await });
    for cursor in 0..1_000 {
        let cursor = cursor.to_string();
        server.serve("tools/list", page(Some(&cursor))).await;
    }
    let error = listed.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Protocol { .. }), "{error}");
}

/// Covers CA03, CA04, CA05.
#[tokio::test(start_paused = true)]
async fn a_result_is_kept_as_long_as_the_server_says_or_until_it_changes() {
    let (client, mut server) = modern(builder()).await;
    let page = |ttl: u64| json!({ "tools": [], "ttlMs": ttl, "cacheScope": "private" });
    async fn list(client: &Client) {
        client.list_tools().await.expect("it is answered");
    }
    tokio::join!(list(&client), server.serve("tools/list", page(10_000)));
    list(&client).await;
    // It is of this list only.
    let call = client.list_tools_page(Some("other".to_owned()));
    let (other, _) = tokio::join!(call.into_future(), server.serve("tools/list", page(0)));
    other.unwrap();
    sleep(secs(11)).await;
    tokio::join!(list(&client), server.serve("tools/list", page(10_000)));
    // A change makes it old, and also what was asked for before the change.
    server
        .notify("notifications/tools/list_changed", json!({}))
        .await;
    sleep(secs(1)).await;
    tokio::join!(list(&client), async {
        let request = server.expect("tools/list").await;
        server
            .notify("notifications/tools/list_changed", json!({}))
            .await;
        server.answer(&request, page(10_000)).await;
    });
    tokio::join!(list(&client), server.serve("tools/list", page(10_000)));
    list(&client).await;
    let fresh = client.list_tools_page(None).fresh();
    let (fresh, _) = tokio::join!(
        fresh.into_future(),
        server.serve("tools/list", page(10_000))
    );
    fresh.unwrap();
    silence(&mut server).await;
    // It is no answer of a server that is not there.
    assert!(!client.is_closed());
    client.close().await;
    assert!(client.is_closed());
    assert!(client.list_tools().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_no_object_are_not_sent() {
    let (client, mut server) = modern(builder()).await;
    for arguments in [json!("text"), json!([1]), json!(1), json!(true)] {
        let error = client.call("any", arguments).await.unwrap_err();
        assert!(matches!(error, ClientError::Arguments(_)), "{error}");
    }
    silence(&mut server).await;
}

/// Covers X14.
#[tokio::test(start_paused = true)]
async fn what_took_a_question_is_not_kept() {
    let (client, mut server) = modern(builder()).await;
    for _ in 0..2 {
        let reader = client.read_resource("file:///a");
        let read = tokio::spawn(reader.into_future());
        server.serve("resources/read", needs(None, Some("s"))).await;
        let contents = json!({ "contents": [], "ttlMs": 60_000 });
        server.serve("resources/read", contents).await;
        read.await.unwrap().unwrap();
    }
}

/// Covers CA10, B-133c.
#[tokio::test(start_paused = true)]
async fn an_old_cursor_makes_the_list_begin_anew() {
    let (client, mut server) = modern(builder()).await;
    let page = |name: &str, next: Option<&str>| {
        json!({
            "tools": [{ "name": name, "inputSchema": {} }], "ttlMs": 60_000, "nextCursor": next,
        })
    };
    let listed = tokio::spawn(async move { client.list_tools().await });
    server.serve("tools/list", page("old", Some("c"))).await;
    let request = server.expect("tools/list").await;
    server.refuse(&request, -32602).await;
    server.serve("tools/list", page("new", None)).await;
    let tools = listed.await.unwrap().unwrap();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].name, "new");
}
