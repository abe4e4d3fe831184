//! What the user of a conversation asks for without an exact value: rules, preferences and
//! requests, said once or again in other words, and corrections that take a preference back.

use std::sync::LazyLock;

use compactometer_engine::message::Message;
use compactometer_engine::tokens::{Encoding, TokenCounter as _};
use compactometer_formats::scenario::{SaidSentence, Scenario, SentenceKind, Speaker, Wording};
use serde::Deserialize;

use crate::dice::SeededDice;
use crate::generate::additions::{append, place_of};
use crate::generate::part::SplitPart;
use crate::generate::range::within;

/// Messages of the user to which sentences are added have at most this many bytes: what is longer
/// was pasted for the most part.
const LONGEST_MESSAGE: usize = 400;
/// Sentences that a message gets at most.
const MOST_OF_MESSAGE: usize = 3;
/// Percentage of sentences that are said once.
const ONCE: usize = 50;
/// Percentage of preferences that are taken back, where something is known to take them back.
const TAKEN_BACK: usize = 50;

/// A sentence in several wordings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownSentence {
    kind: SentenceKind,
    wordings: Vec<String>,
    /// Corrections that take it back.
    #[serde(default)]
    instead: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidFile {
    sentence: Vec<KnownSentence>,
}

// A test reads the file, so this does not fail.
static ALL: LazyLock<Vec<KnownSentence>> = LazyLock::new(|| {
    toml::from_str::<SaidFile>(include_str!("said.toml")).map_or(Vec::new(), |file| file.sentence)
});

/// Whether a conversation can have so many sentences.
///
/// # Errors
/// The key, the value and the accepted values.
pub(super) fn check(count: usize, has_splits: bool) -> Result<(), String> {
    let parts = 1 + usize::from(has_splits);
    within("said", count, &(0..=ALL.len() / parts))
}

/// Has the user of a conversation say so many sentences of a part, as far as there are messages for
/// them. Returns the number of tokens (o200k_base) that they have.
pub(super) fn say(
    dice: SeededDice,
    part: SplitPart,
    count: usize,
    scenario: &mut Scenario,
) -> usize {
    let mut stage = SaidStage {
        dice,
        room: scenario.messages.iter_mut().map(room).collect(),
        scenario,
    };
    let mut places = part.indices(ALL.len()).collect::<Vec<_>>();
    stage.dice.shuffle(&mut places);
    for place in places.into_iter().take(count) {
        stage.state(&ALL[place]);
    }
    scenario.said.sort_by_key(|said| said.wordings[0].said_in);
    let wordings = scenario.said.iter().flat_map(|said| &said.wordings);
    let tokens = wordings.map(|wording| Encoding::O200k.count_text(&wording.text));
    tokens.sum::<u32>() as usize
}

/// How many sentences a message may get.
fn room(message: &mut Message) -> usize {
    let spoken = place_of(message, Speaker::User);
    let is_short = spoken.is_some_and(|text| text.len() <= LONGEST_MESSAGE);
    if is_short { MOST_OF_MESSAGE } else { 0 }
}

struct SaidStage<'s> {
    dice: SeededDice,
    /// For each message, how many more sentences it may get.
    room: Vec<usize>,
    scenario: &'s mut Scenario,
}

impl SaidStage<'_> {
    fn state(&mut self, known: &KnownSentence) {
        let most = known.wordings.len();
        let times = match self.dice.chance(ONCE) {
            true => 1,
            false => self.dice.between(2, most),
        };
        let mut free = self.free(0);
        self.dice.shuffle(&mut free);
        free.truncate(times);
        free.sort_unstable();
        let Some(last) = free.last().copied() else {
            return;
        };
        let kept = self.scenario.said.len();
        self.add(known.kind, &known.wordings, &free);
        let is_taken_back = !known.instead.is_empty() && self.dice.chance(TAKEN_BACK);
        let later = self.free(last + 1);
        if is_taken_back && !later.is_empty() {
            let at = self.dice.pick(&later);
            self.scenario.said[kept].valid_to = Some(self.scenario.messages[at].id);
            self.add(SentenceKind::Correction, &known.instead, &[at]);
        }
    }

    /// The messages from an index on that may get a sentence.
    fn free(&self, from: usize) -> Vec<usize> {
        let has_room = |at: &usize| self.room[*at] > 0;
        (from..self.room.len()).filter(has_room).collect()
    }

    /// Has messages say a sentence, each in other words.
    fn add(&mut self, kind: SentenceKind, wordings: &[String], at: &[usize]) {
        let mut order = (0..wordings.len()).collect::<Vec<_>>();
        self.dice.shuffle(&mut order);
        let said = order.iter().zip(at).map(|(wording, at)| {
            let (text, message) = (&wordings[*wording], &mut self.scenario.messages[*at]);
            if let Some(spoken) = place_of(message, Speaker::User) {
                append(spoken, text, Speaker::User, &mut self.dice);
            }
            self.room[*at] -= 1;
            Wording {
                said_in: message.id,
                text: text.clone(),
            }
        });
        let wordings = said.collect();
        self.scenario.said.push(SaidSentence {
            kind,
            wordings,
            valid_to: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use compactometer_text::exact;
    use compactometer_text::sentences::{Sentence, SentenceLines};

    use super::*;

    #[test]
    fn the_file_is_read_and_no_sentence_says_another() {
        let file = toml::from_str::<SaidFile>(include_str!("said.toml"));
        let all = file.expect("it reads").sentence;
        let kinds = all.iter().map(|known| known.kind).collect::<BTreeSet<_>>();
        assert!(kinds.len() == 3 && !kinds.contains(&SentenceKind::Correction));
        for (place, known) in all.iter().enumerate() {
            assert!(known.wordings.len() >= 2, "{:?}", known.wordings);
            for text in known.wordings.iter().chain(&known.instead) {
                let sentence = Sentence::of(text).expect("it has words enough");
                assert_eq!(exact::within(text).count(), 0, "{text}");
                for (other, said) in all.iter().enumerate().filter(|(other, _)| *other != place) {
                    let texts = said.wordings.iter().chain(&said.instead);
                    let lines = SentenceLines::new(texts.map(String::as_str));
                    assert!(!lines.say(&sentence), "{text} is said by entry {other}");
                }
            }
        }
    }
}
