//! What a conversation says around the values of facts that have no subject.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::scenario::{Fact, ValueKind};
use compactometer_text::binding::around;
use compactometer_text::matcher::Matcher;

use super::Lists;

/// Values of its kind with which each value is compared, at most.
const RIVALS: usize = 20;

/// What is said around the values of one conversation.
pub struct Surroundings {
    /// For each message, the facts that it states and that one of its clauses says something about.
    pub(crate) stated_in: Lists,
    /// For each fact, the words around it where it is first stated.
    words: Vec<BTreeSet<String>>,
    /// For each word, the number of facts that have it.
    facts_with: BTreeMap<String, u32>,
    /// For each fact, the index of the message that first states it.
    first: Vec<Option<usize>>,
    by_kind: BTreeMap<ValueKind, Vec<u32>>,
}

impl Surroundings {
    /// Nothing if a fact has a subject, as in generated conversations, or there is no fact.
    pub(super) fn new(
        facts: &[Fact],
        messages: &[Arc<CountedMessage>],
        matcher: &Matcher,
        mentions: &[Vec<usize>],
        stated_in: &Lists,
    ) -> Option<Self> {
        if facts.is_empty() || facts.iter().any(Fact::has_subject) {
            return None;
        }
        let first: Vec<Option<usize>> = mentions.iter().map(|at| at.first().copied()).collect();
        let mut clauses = Lists::with_capacity(messages.len());
        let mut words = vec![BTreeSet::new(); facts.len()];
        for (index, counted) in messages.iter().enumerate() {
            let stated = stated_in.get(index);
            let mut in_clause = BTreeSet::new();
            let texts = counted
                .message
                .parts
                .iter()
                .filter_map(part_text)
                .filter(|_| !stated.is_empty());
            for found in texts
                .flat_map(|text| around(matcher, text))
                .filter(|found| stated.contains(&found.item))
            {
                in_clause.extend(found.is_stated.then_some(found.item));
                if first[found.item as usize] == Some(index) {
                    words[found.item as usize].extend(found.words);
                }
            }
            clauses.push(in_clause);
        }
        let mut facts_with = BTreeMap::<String, u32>::new();
        words
            .iter()
            .flatten()
            .for_each(|word| *facts_with.entry(word.clone()).or_default() += 1);
        let mut by_kind = BTreeMap::<ValueKind, Vec<u32>>::new();
        facts
            .iter()
            .zip(0..)
            .for_each(|(fact, index)| by_kind.entry(fact.value_kind).or_default().push(index));
        Some(Surroundings {
            stated_in: clauses,
            words,
            facts_with,
            first,
            by_kind,
        })
    }

    /// How often these words fit the fact better than other values of its kind that are stated in
    /// the first messages, so many: 2 for each, 1 for a tie; and the number of these values.
    pub(crate) fn fit(
        &self,
        fact: u32,
        kind: ValueKind,
        words: &BTreeSet<String>,
        length: usize,
    ) -> (u32, u32) {
        let is_stated =
            |other: &&u32| self.first[**other as usize].is_some_and(|first| first < length);
        let of_kind = self
            .by_kind
            .get(&kind)
            .into_iter()
            .flatten()
            .filter(|other| **other != fact);
        let rivals: Vec<u32> = of_kind.filter(is_stated).copied().collect();
        let own = self.likeness(words, fact);
        // Spread over the conversation, since neighbours often share their words.
        let step = rivals.len().div_ceil(RIVALS).max(1);
        let compared = rivals.iter().step_by(step);
        let points =
            compared
                .clone()
                .map(|other| match own.total_cmp(&self.likeness(words, *other)) {
                    std::cmp::Ordering::Greater => 2,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Less => 0,
                });
        (points.sum(), compared.count() as u32)
    }

    /// The words that both have, rare ones counting more, over the square root of the number of the
    /// fact's words.
    fn likeness(&self, words: &BTreeSet<String>, fact: u32) -> f64 {
        let own = &self.words[fact as usize];
        let rarity =
            |word: &String| 1.0 / f64::from(self.facts_with.get(word).copied().unwrap_or(1));
        let shared: f64 = words.intersection(own).map(rarity).sum();
        if shared > 0.0 {
            shared / (own.len() as f64).sqrt()
        } else {
            0.0
        }
    }
}
