//! Limits that cannot be used.

use compactometer_engine::budget::BudgetError;
use compactometer_engine::params::ParamError;

/// Limits that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitsError {
    /// Parameters that contradict each other.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Limits that contradict each other.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// An addition that leaves the strategy too little.
    #[error("what is added to `{name}` may have at most `{most}` tokens, not `{tokens}`")]
    Addition {
        /// The entrant.
        name: String,
        /// Most tokens of what is added.
        tokens: u32,
        /// Half of what a compaction may leave, or of the window.
        most: u32,
    },
}
