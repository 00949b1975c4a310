//! A value that many messages carry.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::RawJson;
use crate::jsonrpc::serialize_raw;

/// A value that many messages carry, such as who one of the sides is: it is cloned cheaply, and
/// encoded as JSON once.
#[derive(Default)]
pub struct Shared<T>(Arc<Inner<T>>);

#[derive(Default)]
struct Inner<T> {
    value: T,
    /// As it was first encoded.
    json: OnceLock<RawJson>,
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        let json = OnceLock::new();
        Self(Arc::new(Inner { value, json }))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = match self.0.json.get() {
            Some(json) => json,
            None => {
                let json = RawJson::encode(&self.0.value).map_err(S::Error::custom)?;
                self.0.json.get_or_init(|| json)
            }
        };
        serialize_raw(serializer, json.as_bytes(), || &self.0.value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Shared<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Implementation, List};

    #[test]
    fn it_is_written_and_read_as_what_it_holds() {
        let plain = Implementation::new("a\"", "1");
        let shared = Shared::from(plain.clone());
        for _ in 0..2 {
            assert_eq!(
                RawJson::encode(&shared).unwrap(),
                RawJson::encode(&plain).unwrap()
            );
            assert_eq!(
                serde_json::to_value(&shared).unwrap(),
                serde_json::to_value(&plain).unwrap()
            );
        }
        let read: Shared<Implementation> = RawJson::encode(&shared).unwrap().decode().unwrap();
        assert_eq!(read, shared);
    }

    #[test]
    fn in_another_format_it_is_what_it_holds_too() {
        let shared = Shared::from(Implementation::new("a", "1"));
        let list = List::from([1_u8, 2]);
        for _ in 0..2 {
            let mut bytes = Vec::new();
            // Somebody else has the list, too, so that its text is kept.
            ciborium::into_writer(&(&shared, list.clone()), &mut bytes).unwrap();
            let read: (Shared<Implementation>, List<u8>) = ciborium::from_reader(&*bytes).unwrap();
            assert_eq!(read, (shared.clone(), list.clone()));
        }
    }

    #[test]
    fn what_cannot_be_written_is_an_error_each_time() {
        let shared = Shared::from(std::collections::BTreeMap::from([((), 1)]));
        for _ in 0..2 {
            assert!(RawJson::encode(&shared).is_err());
        }
    }
}
