//! The real `fixture`, and the examples `sockets` and `mounted`, over real pipes and sockets, driven by bytes.

mod acceptance;
#[cfg(unix)]
mod fairness;
mod mounted;
mod reports;
#[cfg(unix)]
mod sockets;
mod support;
