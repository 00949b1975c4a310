//! What can go wrong, and what has to come of it.

use std::time::Duration;

/// When a layer gives up, a handler that blocks is let go, and calls are cut off: one after the other.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(400);
pub(crate) const LET_GO: Duration = Duration::from_millis(500);
pub(crate) const GRACE: Duration = Duration::from_millis(1_000);

/// An enum of which every case is tried.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$choice_doc:meta])* $choice:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$choice_doc])* $choice,)*
        }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$choice,)*];
        }
    };
}

choices! {
    /// What the handler does.
    Handler {
        Gives,
        Fails,
        Panics,
        /// Blocks a thread until it is let go.
        Blocks,
        NeverEnds,
        /// Waits for work that was dropped.
        Dropped,
        /// Never ends, and panics when it is dropped.
        PanicsInDrop,
    }
}

choices! {
    /// What the layer around it does.
    Layering {
        None,
        /// Begins the call, drops it, and fails.
        Fails,
        TimesOut,
        NeverReady,
        /// Fails before it is ready, which is the end of the service.
        Down,
    }
}

choices! {
    /// What else happens.
    Event {
        None,
        CancelBefore,
        /// In the same write as the call.
        CancelWith,
        CancelDuring,
        CancelAfter,
        /// Twice the same id, in one write.
        Duplicate,
        EndOfInput,
        ShutDown,
        BrokenPipe,
        /// So that it is the answer that cannot be written.
        BrokenPipeBefore,
        /// The handler gives what cannot be JSON, if it gives anything.
        Unwritable,
    }
}

choices! {
    Era { Legacy, Modern, }
}

choices! {
    /// Whether calls of this tool have been quick so far, so that it is tried where messages are read.
    Pace { Unknown, Quick, }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) handler: Handler,
    pub(crate) layering: Layering,
    pub(crate) event: Event,
    pub(crate) era: Era,
    pub(crate) pace: Pace,
}

/// What the client is told of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Result,
    /// A result that says that the tool failed.
    Failed,
    Error(i64),
}

impl Case {
    /// Every combination.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let choices = [
            Handler::ALL.len(),
            Layering::ALL.len(),
            Event::ALL.len(),
            Era::ALL.len(),
            Pace::ALL.len(),
        ];
        (0..choices.iter().product()).map(move |number: usize| {
            let mut rest = number;
            let mut next = |of: usize| {
                let choice = rest % of;
                rest /= of;
                choice
            };
            Self {
                era: Era::ALL[next(Era::ALL.len())],
                pace: Pace::ALL[next(Pace::ALL.len())],
                event: Event::ALL[next(Event::ALL.len())],
                layering: Layering::ALL[next(Layering::ALL.len())],
                handler: Handler::ALL[next(Handler::ALL.len())],
            }
        })
    }

    /// When a call is answered that nothing happens to, and what is said then.
    pub(crate) fn answer(self) -> Option<(Duration, Told)> {
        const INTERNAL: Told = Told::Error(-32603);
        let timed_out = (TIMEOUT, INTERNAL);
        let written = match self.event {
            Event::Unwritable => Told::Failed,
            _ => Told::Result,
        };
        match (self.layering, self.handler) {
            (Layering::NeverReady | Layering::Down, _) => None,
            (Layering::Fails, _) => Some((Duration::ZERO, INTERNAL)),
            (_, Handler::Gives) => Some((Duration::ZERO, written)),
            (_, Handler::Fails | Handler::Dropped) => Some((Duration::ZERO, Told::Failed)),
            (_, Handler::Panics) => Some((Duration::ZERO, INTERNAL)),
            (Layering::TimesOut, _) => Some(timed_out),
            (Layering::None, Handler::Blocks) => Some((LET_GO, written)),
            (Layering::None, _) => None,
        }
    }

    /// Whether the client cancels the call while it is open, if nothing answers it first.
    pub(crate) fn cancels(self) -> bool {
        matches!(
            self.event,
            Event::CancelWith | Event::CancelDuring | Event::CancelAfter
        )
    }

    /// Whether the handler reports progress, before all else.
    pub(crate) fn reports(self) -> bool {
        self.handler != Handler::Blocks
            && !matches!(self.layering, Layering::NeverReady | Layering::Down)
    }

    /// Whether the call has a thread that nobody can stop.
    pub(crate) fn blocks(self) -> bool {
        self.handler == Handler::Blocks
            && !matches!(self.layering, Layering::NeverReady | Layering::Down)
    }
}
