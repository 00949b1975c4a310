//! The server's core, without a runtime: conversations, promises, and pairs.

mod pair;
mod promises;
mod rules;
mod script;
mod support;
