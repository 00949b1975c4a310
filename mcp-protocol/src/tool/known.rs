//! A deserializer of arguments that are known to be JSON.
//!
//! Most of what is long in arguments are strings, of which serde_json reads each byte on its own.
//! Here those that are members of the outermost object are read eight bytes at a time. The rest
//! is serde_json's.

use std::borrow::Cow;
use std::str;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::de::SliceRead;
use serde_json::{Deserializer as Parser, Error};

use crate::jsonrpc::Members;

macro_rules! as_serde_json_does {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.parser().$method(visitor)
        }
    )*};
}

/// Reads the outermost object.
pub(super) struct Known<'de>(pub(super) &'de [u8]);

impl<'de> Known<'de> {
    fn parser(self) -> Parser<SliceRead<'de>> {
        Parser::from_slice(self.0)
    }
}

impl<'de> Deserializer<'de> for Known<'de> {
    type Error = Error;

    as_serde_json_does! { deserialize_any }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.0.starts_with(b"{") {
            return self.deserialize_any(visitor);
        }
        visitor.visit_map(Object(Members::of(self.0)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.parser().deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.parser().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct struct identifier ignored_any
    }
}

struct Object<'de>(Members<'de>);

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let read = match self.0.next_name().map_err(Error::custom)? {
            None => return Ok(None),
            Some(Cow::Borrowed(name)) => {
                seed.deserialize(BorrowedStrDeserializer::new(text(name)?))
            }
            Some(Cow::Owned(name)) => seed.deserialize(text(&name)?.into_deserializer()),
        };
        read.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        match self.0.known() {
            Some((json, text)) => seed.deserialize(Member { json, text }),
            None => Err(Error::custom("half a pair of surrogates")),
        }
    }
}

/// Reads one member, and leaves what is within it to serde_json, which knows how deep it can go.
struct Member<'de> {
    json: &'de [u8],
    /// What it says, if it is a string.
    text: Option<Cow<'de, str>>,
}

impl<'de> Member<'de> {
    fn parser(self) -> Parser<SliceRead<'de>> {
        Parser::from_slice(self.json)
    }
}

impl<'de> Deserializer<'de> for Member<'de> {
    type Error = Error;

    as_serde_json_does! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_bytes deserialize_byte_buf
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text {
            Some(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Some(Cow::Owned(text)) => visitor.visit_string(text),
            None => self.parser().deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.json {
            b"null" => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    // Raw JSON is read under a name that only serde_json knows.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.parser().deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.parser().deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

fn text(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(Error::custom)
}
