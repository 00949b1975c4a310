//! Plays a case, and holds what came of it against what had to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_server::{ServeError, ServerHandle};
use mcp_transport_stdio::Framed;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, sleep, sleep_until};

use crate::case::{Case, Era, Event, GRACE, LET_GO, Layering, Pace, Told};
use crate::server::{Controls, Pipe, server};

/// The call that the case is about, and the one that comes after it.
const CALL: u64 = 7;
const NEXT: u64 = 8;
/// Calls that make the tool known as a quick one.
const QUICK_CALLS: u64 = 12;
/// What cancelled calls may still be told of is before the answer to this.
const FENCE: &str = "fence";

const STILL_OPEN: i64 = -32600;
const BUSY: i64 = -31503;

/// A while in which everything happens that happens by itself.
const WHILE: Duration = Duration::from_millis(1);
/// When whatever ends by itself has ended.
const LATE: Duration = Duration::from_millis(600);

pub(crate) type Check = Result<(), String>;

pub(crate) async fn play(case: Case) -> Check {
    let mut play = Play::open(case).await;
    play.before().await;
    let began = Instant::now();
    play.call().await;
    sleep(WHILE).await;
    let moment = Instant::now();
    play.during().await;
    sleep_until(began + LET_GO).await;
    play.let_go().await?;
    sleep_until(began + LATE).await;
    play.after().await?;
    let closed = Instant::now();
    let (ended, served) = play.close().await;
    play.check_end(began, moment, closed, ended, &served)?;
    play.check_answers()?;
    play.check_counts(&served)
}

struct Play {
    case: Case,
    controls: Arc<Controls>,
    server: ServerHandle<Arc<Controls>>,
    /// What is sent to the server, until the input ends.
    to: Option<DuplexStream>,
    broken: Arc<AtomicBool>,
    heard: Arc<Mutex<Vec<Value>>>,
    serving: JoinHandle<(Instant, Result<(), ServeError>)>,
}

/// What the case does, in its order.
impl Play {
    async fn open(case: Case) -> Self {
        let controls = Controls::new(case);
        let server = server(&controls);
        let broken = Arc::new(AtomicBool::new(false));
        let (to, input) = duplex(1 << 16);
        let (output, from) = duplex(1 << 16);
        let pipe = Pipe {
            to: output,
            broken: broken.clone(),
        };
        let served = server.clone();
        let serving = async move {
            let ended = served.serve(Framed::new(input, pipe)).await;
            (Instant::now(), ended)
        };
        let heard = Arc::default();
        tokio::spawn(listen(from, Arc::clone(&heard)));
        let mut play = Self {
            case,
            controls,
            server,
            to: Some(to),
            broken,
            heard,
            serving: tokio::spawn(serving),
        };
        if case.era == Era::Legacy {
            let hello = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            play.send(&play.request(json!("hello"), "initialize", hello))
                .await;
        }
        if case.pace == Pace::Quick {
            for id in 100..100 + QUICK_CALLS {
                play.send(&play.work(id)).await;
                let answered = until(|| !play.replies(id).is_empty()).await;
                answered.expect("everything works before it is armed");
            }
        }
        sleep(WHILE).await;
        play
    }

    async fn before(&mut self) {
        match self.case.event {
            Event::CancelBefore => self.send(&cancel()).await,
            Event::BrokenPipeBefore => self.broken.store(true, Ordering::Relaxed),
            _ => {}
        }
        sleep(WHILE).await;
    }

    async fn call(&mut self) {
        self.controls.armed.store(true, Ordering::Relaxed);
        let call = self.work(CALL);
        match self.case.event {
            Event::CancelWith => self.send(&(call + &cancel())).await,
            Event::Duplicate => self.send(&call.repeat(2)).await,
            _ => self.send(&call).await,
        }
    }

    async fn during(&mut self) {
        match self.case.event {
            Event::CancelDuring => self.send(&cancel()).await,
            Event::EndOfInput => self.to = None,
            Event::ShutDown => self.server.shut_down(),
            Event::BrokenPipe => {
                self.broken.store(true, Ordering::Relaxed);
                self.fence().await;
            }
            _ => {}
        }
        if self.case.cancels() && self.case.event != Event::CancelAfter {
            self.fence().await;
        }
    }

    /// A thread is not on the clock, so this waits for what it does.
    async fn let_go(&mut self) -> Check {
        if !self.case.blocks() {
            return Ok(());
        }
        // A call that was cancelled at once may never have begun.
        let never_began = self.case.event == Event::CancelWith;
        if !never_began && self.server.in_flight() != 1 {
            return Err("a handler that blocks has lost its slot".into());
        }
        self.controls.let_go();
        let answer = self.case.answer().filter(|(at, _)| *at == LET_GO);
        let told = answer.is_some() && !self.case.cancels();
        until(|| {
            let told_or_over = !self.replies(CALL).is_empty() || self.serving.is_finished();
            self.server.in_flight() == 0 && (!told || told_or_over)
        })
        .await
        .map_err(|_| "a handler that blocked keeps its slot".into())
    }

    /// The call is over, or never will be; either way the next one is dealt with as it should.
    async fn after(&mut self) -> Check {
        if self.case.event == Event::CancelAfter {
            self.send(&cancel()).await;
            self.fence().await;
        }
        sleep(WHILE).await;
        self.controls.armed.store(false, Ordering::Relaxed);
        let is_ending = matches!(self.case.event, Event::EndOfInput | Event::ShutDown);
        if is_ending || self.serving.is_finished() || self.broken.load(Ordering::Relaxed) {
            return Ok(());
        }
        let over = self.case.answer().is_some() || self.case.cancels();
        self.send(&self.work(NEXT)).await;
        // The thread of a tool that blocks is waited for as such.
        let answered = until(|| !self.replies(NEXT).is_empty()).await;
        answered.map_err(|_| "the next call is not answered")?;
        let told = self.replies(NEXT);
        match (&told[..], over) {
            ([Told::Result], true) | ([Told::Error(BUSY)], false) => Ok(()),
            _ => Err(format!("the next call was told {told:?}")),
        }
    }

    /// Ends the input if it has not ended yet, and waits for the end.
    async fn close(&mut self) -> (Instant, Result<(), ServeError>) {
        self.to = None;
        let served = (&mut self.serving).await.expect("serving does not panic");
        sleep(2 * GRACE).await;
        served
    }
}

/// What came of it.
impl Play {
    fn check_end(
        &self,
        began: Instant,
        moment: Instant,
        closed: Instant,
        ended: Instant,
        served: &Result<(), ServeError>,
    ) -> Check {
        let answered = self.case.answer().map(|(at, _)| began + at);
        let is_down = matches!(served, Err(ServeError::Down(_)));
        let ends_after = |event: Instant| match answered {
            Some(at) => at.max(event),
            None => event + GRACE,
        };
        let expected = match (self.case.layering, self.case.event) {
            // It may be cancelled before it finds that out.
            (Layering::Down, Event::CancelWith) if !is_down => closed,
            (Layering::Down, _) => began,
            (_, Event::EndOfInput | Event::ShutDown) => ends_after(moment),
            (_, Event::BrokenPipe) => moment,
            (_, Event::BrokenPipeBefore) if self.case.reports() => began,
            (_, Event::BrokenPipeBefore) => {
                ends_after(if answered.is_some() { began } else { closed })
            }
            _ if self.case.cancels() => closed,
            _ => ends_after(closed),
        };
        let early = expected.saturating_duration_since(ended);
        let late = ended.saturating_duration_since(expected);
        if early.max(late) > 2 * WHILE {
            return Err(format!("ended {early:?} early, {late:?} late"));
        }
        let may_be_down = self.case.layering == Layering::Down;
        if served.is_err() && !(may_be_down && is_down) {
            return Err(format!("ended with {served:?}"));
        }
        Ok(())
    }

    fn check_answers(&self) -> Check {
        let case = self.case;
        let answer = case.answer().map(|(_, told)| told);
        let mut told = self.replies(CALL);
        let known = told.len();
        told.retain(|told| *told != Told::Error(STILL_OPEN));
        let still_open = known - told.len();
        let busy = told
            .iter()
            .filter(|told| **told == Told::Error(BUSY))
            .count();
        told.retain(|told| *told != Told::Error(BUSY));
        let at_once = case.answer().is_some_and(|(at, _)| at.is_zero());
        let right = match case.event {
            Event::CancelWith => told.len() <= usize::from(at_once),
            Event::CancelDuring => told.len() == usize::from(at_once),
            Event::BrokenPipe => told.len() == usize::from(at_once),
            Event::BrokenPipeBefore => told.is_empty(),
            Event::Duplicate if case.layering == Layering::Down => {
                told.is_empty() && still_open <= 1
            }
            // The second is taken if the first has ended; but its thread may not have.
            Event::Duplicate if at_once => {
                told.len() + still_open + busy == 2 && (busy == 0 || case.blocks())
            }
            Event::Duplicate => still_open == 1 && told.len() == usize::from(answer.is_some()),
            _ => told.len() == usize::from(answer.is_some()),
        };
        let duplicate = case.event == Event::Duplicate;
        if !right
            || !duplicate && still_open + busy > 0
            || told.iter().any(|told| Some(*told) != answer)
        {
            return Err(format!("told {:?}", self.replies(CALL)));
        }
        self.check_silence()
    }

    /// Nothing of the call is told after its answer, or after its cancellation.
    fn check_silence(&self) -> Check {
        let heard = self.heard.lock().unwrap();
        let is_end = |message: &Value| {
            let answers = message["id"] == CALL && told(message) != Told::Error(STILL_OPEN);
            answers || message["id"] == FENCE
        };
        let end = heard.iter().rposition(is_end);
        let after = heard.iter().skip(end.map_or(heard.len(), |end| end + 1));
        let mut of_call = after.filter(|message| message["params"]["progressToken"] == CALL);
        let late = of_call.next();
        late.map_or(Ok(()), |late| Err(format!("told too late: {late}")))
    }

    fn check_counts(&self, served: &Result<(), ServeError>) -> Check {
        let stats = self.server.stats();
        let heard = self.heard.lock().unwrap();
        let replies = heard.iter().filter(|message| message["id"].is_u64());
        let refused = |told: &Told| matches!(told, Told::Error(STILL_OPEN | BUSY));
        let answered = replies.map(told).filter(|told| !refused(told)).count();
        let answered = u64::try_from(answered).expect("there are few");
        let unread = matches!(self.case.event, Event::BrokenPipe | Event::BrokenPipeBefore);
        let lost = stats.started - stats.cancelled - answered;
        if stats.in_flight != 0
            || stats.connections != 0
            || lost > u64::from(unread && served.is_ok())
        {
            return Err(format!("{answered} were answered of {stats:?}"));
        }
        Ok(())
    }

    /// What a call was told.
    fn replies(&self, id: u64) -> Vec<Told> {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .filter(|message| message["id"] == id)
            .map(told)
            .collect()
    }
}

/// What the client sends.
impl Play {
    async fn send(&mut self, lines: &str) {
        if let Some(to) = &mut self.to {
            // A server that has ended reads no more.
            let _ = to.write_all(lines.as_bytes()).await;
        }
    }

    async fn fence(&mut self) {
        let method = match self.case.era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        self.send(&self.request(json!(FENCE), method, json!({})))
            .await;
        sleep(WHILE).await;
    }

    fn work(&self, id: u64) -> String {
        let params = json!({ "name": "work", "_meta": { "progressToken": id } });
        self.request(json!(id), "tools/call", params)
    }

    fn request(&self, id: Value, method: &str, mut params: Value) -> String {
        if self.case.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }
}

fn cancel() -> String {
    let params = json!({ "requestId": CALL });
    line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// Writes down what the server sends.
async fn listen(from: DuplexStream, heard: Arc<Mutex<Vec<Value>>>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message = serde_json::from_str(&line).expect("only JSON is sent");
        heard.lock().unwrap().push(message);
    }
}

fn told(reply: &Value) -> Told {
    match (&reply["error"]["code"], &reply["result"]["isError"]) {
        (Value::Null, Value::Bool(true)) => Told::Failed,
        (Value::Null, _) => Told::Result,
        (code, _) => Told::Error(code.as_i64().expect("a code is a number")),
    }
}

/// Waits in real time, for what threads do.
async fn until(mut is_so: impl FnMut() -> bool) -> Result<(), ()> {
    let begun = std::time::Instant::now();
    while !is_so() {
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(());
        }
        yield_now().await;
    }
    Ok(())
}
