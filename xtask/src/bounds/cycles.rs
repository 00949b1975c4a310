//! Bad servers and our client, which is in the process of a test: what it prints is what it found.

use std::process::Stdio;

use super::Row;
use crate::workspace;

/// What begins the line with the figures.
const FIGURES: &str = "cycles: ";

pub(super) fn run(release: bool) -> Result<Row, String> {
    let mut arguments = vec!["test", "--quiet", "--package=mcp-examples", "--test=cycles"];
    if release {
        arguments.push("--release");
    }
    arguments.extend(["--", "--nocapture"]);
    let output = workspace::cargo(&arguments).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| format!("start cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let figures = text.lines().find_map(|line| line.strip_prefix(FIGURES));
    let mut row = Row {
        what: "200 clients of each of 10 servers that misbehave".to_owned(),
        ..Row::default()
    };
    row.check(output.status.success(), "something is left");
    match figures {
        Some(figures) => row.counts = figures.to_owned(),
        None => row.check(false, "it prints no figures"),
    }
    Ok(row)
}
