//! Texts of one size that could stand beside what a compaction left: a ledger, and what it has to beat.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use compactometer_engine::ledger::Ledger;
use compactometer_engine::message::part_text;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::Entry;
use compactometer_formats::losses::{HookRun, VALUE_DRAWS};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::texts;
use crate::prepare::PreparedScenario;
use crate::prepare::recorded::Left;

/// The facts whose values such texts hold, as they were said or by another name.
pub(super) struct Added {
    /// For each draw of random values.
    pub(super) random: Vec<BTreeSet<u32>>,
    pub(super) newest: BTreeSet<u32>,
    pub(super) frequent: BTreeSet<u32>,
    pub(super) ledger: BTreeSet<u32>,
    pub(super) unbound: BTreeSet<u32>,
    /// For each hook.
    pub(super) hooks: Vec<BTreeSet<u32>>,
}

/// Makes the texts for one compaction after the other.
pub(super) struct Adding<'p> {
    prepared: &'p PreparedScenario,
    budget: u32,
    hooks: &'p [Vec<HookRun>],
    counter: &'p dyn TokenCounter,
    ledger: Ledger,
    /// The number of messages that the ledger has read.
    read: usize,
}

impl<'p> Adding<'p> {
    /// Texts of at most `budget` tokens.
    pub(super) fn new(
        prepared: &'p PreparedScenario,
        budget: u32,
        hooks: &'p [Vec<HookRun>],
        counter: &'p dyn TokenCounter,
    ) -> Self {
        let ledger = Ledger::in_directories(&prepared.scenario.directories);
        Adding { prepared, budget, hooks, counter, ledger, read: 0 }
    }

    /// The texts beside what a compaction left, which is no earlier than the one before.
    pub(super) fn beside(&mut self, left: &Left) -> Added {
        let Adding { prepared, budget, hooks, counter, .. } = *self;
        for counted in &prepared.messages[self.read..left.length] {
            self.ledger.add(&counted.message);
        }
        self.read = left.length;
        let in_view = left.view.entries().iter().flat_map(Entry::parts).filter_map(|(part, _)| part_text(part));
        let in_view = in_view.collect::<Vec<_>>();
        let page = |budget| self.ledger.page(budget, in_view.iter().copied(), counter);
        let unbound = page(budget.saturating_mul(SPARE)).listed.into_iter().map(|listed| format!("{}\n", listed.value));
        let held = |text: &str| held(prepared, text);
        Added {
            random: random(prepared, left.length, budget, counter).iter().map(|text| held(text)).collect(),
            newest: held(&newest(prepared, left.length, budget, counter)),
            frequent: held(&frequent(prepared, left.length, budget, counter)),
            ledger: held(&page(budget).text),
            unbound: held(&that_fit(unbound, budget, counter)),
            hooks: hooks.get(left.place).into_iter().flatten().map(|run| held(&run.context)).collect(),
        }
    }
}

/// A ledger of so many times the budget lists more bare values than the budget has room for.
const SPARE: u32 = 4;

/// The lines before the first that does not fit.
fn that_fit(lines: impl Iterator<Item = String>, mut room: u32, counter: &dyn TokenCounter) -> String {
    let mut text = String::new();
    for line in lines {
        let tokens = counter.count_text(&line);
        if tokens > room {
            break;
        }
        room -= tokens;
        text.push_str(&line);
    }
    text
}

/// The values that were said before a message, each with the number of messages that said it before.
fn said(prepared: &PreparedScenario, length: usize) -> impl Iterator<Item = (usize, &str)> {
    let times = move |mentions: &Vec<usize>| mentions.partition_point(|message| *message < length);
    let values = prepared.mentions.iter().zip(&prepared.scenario.facts);
    values.map(move |(mentions, fact)| (times(mentions), fact.value.as_str())).filter(|(times, _)| *times > 0)
}

/// The values that most messages said, one a line.
fn frequent(prepared: &PreparedScenario, length: usize, budget: u32, counter: &dyn TokenCounter) -> String {
    let mut said = said(prepared, length).collect::<Vec<_>>();
    said.sort_by_key(|(times, _)| Reverse(*times));
    that_fit(said.into_iter().map(|(_, value)| format!("{value}\n")), budget, counter)
}

/// Lists of random values, one a line.
fn random(prepared: &PreparedScenario, length: usize, budget: u32, counter: &dyn TokenCounter) -> Vec<String> {
    let mut said = said(prepared, length).map(|(_, value)| format!("{value}\n")).collect::<Vec<_>>();
    let mut rng = ChaCha8Rng::seed_from_u64(length as u64);
    let draw = |_| {
        said.shuffle(&mut rng);
        that_fit(said.iter().cloned(), budget, counter)
    };
    (0..VALUE_DRAWS).map(draw).collect()
}

/// The end of the conversation.
fn newest(prepared: &PreparedScenario, length: usize, budget: u32, counter: &dyn TokenCounter) -> String {
    let (mut room, mut pieces) = (budget, Vec::new());
    for text in prepared.messages[..length].iter().rev().flat_map(|counted| texts(counted).rev()) {
        let tokens = counter.count_text(text);
        if tokens > room {
            let letters = text.chars().count() * room as usize / tokens as usize;
            pieces.push(text.chars().skip(text.chars().count() - letters).collect::<String>());
            break;
        }
        room -= tokens;
        pieces.push(text.to_owned());
    }
    pieces.reverse();
    pieces.join("\n")
}

/// The facts whose values a text holds, as they were said or by another name.
fn held(prepared: &PreparedScenario, text: &str) -> BTreeSet<u32> {
    let named = prepared.names.iter().flat_map(|names| names.found_in(text));
    prepared.facts.find(text).map(|fact| fact as u32).chain(named).collect()
}
