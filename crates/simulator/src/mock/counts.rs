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

/// Parts of a text whose counts add up to that of the whole: its lines, mostly, and the strings of a long line of JSON. Messages
/// that are cut or labelled anew, and answers that are tried at another length, have most of them in common with those that
/// were counted.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let places = memchr::memchr2_iter(b'\n', b'"', bytes).map(Some).chain([None]);
    let mut start = 0;
    places.filter_map(move |place| {
        let end = place.map_or(Some(bytes.len()), |place| cut(bytes, start, place))?;
        (end > start).then(|| &text[std::mem::replace(&mut start, end)..end])
    })
}

/// Least bytes of a part that ends within a line.
const LONG: usize = 64;

/// Where the part that starts there ends, if it does by the line end or quote at that place: where the encoding ends a piece
/// whatever follows. A slash belongs to the line end before it, and other marks before a quote to the quote.
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
