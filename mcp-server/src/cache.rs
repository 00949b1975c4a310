//! How long clients may keep what a server says.

use std::time::Duration;

use mcp_protocol::types::{CacheScope, TtlMs};

/// How long a client may keep results, and who may share them.
///
/// The default is not at all, and nobody. A client that is told of a change asks again earlier.
/// Clients up to 2025-11-25 are not told of it.
///
/// Spec: [caching](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    ttl: Duration,
    scope: CacheScope,
}

impl Cache {
    /// Kept for the one who asked: right for what depends on who asks.
    #[must_use]
    pub fn private(ttl: Duration) -> Self {
        let scope = CacheScope::Private;
        Self { ttl, scope }
    }

    /// Kept for everybody: only for what is the same whoever asks.
    #[must_use]
    pub fn public(ttl: Duration) -> Self {
        let scope = CacheScope::Public;
        Self { ttl, scope }
    }

    pub(crate) fn hint(self, ttl_ms: &mut Option<TtlMs>, scope: &mut Option<CacheScope>) {
        *ttl_ms = Some(self.ttl.into());
        *scope = Some(self.scope);
    }
}
