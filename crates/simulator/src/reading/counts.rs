//! Token counts, cached by line. Questions over one context repeat its messages, and prompts repeat lines of them.

use compactometer_engine::tokens::{Encoding, TokenCounter};

use crate::reading::cache::Cache;

/// A counter with a cache.
#[derive(Clone, Debug)]
pub(crate) struct Counts(Cache<u32>);

/// The fewest bytes worth caching. Shorter texts are counted as fast as they are looked up.
const WORTH_IT: usize = 16;
/// The largest number of bytes in the cache. Enough for a conversation of a million tokens.
const MOST_BYTES: usize = 8 << 20;

impl Default for Counts {
    fn default() -> Self {
        Counts(Cache::new(MOST_BYTES))
    }
}

impl TokenCounter for Counts {
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

/// Parts of a text whose counts add up to that of the whole: mostly its lines. The encoding always ends a piece at a line end
/// before a graphic character other than a slash. Messages that are cut or relabelled share most of their lines with texts
/// counted before.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let starts =
        move |at: &usize| text.as_bytes().get(*at).is_some_and(|next| next.is_ascii_graphic() && *next != b'/');
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).filter(starts).chain([text.len()]);
    let mut start = 0;
    ends.map(move |end| &text[std::mem::replace(&mut start, end)..end]).filter(|block| !block.is_empty())
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
    fn lines_are_counted_apart() {
        let parts = blocks("one line\n/two\n[\"a string\"]\n\n# three\n").collect::<Vec<_>>();
        assert_eq!(parts, ["one line\n/two\n", "[\"a string\"]\n\n", "# three\n"]);
    }
}
