//! How wire types are written down.
//!
//! Every object of the protocol is a [`wire!`] struct and every set of words a [`words!`]
//! enum, so that one rule holds for all of them: lenient inbound, strict outbound.
//!
//! * An unknown member never fails an object; an `open` struct keeps it in `extra`.
//! * `null` for an optional member means absent, and `null` is never written for one.
//! * Of two members of one name the last one counts.
//! * An array is never taken for an object, and members may come in any order.
//! * A word that is not known is kept as `Other`.
//!
//! serde's derive cannot say this: its `flatten` buffers the whole object, which is slow
//! and loses raw JSON, and its structs accept arrays.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use crate::RawJson;
use crate::jsonrpc::serialize_raw;

/// Defines objects of the protocol.
///
/// | kind | field type | absent | `null` | written |
/// |---|---|---|---|---|
/// | `required` | `T` | error | as `T` reads it | always |
/// | `optional` | `Option<T>` | `None` | `None` | if `Some` |
/// | `nullable` | `Option<T>` | `None` | as `T` reads it | if `Some` |
/// | `default` | `T` | `T::default()` | `T::default()` | always |
/// | `count` | `u64` | error | error | always |
/// | `integer` | `Option<u64>` | `None` | `None` | if `Some` |
///
/// An `integer` reads `5.0` as 5, and a number that no `u64` can be as absent.
///
/// `open struct` adds `extra`, the members that are not listed. `is "type" = "text"` adds a
/// member that is always written first and not looked at when read. Each type gets `new`,
/// which takes the required members in order, and a setter for each other one. They take what
/// converts into the member, but for a `count` and an `integer`: a literal would be an `i32`.
macro_rules! wire {
    ( $(
        $(#[$attr:meta])*
        $vis:vis open struct $name:ident $( is $tag:literal = $word:literal )? { $($fields:tt)* }
    )+ ) => {
        $( $crate::wire::wire!(
            @define $(#[$attr])* [$vis] $name [extra] [$($tag $word)?] $($fields)*
        ); )+
    };
    ( $( $(#[$attr:meta])* $vis:vis struct $name:ident { $($fields:tt)* } )+ ) => {
        $( $crate::wire::wire!(@define $(#[$attr])* [$vis] $name [] [] $($fields)*); )+
    };

    (@define
        $(#[$attr:meta])*
        [$vis:vis] $name:ident [$($extra:ident)?] [$($tag:literal $word:literal)?]
        $( $(#[$field_attr:meta])* $kind:ident $key:literal => $field:ident: $type:ty, )*
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        $vis struct $name {
            $(
                $(#[$field_attr])*
                #[cfg_attr(feature = "schemars", schemars(rename = $key))]
                $vis $field: $crate::wire::wire!(@type $kind $type),
            )*
            $(
                /// Members that this crate does not know, kept in order.
                #[cfg_attr(feature = "schemars", schemars(skip))]
                $vis $extra: $crate::wire::Extra,
            )?
        }

        $crate::wire::wire!(@new [$vis] $name [$($extra)?] [] [] $($kind $field: $type,)*);

        #[allow(dead_code, reason = "a private type may need no setter")]
        impl $name {
            $( $crate::wire::wire!(@setter [$vis] $(#[$field_attr])* $kind $field: $type); )*
        }

        impl serde::Serialize for $name {
            #[inline(never)]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[allow(unused_imports, reason = "a type without members writes none")]
                use serde::ser::SerializeMap as _;
                #[allow(unused_mut, reason = "a type without members writes none")]
                let mut map = serializer.serialize_map(None)?;
                $( map.serialize_entry(&$crate::wire::literal!($tag), &$crate::wire::literal!($word))?; )?
                $( $crate::wire::wire!(@write $kind map, $key, self.$field); )*
                $( self.$extra.write(&mut map)?; )?
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            #[inline(never)]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name, A::Error> {
                        $( let mut $field: Option<$type> = None; )*
                        $( let mut $extra = $crate::wire::Extra::default(); )?
                        while let Some(key) = $crate::wire::next_key(&mut map)? {
                            match key.as_str() {
                                $( $tag => $crate::wire::wire!(@unknown map, key), )?
                                $( $key => $crate::wire::wire!(@read $kind map, $field, $type), )*
                                _ => $crate::wire::wire!(@unknown map, key $(, $extra)?),
                            }
                        }
                        Ok($name {
                            $( $field: $crate::wire::wire!(@take $kind $field, $key), )*
                            $( $extra, )?
                        })
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    };

    (@type required $type:ty) => { $type };
    (@type count $type:ty) => { $type };
    (@type default $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@type nullable $type:ty) => { Option<$type> };
    (@type integer $type:ty) => { Option<$type> };

    (@new [$vis:vis] $name:ident [$($extra:ident)?] [] [$($other:ident)*]) => {
        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $other: Default::default(), )*
                    $( $extra: Default::default(), )?
                }
            }
        }

        #[allow(dead_code, reason = "a private type may only ever be read")]
        impl $name {
            /// With every member absent.
            #[must_use]
            $vis fn new() -> Self {
                Self::default()
            }
        }
    };
    (@new [$vis:vis] $name:ident [$($extra:ident)?] [$($required:ident: $type:ty,)+] [$($other:ident)*]) => {
        #[allow(dead_code, reason = "a private type may only ever be read")]
        impl $name {
            /// With the required members, the others absent.
            #[must_use]
            $vis fn new($( $required: $type ),+) -> Self {
                Self {
                    $( $required: $required.into(), )+
                    $( $other: Default::default(), )*
                    $( $extra: Default::default(), )?
                }
            }
        }
    };
    (@new [$vis:vis] $name:ident $extra:tt [$($done:tt)*] $others:tt required $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::wire::wire!(@new [$vis] $name $extra [$($done)* $field: impl Into<$type>,] $others $($rest)*);
    };
    (@new [$vis:vis] $name:ident $extra:tt [$($done:tt)*] $others:tt count $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::wire::wire!(@new [$vis] $name $extra [$($done)* $field: $type,] $others $($rest)*);
    };
    (@new [$vis:vis] $name:ident $extra:tt $required:tt [$($done:ident)*] $kind:ident $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::wire::wire!(@new [$vis] $name $extra $required [$($done)* $field] $($rest)*);
    };

    (@setter [$vis:vis] $(#[$attr:meta])* required $field:ident: $type:ty) => {};
    (@setter [$vis:vis] $(#[$attr:meta])* count $field:ident: $type:ty) => {};
    (@setter [$vis:vis] $(#[$attr:meta])* integer $field:ident: $type:ty) => {
        $(#[$attr])*
        #[must_use]
        $vis fn $field(mut self, $field: $type) -> Self {
            self.$field = Some($field);
            self
        }
    };
    (@setter [$vis:vis] $(#[$attr:meta])* default $field:ident: $type:ty) => {
        $(#[$attr])*
        #[must_use]
        $vis fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    (@setter [$vis:vis] $(#[$attr:meta])* $kind:ident $field:ident: $type:ty) => {
        $(#[$attr])*
        #[must_use]
        $vis fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };

    (@write required $map:ident, $key:literal, $value:expr) => {
        $map.serialize_entry(&$crate::wire::literal!($key), &$value)?
    };
    (@write count $map:ident, $key:literal, $value:expr) => {
        $map.serialize_entry(&$crate::wire::literal!($key), &$value)?
    };
    (@write default $map:ident, $key:literal, $value:expr) => {
        $map.serialize_entry(&$crate::wire::literal!($key), &$value)?
    };
    (@write $kind:ident $map:ident, $key:literal, $value:expr) => {
        if let Some(value) = &$value {
            $map.serialize_entry(&$crate::wire::literal!($key), value)?;
        }
    };

    (@read required $map:ident, $field:ident, $type:ty) => {
        $field = Some($crate::wire::next_value(&mut $map)?)
    };
    (@read count $map:ident, $field:ident, $type:ty) => {
        $field = Some($crate::wire::next_value(&mut $map)?)
    };
    (@read integer $map:ident, $field:ident, $type:ty) => {
        $field = $crate::wire::next_value::<_, Option<$crate::wire::Integer>>(&mut $map)?
            .and_then(|integer| integer.0)
    };
    (@read nullable $map:ident, $field:ident, $type:ty) => {
        $field = Some($crate::wire::next_value(&mut $map)?)
    };
    (@read $kind:ident $map:ident, $field:ident, $type:ty) => {
        $field = $crate::wire::next_value::<_, Option<$type>>(&mut $map)?
    };

    (@take required $field:ident, $key:literal) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($key))?
    };
    (@take count $field:ident, $key:literal) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($key))?
    };
    (@take default $field:ident, $key:literal) => { $field.unwrap_or_default() };
    (@take $kind:ident $field:ident, $key:literal) => { $field };

    (@unknown $map:ident, $key:ident) => {{
        $crate::wire::next_value::<_, serde::de::IgnoredAny>(&mut $map)?;
    }};
    (@unknown $map:ident, $key:ident, $extra:ident) => {
        $extra.push($key.as_str(), $crate::wire::next_value(&mut $map)?)
    };
}
pub(crate) use wire;

/// Defines sets of words. A word that is not in its set is kept as `Other`.
macro_rules! words {
    ( $(
        $(#[$attr:meta])*
        pub enum $name:ident {
            $( $(#[$variant_attr:meta])* $variant:ident = $word:literal, )*
        }
    )+ ) => { $(
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_attr])* $variant, )*
            /// A word that this crate does not know.
            Other(String),
        }

        impl $name {
            /// The word on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$variant, )*
                    _ => Self::Other(word.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = $crate::wire::Key::deserialize(deserializer)?;
                Ok(word.as_str().into())
            }
        }

        $crate::wire::schema! {
            $name, stringify!($name),
            _ => schemars::json_schema!({ "type": "string", "enum": [$($word),*] })
        }
    )+ };
}
pub(crate) use words;

/// Says what the JSON Schema of a type is, wherever it stands.
macro_rules! schema {
    ($name:ident, $title:expr, $generator:pat => $schema:expr) => {
        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $title.into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}
pub(crate) use schema;

/// Defines an object of several kinds that one of its members tells apart.
///
/// The member may stand anywhere. An object of a kind that is not known is kept as `Unknown`.
macro_rules! tagged {
    (
        $(#[$attr:meta])*
        pub enum $name:ident by $tag:literal {
            $( $(#[$variant_attr:meta])* $variant:ident($type:ty) = $word:literal, )*
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_attr])* $variant($type), )*
            /// Of a kind that this crate does not know.
            Unknown($crate::RawJson),
        }

        $(
            impl From<$type> for $name {
                fn from(value: $type) -> Self {
                    Self::$variant(value)
                }
            }
        )*

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$name, A::Error> {
                        match $crate::wire::Tagged::read($tag, map)? {
                            Ok((word, members)) => match word.as_str() {
                                $( $word => members.decode().map($name::$variant), )*
                                word => members.keep(word, []).map($name::Unknown),
                            },
                            Err(sorted) => sorted.decode().map_err(serde::de::Error::custom),
                        }
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "object",
                    "required": [$tag],
                    "oneOf": [$({
                        "properties": { $tag: { "const": $word } },
                        "allOf": [generator.subschema_for::<$type>()],
                    }),*],
                })
            }
        }
    };
}
pub(crate) use tagged;

/// A string that is written in the code, and its JSON text.
pub(crate) struct Literal {
    pub(crate) text: &'static str,
    pub(crate) json: &'static str,
}

/// Makes a [`Literal`] of a string that needs no escapes.
macro_rules! literal {
    ($text:literal) => {
        $crate::wire::Literal {
            text: $text,
            json: concat!('"', $text, '"'),
        }
    };
}
pub(crate) use literal;

impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(serializer, self.json.as_bytes(), || self.text)
    }
}

/// A string that is borrowed from the input where it can be.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Key<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'a> From<Key<'a>> for Cow<'a, str> {
    fn from(key: Key<'a>) -> Self {
        key.0
    }
}

/// The name of the next member.
///
/// Not inlined, and no more is what reads or writes an object or a value: there are so many
/// objects that a program would mostly consist of this code.
#[inline(never)]
pub(crate) fn next_key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Key<'de>>, A::Error> {
    map.next_key()
}

/// The value of a member.
#[inline(never)]
pub(crate) fn next_value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
) -> Result<T, A::Error> {
    map.next_value()
}

/// An array of which most have one element: it has room for no more until there are more.
pub(crate) struct Few<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = Few<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Few<T>, A::Error> {
                let mut elements = Vec::with_capacity(1);
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Few(elements))
            }
        }

        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// The members of an object behind the one that tells its kind.
pub(crate) struct Tagged<A> {
    tag: &'static str,
    rest: A,
}

impl<'de, A: MapAccess<'de>> Tagged<A> {
    /// Reads the tag. Nothing is kept of an object that begins with it; any other is given as
    /// one that does.
    pub(crate) fn read(
        tag: &'static str,
        mut map: A,
    ) -> Result<Result<(Key<'de>, Self), RawJson>, A::Error> {
        let mut before = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if key.as_str() == tag {
                let word = map.next_value::<Key<'de>>()?;
                let members = Self { tag, rest: map };
                return match before.is_empty() {
                    true => Ok(Ok((word, members))),
                    false => members.keep(word.as_str(), before).map(Err),
                };
            }
            before.push((key.as_str().into(), map.next_value()?));
        }
        Err(de::Error::missing_field(tag))
    }

    pub(crate) fn decode<T: Deserialize<'de>>(self) -> Result<T, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(self))
    }

    /// Puts the object together again, with the tag in front.
    pub(crate) fn keep(
        mut self,
        word: &str,
        before: impl IntoIterator<Item = (Box<str>, RawJson)>,
    ) -> Result<RawJson, A::Error> {
        let mut members = Extra::default();
        members.push(self.tag, RawJson::from(serde_json::Value::from(word)));
        for (key, value) in before {
            members.push(&key, value);
        }
        while let Some((key, value)) = self.next_entry::<Key<'de>, RawJson>()? {
            members.push(key.as_str(), value);
        }
        RawJson::encode(&members).map_err(de::Error::custom)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Tagged<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.rest.next_key::<Key<'de>>()? else {
            return Ok(None);
        };
        if key.as_str() == self.tag {
            return Err(de::Error::duplicate_field(self.tag));
        }
        seed.deserialize(CowStrDeserializer::new(key.0)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}

/// An unsigned integer, or a number that is none.
pub(crate) struct Integer(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(deserializer)?;
        let whole = |float: &f64| float.fract() == 0.0 && (0.0..u64::MAX as f64).contains(float);
        let float = || number.as_f64().filter(whole).map(|float| float as u64);
        Ok(Self(number.as_u64().or_else(float)))
    }
}

/// The members of an object that this crate does not know, in the order they came.
///
/// They are written back as they were, so that a proxy loses nothing. Read by itself it is the
/// members of any object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra(Option<Members>);

/// At least one. In a box, as nearly every object has none and there are many of them.
type Members = Box<Vec<(Box<str>, RawJson)>>;

impl Extra {
    fn members(&self) -> &[(Box<str>, RawJson)] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of a member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawJson> {
        let mut members = self.members().iter();
        members
            .rfind(|(known, _)| **known == *key)
            .map(|(_, value)| value)
    }

    /// Sets a member, replacing the one of that name.
    pub fn insert(&mut self, key: &str, value: RawJson) {
        let mut members = self.0.iter_mut().flat_map(|members| members.iter_mut());
        match members.rfind(|(known, _)| **known == *key) {
            Some((_, old)) => *old = value,
            None => self.push(key, value),
        }
    }

    /// Adds a member without looking for one of that name, which would make reading quadratic.
    pub(crate) fn push(&mut self, key: &str, value: RawJson) {
        let members = self.0.get_or_insert_default();
        members.push((key.into(), value));
    }

    /// Removes a member.
    pub fn remove(&mut self, key: &str) -> Option<RawJson> {
        let value = self.get(key).cloned()?;
        let members = self.0.get_or_insert_default();
        members.retain(|(known, _)| **known != *key);
        if members.is_empty() {
            self.0 = None;
        }
        Some(value)
    }

    /// All members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        let members = self.members().iter();
        members.map(|(key, value)| (&**key, value))
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter()
            .try_for_each(|(key, value)| map.serialize_entry(key, value))
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire! {
            open struct Object {}
        }

        Object::deserialize(deserializer).map(|object| object.extra)
    }
}
