//! Pages of lists, and how long a result may be kept.
//!
//! Spec: [pagination](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination),
//! [caching](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching).

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::RawJson;
use crate::meta::RequestMeta;
use crate::wire::{Integer, wire};

wire! {
    /// The parameters of a list.
    pub open struct PaginatedParams {
        /// Where the page begins: what an earlier page gave, unchanged. The empty string is a
        /// cursor as well.
        optional "cursor" => cursor: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }
}

/// How long a result may be kept, in milliseconds. Since 2026-07-28.
///
/// Only a hint, so a bad value never fails the result that it came with: what is not a
/// number that is zero or more reads as zero, which is not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct TtlMs(pub u64);

impl From<u64> for TtlMs {
    fn from(milliseconds: u64) -> Self {
        Self(milliseconds)
    }
}

impl From<Duration> for TtlMs {
    fn from(time: Duration) -> Self {
        Self(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<TtlMs> for Duration {
    fn from(ttl: TtlMs) -> Self {
        Self::from_millis(ttl.0)
    }
}

impl<'de> Deserialize<'de> for TtlMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = RawJson::deserialize(deserializer)?;
        let read = value.decode::<Integer>().ok().and_then(|ttl| ttl.0);
        Ok(Self(read.unwrap_or_default()))
    }
}

/// Who may share a result that is kept. Since 2026-07-28.
///
/// Any word but `public` reads as private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Only the user whom it was for.
    #[default]
    Private,
    /// Everybody.
    Public,
}

impl<'de> Deserialize<'de> for CacheScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = RawJson::deserialize(deserializer)?;
        let public = value.decode::<String>().is_ok_and(|word| word == "public");
        Ok(if public { Self::Public } else { Self::Private })
    }
}
