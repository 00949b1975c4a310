//! What is written into the log on this thread.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// What was written since [`listen`], one text each with all the fields.
#[derive(Clone)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>, Level);

/// Listens to warnings and errors until the guard is dropped.
pub(crate) fn listen() -> (Log, DefaultGuard) {
    listen_to(Level::WARN)
}

/// Listens to what is of a level or above.
pub(crate) fn listen_to(level: Level) -> (Log, DefaultGuard) {
    let log = Log(Arc::default(), level);
    let guard = tracing::subscriber::set_default(log.clone());
    (log, guard)
}

impl Log {
    /// What has been written since this was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no test panics while it writes"))
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("a string takes all text");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.1
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        let mut lines = self.0.lock().expect("no test panics while it writes");
        lines.push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
