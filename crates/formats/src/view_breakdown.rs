//! What stands where, as records count it: the parts of a view after a compaction, and what a session left in its store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a view holds, by kind; together its tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViewParts {
    /// Tokens of the system prompt without what a strategy put into it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub system: u32,
    /// Tokens of checkpoints, wherever they stand.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub checkpoint: u32,
    /// Each summary in order of the view: the number of its record, and its tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(u32, u32)>,
    /// Tokens of what was said and stands in its own words: the recent tail, and what else was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spoken: u32,
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

/// What a session's records came to at the end of its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Records: summaries, checkpoints and failed attempts.
    pub records: u32,
    /// Bytes of their JSON, uncompressed, without views.
    pub bytes: u64,
    /// Fields of a checkpoint (source 000, checkpoint schema) that the conversation supported when one was written: a fact of
    /// the field's category was stated by then. Summed over the checkpoints.
    pub fields_supported: u32,
    /// Of these, fields that the checkpoint holds a value in.
    pub fields_populated: u32,
    /// The fewest fields of source 000's six that a checkpoint holds a value in, supported or not; absent where none was
    /// written, and in records of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest_populated: Option<u32>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
