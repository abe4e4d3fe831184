//! Token counts of texts that come again: question after question over one context has the same messages, and prompt after
//! prompt the same lines of them.
//!
//! What is remembered changes no count, so a reply stays a function of its request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use compactometer_engine::tokens::{Encoding, TokenCounter};
use foldhash::fast::FixedState;

/// The encoding with a memory of what it counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    counted: HashMap<Box<str>, u32, FixedState>,
    bytes: usize,
}

/// Bytes. Shorter texts are counted as fast as they are looked up.
const WORTH_IT: usize = 16;
/// Bytes that are remembered at most; before there are more all are forgotten. Room for a conversation of a million tokens.
const MOST_BYTES: usize = 8 << 20;
/// Bytes of an entry beside its text: roughly.
const ENTRY: usize = 48;

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
        // A thread that died while it held the lock left whole entries.
        let memory = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = memory().counted.get(text) {
            return *count;
        }
        let count = Encoding::O200k.count_text(text);
        memory().remember(text, count);
        count
    }
}

impl Memory {
    fn remember(&mut self, text: &str, count: u32) {
        let size = ENTRY + text.len();
        if self.bytes + size > MOST_BYTES {
            *self = Memory::default();
        }
        // Another thread may have counted it meanwhile.
        if size <= MOST_BYTES && self.counted.insert(text.into(), count).is_none() {
            self.bytes += size;
        }
    }
}

/// Parts of a text whose counts add up to that of the whole: its lines, mostly. They are cut where the next begins with a letter, a
/// digit or a mark: there the encoding ends a piece whatever follows. Messages that are cut or labelled anew have most of their
/// lines in common with those that were counted.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    let cuts = ends.filter(|end| is_cut(text.as_bytes(), *end)).chain([text.len()]);
    let mut start = 0;
    let blocks = cuts.map(move |end| &text[std::mem::replace(&mut start, end)..end]);
    blocks.filter(|block| !block.is_empty())
}

/// Whether a part ends with the line that ends there. A slash belongs to the line end before it.
fn is_cut(bytes: &[u8], end: usize) -> bool {
    bytes.get(end).is_some_and(|byte| byte.is_ascii_graphic() && *byte != b'/')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_count_as_their_whole(
            lines in prop::collection::vec("([a-zA-Z0-9 .,/'\\[\\](){}=\\-é数|#\"<*_$\r\t\u{301}]{0,90}:?|)", 0..40),
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
        assert_eq!(counts.0.lock().unwrap().counted.len(), 1);
    }
    #[test]
    fn memory_is_bounded() {
        let mut memory = Memory::default();
        let mut most = 0;
        for number in 0..20 {
            memory.remember(&format!("{number} {}", "x".repeat(1 << 20)), 1);
            assert!(memory.bytes <= MOST_BYTES && memory.counted.len() <= 8, "{} after {number}", memory.bytes);
            most = most.max(memory.counted.len());
        }
        assert!((1..most).contains(&memory.counted.len()), "nothing was forgotten");
        memory.remember(&"x".repeat(MOST_BYTES), 1);
        assert_eq!((memory.counted.len(), memory.bytes), (0, 0), "what finds no room is not kept");
    }
}
