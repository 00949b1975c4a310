//! Both cores, without a runtime: conversations, promises, and pairs.

mod client_promises;
mod client_script;
mod client_support;
mod pair;
mod promises;
mod script;
mod support;
