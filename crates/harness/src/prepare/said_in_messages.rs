//! What persons said in a conversation, and which of its messages say it.

use std::collections::BTreeMap;
use std::sync::Arc;

use compactometer_engine::message::{Message, Part, Role};
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::scenario::{Scenario, Speaker};
use compactometer_text::sentences::{Sentence, SentenceLines, sentences};

use super::Lists;

/// Something that a person said, once or several times.
pub(crate) struct PersonSentence {
    /// How it was worded: a text that says one of them says it.
    wordings: Vec<Sentence>,
    /// The indices of the messages in which it was said, ascending.
    at: Vec<usize>,
    /// The index of the message in which it was taken back.
    until: Option<usize>,
}

impl PersonSentence {
    /// It in its first words.
    pub(crate) fn sentence(&self) -> &Sentence {
        &self.wordings[0]
    }

    /// Whether one of these lines says it.
    pub(crate) fn is_in(&self, lines: &SentenceLines) -> bool {
        self.wordings.iter().any(|wording| lines.say(wording))
    }

    /// The indices of the messages before that length of the log in which it was said; none if it
    /// was taken back since.
    pub(crate) fn before(&self, length: usize) -> &[usize] {
        let holds = self.until.is_none_or(|until| until >= length);
        let end = self.at.partition_point(|message| *message < length);
        if holds { &self.at[..end] } else { &[] }
    }
}

/// What persons said, and for each message which of it the message says.
pub(crate) struct SaidInMessages {
    pub(crate) all: Vec<PersonSentence>,
    pub(crate) said_in: Lists,
}

impl SaidInMessages {
    pub(super) fn new(scenario: &Scenario, messages: &[Arc<CountedMessage>]) -> Self {
        let all = persons_sentences(scenario, messages);
        let mut said_in = Lists::with_capacity(messages.len());
        for counted in messages {
            let lines = match all.is_empty() || !is_talk(counted.message.role) {
                true => SentenceLines::default(),
                false => SentenceLines::new(words(&counted.message)),
            };
            let places = (0..).zip(&all);
            said_in.push(places.filter_map(|(place, one)| one.is_in(&lines).then_some(place)));
        }
        SaidInMessages { all, said_in }
    }
}

/// Whether messages of a role count as saying something: a result of a tool has its words by chance.
fn is_talk(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant)
}

/// What somebody says in a message, without calls and results.
pub(crate) fn words(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(text)
}

/// The text of a part in which somebody speaks.
pub(crate) fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } => Some(text),
        _ => None,
    }
}

/// What a scenario says that its user said; else, of a recording with compactions, the sentences that
/// persons wrote. Other conversations have too many, and most of them are templates.
fn persons_sentences(scenario: &Scenario, messages: &[Arc<CountedMessage>]) -> Vec<PersonSentence> {
    match scenario.said.is_empty() {
        true if scenario.compactions.is_empty() => Vec::new(),
        true => of_persons(scenario, messages),
        false => known(scenario, messages),
    }
}

fn known(scenario: &Scenario, messages: &[Arc<CountedMessage>]) -> Vec<PersonSentence> {
    let index_of = |id| messages.partition_point(|counted| counted.message.id < id);
    let said = scenario.said.iter().map(|known| PersonSentence {
        wordings: known
            .wordings
            .iter()
            .filter_map(|wording| Sentence::of(&wording.text))
            .collect(),
        at: known
            .wordings
            .iter()
            .map(|wording| index_of(wording.said_in))
            .collect(),
        until: known.valid_to.map(index_of),
    });
    said.filter(|one| !one.wordings.is_empty()).collect()
}

/// The sentences that persons wrote, each once, by their words.
pub(crate) fn of_persons(
    scenario: &Scenario,
    messages: &[Arc<CountedMessage>],
) -> Vec<PersonSentence> {
    let mut said = BTreeMap::<_, PersonSentence>::new();
    for (index, counted) in messages.iter().enumerate() {
        if scenario.speaker(&counted.message) != Speaker::User {
            continue;
        }
        for sentence in words(&counted.message).flat_map(sentences) {
            let same = said.entry(sentence.text.to_lowercase());
            let one = same.or_insert_with(|| PersonSentence {
                wordings: vec![sentence],
                at: Vec::new(),
                until: None,
            });
            if one.at.last() != Some(&index) {
                one.at.push(index);
            }
        }
    }
    said.into_values().collect()
}
