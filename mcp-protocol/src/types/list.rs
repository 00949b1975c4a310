//! What a list has on a page.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};
use std::vec;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::RawJson;
use crate::jsonrpc::serialize_raw;

/// Items that are seldom changed and often sent: a vector whose clones share its memory.
///
/// It is written as JSON once, until it is changed, however often it is sent. What changes a
/// clone changes that one only.
pub struct List<T>(Arc<Items<T>>);

struct Items<T> {
    items: Vec<T>,
    text: OnceLock<RawJson>,
    /// The same for peers of the older era.
    legacy: OnceLock<List<T>>,
}

impl<T> Items<T> {
    fn new(items: Vec<T>) -> Self {
        Self {
            items,
            text: OnceLock::new(),
            legacy: OnceLock::new(),
        }
    }
}

impl<T: Clone> Clone for Items<T> {
    fn clone(&self) -> Self {
        Self::new(self.items.clone())
    }
}

impl<T: Clone> List<T> {
    /// Fits each of the items. What is shared is fitted once, so it has to be the same fit each
    /// time.
    pub(crate) fn fit(&mut self, fit: impl Fn(&mut T)) {
        if Arc::get_mut(&mut self.0).is_some() {
            return self.iter_mut().for_each(fit);
        }
        let fitted = self.0.legacy.get_or_init(|| {
            let mut items = self.0.items.clone();
            items.iter_mut().for_each(fit);
            items.into()
        });
        *self = fitted.clone();
    }
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0.items
    }
}

impl<T: Clone> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        let shared = Arc::make_mut(&mut self.0);
        shared.text = OnceLock::new();
        shared.legacy = OnceLock::new();
        &mut shared.items
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Debug> Debug for List<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.items.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.items == other.0.items
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self(Arc::new(Items::new(items)))
    }
}

impl<T, const LEN: usize> From<[T; LEN]> for List<T> {
    fn from(items: [T; LEN]) -> Self {
        Vec::from(items).into()
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T: Clone> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> vec::IntoIter<T> {
        Arc::unwrap_or_clone(self.0).items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.items.iter()
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match self.0.text.get() {
            Some(text) => text,
            // Nobody else could make use of the text.
            None if Arc::strong_count(&self.0) == 1 => {
                return self.0.items.serialize(serializer);
            }
            None => {
                let text = RawJson::encode(&self.0.items).map_err(S::Error::custom)?;
                self.0.text.get_or_init(|| text)
            }
        };
        serialize_raw(serializer, text.as_bytes(), || &self.0.items)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::List;

    fn text(list: &List<u8>) -> String {
        serde_json::to_string(list).unwrap()
    }

    #[test]
    fn what_is_changed_is_written_anew_and_only_that() {
        let list = List::from([1, 2]);
        let mut changed = list.clone();
        assert_eq!(
            (text(&changed), text(&list)),
            ("[1,2]".into(), "[1,2]".into())
        );
        changed.push(3);
        assert_eq!(
            (text(&changed), text(&list)),
            ("[1,2,3]".into(), "[1,2]".into())
        );
        changed.clear();
        assert_eq!(text(&changed), "[]");
    }

    #[test]
    fn a_list_is_fitted_once_until_it_is_changed() {
        let fitted = |list: &List<u8>, fit: fn(&mut u8)| {
            let mut list = list.clone();
            list.fit(fit);
            list.to_vec()
        };
        let mut list = List::from([1, 2]);
        assert_eq!(fitted(&list, |item| *item += 1), [2, 3]);
        assert_eq!(fitted(&list, |_| unreachable!("it was")), [2, 3]);
        list.push(4);
        assert_eq!(fitted(&list, |item| *item += 2), [3, 4, 6]);
        list.fit(|item| *item += 3);
        assert_eq!(*list, [4, 5, 7]);
    }
}
