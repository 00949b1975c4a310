//! Takes JSON text apart without giving it a type.
//!
//! A message is read twice at most: here, where everything is checked to be well-formed and
//! only the members of the envelope are told apart, and once more by the type that its
//! parameters turn out to have. The text is bytes, of which the caller knows that they are
//! UTF-8. Nesting costs a bit of memory a level and no stack, so that no
//! depth can bring the process down.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::text::text;

/// Where the text stops being JSON, and what should have stood there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotJson {
    at: usize,
    expected: Expected,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected.words(), self.at)
    }
}

/// Small, as nearly every step of a scan can give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    Digit,
    End,
    EndOfString,
    Escape,
    EscapedControl,
    HexDigits,
    MemberName,
    Value,
}

impl Expected {
    fn words(self) -> &'static str {
        match self {
            Self::Colon => "`:`",
            Self::CommaOrBrace => "`,` or `}`",
            Self::CommaOrBracket => "`,` or `]`",
            Self::Digit => "a digit",
            Self::End => "the end of the message",
            Self::EndOfString => "the end of a string",
            Self::Escape => "an escape",
            Self::EscapedControl => "a control character to be escaped",
            Self::HexDigits => "four hexadecimal digits",
            Self::MemberName => "a member name",
            Self::Value => "a value",
        }
    }
}

type Scan<T> = Result<T, Expected>;

/// The name of a member and its value.
type Member<'a> = (Cow<'a, [u8]>, &'a [u8]);

/// Checks that a text is one JSON value and nothing else.
pub(super) fn check(text: &[u8]) -> Result<(), NotJson> {
    let mut scanner = Scanner { text, at: 0 };
    let checked = scanner.value().and_then(|_| scanner.end());
    checked.map_err(|expected| scanner.not_json(expected))
}

/// The members of an object, or the elements of an array, each as the text that it is.
pub(crate) struct Members<'a> {
    scanner: Scanner<'a>,
    first: bool,
}

impl<'a> Members<'a> {
    /// Of a text that begins with the bracket of an object or an array.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self {
            scanner: Scanner { text, at: 1 },
            first: true,
        }
    }

    /// The next member of an object: its name and its value. After the last one, checks that
    /// nothing follows the object.
    pub(crate) fn next_member(&mut self) -> Result<Option<Member<'a>>, NotJson> {
        self.member()
            .map_err(|expected| self.scanner.not_json(expected))
    }

    /// The next element of an array. After the last one, checks that nothing follows it.
    pub(crate) fn next_element(&mut self) -> Result<Option<&'a [u8]>, NotJson> {
        self.element()
            .map_err(|expected| self.scanner.not_json(expected))
    }

    /// The name of the next member of an object, of which [`value`](Self::value) or
    /// [`outlined`](Self::outlined) then gives the value.
    #[inline(always)]
    pub(crate) fn next_name(&mut self) -> Result<Option<Cow<'a, [u8]>>, NotJson> {
        self.name()
            .map_err(|expected| self.scanner.not_json(expected))
    }

    /// The value, and what it says if it is a string. Only of a text that is known to be JSON.
    pub(crate) fn known(&mut self) -> Option<(&'a [u8], Option<Cow<'a, str>>)> {
        let scanner = &mut self.scanner;
        if scanner.token() != Some(b'"') {
            return Some((scanner.value().ok()?, None));
        }
        let rest = &scanner.text[scanner.at..];
        let (text, len) = text(rest)?;
        scanner.at += len;
        Some((&rest[..len], Some(text)))
    }

    pub(crate) fn value(&mut self) -> Result<&'a [u8], NotJson> {
        let value = self.scanner.value();
        value.map_err(|expected| self.scanner.not_json(expected))
    }

    /// The value, of which the members are seen one by one if it is an object: each by its name
    /// and where its own value stands in the whole. Where its `_meta` is the object `meta`, it is
    /// passed over as such.
    pub(crate) fn outlined(
        &mut self,
        meta: &[u8],
        see: impl FnMut(&[u8], Range<usize>),
    ) -> Result<&'a [u8], NotJson> {
        let value = self.scanner.outlined(meta, see);
        value.map_err(|expected| self.scanner.not_json(expected))
    }

    fn member(&mut self) -> Scan<Option<Member<'a>>> {
        let Some(name) = self.name()? else {
            return Ok(None);
        };
        let value = self.scanner.value()?;
        Ok(Some((name, value)))
    }

    #[inline]
    fn name(&mut self) -> Scan<Option<Cow<'a, [u8]>>> {
        if !self.advance(b'}', Expected::CommaOrBrace)? {
            return Ok(None);
        }
        self.scanner.member_name().map(Some)
    }

    fn element(&mut self) -> Scan<Option<&'a [u8]>> {
        if !self.advance(b']', Expected::CommaOrBracket)? {
            return Ok(None);
        }
        self.scanner.value().map(Some)
    }

    /// Moves to the next member, or behind the end.
    fn advance(&mut self, close: u8, expected: Expected) -> Scan<bool> {
        let first = std::mem::take(&mut self.first);
        let more = self.scanner.advance(close, first, expected)?;
        if !more {
            self.scanner.end()?;
        }
        Ok(more)
    }
}

/// Reads one text from its beginning to its end.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn not_json(&self, expected: Expected) -> NotJson {
        NotJson {
            at: self.at,
            expected,
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte that is not white space.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                token => return token,
            }
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8, expected: Expected) -> Scan<()> {
        if self.token() != Some(byte) {
            return Err(expected);
        }
        self.at += 1;
        Ok(())
    }

    /// Moves to the next member of what `close` ends, or behind that.
    #[inline]
    fn advance(&mut self, close: u8, first: bool, expected: Expected) -> Scan<bool> {
        if self.token() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if !first {
            self.expect(b',', expected)?;
        }
        Ok(true)
    }

    fn end(&mut self) -> Scan<()> {
        self.token().map_or(Ok(()), |_| Err(Expected::End))
    }

    /// Passes over the name of a member, and the colon behind it.
    #[inline]
    fn member_name(&mut self) -> Scan<Cow<'a, [u8]>> {
        if self.token() != Some(b'"') {
            return Err(Expected::MemberName);
        }
        let begin = self.at;
        let escaped = self.string()?;
        let literal = &self.text[begin..self.at];
        self.expect(b':', Expected::Colon)?;
        if escaped {
            let name = serde_json::from_slice::<String>(literal);
            let name = name.or(Err(Expected::MemberName))?;
            return Ok(Cow::Owned(name.into()));
        }
        Ok(Cow::Borrowed(&literal[1..literal.len() - 1]))
    }

    /// Passes over one value. If it is an object, its members are seen.
    fn outlined(
        &mut self,
        meta: &[u8],
        mut see: impl FnMut(&[u8], Range<usize>),
    ) -> Scan<&'a [u8]> {
        if self.token() != Some(b'{') {
            return self.value();
        }
        let begin = self.at;
        self.at += 1;
        let mut first = true;
        while self.advance(b'}', first, Expected::CommaOrBrace)? {
            first = false;
            let name = self.member_name()?;
            // An object ends where its text does, whatever follows.
            let known = meta.ends_with(b"}") && *name == *b"_meta";
            self.token();
            let from = self.at;
            if known && self.text[from..].starts_with(meta) {
                self.at += meta.len();
            } else {
                self.value()?;
            }
            see(&name, from..self.at);
        }
        Ok(&self.text[begin..self.at])
    }

    /// Passes over one value, with all that it holds.
    fn value(&mut self) -> Scan<&'a [u8]> {
        self.token();
        let begin = self.at;
        let mut nesting = Nesting::default();
        loop {
            match self.token() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{') => {
                    self.at += 1;
                    if self.token() != Some(b'}') {
                        nesting.push(Bracket::Object);
                        self.pass_member_name()?;
                        continue;
                    }
                    self.at += 1;
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.token() != Some(b']') {
                        nesting.push(Bracket::Array);
                        continue;
                    }
                    self.at += 1;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                _ => return Err(Expected::Value),
            }
            // A value has ended: so may what holds it, and what holds that.
            loop {
                let Some(bracket) = nesting.top() else {
                    return Ok(&self.text[begin..self.at]);
                };
                match (self.token(), bracket) {
                    (Some(b','), Bracket::Object) => {
                        self.at += 1;
                        self.pass_member_name()?;
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
                    (_, Bracket::Object) => return Err(Expected::CommaOrBrace),
                    (_, Bracket::Array) => return Err(Expected::CommaOrBracket),
                }
            }
        }
    }

    #[inline]
    fn pass_member_name(&mut self) -> Scan<()> {
        if self.token() != Some(b'"') {
            return Err(Expected::MemberName);
        }
        self.string()?;
        self.expect(b':', Expected::Colon)
    }

    /// Passes over a string; says whether there are escapes in it.
    #[inline]
    fn string(&mut self) -> Scan<bool> {
        let begin = self.at + 1;
        let end = begin + plain(&self.text[begin..]);
        self.at = end;
        if self.peek() != Some(b'"') {
            return self.rest_of_string().map(|()| true);
        }
        self.at = end + 1;
        Ok(false)
    }

    /// From the first escape on.
    #[inline(never)]
    fn rest_of_string(&mut self) -> Scan<()> {
        let text = self.text;
        let mut at = self.at;
        let why = loop {
            match text.get(at) {
                Some(b'\\') => match text.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u') => {
                        let digits = text.get(at + 2..at + 6);
                        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                            at += 1;
                            break Expected::HexDigits;
                        }
                        at += 6;
                    }
                    _ => {
                        at += 1;
                        break Expected::Escape;
                    }
                },
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(());
                }
                Some(_) => break Expected::EscapedControl,
                None => break Expected::EndOfString,
            }
            // One escape is often close to the next.
            at += plain_words(&text[at..]);
        };
        self.at = at;
        Err(why)
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
            return Err(Expected::Digit);
        }
        Ok(())
    }

    fn word(&mut self, word: &'static [u8]) -> Scan<()> {
        if !self.text[self.at..].starts_with(word) {
            return Err(Expected::Value);
        }
        self.at += word.len();
        Ok(())
    }
}

/// How many bytes of a string may be passed over: neither its end, nor an escape, nor a
/// control character. Most of what is read is text.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < BLOCK {
        let Some(word) = bytes[at..].first_chunk() else {
            return at + plain_words(&bytes[at..]);
        };
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            // The lowest mark is exact; those above it may be due to a carry.
            return at + (stops.trailing_zeros() / 8) as usize;
        }
        at += word.len();
    }
    at + plain_blocks(&bytes[at..])
}

/// Bytes that are looked at together in a string that is long enough for it.
const BLOCK: usize = 64;

/// The same of a long string, a block at a time. What looks at a block has no way out of it, so
/// that it is made of vector instructions.
#[inline(never)]
fn plain_blocks(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        if block.iter().fold(false, |stop, byte| stop | is_stop(byte)) {
            break;
        }
        rest = after;
    }
    bytes.len() - rest.len() + plain_words(rest)
}

/// The same, eight at a time to the end.
#[inline]
fn plain_words(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((chunk, after)) = rest.split_first_chunk() {
        let stops = stops(u64::from_le_bytes(*chunk));
        if stops != 0 {
            // The lowest mark is exact; those above it may be due to a carry.
            return bytes.len() - rest.len() + (stops.trailing_zeros() / 8) as usize;
        }
        rest = after;
    }
    let passed = bytes.len() - rest.len();
    passed + rest.iter().position(is_stop).unwrap_or(rest.len())
}

/// Whether a string cannot be passed over at this byte.
#[inline]
fn is_stop(byte: &u8) -> bool {
    matches!(byte, 0..0x20 | b'"' | b'\\')
}

/// Marks the bytes of a word at which a string cannot be passed over.
#[inline]
pub(super) fn stops(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    // Below zero in a byte: the byte was less than what is taken away, or 0x80 and more. The
    // change of one bit brings the quote next to the control characters.
    let control_or_quote = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let escape = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (control_or_quote | escape) & !word & ONES << 7
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

    use super::{BLOCK, Members, check, plain};

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
            "[{\"a\" 1}]",
            "[{\"a\":1,}]",
            "\u{b}{}",
            "\u{c}{}",
            "[\u{c}]",
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
            "\"\\u004g\"",
            "\"\\u0041\"",
            "\"\\x\"",
            "\"\t\"",
            "\"\u{1f}\"",
            "\"\u{7f}\"",
            "\"01234567\u{1}\"",
            "\"\u{1f}1234567\"",
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

    #[test]
    fn a_string_is_passed_over_to_the_first_byte_that_means_something() {
        const LEN: usize = 3 * BLOCK + 11;
        for at in 0..LEN {
            for byte in 0..=u8::MAX {
                let mut bytes = [b'a'; LEN];
                bytes[at] = byte;
                let stops = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(
                    plain(&bytes),
                    if stops { at } else { LEN },
                    "{byte} at {at}"
                );
            }
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
