//! The sessions of legacy clients: found by an id that nobody can guess, and forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use mcp_server::Serving;
use tokio::time::Instant;

use super::exchange::Exchange;
use super::visitors::Key;

/// What one client has opened by its handshake. Ends when it is dropped.
pub(super) struct Session {
    pub(super) exchange: Exchange,
    /// To whom it belongs. Its id alone lets nobody else in.
    pub(super) owner: Key,
    /// Whom it is counted for.
    pub(super) visitor: Key,
    pub(super) _serving: Serving,
}

/// All sessions.
#[derive(Default)]
pub(super) struct Sessions(Mutex<Table>);

struct Table {
    live: HashMap<String, Arc<Session>>,
    swept: Instant,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            live: HashMap::new(),
            swept: Instant::now(),
        }
    }
}

impl Sessions {
    /// Adds a session and gives its id; `None` if there is no room. Makes some by ending the
    /// longest idle one: a client of whose sessions one ends opens another, and one that was
    /// left behind is not waited for.
    pub(super) fn add(&self, session: Session, most: usize, idle: Duration) -> Option<String> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).expect("the operating system has random numbers");
        let id = BASE64URL_NOPAD.encode(&bytes);
        let mut table = self.lock();
        if table.live.len() >= most {
            table.sweep(idle);
        }
        let own = |other: &Session| other.visitor == session.visitor;
        if table.live.values().filter(|other| own(other)).count() >= (most / 2).max(1) {
            table.end_longest_idle(own)?;
        }
        if table.live.len() >= most {
            table.end_longest_idle(|_| true)?;
        }
        table.live.insert(id.clone(), session.into());
        Some(id)
    }

    /// The session of this id, if it is this owner's.
    pub(super) fn find(&self, id: &str, owner: &Key, idle: Duration) -> Option<Arc<Session>> {
        let mut table = self.lock();
        if table.swept.elapsed() > idle.min(SWEEP) {
            table.sweep(idle);
        }
        let session = table.live.get(id)?;
        (session.owner == *owner && session.is_live(idle)).then(|| session.clone())
    }

    /// Ends the session of this id, if it is this owner's. Says whether it was there.
    pub(super) fn remove(&self, id: &str, owner: &Key, idle: Duration) -> bool {
        self.find(id, owner, idle).is_some() && self.lock().live.remove(id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often sessions are looked through, at most.
const SWEEP: Duration = Duration::from_secs(60);

impl Table {
    fn sweep(&mut self, idle: Duration) {
        self.live.retain(|_, session| session.is_live(idle));
        self.swept = Instant::now();
    }

    fn end_longest_idle(&mut self, of: impl Fn(&Session) -> bool) -> Option<()> {
        let of = self.live.iter().filter(|(_, session)| of(session));
        let idle = of.filter_map(|(id, session)| Some((session.exchange.idle_since()?, id)));
        let (_, id) = idle.min()?;
        let id = id.clone();
        self.live.remove(&id).map(drop)
    }
}

impl Session {
    fn is_live(&self, idle: Duration) -> bool {
        let waits = self
            .exchange
            .idle_since()
            .is_some_and(|since| since.elapsed() > idle);
        !waits && !self.exchange.is_over()
    }
}
