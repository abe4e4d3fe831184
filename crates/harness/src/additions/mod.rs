//! What can be added to what a compaction leaves: a ledger, and texts of its size that it has to
//! beat.

mod beside;
pub(crate) mod texts;

use std::num::NonZeroU32;
use std::sync::Arc;

use compactometer_engine::strategy::Strategy;
use compactometer_engine::strategy::with_ledger::{LedgerRoom, WithLedger};
use serde::Serialize;

use crate::prepare::PreparedScenario;
use beside::Beside;

/// A text beside what a compaction leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Addition {
    /// What it is.
    pub text: AddedText,
    /// Most tokens, its message included.
    pub tokens: NonZeroU32,
}

/// A text that can be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddedText {
    /// A ledger of what the compaction did not leave.
    Ledger,
    /// The values of that ledger, and of more of them, without what they belong to.
    BareValues,
    /// The values that most messages said.
    FrequentValues,
    /// Values at random.
    RandomValues,
    /// The end of the conversation before the compaction.
    NewestText,
}

impl AddedText {
    /// All, each with its parameter and a line about it.
    pub const ALL: [(AddedText, &'static str, &'static str); 5] = [
        (
            AddedText::Ledger,
            "ledger",
            "a ledger of what the compaction did not leave",
        ),
        (
            AddedText::BareValues,
            "bare_values",
            "the values of such a ledger without what they belong to",
        ),
        (
            AddedText::FrequentValues,
            "frequent_values",
            "the values that most messages said",
        ),
        (AddedText::RandomValues, "random_values", "values at random"),
        (
            AddedText::NewestText,
            "newest_text",
            "the end of the conversation",
        ),
    ];

    /// Its parameter as users type it.
    pub fn parameter(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(text, ..)| *text == self)
            .map_or("", |(_, parameter, _)| parameter)
    }
}

impl Addition {
    /// The strategy with the text beside what it leaves.
    pub(crate) fn beside(
        self,
        strategy: Arc<dyn Strategy>,
        room: LedgerRoom,
        prepared: &Arc<PreparedScenario>,
    ) -> Arc<dyn Strategy> {
        let (text, tokens) = (self.text, self.tokens.get());
        match text {
            AddedText::Ledger => Arc::new(WithLedger {
                strategy,
                tokens,
                room,
                directories: prepared.scenario.directories.clone(),
                by_program: prepared.scenario.log.by_program.clone(),
            }),
            _ => Arc::new(Beside {
                strategy,
                text,
                tokens,
                prepared: Arc::clone(prepared),
            }),
        }
    }
}
