//! Texts of one size that could be beside what a compaction left: a ledger, and what it has to
//! beat.

use std::collections::BTreeSet;

use compactometer_engine::ledger::Ledger;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::losses::{HookRun, LEDGER_SIZES, VALUE_DRAWS};
use compactometer_text::sentences::SentenceLines;

use crate::additions::texts::{SaidUpTo, bare};
use crate::ledgers::read;
use crate::prepare::PreparedScenario;
use crate::prepare::recorded_context::LeftByProgram;

/// The facts whose values such texts hold, as they were said or by another name.
pub(super) struct Added {
    /// For each draw of random values.
    pub(super) random: Vec<BTreeSet<u32>>,
    pub(super) newest: BTreeSet<u32>,
    pub(super) frequent: BTreeSet<u32>,
    pub(super) ledger: BTreeSet<u32>,
    /// For each of [`LEDGER_SIZES`].
    pub(super) ledger_of: [BTreeSet<u32>; LEDGER_SIZES.len()],
    pub(super) unbound: BTreeSet<u32>,
    /// For each hook.
    pub(super) hooks: Vec<BTreeSet<u32>>,
    /// What the ledger says.
    pub(super) ledger_lines: SentenceLines,
    /// What each hook says.
    pub(super) hook_lines: Vec<SentenceLines>,
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
        Adding {
            prepared,
            budget,
            hooks,
            counter,
            ledger,
            read: 0,
        }
    }

    fn read_up_to(&mut self, length: usize) {
        for counted in &self.prepared.messages[self.read..length] {
            read(&mut self.ledger, &self.prepared.scenario, &counted.message);
        }
        self.read = length;
    }

    /// The texts beside what a compaction left, which is no earlier than the one before.
    pub(super) fn beside(&mut self, left: &LeftByProgram) -> Added {
        self.read_up_to(left.length);
        let Adding {
            prepared,
            budget,
            hooks,
            counter,
            ..
        } = *self;
        let said = SaidUpTo::of_facts(prepared, left.length, budget, counter);
        let drawn = said.random().take(VALUE_DRAWS);
        let held = |text: &str| held(prepared, text);
        let lack = self.ledger.lack(left.view.texts());
        let ledger = |size: u32| lack.page(size, counter).text;
        let runs = hooks.get(left.place).map_or(&[][..], Vec::as_slice);
        let page = ledger(budget);
        Added {
            random: drawn.map(|text| held(&text)).collect(),
            newest: held(&said.newest()),
            frequent: held(&said.frequent()),
            ledger: held(&page),
            ledger_of: LEDGER_SIZES.map(|size| held(&ledger(size))),
            unbound: held(&bare(&lack, budget, counter)),
            hooks: runs.iter().map(|run| held(&run.context)).collect(),
            ledger_lines: SentenceLines::new([page.as_str()]),
            hook_lines: runs
                .iter()
                .map(|run| SentenceLines::new([run.context.as_str()]))
                .collect(),
        }
    }
}

/// The facts whose values a text holds, as they were said or by another name.
fn held(prepared: &PreparedScenario, text: &str) -> BTreeSet<u32> {
    let as_said = prepared.facts.find(text).map(|fact| fact as u32);
    as_said.chain(prepared.named_in(text)).collect()
}
