//! Arguments of a call: encoded without what is absent, decoded at full speed, and explained at
//! leisure when they do not fit.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

use super::ToolArgs;
use super::known::Known;
use super::members::{Members, Rules};
use crate::RawJson;
use crate::wire::{Extra, wire};

/// Longest message, in characters. What a caller sent is quoted in it, and may be long.
const MESSAGE: usize = 400;

/// Longest path, in characters. Names in it may be what a caller sent.
const PATH: usize = 200;

/// How many `null`s may turn out to mean nothing, each at the cost of decoding once more.
const NULLS: usize = 32;

/// Why the arguments of a call do not fit the tool.
///
/// It is written for the model that made the call: a server sends it as the text of a failed
/// result, so that the model can call again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    path: String,
    message: String,
}

impl ArgumentError {
    /// Of the value at `path`, which is empty for the arguments as a whole. Both are cut to a
    /// length: an answer must not grow with what was sent.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: shorten(&path.into(), PATH),
            message: shorten(&message.into(), MESSAGE),
        }
    }

    /// Where the wrong value stands, as in `targets[0].port`; empty for the arguments as a
    /// whole, from which a member is missing or in which one is too many.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What was found and what was expected.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at `{}`: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ArgumentError {}

impl From<serde_path_to_error::Error<serde_json::Error>> for ArgumentError {
    fn from(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        Self::new(place(error.path()), message(error.inner()))
    }
}

/// Encodes the arguments of a call. A member that is `null`, as serde writes a field that is
/// `None`, is left out unless the schema of the tool wants it: not every server knows that
/// `null` may mean absent. What is inside of a member is left to serde.
///
/// # Errors
///
/// When the arguments cannot be JSON.
pub fn encode_arguments<T: ToolArgs + Serialize>(arguments: &T) -> serde_json::Result<RawJson> {
    let encoded = RawJson::encode(arguments)?;
    let Ok(mut object) = encoded.decode::<Extra>() else {
        return Ok(encoded);
    };
    let nulls = object.iter().filter(|(_, value)| value.is_null());
    let nulls: Vec<_> = nulls.map(|(name, _)| name.to_owned()).collect();
    if nulls.is_empty() {
        return Ok(encoded);
    }
    let schema = T::definition().input_schema.decode::<Schema>();
    let required = schema.unwrap_or_default().required.unwrap_or_default();
    for name in nulls.iter().filter(|name| !required.contains(name)) {
        object.remove(name);
    }
    RawJson::encode(&object)
}

wire! {
    /// What of a schema has to be known.
    struct Schema {
        optional "required" => required: Vec<String>,
    }
}

/// Decodes the arguments of a call; a member that the type does not have is ignored.
///
/// It differs from [`RawJson::decode`] in that only an object will do, that a unit struct takes
/// one, and that `null` for a member with a default is the same as no member, as it is with
/// serde for an `Option`. An empty string is not `null`, and what is inside of a member is left
/// to serde. A whole number may be written in any way, as `3.0`, `3e0` or, if it is zero, `-0`.
///
/// # Errors
///
/// When the arguments do not fit, with the place.
pub fn decode_arguments<T: DeserializeOwned>(arguments: &RawJson) -> Result<T, ArgumentError> {
    decode(arguments, false)
}

/// [`decode_arguments`], but a member that the type does not have is an error, which names the
/// one that was probably meant.
///
/// This holds for structs with named fields and for unit structs. A struct with a flattened
/// field takes any member, as serde does not say which ones it has.
///
/// # Errors
///
/// When the arguments do not fit, with the place.
pub fn decode_closed_arguments<T: DeserializeOwned>(
    arguments: &RawJson,
) -> Result<T, ArgumentError> {
    decode(arguments, true)
}

fn decode<T: DeserializeOwned>(arguments: &RawJson, closed: bool) -> Result<T, ArgumentError> {
    T::deserialize(Members {
        inner: Known(arguments.as_bytes()),
        rules: Rules {
            closed,
            absent: &[],
        },
    })
    .or_else(|_| decode_again(arguments, closed))
}

/// Decodes once more to learn where the error is, and for as long as it is a `null` without it.
#[cold]
fn decode_again<T: DeserializeOwned>(
    arguments: &RawJson,
    closed: bool,
) -> Result<T, ArgumentError> {
    let whole = with_whole_numbers(arguments);
    let arguments = whole.as_ref().unwrap_or(arguments);
    let mut absent = Vec::new();
    loop {
        let mut json = serde_json::Deserializer::from_slice(arguments.as_bytes());
        let error = match serde_path_to_error::deserialize(Members {
            inner: &mut json,
            rules: Rules {
                closed,
                absent: &absent,
            },
        }) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match null_member(arguments, error.path()) {
            Some(name) if absent.len() < NULLS => absent.push(name),
            _ => return Err(error.into()),
        }
    }
}

/// `3.0` and `3e0` written as `3`, if there is any. To JSON they are one number, and some callers
/// know no other numbers than those with a fraction; serde takes only the last for an integer.
fn with_whole_numbers(arguments: &RawJson) -> Option<RawJson> {
    let text = arguments.as_str();
    let bytes = text.as_bytes();
    let mut written = String::new();
    let (mut copied, mut at, mut in_string) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' => at += 1,
            b'-' | b'0'..=b'9' if !in_string => {
                let in_number = |byte: &&u8| b"+-.eE".contains(byte) || byte.is_ascii_digit();
                let end = at + bytes[at..].iter().take_while(in_number).count();
                if let Some(whole) = whole(&text[at..end]) {
                    written.push_str(&text[copied..at]);
                    written.push_str(&whole);
                    copied = end;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return None;
    }
    written.push_str(&text[copied..]);
    RawJson::parse(written).ok()
}

/// A number as an integer, if it is one and not written so. Not if that takes more digits than
/// it has and `u64` has: a text must not grow beyond measure.
fn whole(number: &str) -> Option<String> {
    if !number.contains(['.', 'e', 'E']) {
        return (number == "-0").then(|| "0".to_owned());
    }
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{integer}{fraction}");
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", &*digits),
    };
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    // How many digits stand before the point, if there is one at all.
    let exponent: isize = exponent.parse().ok()?;
    let before = isize::try_from(digits.len() - fraction.len()).ok()?;
    let before = usize::try_from(before.checked_add(exponent)?).ok()?;
    let zeros = before.checked_sub(significant.len())?;
    let significant = significant.trim_start_matches('0');
    (before <= number.len().max(20)).then(|| format!("{sign}{significant}{}", "0".repeat(zeros)))
}

/// The member that a path leads to, if it is one of the outermost object and `null`.
fn null_member(arguments: &RawJson, path: &Path) -> Option<String> {
    let mut segments = path.iter();
    let (Some(Segment::Map { key }), None) = (segments.next(), segments.next()) else {
        return None;
    };
    let mut members: BTreeMap<String, RawJson> = arguments.decode().ok()?;
    members
        .remove(key)
        .is_some_and(|value| value.is_null())
        .then(|| key.clone())
}

/// A path as it is written in most languages: `targets[0].port`.
fn place(path: &Path) -> String {
    let mut place = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => place.push_str(&format!("[{index}]")),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(key);
            }
            // A member that could not be read has no name to give.
            Segment::Unknown => {}
        }
    }
    place
}

/// What serde says, without the line and column, which mean nothing to who sent the value.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn shorten(text: &str, limit: usize) -> String {
    let cut = text.char_indices().nth(limit);
    match cut.and_then(|(end, _)| text.get(..end)) {
        Some(cut) => format!("{cut}…"),
        None => text.to_owned(),
    }
}

/// Says that there is no such argument, and which one was probably meant.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    let shown = shorten(name, 64);
    if known.is_empty() {
        return format!("unknown argument `{shown}`, the tool takes none");
    }
    match nearest(name, known) {
        Some(near) => format!("unknown argument `{shown}`, did you mean `{near}`?"),
        None => format!(
            "unknown argument `{shown}`, known are `{}`",
            known.join("`, `")
        ),
    }
}

/// The known name that is at most a third away.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().chars().collect::<Vec<char>>();
    // Longer than any argument's name; comparing it would only cost time.
    if name.len() > 64 {
        return None;
    }
    let name = plain(name);
    known
        .iter()
        .map(|&known| (distance(&name, &plain(known)), known))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, known)| distance * 3 <= name.len().max(known.len()))
        .map(|(_, known)| known)
}

/// How many letters must be put in, taken out or replaced to make one word of the other.
fn distance(from: &[char], to: &[char]) -> usize {
    // From the beginning of `from` to each beginning of `to` but the empty one.
    let mut row: Vec<usize> = (1..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let (mut diagonal, mut left) = (i, i + 1);
        for (above, b) in row.iter_mut().zip(to) {
            let replaced = diagonal + usize::from(a != b);
            left = replaced.min(*above + 1).min(left + 1);
            diagonal = std::mem::replace(above, left);
        }
    }
    row.last().copied().unwrap_or(from.len())
}
