//! What the tests of one file say they prove.

use crate::source::{Source, item_end, line_of, occurrences};

/// A test says that it proves a requirement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) id: String,
    /// Where it is: `crate/file::fn`.
    pub(super) test: String,
    pub(super) line: usize,
}

/// The claims of a file, in its order.
pub(super) fn of(source: &Source) -> Result<Vec<Claim>, String> {
    let tests = tests(source.code());
    let mut claims = Vec::new();
    for (place, ids) in lines(source.comments()) {
        let line = line_of(&source.text, place);
        let is_doc = source.text[place..].starts_with("///");
        let test = tests.iter().find(|test| {
            let (start, end) = test.body;
            if is_doc {
                place < start
            } else {
                (start..end).contains(&place)
            }
        });
        let test = test
            .filter(|test| !is_doc || !source.code()[place..test.body.0].contains("fn "))
            .ok_or_else(|| format!("{}:{line}: no test is covered by this", source.path))?;
        let name = format!("{}::{}", source.path, test.name);
        claims.extend(ids.map(|id| Claim {
            id: id.trim().to_owned(),
            test: name.clone(),
            line,
        }));
    }
    Ok(claims)
}

/// Where comments that make a claim begin, and the ids they name.
fn lines(comments: &str) -> impl Iterator<Item = (usize, impl Iterator<Item = &str>)> {
    let lines = comments.split_inclusive('\n').scan(0, |start, line| {
        let place = *start + (line.len() - line.trim_start().len());
        *start += line.len();
        Some((place, line.trim()))
    });
    lines.filter_map(|(place, line)| {
        let said = line.trim_start_matches('/').trim_start();
        let ids = said.strip_prefix("Covers ")?.strip_suffix('.')?;
        Some((place, ids.split(',')))
    })
}

struct Test<'a> {
    name: &'a str,
    /// From its `fn` to its end.
    body: (usize, usize),
}

fn tests(code: &str) -> Vec<Test<'_>> {
    let functions = occurrences(code, "fn").filter(|place| code[place + 2..].starts_with(' '));
    let tests = functions.filter_map(|place| {
        let name = code[place + 3..].split(|next: char| !next.is_alphanumeric() && next != '_');
        let name = name.into_iter().next().unwrap_or_default();
        if !has_attribute(&code[..place]) && !is_listed(code, name) {
            return None;
        }
        let body = place + code[place..].find('{').unwrap_or_default();
        Some(Test {
            name,
            body: (place, item_end(code, body)),
        })
    });
    tests.collect()
}

/// Whether the attributes at the end of `before` make a test of what follows.
fn has_attribute(before: &str) -> bool {
    let attributes = before.rsplit(['{', '}', ';']).next().unwrap_or_default();
    ["#[test]", "::test]", "::test("]
        .iter()
        .any(|test| attributes.contains(test))
}

/// Whether a harness of its own runs it: one that reads `checks! { name, … }`.
fn is_listed(code: &str, name: &str) -> bool {
    let list = code.find("\nchecks! {").map(|start| start + 1);
    list.is_some_and(|start| {
        let list = &code[start..item_end(code, start)];
        occurrences(list, name).next().is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(text: &str) -> Result<Vec<(String, String)>, String> {
        let source = Source::new("a/tests/b.rs".into(), text.into());
        let claims = of(&source)?.into_iter();
        Ok(claims.map(|claim| (claim.id, claim.test)).collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let claims = claims(text).expect("it is fine");
        let claims = claims
            .iter()
            .map(|(id, test)| (id.as_str(), test.as_str()))
            .collect::<Vec<_>>();
        assert_eq!(claims, expected);
    }

    #[test]
    fn a_doc_line_speaks_for_the_test_below() {
        check(
            "fn x() {}\n\n/// Covers J01, A-11.\n/// Covers J02.\n#[cfg(unix)]\n#[tokio::test(start_paused = true)]\nasync fn a() {}\n#[test]\nfn b() {}",
            &[
                ("J01", "a/tests/b.rs::a"),
                ("A-11", "a/tests/b.rs::a"),
                ("J02", "a/tests/b.rs::a"),
            ],
        );
    }

    #[test]
    fn a_comment_speaks_for_the_test_around() {
        check(
            "mod tests {\n#[test]\nfn a() {\n    for x in [\n        // Covers J01.\n        1,\n    ] {}\n    // Covers J02.\n}\n}",
            &[("J01", "a/tests/b.rs::a"), ("J02", "a/tests/b.rs::a")],
        );
    }

    #[test]
    fn a_test_of_another_harness_is_listed() {
        check(
            "macro_rules! checks { () => {} }\n\nchecks! {\n    a,\n}\n\n/// Covers J01.\nfn a() {}",
            &[("J01", "a/tests/b.rs::a")],
        );
    }

    #[test]
    fn other_words_claim_nothing() {
        check(
            "//! Say `/// Covers J01.`\nfn f() { \"// Covers J01.\" }\n// It Covers J01.\n// Covers",
            &[],
        );
    }

    #[test]
    fn a_claim_without_a_test_is_a_mistake() {
        for text in [
            "// Covers J01.\n#[test]\nfn a() {}",
            "/// Covers J01.\nfn x() {}\n#[test]\nfn a() {}",
            "#[test]\nfn a() {}\n/// Covers J01.\n",
        ] {
            let error = claims(text).expect_err("nothing is covered");
            assert!(error.starts_with("a/tests/b.rs:"), "{error}");
        }
    }
}
