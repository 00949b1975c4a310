//! What a server has of one kind: tools, resources, prompts.
//!
//! Listed in the order in which it was registered, found by its key, and changed while the
//! server runs. A call that has found something keeps it, even if it is removed meanwhile.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use mcp_protocol::ErrorObject;
use mcp_protocol::connection::IdHasher;
use mcp_protocol::types::List;

/// Items of one kind, each with the definition that lists show.
pub(crate) struct Registry<D, T: ?Sized> {
    items: RwLock<Items<D, T>>,
}

struct Items<D, T: ?Sized> {
    /// In order of their serial numbers, which are never used again.
    list: Vec<Item<D, T>>,
    /// The keys are the server's own, whatever clients look for.
    by_key: HashMap<String, Arc<T>, BuildHasherDefault<IdHasher>>,
    registered: u64,
    /// The page that is asked for most, with the size that it was made for.
    first: OnceLock<(usize, Page<D>)>,
}

struct Item<D, T: ?Sized> {
    serial: u64,
    key: String,
    definition: D,
    item: Arc<T>,
}

/// One page of a list, and where the next one begins.
#[derive(Clone)]
pub(crate) struct Page<D> {
    pub(crate) definitions: List<D>,
    pub(crate) next: Option<String>,
}

/// Something is registered under this key already.
#[derive(Debug)]
pub(crate) struct Duplicate;

impl<D, T: ?Sized> Default for Registry<D, T> {
    fn default() -> Self {
        Self {
            items: RwLock::new(Items {
                list: Vec::new(),
                by_key: HashMap::default(),
                registered: 0,
                first: OnceLock::new(),
            }),
        }
    }
}

impl<D: Clone, T: ?Sized> Registry<D, T> {
    pub(crate) fn insert(&self, key: &str, definition: D, item: Arc<T>) -> Result<(), Duplicate> {
        let mut items = self.items.write().unwrap_or_else(PoisonError::into_inner);
        if items.by_key.contains_key(key) {
            return Err(Duplicate);
        }
        items.first = OnceLock::new();
        items.registered += 1;
        let serial = items.registered;
        items.by_key.insert(key.to_owned(), item.clone());
        items.list.push(Item {
            serial,
            key: key.to_owned(),
            definition,
            item,
        });
        Ok(())
    }

    /// Whether there was anything under this key.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let mut items = self.items.write().unwrap_or_else(PoisonError::into_inner);
        items.first = OnceLock::new();
        items.list.retain(|item| item.key != key);
        items.by_key.remove(key).is_some()
    }

    pub(crate) fn find(&self, key: &str) -> Option<Arc<T>> {
        self.read(|items| items.by_key.get(key).cloned())
    }

    pub(crate) fn definition(&self, key: &str) -> Option<D> {
        self.read(|items| {
            let found = items.list.iter().find(|item| item.key == key)?;
            Some(found.definition.clone())
        })
    }

    /// The first item, in order, of which `matches` gives something.
    pub(crate) fn find_map<R>(&self, mut matches: impl FnMut(&Arc<T>) -> Option<R>) -> Option<R> {
        self.read(|items| items.list.iter().find_map(|item| matches(&item.item)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.read(|items| items.list.is_empty())
    }

    /// A page of at most `size` items, from where a cursor says. Whatever is registered or
    /// removed between two pages, nothing that stays is left out or comes twice.
    pub(crate) fn page(&self, cursor: Option<&str>, size: usize) -> Result<Page<D>, ErrorObject> {
        let after = match cursor {
            None => 0,
            Some(cursor) => serial(cursor)
                .ok_or_else(|| ErrorObject::invalid_params("Invalid params: unknown cursor"))?,
        };
        Ok(self.read(|items| {
            if after > 0 {
                return items.page(after, size);
            }
            match items.first.get_or_init(|| (size, items.page(0, size))) {
                (made_for, page) if *made_for == size => page.clone(),
                _ => items.page(0, size),
            }
        }))
    }

    fn read<R>(&self, look: impl FnOnce(&Items<D, T>) -> R) -> R {
        look(&self.items.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<D: Clone, T: ?Sized> Items<D, T> {
    fn page(&self, after: u64, size: usize) -> Page<D> {
        let begin = self.list.partition_point(|item| item.serial <= after);
        let rest = self.list.get(begin..).unwrap_or_default();
        let page = rest.get(..size).unwrap_or(rest);
        Page {
            definitions: page.iter().map(|item| item.definition.clone()).collect(),
            next: match page.last() {
                Some(last) if page.len() < rest.len() => Some(cursor_after(last.serial)),
                _ => None,
            },
        }
    }
}

/// A cursor is the serial number of the last item that was shown, and needs no memory here.
fn cursor_after(serial: u64) -> String {
    format!("after-{serial}")
}

fn serial(cursor: &str) -> Option<u64> {
    let serial = cursor.strip_prefix("after-")?.parse().ok()?;
    // "after-+1" and "after-01" are numbers too, but not what was given out.
    (cursor_after(serial) == cursor).then_some(serial)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(keys: &[&str]) -> Registry<String, ()> {
        let registry = Registry::default();
        for key in keys {
            registry
                .insert(key, (*key).to_owned(), Arc::new(()))
                .expect("each key is there once");
        }
        registry
    }

    fn all(registry: &Registry<String, ()>, size: usize) -> Vec<String> {
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = registry.page(cursor.as_deref(), size).expect("our cursor");
            assert!(page.definitions.len() <= size);
            all.extend(page.definitions);
            cursor = page.next;
            if cursor.is_none() {
                return all;
            }
        }
    }

    #[test]
    fn pages_of_any_size_give_everything_in_order() {
        let registry = registry(&["c", "a", "b"]);
        for size in 1..5 {
            assert_eq!(all(&registry, size), ["c", "a", "b"]);
        }
        assert!(registry.page(None, 3).expect("a page").next.is_none());
    }

    /// Covers PG04.
    #[test]
    fn a_change_between_two_pages_costs_nothing_that_stays() {
        let registry = registry(&["a", "b", "c", "d"]);
        let first = registry.page(None, 2).expect("a page");
        assert!(registry.remove("a") && registry.remove("b"));
        assert!(!registry.remove("b"));
        registry
            .insert("e", "e".to_owned(), Arc::new(()))
            .expect("it is new");
        let second = registry.page(first.next.as_deref(), 2).expect("a page");
        assert_eq!(*second.definitions, ["c", "d"]);
        let third = registry.page(second.next.as_deref(), 2).expect("a page");
        assert_eq!(*third.definitions, ["e"]);
        assert!(third.next.is_none());
    }

    /// Covers PG03.
    #[test]
    fn only_cursors_that_were_given_out_are_taken() {
        let registry = registry(&["a"]);
        for cursor in [
            "", "garbage", "after-", "after-x", "after-01", "after-+1", "1",
        ] {
            assert!(registry.page(Some(cursor), 1).is_err(), "{cursor}");
        }
    }

    #[test]
    fn a_key_is_registered_once_until_it_is_removed() {
        let registry = registry(&["a"]);
        assert!(registry.insert("a", String::new(), Arc::new(())).is_err());
        assert!(registry.find("a").is_some());
        registry.remove("a");
        assert!(registry.find("a").is_none());
        assert!(registry.insert("a", String::new(), Arc::new(())).is_ok());
    }
}
