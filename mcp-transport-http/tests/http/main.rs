//! The endpoint, called as a tower service, and over sockets where only they can show it.

mod bounds;
mod modern;
mod refusals;
mod sessions;
mod sockets;
mod support;
