//! Results that the server lets the client keep. Since 2026-07-28.
//!
//! They are kept for this client alone, which speaks for one user: so `cacheScope` needs no
//! looking at.
//!
//! Spec: [caching](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_protocol::connection::Change;
use mcp_protocol::types::TtlMs;
use mcp_protocol::{ClientRequest, Method, RawJson, ServerResult};
use tokio::time::Instant;

/// Results kept at once. One more is not kept.
const ENTRIES: usize = 256;

/// Bytes of the results kept at once. One that is too much is not kept.
const BYTES: usize = 16 << 20;

/// A result is kept no longer than this, whatever the server says.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What is asked: the method, and the cursor or the URI.
pub(crate) type Key = (Method, Option<String>);

/// The results.
#[derive(Default)]
pub(crate) struct Cache(Mutex<State>);

#[derive(Default)]
struct State {
    kept: HashMap<Key, Kept>,
    /// How often something was forgotten: a result that was asked for before is not kept.
    age: u64,
}

struct Kept {
    until: Instant,
    result: ServerResult,
    size: usize,
}

impl Cache {
    /// What is kept, and how old the cache is.
    pub(crate) fn get(&self, key: &Key) -> (Option<ServerResult>, u64) {
        let state = self.lock();
        let kept = state.kept.get(key);
        let fresh = kept.filter(|kept| kept.until > Instant::now());
        (fresh.map(|kept| kept.result.clone()), state.age)
    }

    /// Keeps a result that was asked for when the cache was so old.
    pub(crate) fn put(&self, key: Key, age: u64, result: &ServerResult) {
        let time = Duration::from(ttl(result).unwrap_or_default()).min(LONGEST);
        if time == Duration::ZERO {
            return;
        }
        let size = RawJson::encode(result).map_or(usize::MAX, |json| json.as_str().len());
        let mut state = self.lock();
        let now = Instant::now();
        state.kept.retain(|of, kept| kept.until > now && *of != key);
        let bytes = state.kept.values().map(|kept| kept.size).sum::<usize>();
        let has_room = state.kept.len() < ENTRIES && bytes.saturating_add(size) <= BYTES;
        if state.age == age && has_room {
            let (until, result) = (now + time, result.clone());
            state.kept.insert(
                key,
                Kept {
                    until,
                    result,
                    size,
                },
            );
        }
    }

    /// Forgets what a change has made old.
    pub(crate) fn forget(&self, change: &Change) {
        let mut state = self.lock();
        state.age += 1;
        state.kept.retain(|(method, of), _| match change {
            Change::Tools => *method != Method::ListTools,
            Change::Prompts => *method != Method::ListPrompts,
            Change::Resources => !matches!(
                method,
                Method::ListResources | Method::ListResourceTemplates
            ),
            Change::Resource(uri) => *method != Method::ReadResource || of.as_ref() != Some(uri),
            _ => false,
        });
    }

    /// Forgets the pages of a list.
    pub(crate) fn forget_pages(&self, method: &Method) {
        self.lock().kept.retain(|(of, _), _| of != method);
    }

    /// Forgets everything: another process may give other results.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        state.age += 1;
        state.kept.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name under which the result of a request is kept, if such results may be.
pub(crate) fn key(request: &ClientRequest) -> Option<Key> {
    let of = match request {
        ClientRequest::ListTools(params)
        | ClientRequest::ListPrompts(params)
        | ClientRequest::ListResources(params)
        | ClientRequest::ListResourceTemplates(params) => params.cursor.clone(),
        ClientRequest::ReadResource(params) => Some(params.uri.clone()),
        _ => return None,
    };
    Some((request.method(), of))
}

fn ttl(result: &ServerResult) -> Option<TtlMs> {
    match result {
        ServerResult::ListTools(result) => result.ttl_ms,
        ServerResult::ListPrompts(result) => result.ttl_ms,
        ServerResult::ListResources(result) => result.ttl_ms,
        ServerResult::ListResourceTemplates(result) => result.ttl_ms,
        ServerResult::ReadResource(result) => result.ttl_ms,
        _ => None,
    }
}
