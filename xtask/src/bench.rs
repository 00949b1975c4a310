//! `cargo xtask bench`: what our servers and our client cost.
//!
//! By itself it counts, and fails when a hot path costs more than it did. The rest measures, takes
//! its time, and fails only if it cannot: whoever reads it judges. It needs Linux, which tells what
//! a process has used.

#[cfg(target_os = "linux")]
mod caller;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod counted;
mod counts;
#[cfg(target_os = "linux")]
mod drive;
#[cfg(target_os = "linux")]
mod growth;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod peers;
#[cfg(target_os = "linux")]
mod plot;
#[cfg(target_os = "linux")]
mod server;

use std::process::ExitCode;

use crate::flags::{BenchFlags, Measured};
use crate::steps::Ended;
use crate::workspace;

pub(crate) fn run(flags: &BenchFlags) -> ExitCode {
    let done = match flags.what {
        Measured::Counts => counts::run(flags.bless),
        #[cfg(target_os = "linux")]
        Measured::Compare => compare::run(flags.rounds, flags.bless),
        #[cfg(target_os = "linux")]
        Measured::Growth => growth::run(flags.rounds, flags.bless),
        #[cfg(not(target_os = "linux"))]
        Measured::Compare | Measured::Growth => Err("this is measured on Linux".to_owned()),
        Measured::Steps => steps(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The counts, as a step of `ci`.
pub(crate) fn check() -> Ended {
    counts::run(false).into()
}

/// Each step of a request by itself, on Criterion, which remembers what it measured the last time.
fn steps() -> Result<(), String> {
    let mut command = workspace::cargo(&["bench", "--quiet", "--locked", "--bench=steps"]);
    command
        .arg("--manifest-path")
        .arg(counts::folder().join("Cargo.toml"));
    command
        .arg("--target-dir")
        .arg(workspace::target_dir()?.join("bench"));
    workspace::run(&mut command)
}
