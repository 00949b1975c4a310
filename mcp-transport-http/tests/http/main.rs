//! The endpoint, called as a tower service, and over sockets where only they can show it.

mod bounds;
#[cfg(feature = "client")]
mod client;
mod modern;
mod refusals;
mod sessions;
mod sockets;
#[cfg(feature = "client")]
mod strangers;
mod support;
