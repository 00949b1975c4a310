//! A deserializer that lays the rules for arguments over any other one.

use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::arguments::unknown;
use crate::wire::Key;

/// How the members of the outermost object are read.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Refuse a member that the type does not have.
    pub(super) closed: bool,
    /// Members to be read as if they were not there.
    pub(super) absent: &'a [String],
}

/// Reads one object from `inner`, under rules. What stands inside of it is not touched.
pub(super) struct Members<'a, D> {
    pub(super) inner: D,
    pub(super) rules: Rules<'a>,
}

impl<'a, 'de, D: Deserializer<'de>> Members<'a, D> {
    fn object<V: Visitor<'de>>(
        self,
        known: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let absent = self.rules.absent;
        self.inner.deserialize_map(Object {
            inner: visitor,
            known,
            absent,
        })
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Members<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        // The names come from the type itself, aliases included.
        let known = self.rules.closed.then_some(fields);
        self.object(known, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.object(None, visitor)
    }

    // serde would have `null` for a type without members; a caller sends `{}`.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let closed = self.rules.closed;
        self.inner.deserialize_map(Nothing {
            inner: visitor,
            closed,
        })
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_some(self)
    }

    // Raw JSON is read under a name that only the inner deserializer knows.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf seq tuple tuple_struct map identifier ignored_any
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Visits an object and shows `inner` the members that the rules leave.
struct Object<'a, T> {
    inner: T,
    known: Option<&'static [&'static str]>,
    absent: &'a [String],
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with the arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Object {
            inner: map,
            known: self.known,
            absent: self.absent,
        })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Object<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.inner.next_key::<Key<'de>>()? {
            let name = key.as_str();
            if self.absent.iter().any(|absent| absent == name) {
                self.inner.next_value::<IgnoredAny>()?;
                continue;
            }
            match self.known {
                Some(known) if !known.contains(&name) => {
                    return Err(A::Error::custom(unknown(name, known)));
                }
                _ => {}
            }
            return seed.deserialize(name.into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

/// Visits an object for a type that has no members.
struct Nothing<V> {
    inner: V,
    closed: bool,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Nothing<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with the arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<V::Value, A::Error> {
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if self.closed {
                return Err(A::Error::custom(unknown(key.as_str(), &[])));
            }
            map.next_value::<IgnoredAny>()?;
        }
        self.inner.visit_unit()
    }
}
