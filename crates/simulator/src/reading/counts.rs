//! A cache of token counts. Questions over one context repeat its messages, and prompts repeat lines of them.
//!
//! The cache changes no count, so a reply remains a function of its request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use compactometer_engine::tokens::{Encoding, TokenCounter};
use foldhash::fast::FixedState;

/// A counter with a cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    counted: HashMap<Box<str>, u32, FixedState>,
    bytes: usize,
}

/// The fewest bytes worth caching. Shorter texts are counted as fast as they are looked up.
const WORTH_IT: usize = 16;
/// The largest number of bytes in the cache, which is emptied before it exceeds them. Enough for a conversation of a million
/// tokens.
const MOST_BYTES: usize = 8 << 20;
/// The approximate size of an entry without its text, in bytes.
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
        // A thread that panicked while it held the lock left complete entries.
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
        // Another thread may have counted the text in the meantime.
        if size <= MOST_BYTES && self.counted.insert(text.into(), count).is_none() {
            self.bytes += size;
        }
    }
}

/// Parts of a text whose counts add up to that of the whole: mostly its lines, and the strings of a long line of JSON. Messages
/// that are cut or relabelled, and answers that are tried at another length, share most of their parts with texts counted before.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let places = memchr::memchr2_iter(b'\n', b'"', bytes).map(Some).chain([None]);
    let mut start = 0;
    places.filter_map(move |place| {
        let end = place.map_or(Some(bytes.len()), |place| cut(bytes, start, place))?;
        (end > start).then(|| &text[std::mem::replace(&mut start, end)..end])
    })
}

/// The fewest bytes of a part that ends within a line.
const LONG: usize = 64;

/// The end of the part that starts at `start`, if the line end or quote at `place` ends it. The encoding always ends a piece
/// there. A slash belongs to the line end before it, and other punctuation before a quote belongs to the quote.
fn cut(bytes: &[u8], start: usize, place: usize) -> Option<usize> {
    if bytes[place] == b'\n' {
        let next = bytes.get(place + 1).filter(|next| next.is_ascii_graphic() && **next != b'/');
        return next.map(|_| place + 1);
    }
    (place - start >= LONG && bytes[place - 1].is_ascii_alphanumeric()).then_some(place)
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

        #[test]
        fn strings_count_as_their_whole(strings in prop::collection::vec("[a-zA-Z0-9 .'\"é数\u{301}]{0,90}", 0..12)) {
            let text = serde_json::to_string(&strings).expect("writes");
            prop_assert_eq!(blocks(&text).collect::<String>(), text.as_str());
            prop_assert_eq!(Counts::default().count_text(&text), Encoding::O200k.count_text(&text), "{}", text);
        }
    }

    #[test]
    fn lines_and_long_strings_are_counted_apart() {
        let long = "a string that is long enough to be worth a part of its own, since it comes again";
        let text = format!("one line\n/two\n[\"{long}\",\"{long}.\",\"short\"]");
        let parts = blocks(&text).collect::<Vec<_>>();
        assert_eq!(parts, ["one line\n/two\n", &format!("[\"{long}"), &format!("\",\"{long}.\",\"short"), "\"]"]);
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
