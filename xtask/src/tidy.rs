//! `cargo xtask tidy`: the rules of this repository that no compiler checks.
//!
//! Most of them are rows of the table in `bans.rs`; the others are functions here.

mod bans;
mod links;
mod sizes;

use std::process::ExitCode;

use crate::source::{self, Source, line_of};
use crate::workspace;

pub(crate) fn run() -> ExitCode {
    match check() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what breaks a rule, and the sizes, which are nobody's rule.
pub(crate) fn check() -> Result<(), String> {
    let sources = source::read(workspace::root())?;
    let mut count = 0;
    for source in &sources {
        let mut found = findings(source);
        found.extend(links::findings(source, &sources));
        for Finding { line, why } in found {
            println!("{}:{line}: {why}", source.path);
            count += 1;
        }
    }
    sizes::print(&sources);
    if count == 0 {
        return Ok(());
    }
    Err(format!("{count} untidy places"))
}

/// What is wrong, and in which line.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    line: usize,
    why: String,
}

impl Finding {
    fn new(text: &str, place: usize, why: impl Into<String>) -> Self {
        Self {
            line: line_of(text, place),
            why: why.into(),
        }
    }
}

/// All that is wrong with one file.
fn findings(source: &Source) -> Vec<Finding> {
    let mut found = bans::findings(source);
    found.extend(issue_numbers(source));
    found.extend(outside_paths(source));
    found.extend(crate_docs(source));
    found.extend(lints(source));
    found.sort();
    found
}

/// A comment says why by itself: a number that points elsewhere does not last.
fn issue_numbers(source: &Source) -> Vec<Finding> {
    const BEFORE_NUMBER: &[&str] = &["#", "issue ", "issues/", "pull/", "PR "];
    if source.path.ends_with(".md") {
        return Vec::new();
    }
    let text = source.comments();
    let places = BEFORE_NUMBER
        .iter()
        .flat_map(|before| text.match_indices(before))
        .filter(|(place, before)| is_number(&text[place + before.len()..]))
        .filter(|(place, _)| !text[..*place].ends_with(char::is_alphanumeric));
    places
        .map(|(place, _)| Finding::new(text, place, "an issue number in a comment"))
        .collect()
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// Nothing here may need what lies outside of the repository; tests may read the specification beside it.
fn outside_paths(source: &Source) -> Vec<Finding> {
    const SHARED: &str = concat!("..", "/shared");
    const WORK: &str = concat!("/", "work/");
    if source.path.starts_with(".ci/") {
        return Vec::new();
    }
    let text = &source.text;
    let allowed = |place: usize| {
        let below = text[place + SHARED.len()..].strip_prefix('/');
        source.is_test() && below.is_none_or(|below| below.starts_with("spec"))
    };
    let shared = text.match_indices(SHARED);
    let places = shared.filter(|(place, _)| !allowed(*place));
    places
        .chain(text.match_indices(WORK))
        .map(|(place, path)| {
            Finding::new(text, place, format!("`{path}`: outside of the repository"))
        })
        .collect()
}

fn crate_docs(source: &Source) -> Option<Finding> {
    let starts = ["//!", "#![doc = include_str!"];
    let documented = starts.iter().any(|start| source.text.starts_with(start));
    let missing = source.is_crate_root() && !documented;
    missing.then(|| Finding::new("", 0, "a crate begins with its docs: `//! …`"))
}

fn lints(source: &Source) -> Option<Finding> {
    let manifest = source.path.ends_with("Cargo.toml") && source.text.contains("[package]");
    // What is in a workspace of its own cannot inherit from ours, nor can what stands for a user's.
    let elsewhere = ["xtask/bench/peers/", "xtask/users/"];
    let ours = manifest
        && !source.text.contains("[workspace]")
        && !elsewhere
            .iter()
            .any(|folder| source.path.starts_with(folder));
    let missing = ours && !source.text.contains("[lints]\nworkspace = true");
    missing.then(|| Finding::new("", 0, "lints are inherited: `[lints] workspace = true`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many times a file of this name and content breaks a rule.
    fn count(path: &str, text: &str) -> usize {
        findings(&Source::new(path.to_owned(), text.to_owned())).len()
    }

    #[test]
    fn comments_name_no_issues() {
        let count = |text| count("mcp-server/src/serve.rs", text);
        assert_eq!(count("// see #12\n"), 1);
        assert_eq!(count("fn f() {}\n/* (#3), issue 4, PR 5 */"), 3);
        assert_eq!(
            count("// page.html#3, `#[test]`, #/$defs\nconst C: &str = \"#12\";"),
            0
        );
    }

    #[test]
    fn a_finding_names_its_line() {
        let source = Source::new("mcp-server/src/serve.rs".into(), "//\n\n// #1".into());
        assert_eq!(findings(&source)[0].line, 3);
    }

    #[test]
    fn nothing_outside_of_the_repository_is_named() {
        let work = concat!("/", "work/main");
        let shared = concat!("..", "/shared/design");
        let spec = concat!("..", "/shared/spec");
        let literal = |path: &str| format!("const D: &str = \"{path}\";");
        assert_eq!(count("README.md", work), 1);
        assert_eq!(count("mcp-server/src/serve.rs", &format!("// {work}")), 1);
        assert_eq!(count("mcp-protocol/tests/wire.rs", &literal(shared)), 1);
        assert_eq!(count("mcp-protocol/src/wire.rs", &literal(spec)), 1);
        assert_eq!(count("mcp-protocol/tests/wire.rs", &literal(spec)), 0);
        // Whether it is there at all may be asked.
        let folder = concat!("..", "/shared");
        assert_eq!(count("mcp-protocol/tests/wire.rs", &literal(folder)), 0);
    }

    #[test]
    fn a_crate_has_docs() {
        assert_eq!(count("mcp-server/src/lib.rs", "mod a;"), 1);
        assert_eq!(count("examples/src/bin/tour.rs", "fn main() {}"), 1);
        assert_eq!(count("mcp-server/src/lib.rs", "//! Servers.\nmod a;"), 0);
        assert_eq!(count("mcp-server/src/router.rs", "mod a;"), 0);
    }

    #[test]
    fn a_crate_inherits_lints() {
        let package = "[package]\nname = \"a\"\n";
        assert_eq!(count("mcp-server/Cargo.toml", package), 1);
        let inherits = format!("{package}\n[lints]\nworkspace = true\n");
        assert_eq!(count("mcp-server/Cargo.toml", &inherits), 0);
        assert_eq!(
            count("mcp-protocol/fuzz/Cargo.toml", "[package]\n\n[workspace]\n"),
            0
        );
        assert_eq!(count("xtask/bench/peers/rmcp/Cargo.toml", package), 0);
    }
}
