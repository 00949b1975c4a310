//! `cargo xtask coverage-table`: which test proves which requirement, as a table that CI keeps honest.
//!
//! A test says what it proves on a line of its own above it, `/// Covers J01, B-329.`, or within it, beside the case
//! that does, `// Covers J02.`; a case of the edge table says it in its own way. The requirements stand in `coverage/requirements.txt`, in words of our own.

mod claims;
mod requirements;
mod table;

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;
use std::{fs, io};

use claims::Claim;
use requirements::Family;

use crate::edges::cases::{self, Case};
use crate::edges::{CLIENTS, SERVERS};
use crate::source;
use crate::workspace;

const TABLE: &str = "COVERAGE.md";

/// Writes the table.
pub(crate) fn run() -> ExitCode {
    let written = text().and_then(|text| {
        let wrong = |error: io::Error| format!("write {TABLE}: {error}");
        fs::write(workspace::root().join(TABLE), text).map_err(wrong)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the table is what the tests say.
pub(crate) fn check() -> Result<(), String> {
    let text = text()?;
    let written = fs::read_to_string(workspace::root().join(TABLE)).unwrap_or_default();
    if written != text {
        return Err(format!(
            "{TABLE} is stale: run `cargo xtask coverage-table`"
        ));
    }
    Ok(())
}

fn text() -> Result<String, String> {
    let families = requirements::parse(include_str!("coverage/requirements.txt"))?;
    let sources = source::read(workspace::root())?;
    let mut claims = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        claims.extend(claims::of(source)?);
    }
    claims.extend(edges()?);
    let tests = proofs(&families, claims)?;
    Ok(table::render(&families, &tests))
}

/// The tests that prove a requirement, by its id.
type Proofs = HashMap<String, Vec<String>>;

fn proofs(families: &[Family], claims: Vec<Claim>) -> Result<Proofs, String> {
    let rows = families.iter().flat_map(|family| &family.rows);
    let known: HashMap<&str, bool> = rows
        .map(|row| (row.id.as_str(), row.unseen.is_none()))
        .collect();
    let mut proofs = Proofs::new();
    let mut seen = HashSet::new();
    let mut wrong = String::new();
    for claim in claims {
        let Claim { id, test, line } = &claim;
        let why = match known.get(id.as_str()) {
            None => "is in no row of the requirements",
            Some(false) => "has a row that says no test can show it",
            Some(true) if !seen.insert((id.clone(), test.clone())) => "is named twice",
            Some(true) => {
                proofs.entry(claim.id).or_default().push(claim.test);
                continue;
            }
        };
        wrong += &format!("\n  {test}, line {line}: `{id}` {why}");
    }
    if wrong.is_empty() {
        Ok(proofs)
    } else {
        Err(format!("tests name what they cannot prove:{wrong}"))
    }
}

/// What the cases of the edge table prove, which are tests as well.
fn edges() -> Result<Vec<Claim>, String> {
    const FOLDER: &str = "xtask/src/edges/";
    let mut claims = Vec::new();
    for (file, text) in [("servers.txt", SERVERS), ("clients.txt", CLIENTS)] {
        let wrong = |why| format!("{FOLDER}{file}: {why}");
        for case in cases::parse(text).map_err(wrong)? {
            let Case { name, line, .. } = case;
            let test = format!("{FOLDER}{file}::{name}");
            claims.extend(case.covers.into_iter().map(|id| {
                let test = test.clone();
                Claim { id, test, line }
            }));
        }
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    const ROWS: &str = "## J Messages\nJ01 M b all version | c:host\nJ02 M s all ids\n";

    fn proofs_of(text: &str) -> Result<Proofs, String> {
        let families = requirements::parse(ROWS).expect("these are rows");
        let source = Source::new("mcp-server/tests/a.rs".into(), text.into());
        proofs(&families, claims::of(&source)?)
    }

    #[test]
    fn tests_are_found_by_what_they_prove() {
        let proofs = proofs_of("/// Covers J01, J02.\n#[test]\nfn a() {}").expect("it is fine");
        assert_eq!(proofs["J01"], ["mcp-server/tests/a.rs::a"]);
        assert_eq!(proofs["J02"], ["mcp-server/tests/a.rs::a"]);
    }

    #[test]
    fn only_what_can_be_proved_is_claimed_and_once() {
        for (ids, why) in [
            ("J03", "`J03` is in no row"),
            ("J01c", "`J01c` has a row"),
            ("J01, J01", "`J01` is named twice"),
        ] {
            let error = proofs_of(&format!("/// Covers {ids}.\n#[test]\nfn a() {{}}"));
            assert!(error.expect_err("it is wrong").contains(why), "{why}");
        }
    }
}
