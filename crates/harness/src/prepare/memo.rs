//! Values by the content of texts, each made once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by text. A text is known by its hash, so that it need not be kept.
#[derive(Debug)]
pub(crate) struct TextMemo<V>(Mutex<HashMap<[u8; 32], Arc<V>>>);

impl<V> Default for TextMemo<V> {
    fn default() -> Self {
        TextMemo(Mutex::default())
    }
}

impl<V> TextMemo<V> {
    /// The value of a text, by `make` if it is not known. Two threads may both make it; one of the
    /// two values stays.
    pub(crate) fn of(&self, text: &str, make: impl FnOnce() -> V) -> Arc<V> {
        let key = *blake3::hash(text.as_bytes()).as_bytes();
        // A thread that panicked while it held the lock left complete entries.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = known().get(&key) {
            return Arc::clone(value);
        }
        let value = Arc::new(make());
        Arc::clone(known().entry(key).or_insert(value))
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().expect("is whole").len()
    }
}
