//! Writes messages as JSON text.
//!
//! The same text that serde_json writes, at a fraction of the cost: strings are passed over eight
//! bytes at a time, and [`RawJson`](super::RawJson) is copied without being read again.

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result};

use super::scan::{plain, stops};

/// The name under which text that is JSON already comes by.
///
/// What is inside of a struct of this name comes as bytes to a serializer that was human-readable
/// outside of it and is not inside, which is none but the one here.
pub(super) const RAW: &str = "$mcp_protocol::RawJson";

/// The names under which serde_json's own types say that a string is JSON already.
const SERDE_JSON: [&str; 2] = [
    "$serde_json::private::RawValue",
    "$serde_json::private::Number",
];

/// Appends a value of a wire type to `out`.
pub(super) fn write(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    try_write(out, value)
        .expect("wire types hold only strings, numbers and JSON, which always encode");
}

/// Appends a value of any type to `out`; after an error, a part of it.
pub(super) fn try_write(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<()> {
    value.serialize(Writer { out, raw: false })
}

fn string(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    // A little more, or what closes the message would move a long text once again.
    out.reserve(text.len() + text.len() / 32 + 2);
    out.push(b'"');
    let passed = plain(text);
    out.extend_from_slice(&text[..passed]);
    if passed < text.len() {
        escaped(out, &text[passed..]);
    }
    out.push(b'"');
}

/// Bytes of text that are escaped before they are copied to where they belong.
const BLOCK: usize = 128;

/// Bytes that are copied at once, though fewer of them may count.
const WORD: usize = 8;

/// From the first escape on. Where one escape is close to the next, a whole word is copied
/// sooner than a part of it, and nothing is sooner copied to than an array.
#[inline(never)]
fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    // No byte becomes more than six, and the last word may go beyond the block.
    let mut block = [0; 6 * BLOCK + 2 * WORD];
    let mut begin = 0;
    while begin < text.len() {
        let (mut at, mut len) = (begin, 0);
        while at < text.len() && at < begin + BLOCK {
            if let Some(word) = text[at..].first_chunk::<WORD>() {
                block[len..len + WORD].copy_from_slice(word);
                let passed = (stops(u64::from_le_bytes(*word)).trailing_zeros() / 8) as usize;
                at += passed;
                len += passed;
                if passed == WORD {
                    continue;
                }
            }
            let escape = &ESCAPES[usize::from(text[at])];
            block[len..len + WORD].copy_from_slice(escape);
            len += usize::from(escape[WORD - 1]);
            at += 1;
        }
        out.extend_from_slice(&block[..len]);
        begin = at;
    }
}

/// What stands for each byte, and how many bytes that is.
static ESCAPES: [[u8; WORD]; 256] = {
    let digits = b"0123456789abcdef";
    let mut escapes = [[0; WORD]; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\t' => b't',
            b'\r' => b'r',
            8 => b'b',
            12 => b'f',
            _ => 0,
        };
        escapes[at] = match byte {
            _ if short != 0 => [b'\\', short, 0, 0, 0, 0, 0, 2],
            0..0x20 => [
                b'\\',
                b'u',
                b'0',
                b'0',
                digits[at >> 4],
                digits[at & 15],
                0,
                6,
            ],
            _ => [byte, 0, 0, 0, 0, 0, 0, 1],
        };
        at += 1;
    }
    escapes
};

/// Writes one value.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Whether it is JSON text, as bytes or as a string.
    raw: bool,
}

impl<'a> Writer<'a> {
    fn begin(self, open: u8, close: &'static [u8]) -> Members<'a> {
        self.out.push(open);
        Members {
            out: self.out,
            first: true,
            close,
        }
    }

    /// `{"word":`, and then what `open` opens.
    fn variant(self, word: &str, open: u8, close: &'static [u8]) -> Members<'a> {
        self.out.push(b'{');
        string(self.out, word);
        self.out.push(b':');
        self.begin(open, close)
    }
}

macro_rules! as_serde_json_does {
    ($($method:ident $type:ty,)*) => {$(
        fn $method(self, value: $type) -> Result<()> {
            serde_json::to_writer(self.out, &value)
        }
    )*};
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    as_serde_json_does! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
        serialize_i128 i128, serialize_u128 u128,
        serialize_f32 f32, serialize_f64 f64, serialize_char char,
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.out.extend_from_slice(word);
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<()> {
        match self.raw {
            true => self.out.extend_from_slice(text.as_bytes()),
            false => string(self.out, text),
        }
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        if !self.raw {
            return self.collect_seq(bytes);
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, word: &'static str) -> Result<()> {
        self.serialize_str(word)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(Self {
            raw: name == RAW,
            ..self
        })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut members = self.begin(b'{', b"}");
        members.serialize_entry(word, value)?;
        SerializeMap::end(members)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>> {
        Ok(self.begin(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'a>> {
        Ok(self.begin(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'a>> {
        Ok(self.begin(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
        _: usize,
    ) -> Result<Members<'a>> {
        Ok(self.variant(word, b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>> {
        Ok(self.begin(b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>> {
        let raw = SERDE_JSON.contains(&name);
        let members = match raw {
            true => Members {
                out: self.out,
                first: true,
                close: b"",
            },
            false => self.begin(b'{', b"}"),
        };
        Ok(Fields { members, raw })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
        _: usize,
    ) -> Result<Fields<'a>> {
        Ok(Fields {
            members: self.variant(word, b'{', b"}}"),
            raw: false,
        })
    }

    fn is_human_readable(&self) -> bool {
        !self.raw
    }
}

/// Writes the members of an object, or the elements of an array.
struct Members<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    close: &'static [u8],
}

impl Members<'_> {
    fn next(&mut self) -> Writer<'_> {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.value()
    }

    fn value(&mut self) -> Writer<'_> {
        Writer {
            out: self.out,
            raw: false,
        }
    }

    fn close(self) -> Result<()> {
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let writer = self.next();
        let begin = writer.out.len();
        key.serialize(writer)?;
        match self.out.get(begin) {
            Some(b'"') => {}
            Some(b't' | b'f' | b'-' | b'0'..=b'9') => {
                self.out.insert(begin, b'"');
                self.out.push(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        self.out.push(b':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(self.value())
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

/// Writes the members of a struct of Rust's.
struct Fields<'a> {
    members: Members<'a>,
    /// Whether there is one, whose value is JSON text and stands for the whole.
    raw: bool,
}

macro_rules! fields {
    ($($kind:ident)*) => {$(
        impl $kind for Fields<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                if !self.raw {
                    self.members.serialize_key(name)?;
                }
                value.serialize(Writer {
                    out: self.members.out,
                    raw: self.raw,
                })
            }

            fn end(self) -> Result<()> {
                self.members.close()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

macro_rules! elements {
    ($($kind:ident $method:ident)*) => {$(
        impl $kind for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                value.serialize(self.next())
            }

            fn end(self) -> Result<()> {
                self.close()
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::RawJson;

    fn written(value: &impl Serialize) -> String {
        let mut out = b"before ".to_vec();
        write(&mut out, value);
        let text = String::from_utf8(out).expect("it is text");
        text.strip_prefix("before ").expect("it appends").to_owned()
    }

    fn agrees(value: &impl Serialize) {
        assert_eq!(written(value), serde_json::to_string(value).unwrap());
    }

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        #[derive(Serialize)]
        struct Unit;
        #[derive(Serialize)]
        struct Named<'a> {
            first: &'a str,
            second: Option<Unit>,
        }
        #[derive(Serialize)]
        struct Pair(u8, &'static str);
        #[derive(Serialize)]
        struct Only(u8);
        #[derive(Serialize)]
        enum Choice {
            Word,
            Value(u8),
            Pair(u8, &'static str),
            Named { first: u8, second: Unit },
        }
        struct Octets(&'static [u8]);
        impl Serialize for Octets {
            fn serialize<S: Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_bytes(self.0)
            }
        }

        agrees(&(true, false, (), None::<u8>, Some(1_u8), 'x'));
        agrees(&(
            i64::MIN,
            u64::MAX,
            i128::MIN,
            0.1_f32,
            1e300,
            f64::NAN,
            -0.0,
        ));
        agrees(&[
            Choice::Word,
            Choice::Value(1),
            Choice::Pair(1, "\""),
            Choice::Named {
                first: 1,
                second: Unit,
            },
        ]);
        agrees(&(Pair(1, "a"), Only(2), Octets(b"\x00a"), Octets(b"")));
        agrees(&Named {
            first: "a",
            second: Some(Unit),
        });
        agrees(&BTreeMap::from([("a", vec![1, 2]), ("b\n", vec![])]));
        agrees(&serde_json::json!({ "a": [{}, [], null, 1.5, "b"], "": {} }));
    }

    #[test]
    fn names_are_written_as_serde_json_writes_them() {
        #[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
        enum Word {
            First,
        }

        agrees(&BTreeMap::from([(-1_i8, 1), (2, 3)]));
        agrees(&BTreeMap::from([(u128::MAX, ())]));
        agrees(&BTreeMap::from([(true, 1), (false, 2)]));
        agrees(&BTreeMap::from([('"', 1)]));
        agrees(&BTreeMap::from([(Word::First, 1)]));
    }

    #[test]
    fn a_name_that_is_no_string_is_refused() {
        for value in [
            &BTreeMap::from([((1, 2), 3)]) as &dyn Fails,
            &BTreeMap::from([((), 3)]),
            &BTreeMap::from([(None::<bool>, 3)]),
        ] {
            value.fails();
        }

        trait Fails {
            fn fails(&self);
        }
        impl<T: Serialize> Fails for T {
            fn fails(&self) {
                serde_json::to_string(self).unwrap_err();
                try_write(&mut Vec::new(), self).unwrap_err();
            }
        }
    }

    #[test]
    fn text_that_serde_json_keeps_is_written_as_it_is() {
        let text = r#"{"a" : [1.00, "\u0041"]}"#;
        let value: Box<serde_json::value::RawValue> = serde_json::from_str(text).unwrap();
        assert_eq!(written(&(1, &value)), format!("[1,{text}]"));

        // As the numbers of serde_json are with its feature `arbitrary_precision`.
        #[derive(Serialize)]
        #[serde(rename = "$serde_json::private::Number")]
        struct Number {
            #[serde(rename = "$serde_json::private::Number")]
            digits: &'static str,
        }
        let number = Number { digits: "1.00" };
        assert_eq!(written(&[number]), "[1.00]");
    }

    #[test]
    fn raw_json_is_written_as_it_is() {
        let text = r#"{"a" : [1.00, "\u0041"]}"#;
        let raw = RawJson::parse(text).unwrap();
        assert_eq!(written(&[&raw, &raw]), format!("[{text},{text}]"));
        agrees(&BTreeMap::from([("a", raw)]));
    }

    #[test]
    fn every_character_is_written_as_serde_json_writes_it() {
        for code in (0..0x300).chain(0x2020..0x2030) {
            let character = char::from_u32(code).expect("none of them is a surrogate");
            agrees(&format!("{character}"));
            agrees(&format!("1234567{character}{character}89"));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_serde_json_writes_it(text in any::<String>()) {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
