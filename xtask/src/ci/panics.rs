//! What could panic in the crates' own code, held against `panics.txt`, which says of each why no
//! peer can make it do so.
//!
//! Tests are left out, as is what only other systems than Linux compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::steps::Ended;
use crate::workspace;

/// Lints of clippy, each for one way to panic.
///
/// Arithmetic is one of them: it overflows where overflows are checked, and where they are not it
/// gives an index that is out of bounds.
const LINTS: &[&str] = &[
    "arithmetic_side_effects",
    "expect_used",
    "indexing_slicing",
    "panic",
    "string_slice",
    "todo",
    "unchecked_time_subtraction",
    "unimplemented",
    "unreachable",
    "unwrap_used",
];

const LIST: &str = "xtask/src/ci/panics.txt";

/// File and lint.
type Key = (String, String);

/// Where each lint has found something: line and column.
type Findings = BTreeMap<Key, BTreeSet<(u64, u64)>>;

pub(super) fn check(libraries: &[String]) -> Ended {
    if !cfg!(target_os = "linux") {
        return Ended::Skipped("the list is of what Linux compiles".into());
    }
    held_against_list(libraries).into()
}

fn held_against_list(libraries: &[String]) -> Result<(), String> {
    let path = workspace::root().join(LIST);
    let list = fs::read_to_string(path).map_err(|error| format!("{LIST}: {error}"))?;
    let known = parse(&list)?;
    let found = findings(&clippy(libraries)?);
    let places: usize = found.values().map(BTreeSet::len).sum();
    println!("{places} places could panic, in {} files", files(&found));
    compare(&found, &known)
}

/// What clippy says of the crates, one JSON message a line.
fn clippy(libraries: &[String]) -> Result<String, String> {
    let mut command = workspace::cargo(&["clippy", "--quiet", "--lib", "--all-features"]);
    command.args(libraries.iter().flat_map(|package| ["--package", package]));
    command.args(["--message-format=json", "--", "--cap-lints=warn"]);
    command.args(LINTS.iter().map(|lint| format!("-Wclippy::{lint}")));
    workspace::output(&mut command)
}

fn findings(messages: &str) -> Findings {
    let mut found = Findings::new();
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let message = &message["message"];
        let code = message["code"]["code"].as_str().unwrap_or_default();
        let Some(lint) = code
            .strip_prefix("clippy::")
            .filter(|lint| LINTS.contains(lint))
        else {
            continue;
        };
        let spans = message["spans"].as_array().into_iter().flatten();
        for span in spans.filter(|span| span["is_primary"] == true) {
            let file = span["file_name"].as_str().unwrap_or_default();
            let place = |name: &str| span[name].as_u64().unwrap_or_default();
            let key = (slashes(file), lint.to_owned());
            let place = (place("line_start"), place("column_start"));
            found.entry(key).or_default().insert(place);
        }
    }
    found
}

fn slashes(file: &str) -> String {
    let parts = Path::new(file).iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

fn files(found: &Findings) -> usize {
    let files: BTreeSet<_> = found.keys().map(|(file, _)| file).collect();
    files.len()
}

/// Reads the list: the name of a file, and below it, indented, `COUNT LINT: REASON`.
fn parse(list: &str) -> Result<BTreeMap<Key, usize>, String> {
    let mut known = BTreeMap::new();
    let mut file = "";
    for (number, line) in (1..).zip(list.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(entry) = line.strip_prefix("  ") else {
            file = line;
            continue;
        };
        let (count, lint) = read(entry)
            .ok_or_else(|| format!("{LIST}:{number}: not `COUNT LINT: REASON`: {entry}"))?;
        let key = (file.to_owned(), lint.to_owned());
        if known.insert(key, count).is_some() {
            return Err(format!("{LIST}:{number}: {lint} is here twice"));
        }
    }
    Ok(known)
}

fn read(entry: &str) -> Option<(usize, &str)> {
    let (what, reason) = entry.split_once(": ")?;
    let (count, lint) = what.split_once(' ')?;
    let said = !reason.trim().is_empty() && LINTS.contains(&lint);
    said.then_some((count.parse().ok()?, lint))
}

/// Neither may have what the other has not.
fn compare(found: &Findings, known: &BTreeMap<Key, usize>) -> Result<(), String> {
    let keys: BTreeSet<_> = found.keys().chain(known.keys()).collect();
    let wrong: Vec<_> = keys
        .into_iter()
        .filter_map(|key| {
            let places: Vec<_> = found.get(key).into_iter().flatten().collect();
            let listed = known.get(key).copied().unwrap_or_default();
            let (file, lint) = key;
            let lines: Vec<_> = places.iter().map(|(line, _)| line.to_string()).collect();
            let lines = lines.join(", ");
            (places.len() != listed).then(|| {
                format!(
                    "{file}: {} {lint}, {listed} in the list (lines: {lines})",
                    places.len()
                )
            })
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "write code that cannot panic, or say in {LIST} why no peer can make it:\n{}",
        wrong.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "# About it.\n\na/src/lib.rs\n  2 unwrap_used: it is a test.\n  1 panic: so is this.\n";

    fn message(lint: &str, line: u64) -> String {
        let span = format!(
            r#"{{"file_name":"a/src/lib.rs","line_start":{line},"column_start":5,"is_primary":true}}"#
        );
        format!(
            r#"{{"reason":"compiler-message","message":{{"code":{{"code":"clippy::{lint}"}},"spans":[{span}]}}}}"#
        )
    }

    fn outcome(messages: &[String]) -> Result<(), String> {
        compare(&findings(&messages.join("\n")), &parse(LIST).unwrap())
    }

    #[test]
    fn what_the_list_says_is_no_more_and_no_less() {
        let mut messages = vec![
            message("unwrap_used", 3),
            message("unwrap_used", 9),
            message("panic", 4),
            // Of another lint, of a crate that is compiled twice, and no message.
            message("needless_return", 1),
            message("panic", 4),
            r#"{"reason":"build-finished"}"#.to_owned(),
        ];
        assert_eq!(outcome(&messages), Ok(()));
        messages.push(message("unwrap_used", 12));
        let more = outcome(&messages).unwrap_err();
        assert!(
            more.contains("3 unwrap_used, 2 in the list (lines: 3, 9, 12)"),
            "{more}"
        );
        let fewer = outcome(&messages[..2]).unwrap_err();
        assert!(fewer.contains("0 panic, 1 in the list"), "{fewer}");
        let other = outcome(&[message("expect_used", 1)]).unwrap_err();
        assert!(other.contains("1 expect_used, 0 in the list"), "{other}");
    }

    #[test]
    fn each_entry_has_a_lint_and_a_reason() {
        for entry in [
            "1 panic",
            "1 panic: ",
            "one panic: why",
            "1 no_such_lint: why",
        ] {
            assert!(parse(&format!("a\n  {entry}\n")).is_err(), "{entry}");
        }
        assert!(parse("a\n  1 panic: why\n  1 panic: why\n").is_err());
    }
}
