//! What can be added to what a compaction leaves: a ledger, and texts of its size that it has to
//! beat.

mod beside;
pub(crate) mod texts;

use std::num::NonZeroU32;
use std::sync::Arc;

use compactometer_engine::strategy::Strategy;
use compactometer_engine::strategy::with_ledger::{LedgerRoom, WithLedger};
use compactometer_formats::added_text::AddedText;
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
