//! What to do about what compactions lost: at most three lines, each with the number that it
//! follows from.

use super::Losses;
use super::text::{percent, thousands};

/// A share must rise by this much for a line about it.
const WORTH_SAYING: f64 = 0.05;
/// Shares of fewer uses than this support no advice.
const FEWEST_USES: usize = 10;
/// What was read again must be this much more than before.
const TOKENS_WORTH_SAYING: f64 = 1_000.0;

/// What to paste into the prompt of a compaction.
const FOR_THE_PROMPT: &str = "List every path, id, command and URL still needed: exact, one a line, paths relative to the working directory.";

impl Losses {
    pub(super) fn advice(&self) -> Vec<String> {
        let address = &self.uses.address;
        let held = address.held_at_most.or(address.held_in_log);
        let ledger = address.with_ledger.filter(|_| address.uses >= FEWEST_USES);
        let mut lines = Vec::new();
        if let (Some(held), Some(ledger)) = (held, ledger) {
            let (budget, with, without) = (
                thousands(self.budget.into()),
                percent(ledger),
                percent(held),
            );
            if ledger - held >= WORTH_SAYING {
                let cost = self.ledger_cost.map_or(String::new(), |cost| {
                    format!(", ${cost:.4} a turn from the cache")
                });
                lines.push(format!(
                    "Add a ledger after each compaction: {without} to {with} for {budget} tokens{cost}. To set it up, run: compactometer \
                     hook --print"
                ));
                lines.push(format!(
                    "Or add to your prompt of the compaction: \"{FOR_THE_PROMPT}\""
                ));
            } else {
                lines.push(format!(
                    "More values would hardly help: a ledger of {budget} tokens brings {without} to {with}."
                ));
            }
        }
        let more = self.typical.read_again - self.typical.read_again_before;
        if more >= TOKENS_WORTH_SAYING {
            lines.push(format!(
                "Name the files in use when you compact by hand: the agent read {} more tokens again than before.",
                thousands(more as u64)
            ));
        }
        lines
    }
}
