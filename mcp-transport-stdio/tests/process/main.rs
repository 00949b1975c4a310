//! What `stdio()` does in a process of its own.
//!
//! A program without the usual test harness: it starts itself anew as a child, with standard
//! streams of each kind, and talks to that.

#![expect(
    clippy::print_stdout,
    reason = "the children print, and so does a harness"
)]

mod checks;
mod child;
mod harness;
mod peer;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::var(child::ROLE) {
        Ok(role) => child::play(&role),
        Err(_) => harness::run(checks::ALL),
    }
}
