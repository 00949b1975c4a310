//! Whether the hot paths of a server cost what they did.
//!
//! Counts, not times: allocations, and instructions where valgrind is there to count them. They
//! are the same on a busy machine, so a change of a few in a hundred can be seen.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace;

/// Counts, and holds what it finds against what was written down, or writes it down.
pub(super) fn run(bless: bool) -> Result<(), String> {
    compare(&measure()?, bless)
}

/// What is run, as the bench program calls it.
const PATHS: &[&str] = &[
    "legacy-call",
    "legacy-call-escaped",
    "legacy-list",
    "modern-call",
    "modern-call-progress",
    "modern-list",
    "router-legacy-call",
    "router-legacy-list",
    "router-modern-call",
    "router-modern-list",
];

/// How much more than it did a path may cost, in parts of a hundred.
const MORE: f64 = 5.0;

/// What one request costs.
#[derive(Debug, PartialEq)]
struct Cost {
    path: String,
    allocations: f64,
    /// Unknown where nobody counts them.
    instructions: Option<f64>,
}

fn measure() -> Result<Vec<Cost>, String> {
    let program = build()?;
    let counts_instructions = is_there("valgrind");
    if !counts_instructions {
        println!("instructions are not counted: there is no valgrind");
    }
    let cost = |path: &&str| {
        let instructions = counts_instructions
            .then(|| per_request(|n| instructions(&program, &[path, &n.to_string()])));
        Ok(Cost {
            path: (*path).to_owned(),
            allocations: per_request(|n| allocations(&program, path, n))?,
            instructions: instructions.transpose()?,
        })
    };
    PATHS.iter().map(cost).collect()
}

/// Whether this program can be run here.
pub(super) fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    let status = command.arg("--version").stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Of two runs the difference, in which beginning and end cancel out.
pub(super) fn per_request(count: impl Fn(u32) -> Result<f64, String>) -> Result<f64, String> {
    const FEW: u32 = 20;
    const MANY: u32 = 120;
    Ok((count(MANY)? - count(FEW)?) / f64::from(MANY - FEW))
}

pub(super) fn folder() -> PathBuf {
    workspace::root().join("xtask").join("bench")
}

pub(super) fn build() -> Result<PathBuf, String> {
    let target = workspace::target_dir()?.join("bench");
    let mut command = workspace::cargo(&["build", "--release", "--quiet", "--locked"]);
    command
        .arg("--manifest-path")
        .arg(folder().join("Cargo.toml"));
    command.arg("--target-dir").arg(&target);
    workspace::run(&mut command)?;
    let name = format!("mcp-counts{}", std::env::consts::EXE_SUFFIX);
    Ok(target.join("release").join(name))
}

fn allocations(program: &Path, path: &str, times: u32) -> Result<f64, String> {
    let text = workspace::output(Command::new(program).args([path, &times.to_string()]))?;
    text.trim()
        .parse()
        .map_err(|_| format!("no number: {text}"))
}

pub(super) fn instructions(program: &Path, arguments: &[&str]) -> Result<f64, String> {
    let file = program.with_extension("callgrind");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(program).args(arguments);
    workspace::output(&mut command)?;
    total(&file)
}

/// What callgrind counted.
pub(super) fn total(file: &Path) -> Result<f64, String> {
    let profile = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let mut lines = profile.lines();
    let total = lines.find_map(|line| line.strip_prefix("totals: "));
    total
        .and_then(|total| total.trim().parse().ok())
        .ok_or_else(|| "callgrind gave no total".to_owned())
}

/// Shows the costs and holds them against those that were written down.
fn compare(now: &[Cost], bless: bool) -> Result<(), String> {
    let file = folder().join("counts.txt");
    if bless {
        let text: String = now.iter().map(|cost| cost.line() + "\n").collect();
        return std::fs::write(&file, text).map_err(|error| error.to_string());
    }
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let before: Vec<_> = text.lines().filter_map(Cost::of_line).collect();
    let mut grown = Vec::new();
    for cost in now {
        println!("{}", cost.line());
        let known = before.iter().find(|known| known.path == cost.path);
        grown.extend(known.and_then(|known| cost.growth(known)));
    }
    if grown.is_empty() {
        return Ok(());
    }
    let grown = grown.join("\n  ");
    Err(format!(
        "hot paths cost more than they did:\n  {grown}\nif they have to, say so with `cargo xtask bench --bless`"
    ))
}

impl Cost {
    fn line(&self) -> String {
        let instructions = self
            .instructions
            .map_or("-".to_owned(), |n| format!("{n:.0}"));
        format!("{} {:.2} {instructions}", self.path, self.allocations)
    }

    fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(Self {
            path: words.next()?.to_owned(),
            allocations: words.next()?.parse().ok()?,
            instructions: words.next()?.parse().ok(),
        })
    }

    /// What has grown too much since, if anything has.
    fn growth(&self, before: &Self) -> Option<String> {
        let grew = |what: &str, before: f64, now: f64| {
            (now > before * (1.0 + MORE / 100.0))
                .then(|| format!("{}: {before} {what}, now {now}", self.path))
        };
        let allocations = grew("allocations", before.allocations, self.allocations);
        let instructions = before.instructions.zip(self.instructions);
        allocations
            .or_else(|| instructions.and_then(|(before, now)| grew("instructions", before, now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(line: &str) -> Cost {
        Cost::of_line(line).expect("a line that was written")
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        for line in ["legacy-call 8.00 5120", "legacy-list 3.50 -"] {
            assert_eq!(cost(line).line(), line);
        }
    }

    #[test]
    fn five_in_a_hundred_more_is_too_much() {
        let before = cost("a 8.00 1000");
        assert_eq!(cost("a 8.00 1050").growth(&before), None);
        assert!(cost("a 8.00 1051").growth(&before).is_some());
        assert!(cost("a 9.00 900").growth(&before).is_some());
        assert_eq!(cost("a 7.00 -").growth(&before), None);
        assert_eq!(cost("a 8.00 2000").growth(&cost("a 8.00 -")), None);
    }
}
