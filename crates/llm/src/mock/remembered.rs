//! What a thread remembers of texts that it has read, so that questions about one conversation, which follow each other with
//! the same messages, do not read it anew each time.
//!
//! Nothing remembered shows in a reply: each value is a function of its text.

use std::borrow::Borrow;
use std::collections::HashMap;

/// Texts remembered by content; then it begins anew.
const MOST: usize = 8_192;

/// Values by what they were made of: first that at the same place of the request before, then that of the same content.
pub(super) struct Remembered<K, V> {
    last: Vec<(K, V)>,
    known: HashMap<[u8; 32], V>,
}

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Self {
        Remembered { last: Vec::new(), known: HashMap::new() }
    }
}

impl<K, V: Clone> Remembered<K, V> {
    /// Its value; places are asked for in order from 0.
    pub(super) fn of<Q>(
        &mut self,
        place: usize,
        asked: &Q,
        digest: impl FnOnce(&Q) -> [u8; 32],
        make: impl FnOnce(&Q) -> V,
    ) -> V
    where
        K: Borrow<Q>,
        Q: PartialEq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some((_, value)) = self.last.get(place).filter(|(key, _)| key.borrow() == asked) {
            return value.clone();
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let value = self.known.entry(digest(asked)).or_insert_with(|| make(asked)).clone();
        match self.last.get_mut(place) {
            Some(slot) => *slot = (asked.to_owned(), value.clone()),
            None => self.last.push((asked.to_owned(), value.clone())),
        }
        value
    }
}
