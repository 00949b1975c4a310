//! The repository's own tasks: `cargo xtask TASK`, or `cargo xtask` for the list.
//!
//! One file per task; the flags of all of them are in `flags.rs`. `workspace.rs` knows where things are and
//! how cargo is called, `process.rs` what a process has used, `source.rs` takes files apart, `steps.rs` runs named steps and sums them up.

#![expect(
    clippy::print_stdout,
    reason = "a task talks to the person who runs it"
)]

mod bench;
mod ci;
mod conformance;
mod coverage;
mod edge_table;
mod edges;
#[cfg(unix)]
mod fairness;
mod flags;
mod fuzz;
mod interop;
mod listener;
#[cfg(unix)]
mod process;
mod release;
mod schedules;
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
        Task::Ci(flags) => ci::run(&flags),
        Task::Conformance(flags) => conformance::run(&flags),
        Task::CoverageTable => coverage::run(),
        Task::EdgeServer(arguments) => edges::clients::serve(&arguments),
        Task::EdgeTable(flags) => edge_table::run(&flags),
        #[cfg(unix)]
        Task::Fairness(flags) => fairness::run(&flags),
        #[cfg(not(unix))]
        Task::Fairness(_) => {
            eprintln!("xtask: fairness is measured over Unix sockets");
            ExitCode::FAILURE
        }
        Task::Fuzz(flags) => fuzz::run(&flags),
        Task::Interop(flags) => interop::run(&flags),
        Task::Schedules(flags) => schedules::run(&flags),
        Task::Spy(flags) => interop::spy::run(&flags),
        Task::Release => release::run(),
        Task::Tidy => tidy::run(),
    }
}
