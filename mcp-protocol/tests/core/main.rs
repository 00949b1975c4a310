//! The server's core, without a runtime: conversations, promises, and pairs.

mod fitted;
mod pair;
mod promises;
mod rules;
mod script;
mod support;
