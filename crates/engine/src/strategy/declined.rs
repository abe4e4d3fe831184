//! Why a view stays as it is.

use serde::{Deserialize, Serialize};

use crate::model::ChatError;
use crate::strategy::summary::NotASummary;

/// Why a strategy leaves the view as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Declined {
    /// There is nothing to do.
    #[error(transparent)]
    Skip(#[from] SkipReason),
    /// It could not do it.
    #[error(transparent)]
    Fail(#[from] FailReason),
}

impl From<ChatError> for FailReason {
    fn from(error: ChatError) -> Self {
        FailReason::Call(error.to_string())
    }
}

/// Why a compaction was not applied although nothing failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Nothing lies outside what must stay.
    #[error("nothing to compact: all lies in the recent tail or the pending part")]
    NothingToCompact,
    /// The result was no smaller.
    #[error("no progress: the result is no smaller than the view")]
    NoProgress,
    /// A compaction is being prepared in the background.
    #[error("a compaction of this session is under way")]
    UnderWay,
    /// Agents of one request still read the view.
    #[error("a snapshot of the view is in use")]
    SnapshotInUse,
}

/// Why a compaction failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    /// The model did not answer.
    #[error("summarizer call failed: {0}")]
    Call(String),
    /// The model answered with something that is not a summary, twice.
    #[error("summarizer wrote no summary: {0}")]
    NoSummary(NotASummary),
    /// The model's answer holds no checkpoint.
    #[error("answer holds no readable checkpoint")]
    NoCheckpoint,
    /// The summarizer's window cannot hold the prompt, an answer and anything to read.
    #[error("summarizer's context window of {0} tokens is too small for the prompt and the answer")]
    WindowTooSmall(u32),
    /// The session's calls are used up.
    #[error("all {0} calls of the session are used up")]
    CallsUsedUp(u32),
    /// A provider would refuse the result.
    #[error("invalid view: {0}")]
    InvalidView(String),
    /// Compacting does not get the request below its trigger; no further try is made for now.
    #[error(
        "after {tries} tries the request still has {tokens} tokens, its trigger is {trigger}; what stands outside a \
             compaction's reach (tools, system prompt, pending part) may be too large"
    )]
    StaysAtTrigger {
        /// Tries in a row.
        tries: u32,
        /// Size of the request on the trigger's scale.
        tokens: u32,
        /// The trigger.
        trigger: u32,
    },
    /// The program that compacts broke off, or did not answer as it should.
    #[error("program failed: {0}")]
    Program(String),
    /// The store did not keep it, so it was not applied.
    #[error("not stored: {0}")]
    Store(String),
}
