//! Caches: values by text, which this file holds; token counts by line; and the messages of the
//! last request. They change no reply, because what they hold are functions of the text.

pub(crate) mod last_request;
pub(crate) mod token_counts;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;

/// Values by text. Clones share them, also across threads.
#[derive(Clone, Debug)]
pub(crate) struct Cache<V>(Arc<Mutex<CacheMemory<V>>>);

/// In two generations: what is asked for in the older one joins the newer one, and when that is full
/// the older one is forgotten.
#[derive(Debug)]
struct CacheMemory<V> {
    newer: HashMap<Box<str>, (V, usize), FixedState>,
    older: HashMap<Box<str>, (V, usize), FixedState>,
    /// The size of the newer ones.
    bytes: usize,
    /// Of each generation.
    most_bytes: usize,
}

/// The approximate size of an entry without its text and its value, in bytes.
const ENTRY: usize = 80;

impl<V: Clone> Cache<V> {
    /// A cache that never exceeds a number of bytes.
    pub(crate) fn new(most_bytes: usize) -> Self {
        Cache(Arc::new(Mutex::new(CacheMemory {
            newer: HashMap::default(),
            older: HashMap::default(),
            bytes: 0,
            most_bytes: most_bytes / 2,
        })))
    }

    /// The value of a text. `make` returns it with its size in bytes.
    pub(crate) fn get(&self, text: &str, make: impl FnOnce() -> (V, usize)) -> V {
        // A thread that panicked while it held the lock left complete entries.
        let memory = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = memory().recall(text) {
            return known;
        }
        let (value, size) = make();
        memory().remember(text.into(), value.clone(), ENTRY + text.len() + size);
        value
    }
}

impl<V: Clone> CacheMemory<V> {
    fn recall(&mut self, text: &str) -> Option<V> {
        if let Some((value, _)) = self.newer.get(text) {
            return Some(value.clone());
        }
        let (text, (value, size)) = self.older.remove_entry(text)?;
        self.remember(text, value.clone(), size);
        Some(value)
    }

    fn remember(&mut self, text: Box<str>, value: V, size: usize) {
        if size > self.most_bytes {
            return;
        }
        if self.bytes + size > self.most_bytes {
            self.older = std::mem::take(&mut self.newer);
            self.bytes = 0;
        }
        // Another thread may have made the same entry in the meantime.
        if self.newer.insert(text, (value, size)).is_none() {
            self.bytes += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once() {
        let cache = Cache::new(1 << 10);
        assert_eq!(cache.get("a", || (1, 0)), 1);
        assert_eq!(cache.clone().get("a", || unreachable!("it is known")), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let cache = Cache::new(8 << 20);
        let kept = || {
            let memory = cache.0.lock().unwrap();
            assert!(memory.bytes <= memory.most_bytes);
            memory.newer.len() + memory.older.len()
        };
        let mut most = 0;
        for number in 0..20 {
            cache.get(&format!("{number} {}", "x".repeat(1 << 19)), || {
                ((), 1 << 19)
            });
            assert!((1..=8).contains(&kept()), "{} after {number}", kept());
            most = most.max(kept());
        }
        assert!(kept() < most, "nothing was forgotten");
        let before = kept();
        cache.get("x", || ((), 8 << 20));
        assert_eq!(kept(), before, "a value that finds no room is not kept");
    }

    #[test]
    fn what_is_asked_for_again_is_not_forgotten() {
        let cache = Cache::new(8 << 20);
        cache.get("often", || (0, 0));
        for number in 0..40 {
            cache.get(&number.to_string(), || (number, 1 << 20));
            assert_eq!(cache.get("often", || unreachable!("it is known")), 0);
        }
    }
}
