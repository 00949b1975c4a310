//! Protocol revisions and the two eras they fall into.

use std::fmt;
use std::str::FromStr;

/// A published revision of the protocol. Later ones are greater.
///
/// Spec: [versioning].
///
/// [versioning]: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 2024-11-05, the first.
    V2024_11_05,
    /// 2025-03-26: audio, tool annotations, batches (in this revision only).
    V2025_03_26,
    /// 2025-06-18: elicitation, structured output, resource links, titles.
    V2025_06_18,
    /// 2025-11-25: icons, URL elicitation, tools in sampling, experimental tasks.
    V2025_11_25,
    /// 2026-07-28: no handshake; every request says who asks.
    V2026_07_28,
}

/// How a peer opens a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// `initialize` once, then a session. Up to 2025-11-25.
    Legacy,
    /// Every request carries version and capabilities in `_meta`. From 2026-07-28.
    Modern,
}

impl ProtocolVersion {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest revision that has the `initialize` handshake.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The date that names this revision on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era of this revision.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => {
                Era::Legacy
            }
            Self::V2026_07_28 => Era::Modern,
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no revision that this crate knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a protocol revision that is known here")]
pub struct UnknownVersion;

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
            .ok_or(UnknownVersion)
    }
}
