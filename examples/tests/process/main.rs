//! The real `fixture`, and the example `sockets`, over real pipes and sockets, driven by bytes.

mod acceptance;
#[cfg(unix)]
mod fairness;
mod reports;
#[cfg(unix)]
mod sockets;
mod support;
