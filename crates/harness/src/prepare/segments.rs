//! A conversation cut into short pieces, which random contexts are drawn from.

use std::ops::Range;
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::TokenCounter;
use compactometer_text::matcher::Matcher;

use super::{Bindings, Lists};

/// The longest piece of a random context, in characters.
const SEGMENT_CHARACTERS: usize = 240;

/// The pieces of a conversation. Each is part of one message and has at most `SEGMENT_CHARACTERS`
/// characters.
#[derive(Default)]
pub struct Segments {
    /// The tokens of each piece.
    pub tokens: Vec<u32>,
    /// The facts that match in each piece and that its message states.
    pub facts: Lists,
    /// For each piece, the bindings of its message for the facts in it, as places in [`Bindings`].
    pub(crate) bindings: Lists,
    /// The foreign facts that match in each piece.
    pub foreign: Lists,
    /// The foreign facts that match in each message.
    pub foreign_in_message: Lists,
    /// Where the pieces of each message end.
    ends: Vec<u32>,
}

impl Segments {
    /// Cuts the messages and finds the values in each piece; `stated_in` lists the facts that each
    /// message states.
    pub(super) fn new(
        messages: &[Arc<CountedMessage>],
        stated_in: &Lists,
        bindings: Option<&Bindings>,
        (facts, foreign): (&Matcher, &Matcher),
        counter: &dyn TokenCounter,
    ) -> Self {
        // Most messages give one piece.
        let lists = || Lists::with_capacity(messages.len());
        let numbers = || Vec::with_capacity(messages.len());
        let mut segments = Segments {
            tokens: numbers(),
            facts: lists(),
            bindings: lists(),
            foreign: lists(),
            foreign_in_message: lists(),
            ends: numbers(),
        };
        for (index, counted) in messages.iter().enumerate() {
            let stated = stated_in.get(index);
            let mut foreign_in_message = Vec::new();
            let texts = counted.message.parts.iter().filter_map(part_text);
            // What denies a value may be in the piece before it.
            texts.clone().for_each(|text| {
                foreign_in_message.extend(matches(foreign, text, !foreign.is_empty()))
            });
            for piece in texts.flat_map(pieces) {
                let foreign = matches(foreign, piece, !foreign.is_empty());
                // Most messages state none.
                let mut facts = matches(facts, piece, !stated.is_empty());
                facts.retain(|fact| stated.contains(fact));
                segments.tokens.push(counter.count_text(piece));
                segments.bindings.push(
                    bindings
                        .iter()
                        .flat_map(|bindings| bindings.of_facts(index, &facts)),
                );
                segments.facts.push(facts);
                segments.foreign.push(foreign);
            }
            segments
                .foreign_in_message
                .push(distinct(foreign_in_message));
            segments.ends.push(segments.tokens.len() as u32);
        }
        segments
    }

    /// The pieces of the message at that index.
    pub fn of_message(&self, message: usize) -> Range<u32> {
        message.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[message]
    }
}

/// The items that match in the text, each once, if it is searched at all.
fn matches(matcher: &Matcher, text: &str, is_searched: bool) -> Vec<u32> {
    let found = is_searched
        .then(|| matcher.find(text))
        .into_iter()
        .flatten();
    distinct(found.map(|item| item as u32).collect())
}

fn distinct(mut items: Vec<u32>) -> Vec<u32> {
    items.sort_unstable();
    items.dedup();
    items
}

/// Pieces of at most `SEGMENT_CHARACTERS` characters. Each is cut after a blank in its second half,
/// if it has one, so that few values are torn.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .nth(SEGMENT_CHARACTERS)
            .map_or(rest.len(), |(at, _)| at);
        let cut = if end == rest.len() {
            end
        } else {
            after_last_blank(&rest[..end]).unwrap_or(end)
        };
        let (piece, tail) = rest.split_at(cut);
        rest = tail;
        Some(piece)
    })
}

fn after_last_blank(text: &str) -> Option<usize> {
    let (at, blank) = text
        .char_indices()
        .rev()
        .find(|(_, letter)| letter.is_whitespace())?;
    (at > text.len() / 2).then_some(at + blank.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_short_and_lose_nothing(text in "\\PC{0,900}") {
            let all = pieces(&text).collect::<Vec<_>>();
            prop_assert_eq!(all.concat(), text.as_str());
            prop_assert!(all.iter().all(|piece| piece.chars().count() <= SEGMENT_CHARACTERS));
        }
    }
}
