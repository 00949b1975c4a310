//! The table as text.

use super::Proofs;
use super::requirements::{Family, Row, Side};

const HEAD: &str = "# Coverage

Which test proves which requirement of the protocol, of its specification's prose, and of what went wrong elsewhere. Written by
`cargo xtask coverage-table`, never by hand; `cargo xtask ci` fails when it is stale. The rows and their columns are explained in
`xtask/src/coverage/requirements.txt`; a test names its rows on a line of its own, `/// Covers J01, B-329.`, above it.
";

const SUMMARY: &str = "
## Summary

Covered / missing / not observable.

| family | server | client | HTTP |
|---|---|---|---|
";

const COLUMNS: &str = "
| id | level | side | revisions | requirement | tests |
|---|---|---|---|---|---|
";

/// The whole file.
pub(super) fn render(families: &[Family], proofs: &Proofs) -> String {
    let mut text = String::from(HEAD);
    text += SUMMARY;
    for family in families {
        let rows = || family.rows.iter();
        text += &summary(&family.title, rows, proofs);
    }
    let all = || families.iter().flat_map(|family| &family.rows);
    text += &summary("**all**", all, proofs);
    for family in families {
        text += &format!("\n## {}\n{COLUMNS}", family.title);
        family
            .rows
            .iter()
            .for_each(|row| text += &line(row, proofs));
    }
    text
}

fn summary<'a, R: Iterator<Item = &'a Row>>(
    title: &str,
    rows: impl Fn() -> R,
    proofs: &Proofs,
) -> String {
    let cells = Side::ALL.map(|side| {
        let mut counts = [0; 3];
        for row in rows().filter(|row| row.side == side) {
            let state = match row.unseen {
                Some(_) => 2,
                None => usize::from(!proofs.contains_key(&row.id)),
            };
            counts[state] += 1;
        }
        match counts {
            [0, 0, 0] => String::new(),
            [covered, missing, unseen] => format!("{covered} / {missing} / {unseen}"),
        }
    });
    let [server, client, http] = cells;
    format!("| {title} | {server} | {client} | {http} |\n")
}

fn line(row: &Row, proofs: &Proofs) -> String {
    let tests = match (&row.unseen, proofs.get(&row.id)) {
        (Some(reason), _) => format!("not observable: {reason}"),
        (None, Some(tests)) => tests.join("<br>"),
        (None, None) => "**missing**".to_owned(),
    };
    let Row {
        id,
        level,
        side,
        revisions,
        title,
        ..
    } = row;
    format!("| {id} | {level} | {side} | {revisions} | {title} | {tests} |\n")
}

#[cfg(test)]
mod tests {
    use super::super::requirements;
    use super::*;

    #[test]
    fn every_row_says_how_it_stands() {
        let rows = "## J Messages\nJ01 M b all one | c:host\nJ02 M s all two\nJ03 M s all three\n";
        let families = requirements::parse(rows).expect("these are rows");
        let tests = vec!["a/b.rs::c".to_owned(), "a/b.rs::d".to_owned()];
        let text = render(&families, &Proofs::from([("J01".to_owned(), tests)]));
        for line in [
            "| J Messages | 1 / 2 / 0 | 0 / 0 / 1 |  |",
            "| **all** | 1 / 2 / 0 | 0 / 0 / 1 |  |",
            "| J01 | M | server | all | one | a/b.rs::c<br>a/b.rs::d |",
            "| J01c | M | client | all | one | not observable: host |",
            "| J02 | M | server | all | two | **missing** |",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
