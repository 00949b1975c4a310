//! What the strings of a message say: their text, without the escapes.

use std::borrow::Cow;
use std::str;

use super::scan::{plain, stops};

/// The text of a string that is a JSON text, which begins and ends with a quote.
///
/// `None` where half a pair of surrogates stands alone: that is no text.
pub(crate) fn string(literal: &[u8]) -> Option<String> {
    text(literal).map(|(text, _)| text.into_owned())
}

/// The text of the string that well-formed JSON begins with, and the length of it in JSON.
pub(super) fn text(json: &[u8]) -> Option<(Cow<'_, str>, usize)> {
    let json = json.strip_prefix(b"\"")?;
    let passed = plain(json);
    if json.get(passed) == Some(&b'"') {
        let text = str::from_utf8(&json[..passed]).ok()?;
        return Some((Cow::Borrowed(text), passed + 2));
    }
    // Most of what follows is often this string: growing step by step would cost more.
    let mut text = Vec::with_capacity(json.len().min(ROOM));
    text.extend_from_slice(&json[..passed]);
    let read = unescape(&json[passed..], &mut text)?;
    text.shrink_to_fit();
    Some((String::from_utf8(text).ok()?.into(), passed + read + 2))
}

/// Bytes that a text has room for before its length is known. More would come from the system,
/// and go back to it, each time.
const ROOM: usize = 96 << 10;

/// Bytes that are copied at once, though fewer of them may count.
const WORD: usize = 8;

/// Bytes that are unescaped before they are copied to where they belong.
const BLOCK: usize = 128;

/// Appends what a string says from its first escape on, and says how long it is without its
/// closing quote.
fn unescape(json: &[u8], text: &mut Vec<u8>) -> Option<usize> {
    // The last character and the last word may go beyond the block.
    let mut block = [0; BLOCK + 2 * WORD];
    let (mut at, mut len) = (0, 0);
    loop {
        if len > BLOCK {
            text.extend_from_slice(&block[..len]);
            len = 0;
        }
        if let Some(word) = json[at..].first_chunk::<WORD>() {
            block[len..len + WORD].copy_from_slice(word);
            let passed = (stops(u64::from_le_bytes(*word)).trailing_zeros() / 8) as usize;
            at += passed;
            len += passed;
            if passed == WORD {
                continue;
            }
        }
        block[len] = match *json.get(at)? {
            b'"' => break,
            b'\\' => match *json.get(at + 1)? {
                b'u' => {
                    let (character, digits) = character(&json[at..])?;
                    len += character.encode_utf8(&mut block[len..]).len();
                    at += digits;
                    continue;
                }
                short => {
                    at += 1;
                    unescaped(short)
                }
            },
            plain => plain,
        };
        at += 1;
        len += 1;
    }
    text.extend_from_slice(&block[..len]);
    Some(at)
}

/// What a letter behind a backslash stands for.
fn unescaped(short: u8) -> u8 {
    match short {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        itself => itself,
    }
}

/// The character that a text begins with as `\uXXXX`, or two of those, and the length of that.
fn character(text: &[u8]) -> Option<(char, usize)> {
    let high = unit(text)?;
    if let Some(character) = char::from_u32(high) {
        return Some((character, 6));
    }
    let low = unit(text.get(6..)?)?;
    let mut pair = char::decode_utf16([high, low].map(|unit| unit as u16));
    Some((pair.next()?.ok()?, 12))
}

fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit << 4 | char::from(*digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::string;

    fn agrees(literal: &str) {
        let expected = serde_json::from_str(literal).ok();
        assert_eq!(string(literal.as_bytes()), expected, "{literal}");
    }

    #[test]
    fn every_escape_says_what_it_says_to_serde_json() {
        for escape in [
            r#"\""#,
            r"\\",
            r"\/",
            r"\b",
            r"\f",
            r"\n",
            r"\r",
            r"\t",
            r"\u0000",
            r"\u00e9",
            r"\u20AC",
            r"\ud83d\ude00",
            r"\ud83d",
            r"\ude00",
            r"\ud83d\n",
            r"\ud83d\u0041",
            "é",
        ] {
            for before in 0..10 {
                for behind in 0..10 {
                    agrees(&format!(
                        "\"{}{escape}{}\"",
                        "a".repeat(before),
                        "b".repeat(behind)
                    ));
                    agrees(&format!("\"{}{escape}{escape}\"", "é".repeat(before)));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_it_was_written(text in any::<String>()) {
            let literal = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(string(literal.as_bytes()), Some(text));
        }
    }
}
