//! A view's tokens by kind after a compaction, and totals of what a session left in its store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A view's tokens by kind; they add up to its size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViewParts {
    /// Tokens of the system prompt without what a strategy put into it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub system: u32,
    /// Tokens of checkpoints, at any place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub checkpoint: u32,
    /// Each summary in order of the view: the number of its record, and its tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(u32, u32)>,
    /// Tokens of verbatim messages: the recent tail, and what else was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spoken: u32,
    /// Tokens of ledgers: exact values that were copied by rule.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ledger: u32,
    /// Tokens of the engine's own words, and of what memory found.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub filler: u32,
}

impl ViewParts {
    /// Tokens of all summaries.
    pub fn summarized(&self) -> u32 {
        self.summaries.iter().map(|(_, tokens)| tokens).sum()
    }
}

/// Totals over a session's records at the end of its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Records: summaries, checkpoints and failed attempts.
    pub records: u32,
    /// Bytes of their JSON, uncompressed, without views.
    pub bytes: u64,
    /// Fields of the strategic plan's checkpoint that the conversation supported when one was
    /// written, which means that a fact of the field's category was stated by then. Summed over the
    /// checkpoints.
    pub fields_supported: u32,
    /// Supported fields that the checkpoint fills.
    pub fields_populated: u32,
    /// The fewest of the strategic plan's six fields that a checkpoint fills, supported or not;
    /// absent if no checkpoint was written, and in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest_populated: Option<u32>,
}

pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}
