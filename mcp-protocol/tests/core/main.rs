//! The server's core, without a runtime: conversations, promises, and pairs.

mod pair;
mod promises;
mod script;
mod support;
