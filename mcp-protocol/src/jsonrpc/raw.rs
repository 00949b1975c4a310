//! JSON text that has been checked but not yet given a type.

use std::fmt;
use std::ops::Range;

use bytes::{Buf, Bytes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::write::{RAW, try_write, write};
use crate::wire::schema;

/// One well-formed JSON value, kept as the text it came as.
///
/// What a message carries stays in this form until somebody knows its type, so
/// that it is decoded once, and what is only passed on is passed on byte for
/// byte: numbers of any size, members nobody knows, and their order.
///
/// Cloning is cheap. A value that was cut from a [`Frame`](crate::Frame) keeps
/// that frame's memory alive.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(Bytes);

impl RawJson {
    /// Takes a JSON text, checking that it is well-formed.
    ///
    /// # Errors
    ///
    /// When the text is not UTF-8 or not exactly one JSON value.
    pub fn parse(text: impl Into<Bytes>) -> serde_json::Result<Self> {
        let text = text.into();
        let value: &RawValue = serde_json::from_slice(&text)?;
        Ok(Self(text.slice_ref(value.get().as_bytes())))
    }

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON: a map whose keys are not strings, or a
    /// `Serialize` implementation that fails.
    pub fn encode(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        let mut text = room();
        try_write(&mut text, value)?;
        Ok(Self(text.into()))
    }

    /// `{}`.
    #[must_use]
    pub const fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// Decodes the value into a type of the caller's.
    ///
    /// # Errors
    ///
    /// When the text does not fit the type.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        // The text as a whole is quicker to check than each string in it. Nothing can follow the
        // value, so that is not looked for.
        T::deserialize(&mut serde_json::Deserializer::from_str(self.as_str()))
    }

    /// Decodes the value into one that can be walked.
    ///
    /// # Errors
    ///
    /// When arrays and objects stand more than 127 deep in one another.
    pub fn to_value(&self) -> serde_json::Result<serde_json::Value> {
        self.decode()
    }

    /// The JSON text, without surrounding white space.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The JSON text, without surrounding white space.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON was checked to be UTF-8 when this was made")
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        &*self.0 == b"null"
    }

    /// A value that was just read out of `whole`, sharing its memory.
    pub(crate) fn slice_of(whole: &Bytes, value: &[u8]) -> Self {
        Self(whole.slice_ref(value))
    }

    /// A value that is known to stand at this place.
    pub(crate) fn cut(self, place: Range<usize>) -> Self {
        let mut value = self.0;
        value.truncate(place.end);
        value.advance(place.start);
        Self(value)
    }

    /// A value that was just read out of something, with memory of its own.
    pub(crate) fn copy_of(value: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(value))
    }

    /// The memory that this value is a part of, for slicing values out of it.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.0
    }
}

/// For most values there is no need of more.
#[inline(never)]
fn room() -> Vec<u8> {
    Vec::with_capacity(128)
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        let mut text = Vec::new();
        write(&mut text, &value);
        Self(text.into())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(serializer, &self.0, || checked(&self.0))
    }
}

/// Serializes JSON text as it is where the writer of this crate writes, and else what stands for
/// it.
pub(crate) fn serialize_raw<S: Serializer, T: Serialize>(
    serializer: S,
    json: &[u8],
    plain: impl Fn() -> T,
) -> Result<S::Ok, S::Error> {
    struct Written<'a, F>(&'a [u8], F);

    impl<T: Serialize, F: Fn() -> T> Serialize for Written<'_, F> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match serializer.is_human_readable() {
                true => self.1().serialize(serializer),
                false => serializer.serialize_bytes(self.0),
            }
        }
    }

    match serializer.is_human_readable() {
        true => serializer.serialize_newtype_struct(RAW, &Written(json, plain)),
        false => plain().serialize(serializer),
    }
}

fn checked(text: &[u8]) -> &RawValue {
    serde_json::from_slice(text).expect("JSON was checked to be well-formed when this was made")
}

impl<'de> Deserialize<'de> for RawJson {
    #[inline(never)]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(String::from(Box::<str>::from(value)).into()))
    }
}

schema! { RawJson, "Json", _ => schemars::Schema::default() }
