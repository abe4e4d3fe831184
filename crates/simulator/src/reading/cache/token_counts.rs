//! Token counts, cached by line and long string. Questions over one context repeat its messages,
//! and prompts repeat lines of them.

use compactometer_engine::tokens::{Encoding, TokenCounter};

use crate::reading::cache::Cache;

/// A counter with a cache.
#[derive(Clone, Debug)]
pub(crate) struct CachedCounter(Cache<u32>);

/// The fewest bytes worth caching. Shorter texts are counted as fast as they are looked up.
const WORTH_IT: usize = 16;
/// The largest number of bytes in the cache. Enough for a conversation of a million tokens.
const MOST_BYTES: usize = 8 << 20;

impl Default for CachedCounter {
    fn default() -> Self {
        CachedCounter(Cache::new(MOST_BYTES))
    }
}

impl TokenCounter for CachedCounter {
    fn name(&self) -> &'static str {
        Encoding::O200k.name()
    }

    fn count_text(&self, text: &str) -> u32 {
        let count = |block: &str| match block.len() {
            0..WORTH_IT => Encoding::O200k.count_text(block),
            _ => self.0.get(block, || (Encoding::O200k.count_text(block), 0)),
        };
        blocks(text).map(count).sum()
    }
}

/// Parts of a text whose counts add up to that of the whole: mostly its lines, and the strings of a
/// long line of JSON. Messages that are cut or relabelled, and answers that are tried at another
/// length, share most of their parts with texts counted before.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let places = memchr::memchr2_iter(b'\n', b'"', bytes)
        .map(Some)
        .chain([None]);
    let mut start = 0;
    places.filter_map(move |place| {
        let end = place.map_or(Some(bytes.len()), |place| cut(bytes, start, place))?;
        (end > start).then(|| &text[std::mem::replace(&mut start, end)..end])
    })
}

/// The fewest bytes of a part that ends within a line.
const LONG: usize = 64;

/// The end of the part that starts at `start`, if the line end or quote at `place` ends it. The
/// encoding always ends a piece there. A slash belongs to the line end before it, and other
/// punctuation before a quote belongs to the quote.
fn cut(bytes: &[u8], start: usize, place: usize) -> Option<usize> {
    if bytes[place] == b'\n' {
        let next = bytes
            .get(place + 1)
            .filter(|next| next.is_ascii_graphic() && **next != b'/');
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
            prop_assert_eq!(CachedCounter::default().count_text(&text), Encoding::O200k.count_text(&text), "{}", text);
        }

        #[test]
        fn strings_count_as_their_whole(strings in prop::collection::vec("[a-zA-Z0-9 .'\"é数\u{301}]{0,90}", 0..12)) {
            let text = serde_json::to_string(&strings).expect("writes");
            prop_assert_eq!(blocks(&text).collect::<String>(), text.as_str());
            prop_assert_eq!(CachedCounter::default().count_text(&text), Encoding::O200k.count_text(&text), "{}", text);
        }
    }

    #[test]
    fn lines_and_long_strings_are_counted_apart() {
        let long =
            "a string that is long enough to be worth a part of its own, since it comes again";
        let text = format!("one line\n/two\n[\"{long}\",\"{long}.\",\"short\"]");
        let parts = blocks(&text).collect::<Vec<_>>();
        assert_eq!(
            parts,
            [
                "one line\n/two\n",
                &format!("[\"{long}"),
                &format!("\",\"{long}.\",\"short"),
                "\"]"
            ]
        );
    }
}
