//! A handful of things, by their names.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// Things by their names, in the order of these.
///
/// A list, because each kind of `BTreeMap` is several kilobytes in every server. To insert takes
/// as long as there are things behind it, so what a client names does not come here.
#[derive(Clone, PartialEq)]
pub(crate) struct Named<T>(Vec<(String, T)>);

impl<T> Named<T> {
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let at = self.find(name).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// Gives back what had the name.
    pub(crate) fn insert(&mut self, name: String, value: T) -> Option<T> {
        match self.find(&name) {
            Ok(at) => {
                let (_, known) = self.0.get_mut(at)?;
                Some(std::mem::replace(known, value))
            }
            Err(at) => {
                self.0.insert(at, (name, value));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        self.find(name).ok().map(|at| self.0.remove(at).1)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T> IntoIterator for Named<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut named = Named::default();
                while let Some((name, value)) = map.next_entry()? {
                    named.insert(name, value);
                }
                Ok(named)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_by_their_names() {
        let mut named = Named::default();
        for (name, value) in [("b", 1), ("", 2), ("c", 3), ("a", 4)] {
            assert_eq!(named.insert(name.to_owned(), value), None);
        }
        assert_eq!(named.insert("b".to_owned(), 5), Some(1));
        assert_eq!(named.get("b"), Some(&5));
        assert_eq!(named.get("d"), None);
        assert_eq!(named.remove("c"), Some(3));
        assert_eq!(named.remove("c"), None);
        let names: Vec<_> = named.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["", "a", "b"]);
    }

    #[test]
    fn they_are_written_as_an_object_and_read_from_one() {
        let mut named = Named::default();
        named.insert("b".to_owned(), 1);
        named.insert("a".to_owned(), 2);
        let text = serde_json::to_string(&named).unwrap();
        assert_eq!(text, r#"{"a":2,"b":1}"#);
        assert_eq!(serde_json::from_str::<Named<i32>>(&text).unwrap(), named);
    }
}
