//! The repository's own tasks: `cargo xtask TASK`, or `cargo xtask` for the list.
//!
//! One file per task; the flags of all of them are in `flags.rs`. `workspace.rs` knows where things are and
//! how cargo is called, `procfs.rs` what a process holds, `source.rs` takes files apart, `steps.rs` runs named
//! steps and sums them up.

#![expect(
    clippy::print_stdout,
    reason = "a task talks to the person who runs it"
)]

mod bench;
#[cfg(target_os = "linux")]
mod bounds;
mod ci;
mod conformance;
mod coverage;
mod edge_table;
mod edges;
#[cfg(target_os = "linux")]
mod fairness;
mod flags;
mod fuzz;
mod interop;
#[cfg(target_os = "linux")]
mod kills;
mod listener;
#[cfg(target_os = "linux")]
mod procfs;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod random;
mod release;
mod requests;
mod schedules;
#[cfg(target_os = "linux")]
mod soak;
mod source;
mod steps;
mod tidy;
mod workspace;

use std::process::ExitCode;

use flags::Task;

fn main() -> ExitCode {
    let task = match flags::parse(std::env::args().skip(1)) {
        Ok(task) => task,
        Err(message) => {
            eprintln!("xtask: {message}\n\n{}", flags::usage());
            return ExitCode::from(2);
        }
    };
    match task {
        Task::Help => {
            println!("{}", flags::usage());
            ExitCode::SUCCESS
        }
        Task::Bench(flags) => bench::run(&flags),
        #[cfg(target_os = "linux")]
        Task::Bounds(flags) => bounds::run(&flags),
        #[cfg(not(target_os = "linux"))]
        Task::Bounds(_) | Task::Fairness(_) | Task::Kills(_) | Task::Soak(_) => {
            eprintln!("xtask: this is measured by what Linux tells of processes");
            ExitCode::FAILURE
        }
        Task::Ci(flags) => ci::run(&flags),
        Task::Conformance(flags) => conformance::run(&flags),
        Task::CoverageTable => coverage::run(),
        Task::EdgeServer(arguments) => edges::clients::serve(&arguments),
        Task::EdgeTable(flags) => edge_table::run(&flags),
        #[cfg(target_os = "linux")]
        Task::Fairness(flags) => fairness::run(&flags),
        Task::Fuzz(flags) => fuzz::run(&flags),
        Task::Interop(flags) => interop::run(&flags),
        #[cfg(target_os = "linux")]
        Task::Kills(flags) => kills::run(&flags),
        Task::Schedules(flags) => schedules::run(&flags),
        #[cfg(target_os = "linux")]
        Task::Soak(flags) => soak::run(&flags),
        Task::Spy(flags) => interop::spy::run(&flags),
        Task::Release => release::run(),
        Task::Tidy => tidy::run(),
    }
}
