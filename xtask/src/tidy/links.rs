//! What a document names is there: files that it links to, and tests that it calls as witnesses.

use std::path::Path;

use super::Finding;
use crate::source::Source;

pub(super) fn findings(source: &Source, sources: &[Source]) -> Vec<Finding> {
    if !source.path.ends_with(".md") {
        return Vec::new();
    }
    let text = &source.text;
    let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
    let dangling = between(text, "](", ')').filter(|(_, target)| is_file(target));
    let dangling = dangling.filter(|(_, target)| {
        let path = folder.join(target.split('#').next().unwrap_or(target));
        // The sources are what is committed, but for what is no text.
        !sources.iter().any(|source| Path::new(&source.path) == path)
    });
    let dangling =
        dangling.map(|(place, target)| Finding::new(text, place, format!("no file `{target}`")));
    let unknown = between(text, "`", '`').filter(|(_, word)| is_test_name(word));
    let unknown = unknown.filter(|(_, name)| {
        let function = format!("fn {name}(");
        !sources.iter().any(|source| source.text.contains(&function))
    });
    let unknown =
        unknown.map(|(place, name)| Finding::new(text, place, format!("no test `{name}`")));
    dangling.chain(unknown).collect()
}

/// What stands between an opening and the next closing word on the same line.
fn between<'a>(
    text: &'a str,
    open: &'a str,
    close: char,
) -> impl Iterator<Item = (usize, &'a str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(open)? + open.len();
        let end = start + text[start..].find([close, '\n'])?;
        at = end + 1;
        Some((start, &text[start..end]))
    })
}

/// Whether a link leads to a file, and neither to the net, nor within the page, nor to an item.
fn is_file(target: &str) -> bool {
    !target.contains("://")
        && !target.contains("::")
        && !target.starts_with('#')
        && target.contains('.')
}

/// Names of tests are sentences.
fn is_test_name(word: &str) -> bool {
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    word.matches('_').count() >= 3 && word.len() > 20 && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_document_names_has_to_be_there() {
        let file = |path: &str, text: &str| Source::new(path.into(), text.into());
        let test = file("a/tests/one.rs", "fn what_was_said_is_what_is_done() {}");
        let text = "[one](tests/one.rs) [net](https://example.com/a.html) [item](crate::One)\n\
                    `what_was_said_is_what_is_done` `what_was_done_is_what_is_said`\n\
                    [two](tests/two.rs)";
        let document = file("a/README.md", text);
        let sources = [test, file("a/README.md", text)];
        let found = findings(&document, &sources);
        let lines: Vec<_> = found
            .iter()
            .map(|found| (found.line, &*found.why))
            .collect();
        assert_eq!(
            lines,
            [
                (3, "no file `tests/two.rs`"),
                (2, "no test `what_was_done_is_what_is_said`"),
            ]
        );
    }
}
