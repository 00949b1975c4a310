//! A `tracing` subscriber that keeps what it is told.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};
use tokio::task::yield_now;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

pub(crate) type Fields = BTreeMap<String, String>;

/// A span as it has been told so far.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) id: u64,
    pub(crate) fields: Fields,
    pub(crate) events: Vec<Fields>,
    pub(crate) follows: Option<u64>,
    pub(crate) is_root: bool,
    pub(crate) was_entered: bool,
    handles: usize,
    metadata: &'static Metadata<'static>,
}

impl Kept {
    pub(crate) fn name(&self) -> &'static str {
        self.metadata.name()
    }

    /// The message of each event within the span, in order.
    pub(crate) fn messages(&self) -> Vec<&str> {
        self.events.iter().map(|event| &*event["message"]).collect()
    }
}

#[derive(Default)]
struct Capture(Mutex<Vec<Kept>>);

thread_local! {
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

static CAPTURE: OnceLock<&'static Capture> = OnceLock::new();

impl Capture {
    fn spans(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().expect("nobody panics")
    }
}

struct Shared(&'static Capture);

impl Subscriber for Shared {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !metadata.target().starts_with("tokio")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Visitor(&mut fields));
        let mut spans = self.0.spans();
        let id = spans.len() as u64 + 1;
        spans.push(Kept {
            id,
            fields,
            events: Vec::new(),
            follows: None,
            is_root: span.is_root(),
            was_entered: false,
            handles: 1,
            metadata: span.metadata(),
        });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut Visitor(&mut self.0.spans()[at(span)].fields));
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.0.spans()[at(span)].follows = Some(follows.into_u64());
    }

    fn event(&self, event: &Event<'_>) {
        let current = ENTERED.with_borrow(|entered| entered.last().map(|id| Id::from_u64(*id)));
        let Some(span) = event.parent().cloned().or(current) else {
            return;
        };
        let mut fields = Fields::new();
        event.record(&mut Visitor(&mut fields));
        self.0.spans()[at(&span)].events.push(fields);
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
        self.0.spans()[at(span)].was_entered = true;
    }

    fn exit(&self, _: &Id) {
        ENTERED.with_borrow_mut(Vec::pop);
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.0.spans()[at(span)].handles += 1;
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let handles = &mut self.0.spans()[at(&span)].handles;
        *handles -= 1;
        *handles == 0
    }

    fn current_span(&self) -> Current {
        let Some(id) = ENTERED.with_borrow(|entered| entered.last().copied()) else {
            return Current::none();
        };
        let id = Id::from_u64(id);
        let metadata = self.0.spans()[at(&id)].metadata;
        Current::new(id, metadata)
    }
}

fn at(span: &Id) -> usize {
    usize::try_from(span.into_u64() - 1).expect("it fits")
}

struct Visitor<'a>(&'a mut Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

/// What a test hears. Others wait until it is dropped.
pub(crate) struct Hearing {
    from: usize,
    _alone: AsyncMutexGuard<'static, ()>,
}

/// Listens from now on. The subscriber is the process's: a thread of a handler has no other.
pub(crate) async fn listen() -> Hearing {
    static ALONE: AsyncMutex<()> = AsyncMutex::const_new(());

    let alone = ALONE.lock().await;
    let capture = CAPTURE.get_or_init(|| {
        let capture: &'static Capture = Box::leak(Box::default());
        tracing::subscriber::set_global_default(Shared(capture)).expect("nobody else has set one");
        capture
    });
    Hearing {
        from: capture.spans().len(),
        _alone: alone,
    }
}

impl Hearing {
    /// All spans so far of one name, closed or not.
    pub(crate) fn spans(&self, name: &str) -> Vec<Kept> {
        let spans = CAPTURE.get().expect("it listens").spans();
        let since = spans[self.from..].iter();
        since.filter(|kept| kept.name() == name).cloned().collect()
    }

    /// The last span of a name, once it is closed.
    pub(crate) async fn closed(&self, name: &str) -> Kept {
        self.closed_before(name, 0).await
    }

    /// The span of a name that has so many after it, once it is closed.
    pub(crate) async fn closed_before(&self, name: &str, after: usize) -> Kept {
        for _ in 0..100_000 {
            match self.spans(name).iter().nth_back(after) {
                Some(kept) if kept.handles == 0 => return kept.clone(),
                _ => yield_now().await,
            }
        }
        panic!("no `{name}` was closed: {:?}", self.spans(name));
    }
}
