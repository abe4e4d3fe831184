//! Token counts of texts that come again: question after question over one context has the same messages.
//!
//! What is remembered changes no count, so a reply stays a function of its request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use compactometer_engine::tokens::{Encoding, TokenCounter};

/// The encoding with a memory of what it counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Arc<Mutex<HashMap<blake3::Hash, u32>>>);

/// Shorter texts are counted as fast as they are hashed and looked up.
const WORTH_IT: usize = 256;
/// Texts remembered at most; then all are forgotten.
const MOST: usize = 16_384;

impl TokenCounter for Counts {
    fn name(&self) -> &'static str {
        Encoding::O200k.name()
    }

    fn count_text(&self, text: &str) -> u32 {
        if text.len() < WORTH_IT {
            return Encoding::O200k.count_text(text);
        }
        let hash = blake3::hash(text.as_bytes());
        // A thread that died while it held the lock left whole entries.
        let known = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(count) = known().get(&hash) {
            return *count;
        }
        let count = Encoding::O200k.count_text(text);
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(hash, count);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remembered_count_is_the_count() {
        let counts = Counts::default();
        for text in ["short", &"a longer text 数据库 ".repeat(40)] {
            let first = counts.count_text(text);
            assert_eq!((first, counts.count_text(text)), (Encoding::O200k.count_text(text), first));
        }
        assert_eq!(counts.0.lock().unwrap().len(), 1);
    }
}
