//! Request ids and progress tokens: integers or strings, kept exactly.

use std::fmt;
use std::sync::Arc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use crate::wire::schema;

/// An integer of the whole `i64` and `u64` range, or a string.
///
/// One value has one form: `Unsigned` holds only what `Signed` cannot.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Value {
    Signed(i64),
    Unsigned(u64),
    Text(Arc<str>),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(number) => write!(f, "{number}"),
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Signed(number) => serializer.serialize_i64(*number),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Exact;

        impl<'de> Visitor<'de> for Exact {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or a string")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Signed(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
                Ok(i64::try_from(number).map_or(Value::Unsigned(number), Value::Signed))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.into()))
            }

            /// Numbers are maps where some other crate builds serde_json with
            /// `arbitrary_precision`. Everywhere else this refuses whatever it is given.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
                let number = Number::deserialize(MapAccessDeserializer::new(map))?;
                match (number.as_i64(), number.as_u64()) {
                    (Some(number), _) => self.visit_i64(number),
                    (None, Some(number)) => self.visit_u64(number),
                    (None, None) => {
                        Err(de::Error::invalid_type(Unexpected::Other("number"), &self))
                    }
                }
            }
        }

        deserializer.deserialize_any(Exact)
    }
}

macro_rules! integer_or_string {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Value);

        impl $name {
            /// The text, if it is a string.
            #[must_use]
            pub fn as_str(&self) -> Option<&str> {
                match &self.0 {
                    Value::Text(text) => Some(text),
                    Value::Signed(_) | Value::Unsigned(_) => None,
                }
            }

            /// The number, if it is an integer.
            #[must_use]
            pub fn as_integer(&self) -> Option<i128> {
                match self.0 {
                    Value::Signed(number) => Some(number.into()),
                    Value::Unsigned(number) => Some(number.into()),
                    Value::Text(_) => None,
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// As it stands on the wire: `7`, or `"7"`.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self(Value::Signed(number))
            }
        }

        impl From<u64> for $name {
            fn from(number: u64) -> Self {
                Self(i64::try_from(number).map_or(Value::Unsigned(number), Value::Signed))
            }
        }

        impl From<i32> for $name {
            fn from(number: i32) -> Self {
                Self(Value::Signed(number.into()))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Value::Text(text.into()))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Value::Text(text.into()))
            }
        }

        schema! {
            $name, stringify!($name),
            _ => schemars::json_schema!({ "type": ["string", "integer"] })
        }
    };
}

integer_or_string! {
    /// The id that ties a response to its request.
    ///
    /// An integer of the whole `i64` and `u64` range or a string, echoed exactly as it
    /// came. `1` and `"1"` are different ids; `null`, fractions and everything else are
    /// not ids. Spec: [basic protocol, requests].
    ///
    /// [basic protocol, requests]: https://modelcontextprotocol.io/specification/2026-07-28/basic#requests
    RequestId
}

integer_or_string! {
    /// The token that ties progress notifications to the request that asked for them.
    ///
    /// Spec: [progress].
    ///
    /// [progress]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
    ProgressToken
}

impl RequestId {
    /// Reads a JSON text, quickly where it is what most ids are.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        if text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
            return serde_json::from_slice(text).ok();
        }
        let digits = text.iter().map(|digit| i64::from(digit - b'0'));
        Some(Self(Value::Signed(
            digits.fold(0, |number, digit| number * 10 + digit),
        )))
    }
}

impl From<RequestId> for ProgressToken {
    fn from(id: RequestId) -> Self {
        Self(id.0)
    }
}
