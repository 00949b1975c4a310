//! One file, taken apart: code, comments, text literals, unit tests.
//!
//! Each part is a text of the same length as the file, with everything else blanked, so that a place in a part is the
//! same place in the file.

use std::cell::OnceCell;
use std::{fs, io, path::Path};

/// A file of the repository.
pub(crate) struct Source {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    parts: OnceCell<Parts>,
}

struct Parts {
    code: String,
    product: String,
    comments: String,
    code_and_comments: String,
    literals: String,
}

impl Source {
    pub(crate) fn new(path: String, text: String) -> Self {
        let parts = OnceCell::new();
        Self { path, text, parts }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the file belongs to tests as a whole.
    pub(crate) fn is_test(&self) -> bool {
        let mut folders = self.path.split('/');
        folders.any(|part| ["tests", "benches", "fuzz", "tests.rs"].contains(&part))
    }

    /// Whether a crate begins here.
    pub(crate) fn is_crate_root(&self) -> bool {
        let root = ["/src/lib.rs", "/src/main.rs"]
            .iter()
            .any(|end| self.path.ends_with(end));
        root || self.path.contains("/src/bin/") && self.path.matches('/').count() == 3
    }

    pub(crate) fn code(&self) -> &str {
        self.part(|parts| &parts.code)
    }

    pub(crate) fn product(&self) -> &str {
        self.part(|parts| &parts.product)
    }

    pub(crate) fn comments(&self) -> &str {
        self.part(|parts| &parts.comments)
    }

    pub(crate) fn code_and_comments(&self) -> &str {
        self.part(|parts| &parts.code_and_comments)
    }

    pub(crate) fn literals(&self) -> &str {
        self.part(|parts| &parts.literals)
    }

    /// A file that is not Rust is one part: all of it.
    fn part(&self, choose: fn(&Parts) -> &String) -> &str {
        if !self.is_rust() {
            return &self.text;
        }
        choose(self.parts.get_or_init(|| Parts::of(&self.text)))
    }
}

/// Every file that a person wrote.
pub(crate) fn read(root: &Path) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    walk(root, "", &mut sources).map_err(|error| format!("read the workspace: {error}"))?;
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(sources)
}

fn walk(folder: &Path, prefix: &str, sources: &mut Vec<Source>) -> io::Result<()> {
    const SKIPPED: &[&str] = &["target", ".git", "node_modules", "wip"];
    const READ: &[&str] = &["rs", "toml", "md", "py", "mjs"];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                walk(&entry.path(), &format!("{path}/"), sources)?;
            }
        } else if path == ".ci/run"
            || name
                .rsplit_once('.')
                .is_some_and(|(_, end)| READ.contains(&end))
        {
            sources.push(Source::new(path, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

impl Parts {
    fn of(text: &str) -> Self {
        let pieces = pieces(text);
        let keep = |kinds: &[Kind]| {
            let kept = pieces.iter().filter(|piece| kinds.contains(&piece.kind));
            only(text, kept.map(|piece| (piece.start, piece.end)))
        };
        let code = keep(&[Kind::Code]);
        let tests = test_items(&code);
        let mut product = code.clone();
        let mut literals = keep(&[Kind::Literal]);
        for (start, end) in tests {
            blank(&mut product, start, end);
            blank(&mut literals, start, end);
        }
        Self {
            product,
            literals,
            comments: keep(&[Kind::Comment]),
            code_and_comments: keep(&[Kind::Code, Kind::Comment]),
            code,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

struct Piece {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Cuts Rust into code, comments and literals. The quotes of a literal belong to the code around it.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut code = 0;
    let mut place = 0;
    while place < text.len() {
        let Some((kind, start, end)) = piece_at(text, place) else {
            place += text[place..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        pieces.push(Piece {
            kind: Kind::Code,
            start: code,
            end: start,
        });
        pieces.push(Piece { kind, start, end });
        code = end;
        // The closing quote must not open the next literal.
        place = if kind == Kind::Literal { end + 1 } else { end };
    }
    pieces.push(Piece {
        kind: Kind::Code,
        start: code,
        end: text.len(),
    });
    pieces
}

/// The comment or literal that begins at `place`: what it is, where its content begins and ends.
fn piece_at(text: &str, place: usize) -> Option<(Kind, usize, usize)> {
    let rest = &text[place..];
    let until = |end: Option<usize>| end.map_or(text.len(), |end| place + end);
    if rest.starts_with("//") {
        return Some((Kind::Comment, place, until(rest.find('\n'))));
    }
    if rest.starts_with("/*") {
        return Some((Kind::Comment, place, place + block_comment(rest)));
    }
    if rest.starts_with('"') {
        return Some((Kind::Literal, place + 1, until(quoted(rest, '"'))));
    }
    if rest.starts_with('\'') && is_char(rest) {
        return Some((Kind::Literal, place + 1, until(quoted(rest, '\''))));
    }
    let raw = rest.strip_prefix('r')?;
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    if !raw[hashes..].starts_with('"') || ends_in_name(&text[..place]) {
        return None;
    }
    let start = 1 + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = rest[start..].find(&close).map(|end| start + end);
    Some((Kind::Literal, place + start, until(end)))
}

/// Whether an `r` after this would be the end of a name; `b` and `c` before it belong to the literal.
fn ends_in_name(before: &str) -> bool {
    before.trim_end_matches(['b', 'c']).ends_with(is_name)
}

/// A quote begins a character, or else a lifetime.
fn is_char(rest: &str) -> bool {
    let mut next = rest.chars().skip(1);
    next.next() == Some('\\') || next.next() == Some('\'')
}

/// Where the quote that closes `rest` stands.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (place, next) in rest.char_indices().skip(1) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if next == quote => return Some(place),
            _ => {}
        }
    }
    None
}

/// The length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut place = 0;
    while place < rest.len() {
        if rest[place..].starts_with("/*") {
            depth += 1;
            place += 2;
        } else if rest[place..].starts_with("*/") {
            depth -= 1;
            place += 2;
            if depth == 0 {
                return place;
            }
        } else {
            place += rest[place..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Where the items behind `#[cfg(test)]` begin and end.
fn test_items(code: &str) -> Vec<(usize, usize)> {
    let attributes = code.match_indices("#[cfg(").map(|(place, _)| place);
    let tests = attributes.filter(|place| {
        let attribute = code[*place..].split(']').next().unwrap_or_default();
        occurrences(attribute, "test").next().is_some() && !attribute.contains("not(test")
    });
    tests.map(|place| (place, item_end(code, place))).collect()
}

/// The end of the item that begins at `start`: its `;`, its `,`, or the brace that closes it.
pub(crate) fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0;
    for (place, next) in code[start..].char_indices() {
        match next {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth -= 1,
            '}' => {
                depth -= 1;
                if depth <= 0 {
                    let end = start + place + 1;
                    return end + usize::from(code[end..].starts_with(';'));
                }
            }
            ';' | ',' if depth == 0 => return start + place + 1,
            _ => {}
        }
    }
    code.len()
}

/// The text with everything blanked but these places.
fn only(text: &str, places: impl Iterator<Item = (usize, usize)>) -> String {
    let mut kept = String::with_capacity(text.len());
    for (start, end) in places {
        blanks(&text[kept.len()..start], &mut kept);
        kept.push_str(&text[start..end]);
    }
    blanks(&text[kept.len()..], &mut kept);
    kept
}

fn blank(text: &mut String, start: usize, end: usize) {
    let mut blanked = String::new();
    blanks(&text[start..end], &mut blanked);
    text.replace_range(start..end, &blanked);
}

fn blanks(text: &str, into: &mut String) {
    into.extend(
        text.bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' }),
    );
}

/// Where `word` stands by itself and not within a longer name.
pub(crate) fn occurrences<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let places = text.match_indices(word).map(|(place, _)| place);
    places.filter(move |place| {
        let before = word.starts_with(is_name) && text[..*place].ends_with(is_name);
        let after = word.ends_with(is_name) && text[place + word.len()..].starts_with(is_name);
        !before && !after
    })
}

pub(crate) fn line_of(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Parts {
        let parts = Parts::of(text);
        for part in [
            &parts.code,
            &parts.product,
            &parts.comments,
            &parts.literals,
        ] {
            assert_eq!(part.len(), text.len(), "a place stays a place");
        }
        parts
    }

    #[track_caller]
    fn check(text: &str, code: &str, comments: &str, literals: &str) {
        let parts = parts(text);
        let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            [
                words(&parts.code),
                words(&parts.comments),
                words(&parts.literals)
            ],
            [code, comments, literals]
        );
    }

    #[test]
    fn comments_are_not_code() {
        check(
            "a // b\nc /* d /* e */ f */ g",
            "a c g",
            "// b /* d /* e */ f */",
            "",
        );
        check("//! é\nfn ü() {}", "fn ü() {}", "//! é", "");
    }

    #[test]
    fn text_is_not_code() {
        check(r#"x("a // b", y)"#, r#"x(" ", y)"#, "", "a // b");
        check(r#"x("a \" b", y) "#, r#"x(" ", y)"#, "", r#"a \" b"#);
        check(
            r###"x(r#"a " b"#, br"c\", for"d")"###,
            r##"x(r#" "#, br" ", for" ")"##,
            "",
            r#"a " b c\ d"#,
        );
        check(r#"x(b"a", c"b", r"")"#, r#"x(b" ", c" ", r"")"#, "", "a b");
    }

    #[test]
    fn a_quote_is_a_character_or_a_lifetime() {
        check(
            r"x('a', '\'', '\\') // y",
            "x(' ', ' ', ' ')",
            "// y",
            r"a \' \\",
        );
        check(
            "fn f<'a>(x: &'a str) {} // 'b",
            "fn f<'a>(x: &'a str) {}",
            "// 'b",
            "",
        );
        check(r#"x('"', "y")"#, r#"x(' ', " ")"#, "", r#"" y"#);
    }

    #[test]
    fn unit_tests_are_no_product() {
        let product = |text| parts(text).product.trim().to_owned();
        assert_eq!(
            product("#[cfg(test)]\nmod tests { fn f() { [1; 2]; } }\nlet x;"),
            "let x;"
        );
        assert_eq!(product("#[cfg(test)]\nuse a::{b, c};\nlet x;"), "let x;");
        assert_eq!(
            product("#[cfg(all(test, unix))] fn f() -> [u8; 2] { x }"),
            ""
        );
        assert_eq!(
            product("#[cfg(not(test))] fn f() {}"),
            "#[cfg(not(test))] fn f() {}"
        );
        assert_eq!(
            parts("#[cfg(test)]\nconst A: &str = \"b\";")
                .literals
                .trim(),
            ""
        );
    }

    #[test]
    fn a_word_stands_by_itself() {
        let count = |text, word| occurrences(text, word).count();
        assert_eq!(count("Era, Erase, MyEra, Era::X", "Era"), 2);
        assert_eq!(count("x.await; .awaits", ".await"), 1);
        assert_eq!(line_of("a\nb\nc", 4), 3);
    }

    #[test]
    fn this_repository_is_read() {
        let sources = read(crate::workspace::root()).expect("the workspace is readable");
        let paths: Vec<_> = sources.iter().map(|source| source.path.as_str()).collect();
        assert!(paths.contains(&"xtask/src/source.rs"));
        assert!(!paths.iter().any(|path| path.starts_with("target")));
    }
}
