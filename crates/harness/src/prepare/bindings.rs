//! Which subjects the values of a conversation belong to, and which others could win at them by chance.

use std::collections::BTreeSet;
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::scenario::Fact;
use compactometer_text::binding::{Binding, Subjects};
use compactometer_text::matcher::Matcher;

use super::Lists;

/// With fewer rivals of the fact's own kind, the subjects of all facts are its rivals.
const FEWEST_RIVALS: usize = 3;

/// The bindings of one conversation.
pub struct Bindings {
    subjects: Subjects,
    facts: Vec<Option<Bound>>,
    /// For each subject, the index of the first message that states something about it.
    stated_at: Vec<usize>,
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
    /// The other subjects of facts of its kind.
    of_kind: BTreeSet<u32>,
    /// Whether the message that first states the fact gives the value to its subject.
    is_stated: bool,
}

impl Bindings {
    /// Nothing if no fact has a subject, as in imported conversations.
    pub(super) fn of(
        facts: &[Fact],
        messages: &[Arc<CountedMessage>],
        matcher: &Matcher,
        mentions: &[Vec<usize>],
    ) -> Option<Self> {
        let with_subject = (0..facts.len()).filter(|fact| facts[*fact].has_subject()).collect::<Vec<_>>();
        if with_subject.is_empty() {
            return None;
        }
        let texts = || messages.iter().flat_map(|counted| counted.message.parts.iter().filter_map(part_text));
        let subjects = Subjects::new(with_subject.iter().map(|fact| facts[*fact].subject.as_str()), texts());
        let of_messages = messages.iter().map(|counted| {
            let texts = counted.message.parts.iter().filter_map(part_text);
            texts.flat_map(|text| subjects.bindings(matcher, text)).collect::<BTreeSet<_>>()
        });
        let of_messages = of_messages.collect::<Vec<_>>();
        let all = of_messages.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        let mut in_message = Lists::with_capacity(messages.len());
        let mut first = vec![usize::MAX; all.len()];
        for (index, of_message) in of_messages.iter().enumerate() {
            let places = of_message.iter().filter_map(|binding| all.binary_search(binding).ok());
            in_message.push(places.clone().map(|place| place as u32));
            places.for_each(|place| first[place] = first[place].min(index));
        }
        let subject_of = |fact: usize| Some(subjects.of_name(with_subject.binary_search(&fact).ok()?));
        let bound = |fact: usize| {
            let subject = subject_of(fact)?;
            let is_of_kind = |other: &&usize| facts[**other].value_kind == facts[fact].value_kind;
            let of_kind = with_subject.iter().filter(is_of_kind).filter_map(|other| subject_of(*other));
            let of_kind = of_kind.filter(|other| *other != subject).collect();
            let first = mentions[fact].first();
            let is_stated = first.is_some_and(|first| of_messages[*first].contains(&(fact as u32, subject)));
            Some(Bound { subject, of_kind, is_stated })
        };
        let mut stated_at = vec![usize::MAX; subjects.len()];
        for (fact, first) in mentions.iter().enumerate().filter_map(|(fact, at)| Some((fact, *at.first()?))) {
            if let Some(subject) = subject_of(fact) {
                stated_at[subject as usize] = stated_at[subject as usize].min(first);
            }
        }
        let facts = (0..facts.len()).map(bound).collect();
        Some(Bindings { subjects, facts, stated_at, all, first, in_message })
    }

    /// The bindings of a message for some of its facts, as places in `all`.
    pub(super) fn of_facts<'b>(&'b self, message: usize, facts: &'b [u32]) -> impl Iterator<Item = u32> + 'b {
        let of_message = self.in_message.of(message).iter();
        of_message.filter(|place| facts.contains(&self.all[**place as usize].0)).copied()
    }

    /// The bindings in a text that is no message of the conversation.
    pub(crate) fn of_text(&self, matcher: &Matcher, text: &str) -> Vec<Binding> {
        self.subjects.bindings(matcher, text)
    }

    /// The subject of the fact.
    pub(crate) fn subject(&self, fact: u32) -> Option<u32> {
        Some(self.facts[fact as usize].as_ref()?.subject)
    }

    /// The wrong subjects for the fact's value after so many messages: those that were mentioned, and to which no message gave it.
    pub(crate) fn rivals(&self, fact: u32, length: usize) -> BTreeSet<u32> {
        let Some(bound) = &self.facts[fact as usize] else { return BTreeSet::new() };
        let is_given = |subject: u32| self.all.binary_search(&(fact, subject)).is_ok_and(|at| self.first[at] < length);
        let is_stated = |subject: &u32| self.stated_at[*subject as usize] < length && !is_given(*subject);
        let of_kind = bound.of_kind.iter().copied().filter(is_stated).collect::<BTreeSet<_>>();
        if of_kind.len() >= FEWEST_RIVALS {
            return of_kind;
        }
        (0..self.subjects.len() as u32).filter(|other| *other != bound.subject && is_stated(other)).collect()
    }

    /// Whether the fact counts in bound recall: it has a subject, to which its own first statement gives it.
    pub fn counts(&self, fact: usize) -> bool {
        self.facts[fact].as_ref().is_some_and(|bound| bound.is_stated)
    }
}
