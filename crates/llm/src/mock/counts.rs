//! Token counts of texts that come again: question after question over one context has the same messages, and prompt after
//! prompt the same lines of them.
//!
//! What is remembered changes no count, so a reply stays a function of its request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use compactometer_engine::tokens::{Encoding, TokenCounter};

/// The encoding with a memory of what it counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Arc<Mutex<HashMap<blake3::Hash, u32>>>);

/// Bytes. Shorter texts are counted as fast as they are hashed and looked up.
const WORTH_IT: usize = 64;
/// Texts remembered at most, some 64 bytes each; then all are forgotten.
const MOST: usize = 65_536;

impl TokenCounter for Counts {
    fn name(&self) -> &'static str {
        Encoding::O200k.name()
    }

    fn count_text(&self, text: &str) -> u32 {
        blocks(text).map(|block| self.count_block(block)).sum()
    }
}

impl Counts {
    fn count_block(&self, text: &str) -> u32 {
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

/// Parts of a text whose counts add up to that of the whole. They are cut after a blank line and after a label, before a
/// letter, a digit or a bracket: there the encoding ends a piece whatever follows, and there messages and their texts begin, so
/// that a message's text is one part whatever stands before it.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let begins = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b'(' | b'{');
        let parts = |window: &[u8]| matches!(window, [b'\n' | b':', b'\n', next] if begins(*next));
        let cut = bytes.windows(3).position(parts).map_or(bytes.len(), |at| at + 2);
        let (block, tail) = rest.split_at(cut);
        rest = tail;
        (!block.is_empty()).then_some(block)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_count_as_their_whole(
            lines in prop::collection::vec("([a-zA-Z0-9 .,/'\\[\\](){}=\\-é数\r\t\u{301}]{0,90}:?|)", 0..40),
        ) {
            let text = lines.join("\n");
            prop_assert_eq!(blocks(&text).collect::<String>(), text.as_str());
            prop_assert_eq!(Counts::default().count_text(&text), Encoding::O200k.count_text(&text), "{}", text);
        }
    }

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
