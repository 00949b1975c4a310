//! What a handler has besides its arguments.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use mcp_protocol::connection::{Answer, CallId, Caller, LogMessage, Progress};
use mcp_protocol::types::{ClientCapabilities, LoggingLevel};
use mcp_protocol::{
    ClientRequest, ErrorObject, Extra, Method, ProtocolVersion, RawJson, RequestMeta,
    ServerRequest, ServerResult,
};
use serde::Serialize;
use tokio::sync::{Notify, oneshot};

use crate::attempt::{Need, Needs};
use crate::custom::object;
use crate::error::{Kind, ServiceDown, ToolError};
use crate::events::{Event, Events};
use crate::input::{
    Input, Inputs, Look, Unanswered, ends_with_no, leave_out_context, no_url, require,
};
use crate::key::{is_key, is_reserved};
use crate::limit::Slot;
use crate::named::Named;
use crate::rounds::Answers;
use crate::seal::digest;

/// What a handler has besides its arguments: the server's state, who is calling, and ways to
/// tell the caller how it goes.
///
/// Cheap to clone. Nothing of it waits, and all of it is inert once the call has ended.
///
/// ```
/// use mcp_server::prelude::*;
///
/// struct Shelf(Vec<String>);
///
/// /// Look for books.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// #[tool(read_only)]
/// struct Search {
///     /// A part of the title.
///     title: String,
/// }
///
/// impl Run<Shelf> for Search {
///     async fn run(self, cx: &Context<Shelf>) -> Result<String, ToolError> {
///         let books = &cx.state().0;
///         let mut found = Vec::new();
///         for (at, book) in books.iter().enumerate() {
///             // Sent only if the client has asked for it.
///             cx.progress(at as f64, Some(books.len() as f64));
///             if book.contains(&self.title) {
///                 found.push(book.as_str());
///             }
///         }
///         Ok(found.join("\n"))
///     }
/// }
///
/// let shelf = Shelf(vec!["Emma".to_owned()]);
/// let server = Server::with_state("library", "1.0.0", shelf).tool::<Search>();
/// # server.build()?;
/// # Ok::<(), BuildError>(())
/// ```
pub struct Context<S = ()> {
    pub(crate) state: Arc<S>,
    pub(crate) call: Arc<Call>,
}

impl<S> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self {
            state: self.state.clone(),
            call: self.call.clone(),
        }
    }
}

impl<S> Context<S> {
    /// The server's state.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Who is calling, and what the caller can do.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.call.caller
    }

    /// The `_meta` of the request: what foreign keys it has, and where it stands in a
    /// distributed trace.
    ///
    /// Clients of every revision may send it. It is what the client says, and nothing but its
    /// form has been checked.
    ///
    /// ```
    /// use mcp_server::prelude::*;
    ///
    /// # fn tenant(cx: &Context) -> Option<String> {
    /// let meta = cx.meta();
    /// let trace = meta.trace_context().map(|trace| trace.traceparent().to_owned());
    /// let tenant = meta.extra.get("com.acme/tenant")?.decode::<String>().ok();
    /// # assert!(trace.is_none());
    /// # tenant
    /// # }
    /// ```
    ///
    /// Spec: [`_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#meta).
    #[must_use]
    pub fn meta(&self) -> &RequestMeta {
        self.call.meta()
    }

    /// Adds a member to the `_meta` of the result, in place of one that has this name. An
    /// error has no `_meta`, so nothing is added to one.
    ///
    /// The name begins with a domain of yours, as `com.acme/took` does. One that the
    /// specification has reserved for itself (the second label before the slash is
    /// `modelcontextprotocol` or `mcp`) or that is no key of `_meta` is not added, nor is a value
    /// that cannot be JSON.
    pub fn add_meta(&self, name: &str, value: impl Serialize) {
        if !is_key(name) || is_reserved(name) {
            tracing::warn!(name, "a name in `_meta` is reserved, or is none");
            return;
        }
        match RawJson::encode(&value) {
            Ok(value) => self.call.unsent.get().meta.insert(name, value),
            Err(error) => tracing::warn!(name, %error, "a value in `_meta` cannot be JSON"),
        }
    }

    /// What was asked for under this name: it is there, or the attempt ends.
    ///
    /// Not `async`. If the answer is there, it is given; if not, the question is noted and an
    /// error returned that only the SDK can make, so that `?` ends the attempt. The user is
    /// asked, and the handler runs again from its beginning. *What stands before the last
    /// input runs once for each round: do what has an effect after it.*
    ///
    /// An answer belongs to its question: if the handler asks something else under the same
    /// name, the user is asked again.
    ///
    /// ```
    /// use mcp_server::input::{fields, Elicited};
    /// use mcp_server::types::RequestedSchema;
    /// use mcp_server::prelude::*;
    ///
    /// # fn delete(cx: &Context) -> Result<String, ToolError> {
    /// let sure = fields("Really delete everything?", RequestedSchema::new([] as [(String, types::StringSchema); 0]));
    /// match cx.input("sure", sure.answer())? {
    ///     Elicited::Accepted(_) => Ok("deleted".to_owned()),
    ///     Elicited::Declined | Elicited::Cancelled => Ok("left alone".to_owned()),
    /// }
    /// # }
    /// # use mcp_server::types;
    /// ```
    ///
    /// # Errors
    ///
    /// To be passed on with `?`: the answer is not there yet, the user said no, or the client
    /// has not declared that it can be asked.
    pub fn input<I: Input>(&self, name: &str, input: I) -> Result<I::Value, ToolError> {
        self.inputs(((name, input),)).map(|(value,)| value)
    }

    /// Several inputs in one round: `cx.inputs((("a", form(…)), ("b", roots())))?`.
    ///
    /// Each has a name of its own: two different ones of one name are an internal error. The
    /// first no that is not taken for an answer ends the call, whatever else has been asked.
    ///
    /// # Errors
    ///
    /// As [`input`](Self::input).
    pub fn inputs<I: Inputs>(&self, inputs: I) -> Result<I::Values, ToolError> {
        let mut looking = Looking {
            call: &self.call,
            needs: Named::default(),
            missing: ClientCapabilities::new(),
        };
        let values = inputs.look(&mut looking)?;
        values.ok_or_else(|| looking.end())
    }

    /// Tells the caller how much is done, of how much if that is known.
    ///
    /// Sent only if the caller asked to be told, and only if it is more than before. When the
    /// connection is busy, the newest report is kept for later and older ones are dropped.
    ///
    /// Spec: [progress](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress).
    pub fn progress(&self, progress: f64, total: Option<f64>) {
        self.report(Progress {
            progress,
            total,
            message: None,
        });
    }

    /// [`progress`](Self::progress) with a line for a person.
    pub fn progress_with(&self, progress: f64, total: Option<f64>, message: impl Into<String>) {
        self.report(Progress {
            progress,
            total,
            message: Some(message.into()),
        });
    }

    fn report(&self, report: Progress) {
        if self.call.caller.progress_token().is_some() {
            self.call.report(report);
        }
    }

    /// Sends the caller a log message, if it wants messages of that level.
    ///
    /// `data` is text or anything that can be JSON; what cannot be is not sent. A message is
    /// dropped when the connection has too much to send already.
    ///
    /// Spec: [logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        if self.call.caller.log_level().is_none() {
            return;
        }
        let Ok(data) = RawJson::encode(&data) else {
            tracing::warn!("a log message cannot be JSON");
            return;
        };
        let message = LogMessage {
            level,
            logger: None,
            data,
        };
        let event = Event::Log(self.call.id, message);
        if self.call.events.try_push(event).is_err() {
            tracing::debug!("a log message was dropped: the connection is busy");
        }
    }

    /// Sends the caller a notification of a method of one's own.
    ///
    /// It is sent in its turn: after what the call has reported before, and before its reply.
    /// `params` is an object, or `()` for none. Anything else is not sent, nor is a
    /// notification of the specification. It is dropped when the connection has too much to
    /// send already.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        let params = object(&params).filter(|_| Method::from(method).is_custom());
        let Some(params) = params else {
            tracing::warn!(
                method,
                "a notification is not one that an application can send"
            );
            return;
        };
        let event = Event::Notify(self.call.id, method.to_owned(), params);
        if self.call.events.try_push(event).is_err() {
            tracing::debug!(method, "a notification was dropped: the connection is busy");
        }
    }

    /// Waits until nobody waits for the call any more: it was cancelled, a layer has given it
    /// up, or it has ended.
    ///
    /// An async handler need not watch it: it is dropped. This is for work that the handler
    /// has handed to somebody else. A cancellation is a wish, which comes too late for what is
    /// already done.
    ///
    /// Cancel safe.
    pub async fn cancelled(&self) {
        self.call.cancelled.wait().await;
    }

    /// Whether nobody waits for the call any more: see [`cancelled`](Self::cancelled).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.call.cancelled.is_set()
    }
}

/// One call's link to its connection.
pub(crate) struct Call {
    id: CallId,
    request: Arc<ClientRequest>,
    caller: Caller,
    events: Events,
    unsent: Rare<Unsent>,
    /// What the user has answered so far.
    answers: Rare<Answers>,
    /// Bytes that the request keeps in memory.
    size: usize,
    /// What the call holds of the calls in flight until it ends, if it was admitted.
    slot: OnceLock<Slot>,
    cancelled: Flag,
}

impl Call {
    pub(crate) fn new(
        id: CallId,
        request: Arc<ClientRequest>,
        caller: Caller,
        size: usize,
        events: Events,
    ) -> Self {
        Self {
            id,
            request,
            caller,
            events,
            unsent: Rare::default(),
            answers: Rare::default(),
            size,
            slot: OnceLock::new(),
            cancelled: Flag::default(),
        }
    }

    pub(crate) fn request(&self) -> &ClientRequest {
        &self.request
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn meta(&self) -> &RequestMeta {
        static NONE: LazyLock<RequestMeta> = LazyLock::new(RequestMeta::new);

        self.request.meta().unwrap_or(&NONE)
    }

    /// Drops what was added to the result.
    pub(crate) fn forget_meta(&self) {
        if let Some(mut unsent) = self.unsent.known() {
            unsent.meta = Extra::default();
        }
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.set();
    }

    pub(crate) fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.get()
    }

    /// Asks a legacy client; the answer comes by the receiver.
    pub(crate) fn ask(&self, request: ServerRequest) -> oneshot::Receiver<Answer> {
        let (to, answer) = oneshot::channel();
        self.events.push(Event::Ask(self.id, request.into(), to));
        answer
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Takes a slot, to have until it ends.
    pub(crate) fn hold(&self, slot: Slot) {
        // A call is admitted once; a second slot would go back at once.
        let _ = self.slot.set(slot);
    }

    /// Holds the slot once more, for work that may outlive the call's task.
    pub(crate) fn hold_on(&self) {
        if let Some(slot) = self.slot.get() {
            slot.hold_on();
        }
    }

    /// Gives the slot back, if nobody else holds it.
    pub(crate) fn release(&self) {
        if let Some(slot) = self.slot.get() {
            slot.release();
        }
    }

    fn report(&self, report: Progress) {
        // Locked meanwhile, so that of two reports the older cannot overtake the newer.
        let mut unsent = self.unsent.get();
        let sent = self.events.try_push(Event::Progress(self.id, report));
        unsent.report = match sent {
            Err(Event::Progress(_, report)) => Some(report),
            _ => None,
        };
    }

    /// Ends the call: tells the connection what is left to report, and gives the last event.
    pub(crate) fn finish(
        &self,
        mut outcome: Result<Result<Box<ServerResult>, ErrorObject>, ServiceDown>,
    ) -> Event {
        if let Some(mut unsent) = self.unsent.known() {
            let Unsent { report, meta } = std::mem::take(&mut *unsent);
            if let Some(report) = report {
                self.events.push(Event::Progress(self.id, report));
            }
            if let Ok(Ok(result)) = &mut outcome {
                add_meta(result, &meta);
            }
        }
        match outcome {
            Ok(outcome) => Event::Done(self.id, outcome),
            Err(down) => Event::Down(down),
        }
    }
}

/// Looks for some inputs, and gathers what is needed for those that are not there.
struct Looking<'a> {
    call: &'a Call,
    needs: Named<Need>,
    /// What the client would have to be able to do.
    missing: ClientCapabilities,
}

impl Look<ToolError> for Looking<'_> {
    fn look<I: Input>(&mut self, name: &str, input: &I) -> Result<Option<I::Value>, ToolError> {
        let caller = &self.call.caller;
        let mut request = input.request();
        leave_out_context(&mut request, caller);
        if let Some(url) = no_url(&request) {
            let why = format!("`{name}` is at no absolute URL: {url:?}");
            return Err(ToolError::failed(why));
        }
        let question = digest(&request);
        let mut answers = self.call.answers();
        if !answers.is_only(name, &question) {
            tracing::error!(name, "two different inputs have one name");
            let error = ErrorObject::internal("two inputs have one name");
            return Err(ToolError::refused(error));
        }
        if let Some(answer) = answers.to(name, &question) {
            match input.read(answer) {
                Ok(value) => return Ok(Some(value)),
                Err(Unanswered::Declined) => {
                    let no = format!("the user declined `{name}`");
                    return Err(ToolError::failed(no));
                }
                Err(Unanswered::Cancelled) => {
                    let no = format!("the user cancelled `{name}`");
                    return Err(ToolError::failed(no));
                }
                Err(Unanswered::Unusable) => {}
            }
        }
        drop(answers);
        if !require(&request, caller.capabilities(), &mut self.missing) {
            // The error that says what is missing is of the newest revision.
            if caller.version() < ProtocolVersion::V2026_07_28 {
                return Err(ToolError::failed(format_args!(
                    "the client cannot be asked for `{name}`: it has not declared that it can"
                )));
            }
            return Ok(None);
        }
        let need = Need {
            request,
            question,
            ends_with_no: ends_with_no(input),
        };
        self.needs.insert(name.to_owned(), need);
        Ok(None)
    }
}

impl Looking<'_> {
    /// Why the attempt ends.
    fn end(self) -> ToolError {
        if self.missing == ClientCapabilities::new() {
            return ToolError(Kind::Needs(Needs(self.needs)));
        }
        ToolError::refused(ErrorObject::missing_capability(self.missing))
    }
}

/// What waits for its time to be sent.
#[derive(Default)]
struct Unsent {
    /// The newest report that found no room.
    report: Option<Progress>,
    /// Members for the `_meta` of the result.
    meta: Extra,
}

fn add_meta(result: &mut ServerResult, members: &Extra) {
    if members.is_empty() {
        return;
    }
    result.edit_meta(|meta| {
        let extra = &mut meta.get_or_insert_default().extra;
        for (key, value) in members.iter() {
            extra.insert(key, value.clone());
        }
    });
}

/// What most calls never need, and have no room for until they do.
struct Rare<T>(OnceLock<Box<Mutex<T>>>);

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

/// Nothing panics while it holds one of these locks.
impl<T: Default> Rare<T> {
    fn get(&self) -> MutexGuard<'_, T> {
        lock(self.0.get_or_init(Box::default))
    }

    /// If it has ever been needed.
    fn known(&self) -> Option<MutexGuard<'_, T>> {
        self.0.get().map(|mutex| lock(mutex))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that happens once and can be waited for.
#[derive(Default)]
struct Flag {
    set: AtomicBool,
    waiting: Notify,
}

impl Flag {
    fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.waiting.notify_waiters();
    }

    fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    async fn wait(&self) {
        let mut woken = pin!(self.waiting.notified());
        // Enrolled before the flag is looked at, or a change in between would be missed.
        woken.as_mut().enable();
        if !self.is_set() {
            woken.await;
        }
    }
}
