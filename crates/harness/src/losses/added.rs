//! Texts of one size that could be beside what a compaction left: a ledger, and what it has to
//! beat.

use std::collections::BTreeSet;

use compactometer_engine::ledger::Ledger;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::added_text::AddedText;
use compactometer_formats::losses::{HookRun, InAdded, LEDGER_SIZES};
use compactometer_text::sentences::SentenceLines;

use crate::additions::texts::{SaidUpTo, added_texts};
use crate::ledgers::read;
use crate::prepare::PreparedScenario;
use crate::prepare::recorded_context::LeftByProgram;

/// The facts whose values such texts hold, as they were said or by another name.
pub(super) struct Added {
    /// For each draw of each text.
    texts: [Vec<BTreeSet<u32>>; AddedText::ROWS.len()],
    /// For each of [`LEDGER_SIZES`].
    pub(super) ledger_of: [BTreeSet<u32>; LEDGER_SIZES.len()],
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
        let held = |text: &str| facts_in(prepared, text);
        let lack = self.ledger.lack(left.view.texts());
        let ledger = |size: u32| lack.page(size, counter).text;
        let texts = AddedText::ROWS.map(|row| {
            let drawn = added_texts(row.text, &said, &lack);
            drawn.map(|text| held(&text)).collect()
        });
        let runs = hooks.get(left.place).map_or(&[][..], Vec::as_slice);
        Added {
            texts,
            ledger_of: LEDGER_SIZES.map(|size| held(&ledger(size))),
            hooks: runs.iter().map(|run| held(&run.context)).collect(),
            ledger_lines: SentenceLines::new([ledger(budget).as_str()]),
            hook_lines: runs
                .iter()
                .map(|run| SentenceLines::new([run.context.as_str()]))
                .collect(),
        }
    }
}

impl Added {
    /// Which of the texts hold a fact's value.
    pub(super) fn in_texts(&self, fact: u32) -> InAdded {
        InAdded::new(|text, draw| self.texts[text.place()][draw].contains(&fact))
    }
}

/// The facts whose values a text holds, as they were said or by another name.
fn facts_in(prepared: &PreparedScenario, text: &str) -> BTreeSet<u32> {
    let as_said = prepared.facts.find(text).map(|fact| fact as u32);
    as_said.chain(prepared.named_in(text)).collect()
}
