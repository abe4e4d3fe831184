//! How many tokens a session may hold, and how a compaction splits them.

use serde::{Deserialize, Serialize};

/// Token limits of one session, on the measuring scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The target model's context window.
    pub window: u32,
    /// Size of the next request at which a compaction starts.
    pub trigger: u32,
    /// What a compaction may leave beside the system prompt and the pending part: `tail + written`.
    pub retained: u32,
    /// Of these, for messages kept verbatim.
    pub tail: u32,
    /// Of these, for what the strategy writes.
    pub written: u32,
}

impl Budget {
    /// Splits `retained` so that the tail gets `tail_share` of it.
    ///
    /// # Errors
    /// [`BudgetError`] where the parts do not fit into each other.
    pub fn new(window: u32, trigger: u32, retained: u32, tail_share: f64) -> Result<Self, BudgetError> {
        if trigger == 0 || trigger > window {
            return Err(BudgetError::Trigger { trigger, window });
        }
        if retained >= trigger {
            return Err(BudgetError::Retained { retained, trigger });
        }
        let tail = (f64::from(retained) * tail_share.clamp(0.0, 1.0)).floor() as u32;
        Ok(Budget { window, trigger, retained, tail, written: retained - tail })
    }
}

/// Limits that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// The trigger must lie in the window.
    #[error("trigger `{trigger}` must lie between 1 and the window, `{window}` tokens")]
    Trigger {
        /// The trigger given.
        trigger: u32,
        /// The window given.
        window: u32,
    },
    /// A compaction must shrink the view.
    #[error("retained budget `{retained}` must be under the trigger, `{trigger}` tokens")]
    Retained {
        /// The retained budget given.
        retained: u32,
        /// The trigger given.
        trigger: u32,
    },
}
