//! What a report shows of replays beside the headline's size and split.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Check, Comparison, MetricValue, StrategySummary};
use crate::record::Family;

/// The matched protocol under several retained budgets, and under several splits of one budget
/// between tail and summary. All points are of the same conversations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The id of the points' metric.
    pub metric: String,
    /// Tokens that a compaction may leave at the run's size.
    pub retained: u32,
    /// Conversations measured at every point.
    pub conversations: usize,
    /// Conversations of the run.
    pub of: usize,
    /// Each strategy at each retained budget and its own split, by strategy in the order of the
    /// report, then by budget.
    pub sizes: Vec<SweepPoint>,
    /// Each strategy with a tail at the run's retained budget, by strategy, then by split.
    pub splits: Vec<SweepPoint>,
    /// Every strategy under test at one size with what it is compared with, paired by unit and read
    /// off both curves; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
    /// What the points show, in sentences.
    pub findings: Vec<String>,
    /// Every number at each further budget and split.
    pub replays: Vec<SweptReplay>,
}

/// One strategy at one retained budget and split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPoint {
    /// The strategy.
    pub strategy: String,
    /// Whether it is under test or a control.
    pub family: Family,
    /// Tokens that a compaction may leave.
    pub retained: u32,
    /// The share of them that is kept verbatim.
    pub split: f64,
    /// Whether that share is the strategy's own.
    pub is_own_split: bool,
    /// Tokens that the strategy may write.
    pub written_budget: u32,
    /// Tokens that its compactions left, averaged over units; null if none was applied.
    pub tokens_retained: Option<f64>,
    /// The metric.
    pub recall: MetricValue,
    /// Why it fails too often to be compared; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// All conversations of one further retained budget or split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptReplay {
    /// Tokens that a compaction may leave.
    pub retained: u32,
    /// The share of them that is kept verbatim; absent where each strategy's own applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<f64>,
    /// Conversations.
    pub conversations: usize,
    /// The hard checks, with their verdicts.
    pub checks: Vec<Check>,
    /// One entry for each strategy.
    pub strategies: Vec<StrategySummary>,
}
