//! What holds in whatever order threads and tasks get their turn.
//!
//! Part of a copy of the server crate, in which locks, atomics, threads, tasks and time are those
//! of a scheduler that chooses at random, run after run: wherever one of them is used, anybody
//! else may go on. Not seen are reorderings that weaker atomics would allow (all are taken to be
//! sequentially consistent) and what goes on within tokio's channels, which are used as they are.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use mcp_protocol::connection::{Change, Output, ServerConfig, ServerConnection};
use mcp_protocol::transport::{Receiver, Sender, Transport, TransportError};
use mcp_protocol::types;
use mcp_protocol::{Encode, ErrorCode, Frame, Incoming, RawJson, RequestId};
use serde_json::{Value, json};
use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::context::Call;
use crate::events::{Event, Events};
use crate::limit::InFlight;
use crate::{Context, Server, ServerHandle, ServiceDown, ToolError, tool_fn};

/// Runs of each test, unless `RUNS` says otherwise.
fn runs() -> usize {
    let runs = std::env::var("RUNS").ok();
    runs.and_then(|runs| runs.parse().ok()).unwrap_or(2_000)
}

/// Tries one order after another: at random, and with few changes of turn, which other bugs need.
fn whatever_the_order(test: impl Fn() + Copy + Send + Sync + 'static) {
    shuttle::check_random(test, runs());
    shuttle::check_pct(test, runs(), 3);
}

#[test]
fn no_gauge_rises_above_its_limit_or_stays_up() {
    whatever_the_order(|| {
        let server = InFlight::new(2);
        let share = || server.share(2, 100, ErrorCode::SERVER_BUSY);
        let (one, other) = (share(), share());
        let callers = [
            (one.clone(), 60),
            (one.clone(), 60),
            (one.clone(), 1),
            (other.clone(), 90),
        ];
        let callers = callers.map(|(share, bytes)| {
            let server = server.clone();
            thread::spawn(move || {
                let slot = share.try_acquire(bytes).ok();
                assert!(server.len() <= 2, "too many are in flight");
                drop(slot);
            })
        });
        callers
            .into_iter()
            .for_each(|caller| caller.join().expect("it does not panic"));
        assert_eq!(server.len(), 0);
        // All of it can be had again.
        for share in [&one, &other] {
            let slots = [(); 2].map(|()| share.try_acquire(50).ok().expect("room"));
            assert_eq!(server.len(), slots.len());
        }
    });
}

#[test]
fn of_two_callers_one_is_let_in() {
    whatever_the_order(|| {
        let share = InFlight::new(1).share(1, 100, ErrorCode::SERVER_BUSY);
        let other = share.clone();
        let caller = thread::spawn(move || other.try_acquire(1).ok());
        let mine = share.try_acquire(1).ok();
        let theirs = caller.join().expect("it does not panic");
        assert!(mine.is_some() != theirs.is_some(), "neither or both");
    });
}

#[test]
fn no_event_is_left_in_the_queue_with_nobody_woken() {
    whatever_the_order(|| {
        let events = Events::default();
        let pushers = [(); 2].map(|()| {
            let events = events.clone();
            thread::spawn(move || {
                events.push(Event::Down(ServiceDown::new("x")));
                assert!(events.try_push(Event::Down(ServiceDown::new("x"))).is_ok());
            })
        });
        // It would wait for ever, which the scheduler takes for a deadlock.
        for _ in 0..4 {
            block_on(poll_fn(|cx| events.poll_next(cx)));
        }
        assert!(events.is_empty());
        pushers
            .into_iter()
            .for_each(|pusher| pusher.join().expect("it does not panic"));
    });
}

#[test]
fn the_newest_report_is_told_although_it_found_no_room() {
    whatever_the_order(|| {
        let events = Events::default();
        while events.try_push(Event::Changed(Change::Tools)).is_ok() {}
        drop(block_on(poll_fn(|cx| events.poll_next(cx))));
        let cx = Context {
            state: Arc::new(()),
            call: Arc::new(call(events.clone())),
        };
        // There is room for one: who comes second keeps what it has to tell.
        let reporters = [1.0, 2.0].map(|step| {
            let cx = cx.clone();
            thread::spawn(move || cx.progress(step, None))
        });
        reporters
            .into_iter()
            .for_each(|reporter| reporter.join().expect("it does not panic"));
        events.push(cx.call.finish(Err(ServiceDown::new("x"))));
        let told = events.take_all().into_iter();
        let told = told.filter(|event| matches!(event, Event::Progress(..)));
        assert_eq!(told.count(), 2, "a report is lost");
    });
}

/// A call as a connection starts it, which tells these events.
fn call(events: Events) -> Call {
    let (mut client, Pipe(mut input, _)) = Client::new();
    client.request(
        CALL,
        "tools/call",
        json!({ "name": "work", "_meta": { "progressToken": CALL } }),
    );
    let frame = input.try_recv().expect("it was sent");
    let mut config = ServerConfig::new(types::Implementation::new("scheduled", "1.0.0"));
    config.capabilities.tools = Some(types::ToolsCapability::new());
    let mut connection = ServerConnection::new(config.into());
    connection.receive(Incoming::parse(&frame));
    match connection.poll() {
        Some(Output::Start {
            call,
            request,
            caller,
            ..
        }) => Call::new(call, request, caller, 0, events),
        _ => panic!("a call is started"),
    }
}

/// What the tools of these tests do.
#[derive(Clone, Copy, Debug)]
enum Work {
    Gives,
    Yields,
    Reports,
    Blocks,
    Panics,
    NeverEnds,
}

const CALL: i64 = 7;
const NEXT: i64 = 8;
const PING: i64 = 9;

/// A server, and how many of its threads are at work.
fn server(work: Work) -> (ServerHandle, Arc<AtomicUsize>) {
    let threads = Arc::new(AtomicUsize::new(0));
    let counted = threads.clone();
    let definition = types::Tool::new("work", json!({ "type": "object" }));
    let tool = tool_fn(definition, move |_: RawJson, cx: Context| {
        let threads = counted.clone();
        async move {
            match work {
                Work::Gives => {}
                Work::Yields => shuttle::future::yield_now().await,
                Work::Reports => report(&cx).await,
                Work::Blocks => {
                    threads.fetch_add(1, Ordering::SeqCst);
                    crate::blocking::run(cx, move |cx| {
                        cx.progress(1.0, None);
                        threads.fetch_sub(1, Ordering::SeqCst);
                        Ok::<_, ToolError>(())
                    })
                    .await?;
                }
                Work::Panics => std::panic::resume_unwind(Box::new("as it should")),
                Work::NeverEnds => pending().await,
            }
            Ok::<_, ToolError>("done")
        }
    });
    let server = Server::new("scheduled", "1.0.0").dyn_tool(Arc::new(tool));
    let server = server.max_in_flight(1).build();
    (server.expect("it can be built"), threads)
}

/// Reports from two threads at once, and from the call itself after them.
async fn report(cx: &Context) {
    let reporters = [1.0, 2.0].map(|step| {
        let cx = cx.clone();
        thread::spawn(move || cx.progress(step, None))
    });
    shuttle::future::yield_now().await;
    cx.progress(3.0, None);
    reporters
        .into_iter()
        .for_each(|reporter| reporter.join().expect("it does not panic"));
}

/// Calls, and does something else at any moment, which is to end the connection; then there is one answer or a cancellation, and no
/// slot is taken.
fn any_moment(work: Work, what: fn(&ServerHandle, &mut Client), after: fn(&Ended)) {
    whatever_the_order(move || {
        let (server, threads) = server(work);
        let (mut client, transport) = Client::new();
        let serving = {
            let server = server.clone();
            shuttle::future::spawn(async move { server.serve(transport).await })
        };
        client.request(
            CALL,
            "tools/call",
            json!({ "name": "work", "_meta": { "progressToken": CALL } }),
        );
        let meddler = {
            let server = server.clone();
            thread::spawn(move || {
                what(&server, &mut client);
                client
            })
        };
        let client = meddler.join().expect("it does not panic");
        let served = block_on(serving).expect("serving is not dropped");
        // A thread that blocks may still be about to give its slot back.
        while server.in_flight() > 0 {
            thread::yield_now();
        }
        let at_work = threads.load(Ordering::SeqCst);
        assert_eq!(at_work, 0, "a thread has lost its slot");
        let stats = server.stats();
        let heard = client.heard();
        let replies = |id| heard.iter().filter(move |m| m["id"] == id).count();
        let answered = heard
            .iter()
            .filter(|m| m["result"].get("content").is_some() || m["error"]["code"] == -32603)
            .count();
        assert_eq!(
            stats.started,
            stats.cancelled + answered as u64,
            "{stats:?} {heard:?}"
        );
        assert!(replies(CALL) <= 1 && replies(NEXT) <= 1, "{heard:?}");
        assert_eq!(stats.connections, 0);
        assert!(served.is_ok(), "{served:?}");
        silent_after(&heard, CALL);
        after(&Ended { heard });
    });
}

/// What has been heard in the end.
struct Ended {
    heard: Vec<Value>,
}

impl Ended {
    fn reply(&self, id: i64) -> Option<&Value> {
        self.heard.iter().find(|message| message["id"] == id)
    }
}

/// Progress rises, and none comes after the answer.
fn silent_after(heard: &[Value], id: i64) {
    let end = heard
        .iter()
        .position(|message| message["id"] == id)
        .unwrap_or(heard.len());
    let steps = heard
        .iter()
        .enumerate()
        .filter(|(_, message)| message["params"]["progressToken"] == id);
    let mut last = 0.0;
    for (at, message) in steps {
        let step = message["params"]["progress"].as_f64().expect("a number");
        assert!(at < end && step > last, "{heard:?}");
        last = step;
    }
}

const EVERY: [Work; 6] = [
    Work::Gives,
    Work::Yields,
    Work::Reports,
    Work::Blocks,
    Work::Panics,
    Work::NeverEnds,
];

#[test]
fn a_call_is_cancelled_at_any_moment() {
    fn cancel(_: &ServerHandle, client: &mut Client) {
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": CALL } }));
        client.request(PING, "ping", json!({}));
        client.input = None;
    }
    EVERY
        .into_iter()
        .for_each(|work| any_moment(work, cancel, |ended| assert!(ended.reply(PING).is_some())));
}

#[test]
fn a_server_is_shut_down_at_any_moment() {
    EVERY
        .into_iter()
        .for_each(|work| any_moment(work, |server, _| server.shut_down(), |_| {}));
}

#[test]
fn a_server_is_shut_down_twice_while_the_input_ends() {
    fn end(server: &ServerHandle, client: &mut Client) {
        let other = server.clone();
        let other = thread::spawn(move || other.shut_down());
        client.input = None;
        server.shut_down();
        other.join().expect("it does not panic");
    }
    EVERY
        .into_iter()
        .for_each(|work| any_moment(work, end, |_| {}));
}

#[test]
fn who_has_read_a_reply_is_not_refused_for_its_slot() {
    fn call_again(_: &ServerHandle, client: &mut Client) {
        client.wait_for(CALL);
        client.request(NEXT, "tools/call", json!({ "name": "work" }));
        client.wait_for(NEXT);
        client.input = None;
    }
    let served = |ended: &Ended| {
        let reply = ended.reply(NEXT).expect("it has waited for it");
        assert_ne!(reply["error"]["code"], -31503, "{reply}");
    };
    EVERY[..5]
        .iter()
        .for_each(|work| any_moment(*work, call_again, served));
}

/// The other end of a connection.
struct Client {
    input: Option<UnboundedSender<Frame>>,
    output: UnboundedReceiver<Frame>,
    heard: Vec<Value>,
}

impl Client {
    fn new() -> (Self, Pipe) {
        let (input, receiver) = unbounded_channel();
        let (sender, output) = unbounded_channel();
        let client = Self {
            input: Some(input),
            output,
            heard: Vec::new(),
        };
        (client, Pipe(receiver, sender))
    }

    fn send(&mut self, message: &Value) {
        if let Some(input) = &self.input {
            let _ = input.send(Frame::from(message.to_string()));
        }
    }

    fn request(&mut self, id: i64, method: &str, mut params: Value) {
        // `ping` is of the older revisions only, in which nobody has to shake hands before.
        if method != "ping" {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn wait_for(&mut self, id: i64) {
        while !self.heard.iter().any(|message| message["id"] == id) {
            let frame = block_on(poll_fn(|cx| self.output.poll_recv(cx)));
            let frame = frame.expect("the server is there");
            self.heard
                .push(serde_json::from_slice(&frame).expect("JSON"));
        }
    }

    /// All that has come.
    fn heard(mut self) -> Vec<Value> {
        while let Ok(frame) = self.output.try_recv() {
            self.heard
                .push(serde_json::from_slice(&frame).expect("JSON"));
        }
        self.heard
    }
}

/// The server's end of it.
struct Pipe(UnboundedReceiver<Frame>, UnboundedSender<Frame>);
struct Inlet(UnboundedReceiver<Frame>);
struct Outlet(UnboundedSender<Frame>, Vec<Frame>);

impl Transport for Pipe {
    type Receiver = Inlet;
    type Sender = Outlet;

    fn split(self) -> (Inlet, Outlet) {
        (Inlet(self.0), Outlet(self.1, Vec::new()))
    }
}

impl Receiver for Inlet {
    fn poll_receive(
        &mut self,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame, TransportError>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}

impl Sender for Outlet {
    fn send(&mut self, message: &dyn Encode, _: Option<&RequestId>) {
        let mut text = Vec::new();
        message.encode(&mut text);
        self.1.push(text.into());
    }

    fn poll_flush(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), TransportError>> {
        self.1.drain(..).for_each(|frame| drop(self.0.send(frame)));
        Poll::Ready(Ok(()))
    }

    fn queued(&self) -> usize {
        self.1.iter().map(|frame| frame.len()).sum()
    }
}

/// Tasks, as the driver knows them.
pub(crate) mod tasks {
    use std::any::Any;

    pub(crate) use shuttle::future::{AbortHandle, JoinError, JoinHandle, spawn};

    /// A panic of a task is one of the whole run, so it is never given to who waits.
    pub(crate) trait TryIntoPanic: Sized {
        fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
            Err(self)
        }
    }

    impl TryIntoPanic for JoinError {}
}

/// Time, which passes whenever the scheduler lets it.
pub(crate) mod time {
    use std::cell::Cell;
    use std::future::{Future, poll_fn};
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use shuttle::future::{JoinHandle, spawn};

    thread_local! {
        /// How far the clock has been put forward. All of a run is on one thread.
        static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static BEGUN: std::time::Instant = std::time::Instant::now();
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Instant(std::time::Instant);

    impl Instant {
        pub(crate) fn now() -> Self {
            Self(BEGUN.with(|begun| *begun) + PASSED.get())
        }

        pub(crate) fn elapsed(self) -> Duration {
            Self::now().0.duration_since(self.0)
        }

        pub(crate) fn from_std(instant: std::time::Instant) -> Self {
            Self(instant)
        }

        pub(crate) fn into_std(self) -> std::time::Instant {
            self.0
        }
    }

    pub(crate) struct Sleep {
        until: Instant,
        passing: Option<JoinHandle<()>>,
    }

    pub(crate) fn sleep_until(until: Instant) -> Sleep {
        Sleep {
            until,
            passing: None,
        }
    }

    impl Future for Sleep {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let until = self.until;
            if until.0 <= Instant::now().0 {
                return Poll::Ready(());
            }
            let passing = self.passing.get_or_insert_with(|| {
                spawn(async move {
                    let by = until.0.saturating_duration_since(Instant::now().0);
                    PASSED.set(PASSED.get() + by);
                })
            });
            Pin::new(passing).poll(cx).map(drop)
        }
    }

    pub(crate) async fn timeout<F: Future>(after: Duration, future: F) -> Result<F::Output, ()> {
        let mut future = std::pin::pin!(future);
        let mut sleep = sleep_until(Instant(Instant::now().0 + after));
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => Pin::new(&mut sleep).poll(cx).map(Err),
        })
        .await
    }
}
