//! The sentences that state facts, in the order of the conversation.
//!
//! Absent on purpose: the sentences around them. They would show more than what was said about a
//! value.

use compactometer_engine::message::{MessageId, Part, part_text};
use compactometer_engine::tokens::{MESSAGE_OVERHEAD, TokenCounter};
use compactometer_engine::view::{Origin, WrittenPart};

use crate::prepare::PreparedScenario;

/// Chooses what a reader is given about facts, which have these indices, within a number of tokens.
pub(crate) type Evidence = fn(&PreparedScenario, &[u32], u32, &dyn TokenCounter) -> Given;

/// What a reader is given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The facts that it states.
    pub(crate) facts: Vec<u32>,
    /// A part for each sentence.
    pub(crate) parts: Vec<WrittenPart>,
}

/// The sentences that first state the facts, in order, as many as fit.
pub(crate) fn sentences(
    prepared: &PreparedScenario,
    facts: &[u32],
    budget: u32,
    counter: &dyn TokenCounter,
) -> Given {
    let mut found: Vec<(SentencePlace, u32)> = facts
        .iter()
        .filter_map(|fact| Some((first_said(prepared, *fact)?, *fact)))
        .collect();
    found.sort_unstable();
    found.dedup();
    let (mut given, mut last) = (Given::default(), None);
    let mut room = budget.saturating_sub(MESSAGE_OVERHEAD);
    for (place, fact) in found {
        if last != Some(place) {
            let (message, sentence) = text_at(prepared, place);
            let Some(rest) = room.checked_sub(counter.count_text(sentence)) else {
                break;
            };
            room = rest;
            let part = Part::Text {
                text: sentence.to_owned(),
            };
            given.parts.push(WrittenPart {
                part,
                origin: Origin::Spoken(message),
            });
            last = Some(place);
        }
        given.facts.push(fact);
    }
    given
}

/// Part of a message: the message's index, the index of the text in it, and the first and last
/// byte.
type SentencePlace = (usize, usize, usize, usize);

/// The sentence that first states the fact; if the value spans two sentences, the whole text.
fn first_said(prepared: &PreparedScenario, fact: u32) -> Option<SentencePlace> {
    let message = *prepared.mentions[fact as usize].first()?;
    let holds = |text: &str| prepared.facts.find(text).any(|found| found as u32 == fact);
    let texts = || {
        prepared.messages[message]
            .message
            .parts
            .iter()
            .filter_map(part_text)
            .enumerate()
    };
    let mut sentences =
        texts().flat_map(|(at, text)| spans(text).map(move |(start, end)| (at, start, end, text)));
    let sentence = sentences.find(|(_, start, end, text)| holds(&text[*start..*end]));
    let sentence = sentence.map(|(at, start, end, _)| (message, at, start, end));
    sentence.or_else(|| {
        texts()
            .find(|(_, text)| holds(text))
            .map(|(at, text)| (message, at, 0, text.len()))
    })
}

fn text_at(
    prepared: &PreparedScenario,
    (message, at, start, end): SentencePlace,
) -> (MessageId, &str) {
    let message = &prepared.messages[message].message;
    let text = message
        .parts
        .iter()
        .filter_map(part_text)
        .nth(at)
        .unwrap_or_default();
    (message.id, text[start..end].trim())
}

/// The byte ranges of sentences: each ends with its line, or at a full stop, `!` or `?` before a
/// capital.
fn spans(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    let mut ends = text.char_indices().filter_map(move |(at, letter)| {
        let after = at + letter.len_utf8();
        let opens_sentence = || {
            let rest = &text[after..];
            rest.starts_with(' ') && rest.trim_start().starts_with(char::is_uppercase)
        };
        (letter == '\n' || (matches!(letter, '.' | '!' | '?') && opens_sentence())).then_some(after)
    });
    let mut is_done = false;
    std::iter::from_fn(move || {
        if is_done {
            return None;
        }
        let end = ends.next().unwrap_or_else(|| {
            is_done = true;
            text.len()
        });
        let span = (start, end);
        start = end;
        Some(span)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_end_at_lines_and_before_capitals() {
        let text = "Use v1.10 of it, e.g. now. The port is 8042! is it?\n{\"a\": 1}";
        let found: Vec<&str> = spans(text)
            .map(|(start, end)| text[start..end].trim())
            .collect();
        assert_eq!(
            found,
            [
                "Use v1.10 of it, e.g. now.",
                "The port is 8042! is it?",
                "{\"a\": 1}"
            ]
        );
    }

    proptest! {
        #[test]
        fn spans_lose_nothing(text in "[a-cA-C .!?\n]{0,60}") {
            let whole: String = spans(&text).map(|(start, end)| &text[start..end]).collect();
            prop_assert_eq!(whole, text);
        }
    }
}
