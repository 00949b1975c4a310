//! Both cores, without a runtime: conversations, promises, and pairs.

mod client_model;
mod client_promises;
mod client_script;
mod client_support;
mod fitted;
mod model;
mod pair;
mod promises;
mod rules;
mod script;
mod support;
