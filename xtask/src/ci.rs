//! `cargo xtask ci`: every check of a change but `cargo test`, which does not run all tests.

mod dependencies;
mod oldest;
mod panics;

use std::process::ExitCode;

use crate::flags::CiFlags;
use crate::steps::{Ended, Steps};
use crate::{bench, coverage, tidy, workspace};

pub(crate) fn run(flags: &CiFlags) -> ExitCode {
    let libraries = match workspace::libraries() {
        Ok(libraries) => libraries,
        Err(error) => {
            eprintln!("xtask: read the workspace: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut steps = Steps::new(&flags.only);
    steps.step("format", || cargo(&["fmt", "--all", "--check"]));
    steps.step("clippy: workspace", || {
        clippy(&["--workspace", "--all-targets"], &[])
    });
    // The examples switch every default feature on, so the crates are looked at without them too.
    steps.step("clippy: crates, no default features", || {
        clippy(&["--lib", "--no-default-features"], &libraries)
    });
    steps.step("clippy: crates, all features", || {
        clippy(&["--all-targets", "--all-features"], &libraries)
    });
    steps.step("clippy: benches", benches);
    steps.step("clippy: panics", || panics::check(&libraries));
    steps.step("tests: outputs are validated", validate);
    steps.step("docs", docs);
    steps.step("bench: counts", bench::check);
    steps.step("tidy", || tidy::check().into());
    steps.step("coverage table", || coverage::check().into());
    steps.step("dependencies: licences and duplicates", dependencies::deny);
    steps.step("dependencies: trees", || dependencies::trees().into());
    steps.step("oldest compiler", || oldest::check(&libraries));
    steps.finish()
}

fn cargo(arguments: &[&str]) -> Ended {
    workspace::run(&mut workspace::cargo(arguments)).into()
}

fn clippy(arguments: &[&str], packages: &[String]) -> Ended {
    let mut command = workspace::cargo(&["clippy", "--quiet"]);
    command.args(arguments);
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    command.args(["--", "-D", "warnings"]);
    workspace::run(&mut command).into()
}

/// The benches are a workspace of their own, built where the counts of the hot paths are.
fn benches() -> Ended {
    let target = match workspace::target_dir() {
        Ok(target) => target.join("bench").display().to_string(),
        Err(error) => return Err(error).into(),
    };
    let manifest = "--manifest-path=xtask/bench/Cargo.toml";
    clippy(
        &[
            manifest,
            "--all-targets",
            "--locked",
            "--target-dir",
            &target,
        ],
        &[],
    )
}

/// The tests of a feature that no member of the workspace switches on.
fn validate() -> Ended {
    cargo(&[
        "test",
        "--quiet",
        "--package=fairline-mcp-server",
        "--package=fairline-mcp-client",
        "--features=validate",
        "--test=validate",
        "--test=derive",
        "--test=hosts",
        "--test=tool_fn",
    ])
}

fn docs() -> Ended {
    let mut command = workspace::cargo(&[
        "doc",
        "--quiet",
        "--workspace",
        "--all-features",
        "--no-deps",
    ]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    workspace::run(&mut command).into()
}
