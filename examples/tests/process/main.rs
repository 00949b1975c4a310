//! The real `fixture` over real pipes and sockets, driven by bytes.

mod acceptance;
#[cfg(unix)]
mod fairness;
mod reports;
mod support;
