//! The crates compile with the oldest compiler that their manifests promise.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Ended;
use crate::workspace;

/// The promise of the root manifest, as `rustc --version` writes it.
const OLDEST: &str = "rustc 1.85.";

/// Where Debian's `cargo-web` and `rustc-web` 1.85 are. Their own names are used and never the search path, so that
/// the toolchain of everything else stays what it is.
const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";

/// Checks the libraries, with all their features and without their tests.
pub(super) fn check(libraries: &[String]) -> Ended {
    if let Err(why) = installed() {
        return Ended::Skipped(why);
    }
    let target = match workspace::target_dir() {
        Ok(target) => target.join("oldest"),
        Err(error) => return Ended::Failed(error),
    };
    workspace::run(&mut cargo_check(target, libraries)).into()
}

fn installed() -> Result<(), String> {
    if !Path::new(CARGO).exists() || !Path::new(RUSTC).exists() {
        return Err(format!(
            "there is no {CARGO} and {RUSTC}: Debian's cargo-web and rustc-web, version 1.85"
        ));
    }
    let version = workspace::output(Command::new(RUSTC).arg("--version"))?;
    if !version.starts_with(OLDEST) {
        return Err(format!("{RUSTC} is {} and not {OLDEST}x", version.trim()));
    }
    Ok(())
}

fn cargo_check(target: PathBuf, libraries: &[String]) -> Command {
    let mut command = Command::new(CARGO);
    command.current_dir(workspace::root());
    command.args(["check", "--quiet", "--lib", "--all-features"]);
    command.args(libraries.iter().flat_map(|package| ["--package", package]));
    command.env("CARGO_TARGET_DIR", target).env("RUSTC", RUSTC);
    // Set by the cargo that runs this task; they name the other toolchain.
    for name in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTDOC"] {
        command.env_remove(name);
    }
    command
}
