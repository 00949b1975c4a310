//! The server's core, without a runtime: conversations, promises, and pairs.

mod promises;
mod script;
mod support;
