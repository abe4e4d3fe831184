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
    /// Every binding in the conversation's messages, each once.
    pub(crate) all: Vec<Binding>,
    /// For each message, its bindings as places in `all`.
    pub(crate) in_message: Lists,
}

/// A fact with a subject.
#[derive(Clone, Debug)]
struct Bound {
    subject: u32,
    rivals: BTreeSet<u32>,
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
        for of_message in &of_messages {
            in_message.push(of_message.iter().filter_map(|binding| Some(all.binary_search(binding).ok()? as u32)));
        }
        let subject_of = |fact: usize| Some(subjects.of_name(with_subject.binary_search(&fact).ok()?));
        let bound = |fact: usize| {
            let subject = subject_of(fact)?;
            let others = |counts: &dyn Fn(usize) -> bool| {
                let others = with_subject.iter().filter(|other| counts(**other)).filter_map(|other| subject_of(*other));
                others.filter(|other| *other != subject).collect::<BTreeSet<_>>()
            };
            let of_kind = others(&|other| facts[other].value_kind == facts[fact].value_kind);
            let rivals = if of_kind.len() < FEWEST_RIVALS { others(&|_| true) } else { of_kind };
            let first = mentions[fact].first();
            let is_stated = first.is_some_and(|first| of_messages[*first].contains(&(fact as u32, subject)));
            Some(Bound { subject, rivals, is_stated })
        };
        let facts = (0..facts.len()).map(bound).collect();
        Some(Bindings { subjects, facts, all, in_message })
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

    /// Whether a subject competes with the fact's own.
    pub(crate) fn is_rival(&self, (fact, subject): Binding) -> bool {
        self.facts[fact as usize].as_ref().is_some_and(|bound| bound.rivals.contains(&subject))
    }

    /// How many subjects compete with the fact's own; nothing if the fact has no subject, or its own statement does not bind it.
    pub fn rivals(&self, fact: usize) -> Option<u32> {
        let bound = self.facts[fact].as_ref().filter(|bound| bound.is_stated)?;
        Some(bound.rivals.len() as u32)
    }
}
