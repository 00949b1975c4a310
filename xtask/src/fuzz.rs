//! `cargo xtask fuzz`: what peers may send, made up by libFuzzer, which looks where it leads.
//!
//! Built with the compiler that builds everything else: what libFuzzer wants to know of a program,
//! LLVM adds to it by a flag that is stable. Each target begins with what `xtask/fuzz/corpus` keeps
//! of earlier runs, and where the specification lies beside the repository, with its examples.

mod seeds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::flags::FuzzFlags;
use crate::workspace;

/// Each a program of `xtask/fuzz`, and whether it takes text as it is.
const TARGETS: &[(&str, bool)] = &[
    ("lines", false),
    ("jsonrpc", true),
    ("server", false),
    ("client", false),
    ("headers", false),
    ("events", false),
];

/// Seconds for each target of a smoke test.
const SMOKE: u32 = 5;

/// The status when this machine lacks what the fuzzers are built with.
const CANNOT: u8 = 3;

/// Makes LLVM count where a program goes, and show libFuzzer what it compares.
const INSTRUMENTED: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

pub(crate) fn run(flags: &FuzzFlags) -> ExitCode {
    if let Err(error) = prepare() {
        eprintln!("xtask: the fuzzers cannot be built here: {error}");
        return ExitCode::from(CANNOT);
    }
    match all(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether one of them has this name.
pub(crate) fn is_target(name: &str) -> bool {
    TARGETS.iter().any(|(target, _)| *target == name)
}

/// What is needed besides a compiler for Rust: their dependencies, and a compiler for libFuzzer.
fn prepare() -> Result<(), String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut version = Command::new(compiler);
    version.arg("--version").stdout(Stdio::null());
    workspace::run(&mut version).map_err(|error| format!("no compiler for C++: {error}"))?;
    let mut fetch = workspace::cargo(&["fetch", "--quiet", "--locked"]);
    workspace::run(fetch.arg("--manifest-path").arg(manifest()))
        .map_err(|error| format!("the registry is not reachable: {error}"))
}

fn all(flags: &FuzzFlags) -> Result<(), String> {
    let target_dir = workspace::target_dir()?.join("fuzz");
    let programs = build(&target_dir)?;
    let seconds = if flags.smoke { SMOKE } else { flags.seconds };
    let wanted = |name: &str| flags.target.as_deref().is_none_or(|target| target == name);
    let mut found = Vec::new();
    for (name, takes_text) in TARGETS.iter().filter(|(name, _)| wanted(name)) {
        println!("==> {name}, {seconds} s");
        let mut fuzzer = Command::new(programs.join(name));
        let work = target_dir.join("corpus").join(name);
        let findings = target_dir.join("findings");
        for folder in [&work, &findings] {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        // The first folder gets what leads somewhere new.
        fuzzer.arg(&work).args(kept(name));
        fuzzer.args(seeds::examples().filter(|_| *takes_text));
        fuzzer.arg(format!("-max_total_time={seconds}"));
        fuzzer.arg(format!("-artifact_prefix={}/{name}-", findings.display()));
        fuzzer.arg(format!(
            "-dict={}",
            folder().join("dictionary.txt").display()
        ));
        fuzzer.args(["-max_len=4096", "-rss_limit_mb=1024", "-timeout=10"]);
        fuzzer.args(["-verbosity=0", "-print_final_stats=1"]);
        let log = findings.join(format!("{name}.log"));
        found.extend(
            watch(&mut fuzzer, &log)
                .err()
                .map(|error| format!("{name}: {error}")),
        );
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(found.join("\n"))
}

/// Runs a fuzzer to its end, and prints how much it has tried.
fn watch(fuzzer: &mut Command, log: &Path) -> Result<(), String> {
    let file = fs::File::create(log).map_err(|error| error.to_string())?;
    let ended = workspace::run(fuzzer.stderr(file));
    let text = fs::read(log).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    let tried = text
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    println!("{} inputs", tried.unwrap_or_default().trim());
    ended.map_err(|error| {
        let panic = text.lines().skip_while(|line| !line.contains("panicked"));
        let panic: Vec<_> = panic.take(4).collect();
        let input = text
            .lines()
            .find(|line| line.contains("Test unit written to"));
        let panic = panic.join("\n");
        format!(
            "{error}\n{panic}\n{}\nmore in {}",
            input.unwrap_or_default(),
            log.display()
        )
    })
}

fn folder() -> PathBuf {
    workspace::root().join("xtask").join("fuzz")
}

fn manifest() -> PathBuf {
    folder().join("Cargo.toml")
}

/// What earlier runs have led to, as far as it is kept.
fn kept(target: &str) -> Option<PathBuf> {
    let folder = folder().join("corpus").join(target);
    Some(folder).filter(|folder| folder.is_dir())
}

/// Builds all of them, and says where they are.
fn build(target_dir: &Path) -> Result<PathBuf, String> {
    let host = host()?;
    let mut command = workspace::cargo(&["build", "--release", "--quiet", "--locked"]);
    command.arg("--manifest-path").arg(manifest());
    command.arg("--target-dir").arg(target_dir);
    // Named, so that the flags are not for build scripts too.
    command
        .args(["--target", &host])
        .env("RUSTFLAGS", INSTRUMENTED);
    workspace::run(&mut command)?;
    Ok(target_dir.join(host).join("release"))
}

/// The platform that this is.
fn host() -> Result<String, String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = workspace::output(Command::new(compiler).arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc names no host")?.to_owned())
}
