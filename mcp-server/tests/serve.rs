//! A server in one process with its client, on a paused clock.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use mcp_server::prelude::*;
use mcp_server::transport::{Frame, Receiver as _, Sender as _, Transport};
use mcp_server::{Attempt, Next, Outcome, ServiceDown};
use mcp_transport_stdio::memory::{Memory, pair};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower::buffer::BufferLayer;
use tower::limit::RateLimitLayer;
use tower::timeout::TimeoutLayer;
use tower::{BoxError, Layer, Service, ServiceBuilder};

/// What the tools of these tests share.
#[derive(Default)]
struct Counts {
    run: AtomicUsize,
    dropped: Arc<AtomicUsize>,
}

#[derive(Tools)]
enum Test {
    /// Say it back.
    Echo { text: String },
    /// Wait.
    Sleep { ms: u64 },
    /// Report five steps and be done at once.
    Steps,
    /// Report for ever, without a pause.
    Chatter,
    /// Panic.
    Boom,
    /// Give what cannot be JSON.
    Unwritable,
    /// The service can do no more.
    Die,
    /// Be refused.
    Refuse,
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no"))
    }
}

impl RunTools<Counts> for Test {
    async fn run(self, cx: &Context<Counts>) -> Result<impl IntoContent, ToolError> {
        let counts = cx.state();
        counts.run.fetch_add(1, Ordering::Relaxed);
        let _on_drop = OnDrop(counts.dropped.clone());
        match self {
            Self::Echo { text } => Ok(text),
            Self::Sleep { ms } => {
                sleep(Duration::from_millis(ms)).await;
                Ok("slept".to_owned())
            }
            Self::Steps => {
                for step in 1..=5 {
                    cx.progress(step.into(), Some(5.0));
                }
                Ok("done".to_owned())
            }
            Self::Chatter => {
                for step in 0.. {
                    cx.progress(step.into(), None);
                    tokio::task::yield_now().await;
                }
                unreachable!("it goes on for ever")
            }
            Self::Boom => panic!("boom"),
            Self::Unwritable => {
                Json(Unwritable).into_content()?;
                Ok("written".to_owned())
            }
            Self::Die => Err(ServiceDown::new("died").into()),
            Self::Refuse => Err(ToolError::refused(mcp_server::ErrorObject::invalid_params(
                "not like this",
            ))),
        }
    }
}

fn server() -> Server<Counts> {
    Server::with_state("test", "1.0.0", Counts::default()).tools::<Test>()
}

/// A legacy client after its handshake.
struct Client {
    receiver: <Memory as Transport>::Receiver,
    sender: <Memory as Transport>::Sender,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Client {
    async fn of<S: Send + Sync + 'static>(server: &ServerHandle<S>) -> Self {
        let (ours, theirs) = pair();
        let server = server.clone();
        let server = tokio::spawn(async move { server.serve(theirs).await });
        let (receiver, sender) = ours.split();
        let mut client = Self {
            receiver,
            sender,
            server,
        };
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        client.ask(0, "initialize", params).await;
        client.receive().await.expect("a reply");
        client
    }

    async fn send(&mut self, message: Value) {
        self.sender.send(&Frame::from(message.to_string()), None);
        poll_fn(|cx| self.sender.poll_flush(cx))
            .await
            .expect("the server reads");
    }

    async fn ask(&mut self, id: i64, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
    }

    async fn call(&mut self, id: i64, tool: &str, arguments: Value) {
        let params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": { "progressToken": id },
        });
        self.ask(id, "tools/call", params).await;
    }

    async fn cancel(&mut self, id: i64) {
        self.send(json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": id },
        }))
        .await;
    }

    async fn receive(&mut self) -> Option<Value> {
        let frame = poll_fn(|cx| self.receiver.poll_receive(cx)).await?;
        let frame = frame.expect("memory does not fail");
        Some(serde_json::from_slice(&frame).expect("only JSON is written"))
    }

    /// The next reply, passing over notifications.
    async fn reply(&mut self) -> Value {
        loop {
            let message = self.receive().await.expect("a reply");
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Ends the input, and gives what still comes and how the server ended.
    async fn close(mut self) -> (Vec<Value>, Result<(), ServeError>) {
        drop(self.sender);
        let mut rest = Vec::new();
        loop {
            let frame = poll_fn(|cx| self.receiver.poll_receive(cx)).await;
            let Some(Ok(frame)) = frame else { break };
            rest.push(serde_json::from_slice(&frame).expect("only JSON is written"));
        }
        (rest, self.server.await.expect("serving does not panic"))
    }
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {reply}"))
}

/// Covers P03, B-235.
#[tokio::test(start_paused = true)]
async fn progress_comes_before_the_reply_and_in_order() {
    let mut client = Client::of(&server().build().unwrap()).await;
    for id in 1..200 {
        client.call(id, "steps", json!({})).await;
        for step in 1..=5 {
            let notice = client.receive().await.unwrap();
            assert_eq!(notice["params"]["progress"], f64::from(step), "{notice}");
            assert_eq!(notice["params"]["progressToken"], id);
        }
        assert_eq!(client.receive().await.unwrap()["id"], id);
    }
}

/// Covers C03, P05.
#[tokio::test(start_paused = true)]
async fn a_handler_that_reports_all_the_time_can_be_cancelled() {
    let mut client = Client::of(&server().build().unwrap()).await;
    client.call(1, "chatter", json!({})).await;
    client.receive().await.expect("a report");
    client.cancel(1).await;
    client.ask(2, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 2);
}

/// Covers J14, TL05, TL06, TL16, B-316.
#[tokio::test(start_paused = true)]
async fn what_goes_wrong_in_a_tool_is_an_answer() {
    let mut client = Client::of(&server().build().unwrap()).await;
    client.call(1, "boom", json!({})).await;
    assert_eq!(client.reply().await["error"]["code"], -32603);
    client.call(2, "unwritable", json!({})).await;
    assert_eq!(client.reply().await["result"]["isError"], true);
    client.call(3, "refuse", json!({})).await;
    assert_eq!(client.reply().await["error"]["message"], "not like this");
    client.call(4, "echo", json!({ "text": 5 })).await;
    let reply = client.reply().await;
    assert_eq!(reply["result"]["isError"], true);
    assert!(
        text(&reply).contains("`text`") || text(&reply).contains("text:"),
        "{reply}"
    );
    client.call(5, "no such tool", json!({})).await;
    assert_eq!(client.reply().await["error"]["code"], -32602);
    client.call(6, "echo", json!({ "text": "alive" })).await;
    assert_eq!(text(&client.reply().await), "alive");
    let (rest, served) = client.close().await;
    assert_eq!(rest, [] as [Value; 0]);
    served.unwrap();
}

/// Covers C03.
#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_is_dropped_and_its_slot_given_back() {
    let server = server().max_in_flight(1).build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "sleep", json!({ "ms": 10_000 })).await;
    client.call(2, "echo", json!({ "text": "x" })).await;
    let refusal = client.reply().await;
    assert_eq!(refusal["error"]["data"]["scope"], "connection", "{refusal}");
    assert_eq!(server.in_flight(), 1);
    client.cancel(1).await;
    client.ask(3, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 3);
    tokio::task::yield_now().await;
    assert_eq!(server.in_flight(), 0);
    let begin = Instant::now();
    client.call(4, "echo", json!({ "text": "free" })).await;
    assert_eq!(text(&client.reply().await), "free");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

/// Writes down who sees a call, and when.
#[derive(Clone)]
struct Trace {
    name: &'static str,
    seen: Arc<std::sync::Mutex<Vec<&'static str>>>,
}

#[derive(Clone)]
struct Traced<S> {
    trace: Trace,
    inner: S,
}

impl<S> Layer<S> for Trace {
    type Service = Traced<S>;

    fn layer(&self, inner: S) -> Traced<S> {
        Traced {
            trace: self.clone(),
            inner,
        }
    }
}

impl<S: Service<Attempt>> Service<Attempt> for Traced<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, attempt: Attempt) -> S::Future {
        assert_eq!(attempt.tool(), Some("echo"));
        self.trace.seen.lock().unwrap().push(self.trace.name);
        self.inner.call(attempt)
    }
}

#[tokio::test(start_paused = true)]
async fn layers_add_up_and_the_first_is_the_outermost() {
    let seen = Arc::default();
    let trace = |name| Trace {
        name,
        seen: Arc::clone(&seen),
    };
    let server = server().layer(trace("first")).layer(trace("second")).layer(
        ServiceBuilder::new()
            .layer(trace("third"))
            .layer(trace("fourth")),
    );
    let mut client = Client::of(&server.build().unwrap()).await;
    client.call(1, "echo", json!({ "text": "x" })).await;
    client.reply().await;
    assert_eq!(
        *seen.lock().unwrap(),
        ["first", "second", "third", "fourth"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stock_timeout_answers_the_call_and_drops_it() {
    let server = server().layer(TimeoutLayer::new(Duration::from_secs(1)));
    let mut client = Client::of(&server.build().unwrap()).await;
    let begin = Instant::now();
    client.call(1, "sleep", json!({ "ms": 60_000 })).await;
    let reply = client.reply().await;
    assert_eq!(reply["error"]["code"], -32603);
    assert_eq!(reply["error"]["message"], "the call timed out");
    assert_eq!(begin.elapsed().as_secs(), 1);
}

/// Covers TL11.
#[tokio::test(start_paused = true)]
async fn a_rate_limit_works_under_a_buffer() {
    let layers = ServiceBuilder::new()
        .layer(BufferLayer::<Attempt>::new(16))
        .layer(RateLimitLayer::new(1, Duration::from_secs(10)));
    let mut client = Client::of(&server().layer(layers).build().unwrap()).await;
    let begin = Instant::now();
    for id in 1..=3 {
        client.call(id, "echo", json!({ "text": "x" })).await;
    }
    // What waits for its turn holds up nothing else.
    client.ask(9, "ping", json!({})).await;
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push((
            client.reply().await["id"].as_i64().unwrap(),
            begin.elapsed().as_secs(),
        ));
    }
    order.sort_unstable();
    assert_eq!(order, [(1, 0), (2, 10), (3, 20), (9, 0)]);
}

/// A layer that is never ready, or fails to be.
#[derive(Clone)]
struct NotReady {
    fails: bool,
}

impl Layer<Next> for NotReady {
    type Service = Self;

    fn layer(&self, _: Next) -> Self {
        self.clone()
    }
}

impl Service<Attempt> for NotReady {
    type Response = Outcome;
    type Error = BoxError;
    type Future = std::future::Pending<Result<Outcome, BoxError>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        if self.fails {
            Poll::Ready(Err("out of order".into()))
        } else {
            Poll::Pending
        }
    }

    fn call(&mut self, _: Attempt) -> Self::Future {
        unreachable!("it is never ready")
    }
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_is_not_ready_holds_up_only_its_calls() {
    let server = server().layer(NotReady { fails: false });
    let mut client = Client::of(&server.build().unwrap()).await;
    client.call(1, "echo", json!({ "text": "x" })).await;
    client.ask(2, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_down_ends_the_server() {
    let server_ = server().layer(NotReady { fails: true });
    let mut client = Client::of(&server_.build().unwrap()).await;
    client.call(1, "echo", json!({ "text": "x" })).await;
    let (_, served) = client.close().await;
    assert_eq!(
        served.unwrap_err().to_string(),
        "the service is down: out of order"
    );

    let mut client = Client::of(&server().build().unwrap()).await;
    client.call(1, "die", json!({})).await;
    let (_, served) = client.close().await;
    assert_eq!(served.unwrap_err().to_string(), "the service is down: died");

    let handle = server().build().unwrap();
    let client = Client::of(&handle).await;
    handle.fail(ServiceDown::new("no database"));
    let (_, served) = client.close().await;
    assert_eq!(
        served.unwrap_err().to_string(),
        "the service is down: no database"
    );
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_all_connections_after_their_calls() {
    let server = server().grace(Duration::from_secs(5)).build().unwrap();
    let mut quick = Client::of(&server).await;
    let mut stuck = Client::of(&server).await;
    quick.call(1, "sleep", json!({ "ms": 1000 })).await;
    stuck.call(1, "sleep", json!({ "ms": 60_000 })).await;
    for client in [&mut quick, &mut stuck] {
        client.ask(2, "ping", json!({})).await;
        assert_eq!(client.reply().await["id"], 2);
    }
    let begin = Instant::now();
    server.shut_down();
    assert_eq!(text(&quick.reply().await), "slept");
    assert_eq!(begin.elapsed().as_secs(), 1);
    assert!(stuck.receive().await.is_none());
    assert_eq!(begin.elapsed().as_secs(), 5);
    assert!(quick.server.await.unwrap().is_ok());
    assert!(stuck.server.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn dropping_a_server_drops_what_it_runs() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counts = Counts {
        run: AtomicUsize::new(0),
        dropped: dropped.clone(),
    };
    let server = Server::with_state("test", "1", counts)
        .tools::<Test>()
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "sleep", json!({ "ms": 60_000 })).await;
    client.ask(2, "ping", json!({})).await;
    client.reply().await;
    client.server.abort();
    assert!(client.receive().await.is_none());
    tokio::task::yield_now().await;
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    assert_eq!(server.in_flight(), 0);
}

/// Covers B-216.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_pauses_only_itself() {
    let server = server().output_bytes(10_000).build().unwrap();
    let mut deaf = Client::of(&server).await;
    let mut other = Client::of(&server).await;
    let sent = "x".repeat(100_000);
    for id in 1..20 {
        // Not flushed to the end: the server has stopped reading.
        let params = json!({ "name": "echo", "arguments": { "text": sent } });
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        deaf.sender.send(&Frame::from(message.to_string()), None);
    }
    let stalled = tokio::time::timeout(
        Duration::from_secs(5),
        poll_fn(|cx| deaf.sender.poll_flush(cx)),
    );
    assert!(stalled.await.is_err(), "the server reads on and on");
    other.call(1, "echo", json!({ "text": "served" })).await;
    assert_eq!(text(&other.reply().await), "served");
    // Once it reads, everything goes on, and nothing is lost.
    let Client {
        mut receiver,
        mut sender,
        ..
    } = deaf;
    let writing = tokio::spawn(async move {
        poll_fn(|cx| sender.poll_flush(cx)).await.unwrap();
        sender
    });
    let mut ids = Vec::new();
    for _ in 1..20 {
        let frame = poll_fn(|cx| receiver.poll_receive(cx))
            .await
            .unwrap()
            .unwrap();
        let reply: Value = serde_json::from_slice(&frame).unwrap();
        ids.push(reply["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, Vec::from_iter(1..20));
    drop(writing.await.unwrap());
}

/// Report a thousand steps without a pause.
#[derive(Deserialize, JsonSchema, Tool)]
struct Flood {}

impl Run for Flood {
    async fn run(self, cx: &Context) -> Result<String, ToolError> {
        for step in 1..=1000 {
            cx.progress(step.into(), None);
        }
        Ok("done".to_owned())
    }
}

/// Covers P05, B-235.
#[tokio::test(start_paused = true)]
async fn of_too_many_reports_the_newest_is_kept_and_comes_before_the_reply() {
    let server = Server::new("x", "1").tool::<Flood>().build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "flood", json!({})).await;
    let mut last = 0.0;
    let reply = loop {
        let message = client.receive().await.unwrap();
        if message.get("method").is_none() {
            break message;
        }
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{progress} after {last}");
        last = progress;
    };
    assert_eq!(text(&reply), "done");
    assert_eq!(last, 1000.0);
}

/// Covers J20, B-044, B-046.
#[tokio::test(start_paused = true)]
async fn only_objects_are_arguments_and_none_is_an_empty_one() {
    let mut client = Client::of(&server().build().unwrap()).await;
    client
        .ask(1, "tools/call", json!({ "name": "steps" }))
        .await;
    assert_eq!(text(&client.reply().await), "done");
    client.call(2, "steps", json!(null)).await;
    assert_eq!(text(&client.reply().await), "done");
    client.call(3, "steps", json!({})).await;
    assert_eq!(text(&client.reply().await), "done");
    for (id, arguments) in [(4, json!([])), (5, json!("x")), (6, json!(5))] {
        client.call(id, "steps", arguments).await;
        assert_eq!(client.reply().await["error"]["code"], -32602);
    }
}

/// Covers TL11.
#[tokio::test(start_paused = true)]
async fn a_connection_has_half_of_the_calls_and_what_is_refused_costs_none() {
    let server = server().max_in_flight(4).build().unwrap();
    let mut first = Client::of(&server).await;
    for id in 1..=2 {
        first.call(id, "sleep", json!({ "ms": 1000 })).await;
    }
    for id in 3..10 {
        first.call(id, "steps", json!({})).await;
        let data = &first.reply().await["error"]["data"];
        assert_eq!(
            (&data["scope"], &data["limit"]),
            (&json!("connection"), &json!(2))
        );
    }
    let mut second = Client::of(&server).await;
    for id in 1..=2 {
        second.call(id, "sleep", json!({ "ms": 2000 })).await;
    }
    let mut third = Client::of(&server).await;
    for id in 1..10 {
        third.call(id, "steps", json!({})).await;
        let data = &third.reply().await["error"]["data"];
        assert_eq!(
            (&data["scope"], &data["limit"]),
            (&json!("server"), &json!(4))
        );
    }
    assert_eq!(server.in_flight(), 4);
    assert_eq!(text(&first.reply().await), "slept");
    assert_eq!(text(&first.reply().await), "slept");
    assert_eq!(server.in_flight(), 2);
    for id in 10..20 {
        third.call(id, "steps", json!({})).await;
        assert_eq!(text(&third.reply().await), "done");
    }
}

/// A call that takes so long and, with what belongs to it, somewhat more than so many bytes.
fn padded(ms: u64, bytes: usize) -> Value {
    json!({
        "name": "sleep",
        "arguments": { "ms": ms },
        "_meta": { "padding": "x".repeat(bytes) },
    })
}

/// Covers SE06.
#[tokio::test(start_paused = true)]
async fn so_many_bytes_of_calls_are_in_flight_on_a_connection() {
    let server = server()
        .max_in_flight(8)
        .max_in_flight_per_connection(8)
        .in_flight_bytes(1000)
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    client.ask(1, "tools/call", padded(1000, 500)).await;
    // More refusals than there are calls to be had.
    for id in 2..20 {
        client.ask(id, "tools/call", padded(0, 500)).await;
        let data = &client.reply().await["error"]["data"];
        assert_eq!(data["unit"], "bytes");
        assert_eq!(
            (&data["scope"], &data["limit"]),
            (&json!("connection"), &json!(1000))
        );
    }
    client.ask(20, "tools/call", padded(0, 10)).await;
    assert_eq!(text(&client.reply().await), "slept");
    assert_eq!(client.reply().await["id"], 1);
    // Each gives back what it took.
    for id in 21..30 {
        client.ask(id, "tools/call", padded(0, 500)).await;
        assert_eq!(text(&client.reply().await), "slept");
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_are_given_back_when_the_server_is_full() {
    let server = server()
        .max_in_flight(1)
        .in_flight_bytes(1000)
        .build()
        .unwrap();
    let mut other = Client::of(&server).await;
    let mut client = Client::of(&server).await;
    other.call(1, "sleep", json!({ "ms": 1000 })).await;
    for id in 1..10 {
        client.ask(id, "tools/call", padded(0, 500)).await;
        let data = &client.reply().await["error"]["data"];
        assert_eq!(data["scope"], "server", "{data}");
    }
    other.reply().await;
    client.ask(10, "tools/call", padded(0, 500)).await;
    assert_eq!(text(&client.reply().await), "slept");
}

/// Leave somebody behind who waits for the call to be cancelled.
#[derive(Deserialize, JsonSchema, Tool)]
struct Detach {}

impl Run<Arc<AtomicUsize>> for Detach {
    async fn run(self, cx: &Context<Arc<AtomicUsize>>) -> Result<String, ToolError> {
        let cx = cx.clone();
        tokio::spawn(async move {
            assert!(!cx.is_cancelled());
            cx.cancelled().await;
            assert!(cx.is_cancelled());
            cx.cancelled().await;
            cx.state().fetch_add(1, Ordering::Relaxed);
            // Whoever keeps the context keeps no place among the calls.
            sleep(Duration::from_secs(60)).await;
            drop(cx);
        });
        sleep(Duration::from_secs(60)).await;
        Ok("slept".to_owned())
    }
}

/// Covers B-215.
#[tokio::test(start_paused = true)]
async fn whoever_works_for_a_call_hears_that_it_is_cancelled() {
    let heard = Arc::new(AtomicUsize::new(0));
    let server = Server::with_state("x", "1", heard.clone())
        .tool::<Detach>()
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "detach", json!({})).await;
    client.ask(2, "ping", json!({})).await;
    client.reply().await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(heard.load(Ordering::Relaxed), 0);
    client.cancel(1).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(heard.load(Ordering::Relaxed), 1);
    assert_eq!(server.in_flight(), 0);
}

/// Hold a thread until told to return.
#[derive(Deserialize, JsonSchema, Tool)]
struct Hold {}

impl RunBlocking<Gate> for Hold {
    fn run(self, cx: &Context<Gate>) -> Result<String, ToolError> {
        let gate = cx.state().0.lock().unwrap();
        gate.recv().unwrap();
        Ok("held".to_owned())
    }
}

struct Gate(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

#[tokio::test]
async fn a_blocking_handler_keeps_its_slot_until_it_returns() {
    let (open, gate) = std::sync::mpsc::channel();
    let server = Server::with_state("x", "1", Gate(gate.into()))
        .blocking_tool::<Hold>()
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    for id in 1..50 {
        open.send(()).unwrap();
        client.call(id, "hold", json!({})).await;
        assert_eq!(text(&client.reply().await), "held");
        assert_eq!(server.in_flight(), 0, "given back after the reply");
    }
    client.call(50, "hold", json!({})).await;
    client.ask(51, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 51);
    client.cancel(50).await;
    client.ask(52, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 52);
    assert_eq!(server.in_flight(), 1, "the thread still runs");
    open.send(()).unwrap();
    while server.in_flight() > 0 {
        sleep(Duration::from_millis(1)).await;
    }
}

/// A layer that fails each call.
#[derive(Clone)]
struct Fails(fn() -> BoxError);

impl Layer<Next> for Fails {
    type Service = Self;

    fn layer(&self, _: Next) -> Self {
        self.clone()
    }
}

impl Service<Attempt> for Fails {
    type Response = Outcome;
    type Error = BoxError;
    type Future = std::future::Ready<Result<Outcome, BoxError>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Attempt) -> Self::Future {
        std::future::ready(Err(self.0()))
    }
}

/// Covers J14, SE06.
#[tokio::test(start_paused = true)]
async fn the_client_reads_of_a_layers_errors_only_what_is_meant_for_it() {
    for (error, says) in [
        (
            Fails(|| mcp_server::ErrorObject::invalid_params("not today").into()),
            (-32602, "not today"),
        ),
        (
            Fails(|| "the password is wrong".into()),
            (-32603, "internal error"),
        ),
    ] {
        let mut client = Client::of(&server().layer(error).build().unwrap()).await;
        client.call(1, "steps", json!({})).await;
        let error = &client.reply().await["error"];
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(says.0), &json!(says.1))
        );
    }
}

/// More than fits between the server and a client that does not read.
fn large() -> String {
    "x".repeat(200_000)
}

#[tokio::test(start_paused = true)]
async fn what_was_finished_before_the_service_failed_is_still_written() {
    let server = server().build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "echo", json!({ "text": large() })).await;
    sleep(Duration::from_secs(1)).await;
    server.fail(ServiceDown::new("no database"));
    tokio::task::yield_now().await;
    let (rest, served) = client.close().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(text(&rest[0]).len(), large().len());
    assert!(matches!(served, Err(ServeError::Down(_))), "{served:?}");
}

/// Covers T09.
#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_cannot_keep_the_server() {
    let server = server().flush(Duration::from_secs(3)).build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "echo", json!({ "text": large() })).await;
    sleep(Duration::from_secs(1)).await;
    let begin = Instant::now();
    let Client {
        receiver: _unread,
        sender,
        server,
    } = client;
    drop(sender);
    server.await.unwrap().unwrap();
    assert_eq!(begin.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_more_than_a_shutdown() {
    let server = server().grace(Duration::from_secs(60)).build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "sleep", json!({ "ms": 10_000 })).await;
    client.ask(2, "ping", json!({})).await;
    client.reply().await;
    server.shut_down();
    sleep(Duration::from_secs(1)).await;
    server.fail(ServiceDown::new("no database"));
    let begin = Instant::now();
    server.shut_down();
    let served = client.server.await.unwrap();
    assert!(matches!(served, Err(ServeError::Down(_))), "{served:?}");
    assert_eq!(begin.elapsed().as_secs(), 0);
    // Nor is anybody served afterwards.
    let (_client, theirs) = pair();
    assert!(matches!(
        server.serve(theirs).await,
        Err(ServeError::Down(_))
    ));
}

/// Tools that wait until they are told to go on.
#[derive(Tools)]
enum Gated {
    /// Report a hundred steps without a pause.
    Burst,
    /// End.
    Finish,
    /// The service can do no more.
    Fail,
}

impl RunTools<Arc<Notify>> for Gated {
    async fn run(self, cx: &Context<Arc<Notify>>) -> Result<impl IntoContent, ToolError> {
        cx.state().notified().await;
        match self {
            Self::Burst => (1..=100).for_each(|step| cx.progress(step.into(), None)),
            Self::Finish => {}
            Self::Fail => return Err(ServiceDown::new("failed").into()),
        }
        Ok("done")
    }
}

/// A client whose calls of these tools have begun, and what lets them go on.
async fn gated(
    grace: Duration,
    tools: &[&str],
) -> (ServerHandle<Arc<Notify>>, Client, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let server = Server::with_state("x", "1", go_on.clone())
        .tools::<Gated>()
        .grace(grace)
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    for (id, tool) in (1..).zip(tools) {
        client.call(id, tool, json!({})).await;
    }
    client.ask(99, "ping", json!({})).await;
    assert_eq!(client.reply().await["id"], 99);
    tokio::task::yield_now().await;
    (server, client, go_on)
}

#[tokio::test(start_paused = true)]
async fn reports_and_requests_are_taken_in_turn() {
    let (_server, mut client, go_on) = gated(Duration::ZERO, &["burst"]).await;
    go_on.notify_waiters();
    for id in 100..200 {
        client.ask(id, "ping", json!({})).await;
    }
    let mut reports = 0;
    for _ in 0..20 {
        let message = client.receive().await.unwrap();
        reports += usize::from(message.get("method").is_some());
    }
    assert!((5..=15).contains(&reports), "{reports} of 20 are reports");
}

/// Covers T09.
#[tokio::test(start_paused = true)]
async fn what_is_finished_when_the_input_ends_is_answered() {
    // Whose turn it is depends on what came last: a message, or the end of a call.
    for last in ["ping", "tools/call"] {
        let (_server, mut client, go_on) = gated(Duration::ZERO, &["finish"]).await;
        client.ask(2, last, json!({ "name": "unknown" })).await;
        assert_eq!(client.reply().await["id"], 2);
        go_on.notify_waiters();
        let (rest, served) = client.close().await;
        served.unwrap();
        assert_eq!(rest.iter().map(text).collect::<Vec<_>>(), ["done"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_finished_when_the_server_is_shut_down_is_answered() {
    let (server, client, go_on) = gated(Duration::ZERO, &["finish"]).await;
    go_on.notify_waiters();
    server.shut_down();
    let (rest, served) = client.close().await;
    served.unwrap();
    assert_eq!(rest.iter().map(text).collect::<Vec<_>>(), ["done"]);

    // Even if the next one to end says that nothing works any more.
    let (server, client, go_on) = gated(Duration::ZERO, &["finish", "fail"]).await;
    go_on.notify_waiters();
    server.shut_down();
    let (rest, served) = client.close().await;
    assert!(matches!(served, Err(ServeError::Down(_))), "{served:?}");
    assert_eq!(rest.iter().map(text).collect::<Vec<_>>(), ["done"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_finished_as_the_grace_ends_is_answered() {
    let server = server().grace(Duration::from_secs(1)).build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "sleep", json!({ "ms": 1000 })).await;
    client.ask(2, "ping", json!({})).await;
    client.reply().await;
    tokio::task::yield_now().await;
    let (rest, served) = client.close().await;
    served.unwrap();
    assert_eq!(rest.iter().map(text).collect::<Vec<_>>(), ["slept"]);
}

/// Covers PG03, TL02, B-133, B-135.
#[tokio::test(start_paused = true)]
async fn a_list_has_one_page() {
    let mut client = Client::of(&server().build().unwrap()).await;
    client.ask(1, "tools/list", json!({})).await;
    let first = client.reply().await;
    let names = first["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = names
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "echo",
            "sleep",
            "steps",
            "chatter",
            "boom",
            "unwritable",
            "die",
            "refuse"
        ]
    );
    client.ask(2, "tools/list", json!({})).await;
    assert_eq!(client.reply().await["result"], first["result"]);
    client
        .ask(3, "tools/list", json!({ "cursor": "garbage" }))
        .await;
    assert_eq!(client.reply().await["error"]["code"], -32602);
}

/// A tool made by hand, with whatever definition.
struct ByHand {
    name: &'static str,
    schema: Value,
}

#[mcp_server::async_trait]
impl mcp_server::Tool<()> for ByHand {
    fn definition(&self) -> mcp_server::types::Tool {
        mcp_server::types::Tool::new(self.name, self.schema.clone())
    }

    async fn call(
        &self,
        arguments: mcp_server::RawJson,
        _: Context,
    ) -> Result<mcp_server::types::CallToolResult, ToolError> {
        Ok(arguments.to_string().into_content()?)
    }
}

/// Covers TL03, TL04, JS03, B-283, B-287.
#[test]
fn what_cannot_work_is_refused_when_the_server_is_built() {
    let by_hand = |name, schema| Server::new("x", "1").dyn_tool(Arc::new(ByHand { name, schema }));
    let object = || json!({ "type": "object" });
    let long = "x".repeat(129).leak();
    for (server, says) in [
        (
            Server::new("x", "1").max_in_flight(0),
            "the limit `max_in_flight` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").max_in_flight_per_connection(0),
            "the limit `max_in_flight_per_connection` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1")
                .max_in_flight(2)
                .max_in_flight_per_connection(3),
            "`max_in_flight_per_connection` is 3, which is more than the 2 of `max_in_flight` for the whole server",
        ),
        (
            Server::new("x", "1").versions([]),
            "the limit `versions` is zero",
        ),
        (
            Server::new("x", "1").in_flight_bytes(0),
            "the limit `in_flight_bytes` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").output_bytes(0),
            "the limit `output_bytes` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").flush(Duration::ZERO),
            "the limit `flush` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").limits(|limits| limits.batch = 0),
            "the limit `limits.batch` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").limits(|limits| limits.listens = 0),
            "the limit `limits.listens` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").limits(|limits| limits.subscriptions = 0),
            "the limit `limits.subscriptions` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").limits(|limits| limits.asks = 0),
            "the limit `limits.asks` is zero, which lets nothing through",
        ),
        (
            Server::new("x", "1").limits(|limits| limits.ask = Duration::ZERO),
            "the limit `limits.ask` is zero, which lets nothing through",
        ),
        (
            by_hand("New Tool", object()),
            "the tool name \"New Tool\" is not",
        ),
        (by_hand("", object()), "the tool name \"\" is not"),
        (by_hand(long, object()), "is not 1 to 128 of"),
        (
            by_hand("x", object()).dyn_tool(Arc::new(ByHand {
                name: "x",
                schema: object(),
            })),
            "two tools are named \"x\": rename one of them, by `#[tool(name = \"…\")]` if it is derived",
        ),
        (
            by_hand("x", json!({ "type": "string" })),
            "the input schema of the tool \"x\"",
        ),
        (
            by_hand("x", json!(null)),
            "the input schema of the tool \"x\"",
        ),
        (
            by_hand("x", json!({ "oneOf": [] })),
            "the input schema of the tool \"x\"",
        ),
    ] {
        let error = server.build().expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(
        by_hand("x", object())
            .dyn_tool(Arc::new(ByHand {
                name: "X",
                schema: object()
            }))
            .build()
            .is_ok()
    );
    assert!(Server::new("x", "1").grace(Duration::ZERO).build().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_down_ends_all_connections() {
    let server = server().build().unwrap();
    let mut one = Client::of(&server).await;
    let other = Client::of(&server).await;
    one.call(1, "die", json!({})).await;
    assert!(matches!(
        one.server.await.unwrap(),
        Err(ServeError::Down(_))
    ));
    let ended = tokio::time::timeout(Duration::from_secs(10), other.server).await;
    assert!(matches!(
        ended.expect("the other connection ends, too").unwrap(),
        Err(ServeError::Down(_))
    ));
}

/// Covers B-079.
#[tokio::test(start_paused = true)]
async fn a_writer_with_a_buffer_is_flushed_to_the_end() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, duplex};
    let (near, far_reader) = duplex(64 << 10);
    let (far_writer, mut out) = duplex(64);
    let transport = mcp_transport_stdio::Framed::new(far_reader, BufWriter::new(far_writer));
    let server = server().build().unwrap();
    tokio::spawn(async move { server.serve(transport).await });
    let mut near = near;
    near.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such/method/at/all/and/a/long/name/so/that/the/reply/is/longer/than/64/bytes\"}\n").await.unwrap();
    let mut got = Vec::new();
    while !got.ends_with(b"\n") {
        let mut byte = [0; 16];
        let n = tokio::time::timeout(Duration::from_secs(10), out.read(&mut byte))
            .await
            .unwrap_or_else(|_| panic!("only got {}", String::from_utf8_lossy(&got)))
            .unwrap();
        assert!(n > 0, "ended after {}", String::from_utf8_lossy(&got));
        got.extend_from_slice(&byte[..n]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_grace_may_be_endless() {
    let server = server().grace(Duration::MAX).build().unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "sleep", json!({ "ms": 1000 })).await;
    client.ask(2, "ping", json!({})).await;
    client.reply().await;
    let (rest, served) = client.close().await;
    served.unwrap();
    assert_eq!(rest.len(), 1);
}

/// Work until the call is over.
#[derive(Deserialize, JsonSchema, Tool)]
struct Until {}
impl RunBlocking<()> for Until {
    fn run(self, cx: &Context) -> Result<String, ToolError> {
        while !cx.is_cancelled() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok("x".into())
    }
}

#[tokio::test]
async fn who_works_on_after_a_timeout_hears_of_it() {
    let server = Server::new("x", "1")
        .blocking_tool::<Until>()
        .layer(TimeoutLayer::new(Duration::from_millis(100)))
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "until", json!({})).await;
    assert_eq!(
        client.reply().await["error"]["message"],
        "the call timed out"
    );
    let begin = Instant::now();
    while server.in_flight() > 0 {
        assert!(
            begin.elapsed() < Duration::from_secs(3),
            "nobody told the thread"
        );
        sleep(Duration::from_millis(5)).await;
    }
}

#[derive(Clone)]
struct Twice<S>(S);
impl<S> Service<Attempt> for Twice<S>
where
    S: Service<Attempt, Response = Outcome> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send,
{
    type Response = Outcome;
    type Error = S::Error;
    type Future =
        std::pin::Pin<Box<dyn std::future::Future<Output = Result<Outcome, S::Error>> + Send>>;
    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }
    fn call(&mut self, attempt: Attempt) -> Self::Future {
        let mut inner = self.0.clone();
        Box::pin(async move {
            let _ = inner.call(attempt.clone()).await;
            inner.call(attempt).await
        })
    }
}

#[tokio::test]
async fn a_call_that_is_tried_again_still_holds_its_slot() {
    let (open, gate) = std::sync::mpsc::channel();
    let server = Server::with_state("x", "1", Gate(gate.into()))
        .blocking_tool::<Hold>()
        .layer(tower::layer::layer_fn(Twice))
        .build()
        .unwrap();
    let mut client = Client::of(&server).await;
    client.call(1, "hold", json!({})).await;
    client.ask(2, "ping", json!({})).await;
    client.reply().await;
    assert_eq!(server.in_flight(), 1);
    open.send(()).unwrap();
    sleep(Duration::from_millis(200)).await;
    let second = server.in_flight();
    open.send(()).unwrap();
    assert_eq!(text(&client.reply().await), "held");
    assert_eq!(second, 1, "the second try holds no slot");
}

/// Covers SE06.
#[tokio::test(start_paused = true)]
async fn all_that_a_call_keeps_in_memory_is_counted() {
    let server = server().in_flight_bytes(1 << 20).build().unwrap();
    let mut client = Client::of(&server).await;
    let pad = "x".repeat(2 << 20);
    let around = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "z": pad,
        "params": { "name": "echo", "arguments": { "text": "x" } },
    });
    let in_id = json!({
        "jsonrpc": "2.0", "id": pad, "method": "tools/call",
        "params": { "name": "echo", "arguments": { "text": "x" } },
    });
    for message in [around, in_id] {
        client.send(message).await;
        let reply = client.reply().await;
        assert_eq!(reply["error"]["data"]["unit"], "bytes");
        assert_eq!(reply["error"]["data"]["limit"], 1 << 20);
    }
    client.call(2, "echo", json!({ "text": "small" })).await;
    assert_eq!(text(&client.reply().await), "small");
}
