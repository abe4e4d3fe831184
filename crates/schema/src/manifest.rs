//! `manifest.json`: what a run was resolved to, so that it can be resumed, merged and repeated.

use serde::{Deserialize, Serialize};

use crate::record::Protocol;

/// The version of manifests that this program writes.
pub const VERSION: u32 = 1;

/// What a run was resolved to. Nothing machine-measured stands here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// At most [`VERSION`].
    pub version: u32,
    /// The program's version.
    pub program: String,
    /// The commit that the program was built from, or `unknown`.
    pub commit: String,
    /// The command, without `--out`.
    pub command: Vec<String>,
    /// The suite's name.
    pub suite: String,
    /// The suite's content hash.
    pub suite_hash: String,
    /// What a reader must know of the suite and the run.
    pub notes: Vec<String>,
    /// Context window, in tokens.
    pub window: u32,
    /// Trigger, in tokens.
    pub trigger: u32,
    /// Retained budget, in tokens.
    pub retained: u32,
    /// How budgets were set.
    pub protocol: Protocol,
    /// Strategies and controls, in order of the report.
    pub strategies: Vec<String>,
    /// What published limits are multiplied by.
    pub scale: f64,
    /// blake3 over the strategies' parameters and prompts.
    pub settings_hash: String,
    /// blake3 of the price table.
    pub prices_hash: String,
    /// The measuring counter.
    pub tokenizer: String,
    /// The summarizer.
    pub model: String,
    /// Seed of the run.
    pub seed: u64,
    /// Number of cases.
    pub cases: usize,
    /// Conversations in the suite.
    pub conversations: usize,
    /// Groups in the suite: the number of units.
    pub groups: usize,
}
