//! What to do about what compactions lost: at most three lines, each with the number that it follows from.

use super::Losses;
use super::text::{percent, thousands};

/// A share must rise by this much for a line about it.
const WORTH_SAYING: f64 = 0.05;
/// What was read again must be this much more than before.
const TOKENS_WORTH_SAYING: f64 = 1_000.0;

/// What to paste into the prompt of a compaction.
pub(super) const FOR_THE_PROMPT: &str = "List every path, id, command and URL that is still needed: one a line, exact, paths relative to the working directory.";

impl Losses {
    pub(super) fn advice(&self) -> Vec<String> {
        let address = &self.uses.address;
        let held = address.held_at_most.or(address.held_in_log);
        let mut lines = Vec::new();
        if let (Some(held), Some(random)) = (held, address.with_random) {
            if random - held >= WORTH_SAYING {
                lines.push(format!(
                    "A list of exact values would help: with {} tokens of random ones, {} instead of {} of the addresses are in \
                     sight. Paste into the prompt of the compaction, where the program has one: \"{FOR_THE_PROMPT}\"",
                    thousands(self.budget.into()),
                    percent(random),
                    percent(held)
                ));
            } else {
                lines.push(format!(
                    "More values would hardly help: with {} tokens of random ones, {} instead of {} of the addresses are in sight.",
                    thousands(self.budget.into()),
                    percent(random),
                    percent(held)
                ));
            }
        }
        let more = self.per_compaction(|costs| costs.read_again.tokens)
            - self.per_compaction(|costs| costs.read_again_before.tokens);
        if more >= TOKENS_WORTH_SAYING {
            lines.push(format!(
                "Name the files that are in use when you compact by hand: each compaction made the agent read {} more tokens \
                 again than it read before.",
                thousands(more as u64)
            ));
        }
        lines
    }

    /// The mean of a number over compactions.
    pub(super) fn per_compaction(&self, of: impl Fn(&compactometer_formats::losses::CompactionCosts) -> u64) -> f64 {
        let sum = self.compactions.iter().map(|compaction| of(&compaction.costs)).sum::<u64>();
        sum as f64 / self.compactions.len().max(1) as f64
    }
}
