//! `cargo xtask bench`: what our servers cost.

mod counts;

use std::process::ExitCode;

use crate::flags::BenchFlags;
use crate::steps::Ended;

pub(crate) fn run(flags: &BenchFlags) -> ExitCode {
    match counts::run(flags.bless) {
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
