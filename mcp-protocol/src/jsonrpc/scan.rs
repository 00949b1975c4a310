//! Takes JSON text apart without giving it a type.
//!
//! A message is read twice at most: here, where everything is checked to be well-formed and
//! only the members of the envelope are told apart, and once more by the type that its
//! parameters turn out to have. The text is bytes, of which the caller knows that they are
//! UTF-8. Nesting costs a bit of memory a level and no stack, so that no
//! depth can bring the process down.

use std::borrow::Cow;
use std::fmt;

/// Where the text stops being JSON, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotJson {
    at: usize,
    expected: &'static str,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

type Scan<T> = Result<T, NotJson>;

/// Reads one text from its beginning to its end.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

/// A member of an object, or an element of an array, as the text that it is.
pub(super) struct Members<'a> {
    scanner: Scanner<'a>,
    first: bool,
}

impl<'a> Members<'a> {
    /// Of a text that begins with the bracket of an object or an array.
    pub(super) fn of(text: &'a [u8]) -> Self {
        let scanner = Scanner { text, at: 1 };
        Self {
            scanner,
            first: true,
        }
    }

    /// The next member of an object: its name and its value. After the last one, checks that
    /// nothing follows the object.
    pub(super) fn next_member(&mut self) -> Scan<Option<(Cow<'a, [u8]>, &'a [u8])>> {
        if !self.advance(b'}')? {
            return Ok(None);
        }
        let scanner = &mut self.scanner;
        let name = scanner.name()?;
        scanner.white_space();
        scanner.expect(b':', "`:`")?;
        let value = scanner.value()?;
        Ok(Some((name, value)))
    }

    /// The next element of an array. After the last one, checks that nothing follows it.
    pub(super) fn next_element(&mut self) -> Scan<Option<&'a [u8]>> {
        if self.advance(b']')? {
            self.scanner.value().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Moves to the next member, or behind the end.
    fn advance(&mut self, close: u8) -> Scan<bool> {
        let scanner = &mut self.scanner;
        scanner.white_space();
        if scanner.peek() == Some(close) {
            scanner.at += 1;
            scanner.end()?;
            return Ok(false);
        }
        if !std::mem::take(&mut self.first) {
            let expected = if close == b'}' {
                "`,` or `}`"
            } else {
                "`,` or `]`"
            };
            scanner.expect(b',', expected)?;
            scanner.white_space();
        }
        Ok(true)
    }
}

/// Checks that a text is one JSON value and nothing else.
pub(super) fn check(text: &[u8]) -> Scan<()> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.value()?;
    scanner.end()
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn error<T>(&self, expected: &'static str) -> Scan<T> {
        Err(NotJson {
            at: self.at,
            expected,
        })
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Scan<()> {
        if self.peek() != Some(byte) {
            return self.error(expected);
        }
        self.at += 1;
        Ok(())
    }

    fn white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Scan<()> {
        self.white_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => self.error("the end of the message"),
        }
    }

    fn name(&mut self) -> Scan<Cow<'a, [u8]>> {
        let begin = self.at;
        if self.peek() != Some(b'"') {
            return self.error("a member name");
        }
        let escaped = self.string()?;
        let literal = &self.text[begin..self.at];
        if escaped {
            let name = serde_json::from_slice::<String>(literal);
            return name.map(|name| Cow::Owned(name.into())).or(Err(NotJson {
                at: begin,
                expected: "a member name",
            }));
        }
        Ok(Cow::Borrowed(&literal[1..literal.len() - 1]))
    }

    /// Passes over one value, with all that it holds.
    fn value(&mut self) -> Scan<&'a [u8]> {
        self.white_space();
        let begin = self.at;
        let mut nesting = Nesting::default();
        loop {
            self.white_space();
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.white_space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        nesting.push(Bracket::Object);
                        self.member_name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.white_space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        nesting.push(Bracket::Array);
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                _ => return self.error("a value"),
            }
            // A value has ended: so may what holds it, and what holds that.
            loop {
                let Some(bracket) = nesting.top() else {
                    return Ok(&self.text[begin..self.at]);
                };
                self.white_space();
                match (self.peek(), bracket) {
                    (Some(b','), Bracket::Object) => {
                        self.at += 1;
                        self.white_space();
                        self.member_name()?;
                        break;
                    }
                    (Some(b','), Bracket::Array) => {
                        self.at += 1;
                        break;
                    }
                    (Some(b'}'), Bracket::Object) | (Some(b']'), Bracket::Array) => {
                        self.at += 1;
                        nesting.pop();
                    }
                    (_, Bracket::Object) => return self.error("`,` or `}`"),
                    (_, Bracket::Array) => return self.error("`,` or `]`"),
                }
            }
        }
    }

    fn member_name(&mut self) -> Scan<()> {
        if self.peek() != Some(b'"') {
            return self.error("a member name");
        }
        self.string()?;
        self.white_space();
        self.expect(b':', "`:`")
    }

    /// Passes over a string; says whether there are escapes in it.
    fn string(&mut self) -> Scan<bool> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain(&self.text[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(_) => return self.error("a control character to be escaped"),
                None => return self.error("the end of a string"),
            }
        }
    }

    fn escape(&mut self) -> Scan<()> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                let digits = self.text.get(self.at + 1..self.at + 5);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return self.error("four hexadecimal digits");
                }
                self.at += 5;
                Ok(())
            }
            _ => self.error("an escape"),
        }
    }

    fn number(&mut self) -> Scan<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Scan<()> {
        let begin = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == begin {
            return self.error("a digit");
        }
        Ok(())
    }

    fn word(&mut self, word: &'static str) -> Scan<()> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return self.error("a value");
        }
        self.at += word.len();
        Ok(())
    }
}

/// How many bytes of a string may be passed over: neither its end, nor an escape, nor a
/// control character. Eight at a time, for most of what is read is text.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let has_less = |word: u64, than: u64| word.wrapping_sub(ONES * than) & !word & HIGH;
    let has = |word: u64, byte: u8| has_less(word ^ (ONES * u64::from(byte)), 1);

    let mut chunks = bytes.chunks_exact(8);
    let mut passed = 0;
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("a chunk is eight bytes"));
        let stops = has_less(word, 0x20) | has(word, b'"') | has(word, b'\\');
        if stops != 0 {
            // The lowest mark is exact; those above it may be due to a carry.
            return passed + (stops.trailing_zeros() / 8) as usize;
        }
        passed += 8;
    }
    let rest = chunks.remainder().iter();
    passed
        + rest
            .take_while(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
            .count()
}

#[derive(Clone, Copy)]
enum Bracket {
    Array,
    Object,
}

/// The brackets that are open, a bit each.
#[derive(Default)]
struct Nesting {
    /// The innermost ones, the last in the lowest bit.
    bits: u64,
    depth: usize,
    /// Sixty-four at a time, what does not fit into `bits`.
    outer: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, bracket: Bracket) {
        if self.depth > 0 && self.depth % 64 == 0 {
            self.outer.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(matches!(bracket, Bracket::Object));
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth % 64 == 0 {
            self.bits = self.outer.pop().expect("it was pushed at this depth");
        }
    }

    fn top(&self) -> Option<Bracket> {
        (self.depth > 0).then_some(match self.bits & 1 {
            1 => Bracket::Object,
            _ => Bracket::Array,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::{Members, check};

    /// Whether serde_json takes it, which here is the one that is right.
    fn is_json(text: &str) -> bool {
        serde_json::from_str::<&RawValue>(text).is_ok()
    }

    #[test]
    fn takes_what_is_json_and_nothing_else() {
        for text in [
            "",
            " ",
            "{}",
            "[]",
            " [ ] ",
            "{ }",
            "[1]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "[1}",
            "{\"a\":1]",
            "0",
            "-0",
            "00",
            "01",
            "-",
            "1.",
            ".1",
            "1.5",
            "1e",
            "1e5",
            "1e+5",
            "1e+",
            "1E-07",
            "-1.5e3",
            "+1",
            "true",
            "tru",
            "truex",
            "false",
            "null",
            "nul",
            "NaN",
            "\"\"",
            "\"",
            "\"a",
            "\"\\\"",
            "\"\\\\\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\u0041\"",
            "\"\\x\"",
            "\"\t\"",
            "\"\u{1f}\"",
            "\"\u{7f}\"",
            "\"01234567\u{1}\"",
            "\"0123456\\n\"",
            "\"é€😀\u{2028}\"",
            "1 2",
            "{} {}",
            "[[[]]]",
            "[[[]]",
            "[{\"a\":[{}]}]",
            "[\"\\ud800\"]",
            "\u{feff}1",
            "[1]x",
            "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":\"e\"}",
        ] {
            assert_eq!(check(text.as_bytes()).is_ok(), is_json(text), "{text:?}");
        }
    }

    #[test]
    fn any_depth_is_taken() {
        for depth in [1, 63, 64, 65, 127, 128, 129, 100_000] {
            let mixed: String = (0..depth)
                .map(|n| if n % 3 == 0 { "[" } else { "{\"a\":" })
                .collect();
            let close: String = (0..depth)
                .rev()
                .map(|n| if n % 3 == 0 { "]" } else { "}" })
                .collect();
            let whole = format!("{mixed}1{close}");
            assert!(check(whole.as_bytes()).is_ok(), "{depth}");
            assert!(check(&whole.as_bytes()[..whole.len() - 1]).is_err());
            let other = if whole.ends_with(']') { '}' } else { ']' };
            let last = format!("{}{other}", &whole[..whole.len() - 1]);
            assert!(check(last.as_bytes()).is_err());
        }
    }

    /// Text that is JSON, or nearly.
    fn nearly_json() -> impl Strategy<Value = String> {
        let pieces = proptest::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"\\n\"",
            "1",
            "-1.5e3",
            "true",
            "null",
            " ",
            "\n",
            "\"b\":",
            "{\"c\":[]}",
            "\"\u{1}\"",
            "é",
            "\"long enough for a word\"",
            "\\",
        ]);
        proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in nearly_json()) {
            prop_assert_eq!(check(text.as_bytes()).is_ok(), is_json(&text), "{:?}", text);
        }

        #[test]
        fn members_are_what_serde_json_reads(text in nearly_json()) {
            let Ok(whole) = serde_json::from_str::<Value>(&text) else { return Ok(()) };
            let trimmed = text.trim_matches([' ', '\n']);
            if let Value::Object(expected) = &whole {
                let mut members = Members::of(trimmed.as_bytes());
                let mut read = serde_json::Map::new();
                while let Some((name, value)) = members.next_member().unwrap() {
                    read.insert(String::from_utf8(name.into_owned()).unwrap(), serde_json::from_slice(value).unwrap());
                }
                prop_assert_eq!(&read, expected);
            }
            if let Value::Array(expected) = &whole {
                let mut members = Members::of(trimmed.as_bytes());
                let mut read = Vec::new();
                while let Some(value) = members.next_element().unwrap() {
                    read.push(serde_json::from_slice::<Value>(value).unwrap());
                }
                prop_assert_eq!(&read, expected);
            }
        }
    }
}
