//! How a session's attempts at checkpoints go: success rate, and an alert where they keep failing
//! (the strategic plan, phase 4).

use serde::{Deserialize, Serialize};

use crate::checkpoint::{Extraction, LadderReading};
use crate::message::MessageId;

/// Failures in a row after which an alert says so; the strategic plan says "repeated".
pub const FAILURES_BEFORE_ALERT: u32 = 3;

/// Counts of the attempts at checkpoints so far, before turns and with summaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// All attempts.
    pub attempts: u32,
    /// Those that gave a checkpoint.
    pub succeeded: u32,
    /// Failures since the last success.
    pub in_a_row: u32,
    /// One for each series of failures that reached [`FAILURES_BEFORE_ALERT`], oldest first.
    pub alerts: Vec<Alert>,
}

/// Checkpoints keep failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[error("{failures} attempts at a checkpoint failed in a row, the last after message `{}`", after.0)]
pub struct Alert {
    /// The last message of the log at that time.
    pub after: MessageId,
    /// Failures in a row by then.
    pub failures: u32,
}

impl Health {
    /// Share of the attempts that gave a checkpoint, 0 to 1; none before the first (the strategic
    /// plan, part 6: over 0.95).
    pub fn success_rate(&self) -> Option<f64> {
        (self.attempts > 0).then(|| f64::from(self.succeeded) / f64::from(self.attempts))
    }

    /// Counts an attempt.
    pub(crate) fn note(&mut self, after: MessageId, extraction: &Extraction) {
        self.attempts += 1;
        if matches!(extraction.reading, LadderReading::Rung(_)) {
            self.succeeded += 1;
            self.in_a_row = 0;
            return;
        }
        self.in_a_row += 1;
        if self.in_a_row == FAILURES_BEFORE_ALERT {
            self.alerts.push(Alert {
                after,
                failures: self.in_a_row,
            });
        }
    }
}
