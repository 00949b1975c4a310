//! What a client sees of servers that it starts, and what they leave behind.
//!
//! A program without the usual test harness: what is passed on of an environment is seen only
//! by a process that has one of its own, so it starts itself anew for that.

#![expect(
    clippy::print_stdout,
    reason = "the children print, and so does a harness"
)]

#[cfg(unix)]
mod cycles;
#[cfg(unix)]
mod end;
#[cfg(unix)]
mod environment;
#[path = "../process/harness.rs"]
mod harness;
#[cfg(unix)]
mod login;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod talk;
#[cfg(unix)]
mod traces;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    if let Ok(role) = std::env::var(server::ROLE) {
        return environment::play(&role);
    }
    let checks = [
        start::ALL,
        environment::ALL,
        login::ALL,
        talk::ALL,
        end::ALL,
        cycles::ALL,
    ];
    harness::run(&checks.concat())
}

/// The servers here are scripts of a shell.
#[cfg(not(unix))]
fn main() -> ExitCode {
    harness::run(&[])
}
