//! The directories that a client works in.
//!
//! Deprecated by 2026-07-28, which still has them.
//! Spec: [roots](https://modelcontextprotocol.io/specification/2026-07-28/client/roots).

use crate::meta::{Meta, ResultMeta};
use crate::wire::wire;

wire! {
    /// A directory or file that a client works in.
    pub open struct Root {
        /// A `file:` URI.
        required "uri" => uri: String,
        /// For people.
        optional "name" => name: String,
        /// Foreign metadata. Since 2025-06-18.
        optional "_meta" => meta: Meta,
    }

    /// The result of `roots/list`.
    pub open struct ListRootsResult {
        /// The roots.
        required "roots" => roots: Vec<Root>,
        /// Reserved and foreign metadata. Up to 2025-11-25.
        optional "_meta" => meta: ResultMeta,
    }
}
