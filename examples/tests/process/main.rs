//! The real `fixture`, and the examples `sockets` and `mounted`, over real pipes and sockets, driven by bytes.

mod acceptance;
#[cfg(unix)]
mod fairness;
mod mounted;
#[cfg(unix)]
mod sockets;
#[expect(dead_code, reason = "the tests of `everything` need more of it")]
mod support;
