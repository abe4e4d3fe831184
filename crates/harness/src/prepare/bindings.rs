//! Which subjects the values of a conversation belong to, and which others could win at them by
//! chance.

use std::collections::BTreeSet;
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::scenario::{Fact, ValueKind};
use compactometer_text::binding::{Binding, Subjects};
use compactometer_text::matcher::Matcher;

use super::Lists;

/// The bindings of one conversation.
pub struct Bindings {
    subjects: Subjects,
    /// The values of facts with a subject, and which facts they are.
    values: Matcher,
    of_values: Vec<u32>,
    facts: Vec<Option<Bound>>,
    /// Every binding in the conversation's messages, each once.
    pub(crate) all: Vec<Binding>,
    /// For each of them, the index of the first message with it.
    first: Vec<usize>,
    /// For each message, its bindings as places in `all`.
    pub(crate) in_message: Lists,
}

/// A fact with a subject.
#[derive(Clone, Debug)]
struct Bound {
    subject: u32,
    kind: ValueKind,
    /// The index of the message that first states the fact, if any does.
    stated_at: Option<usize>,
    /// Whether that message gives the value to its subject.
    is_bound: bool,
}

/// The subjects that could win at a fact's value by chance.
#[derive(Default)]
pub(crate) struct Rivals {
    pub(crate) subjects: BTreeSet<u32>,
    /// How much likelier one of them wins than the fact's own subject if values are put beside
    /// subjects at random: the values of all of them over the values of its own subject.
    pub(crate) weight: f64,
}

/// The bindings in a text, by facts.
fn of_text(subjects: &Subjects, values: &Matcher, facts: &[u32], text: &str) -> Vec<Binding> {
    let found = subjects.bindings(values, text).into_iter();
    found
        .map(|(item, subject)| (facts[item as usize], subject))
        .collect()
}

impl Bindings {
    /// Nothing if no fact has a subject, as in imported conversations.
    pub(super) fn new(
        facts: &[Fact],
        messages: &[Arc<CountedMessage>],
        mentions: &[Vec<usize>],
    ) -> Option<Self> {
        let with_subject = (0..facts.len())
            .filter(|fact| facts[*fact].has_subject())
            .collect::<Vec<_>>();
        if with_subject.is_empty() {
            return None;
        }
        // Most facts of a recorded conversation have no subject, so that most texts need not be read.
        let sought = with_subject.iter().map(|fact| &facts[*fact]);
        let values = Matcher::new(sought.map(|fact| (fact.sought(), fact.forms())));
        let of_values: Vec<u32> = with_subject.iter().map(|fact| *fact as u32).collect();
        let texts = || {
            messages
                .iter()
                .flat_map(|counted| counted.message.parts.iter().filter_map(part_text))
        };
        let subjects = Subjects::new(
            with_subject
                .iter()
                .map(|fact| facts[*fact].subject.as_str()),
            texts(),
        );
        let of_messages = messages.iter().map(|counted| {
            let texts = counted.message.parts.iter().filter_map(part_text);
            texts
                .flat_map(|text| of_text(&subjects, &values, &of_values, text))
                .collect::<BTreeSet<_>>()
        });
        let of_messages = of_messages.collect::<Vec<_>>();
        let all = of_messages
            .iter()
            .flatten()
            .copied()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>();
        let mut in_message = Lists::with_capacity(messages.len());
        let mut first = vec![usize::MAX; all.len()];
        for (index, of_message) in of_messages.iter().enumerate() {
            let places = of_message
                .iter()
                .filter_map(|binding| all.binary_search(binding).ok());
            in_message.push(places.clone().map(|place| place as u32));
            places.for_each(|place| first[place] = first[place].min(index));
        }
        let subject_of =
            |fact: usize| Some(subjects.of_name(with_subject.binary_search(&fact).ok()?));
        let bound = |fact: usize| {
            let subject = subject_of(fact)?;
            let stated_at = mentions[fact].first().copied();
            let is_bound =
                stated_at.is_some_and(|first| of_messages[first].contains(&(fact as u32, subject)));
            Some(Bound {
                subject,
                kind: facts[fact].value_kind,
                stated_at,
                is_bound,
            })
        };
        let facts = (0..facts.len()).map(bound).collect();
        Some(Bindings {
            subjects,
            values,
            of_values,
            facts,
            all,
            first,
            in_message,
        })
    }

    /// The bindings of a message for some of its facts, as places in `all`.
    pub(super) fn of_facts<'b>(
        &'b self,
        message: usize,
        facts: &'b [u32],
    ) -> impl Iterator<Item = u32> + 'b {
        let of_message = self.in_message.get(message).iter();
        of_message
            .filter(|place| facts.contains(&self.all[**place as usize].0))
            .copied()
    }

    /// The bindings in a text that is not a message of the conversation.
    pub(crate) fn of_text(&self, text: &str) -> Vec<Binding> {
        of_text(&self.subjects, &self.values, &self.of_values, text)
    }

    /// The subject of the fact.
    pub(crate) fn subject(&self, fact: u32) -> Option<u32> {
        Some(self.facts[fact as usize].as_ref()?.subject)
    }

    /// The rivals of the fact's subject after so many messages: the other subjects that were
    /// mentioned, to which no message gave its value. Only subjects of its kind count, if there are
    /// any.
    pub(crate) fn rivals(&self, fact: u32, length: usize) -> Rivals {
        let Some(bound) = &self.facts[fact as usize] else {
            return Rivals::default();
        };
        let of_kind = self.rivals_among(fact, bound, length, |other| other.kind == bound.kind);
        if of_kind.subjects.is_empty() {
            self.rivals_among(fact, bound, length, |_| true)
        } else {
            of_kind
        }
    }

    /// The rivals by the facts of a conversation that `counts` accepts.
    fn rivals_among(
        &self,
        fact: u32,
        bound: &Bound,
        length: usize,
        counts: impl Fn(&Bound) -> bool,
    ) -> Rivals {
        let is_given = |subject: u32| {
            self.all
                .binary_search(&(fact, subject))
                .is_ok_and(|at| self.first[at] < length)
        };
        let is_stated = |other: &&Bound| other.stated_at.is_some_and(|at| at < length);
        let stated = self
            .facts
            .iter()
            .flatten()
            .filter(is_stated)
            .filter(|other| counts(other));
        let (own, others): (Vec<u32>, Vec<u32>) = stated
            .map(|other| other.subject)
            .partition(|subject| *subject == bound.subject);
        let others = others
            .into_iter()
            .filter(|subject| !is_given(*subject))
            .collect::<Vec<_>>();
        let weight = others.len() as f64 / own.len().max(1) as f64;
        Rivals {
            subjects: others.into_iter().collect(),
            weight,
        }
    }

    /// Whether the fact counts in bound recall: it has a subject, to which its own first statement
    /// gives it.
    pub fn counts(&self, fact: usize) -> bool {
        self.facts[fact]
            .as_ref()
            .is_some_and(|bound| bound.is_bound)
    }
}
