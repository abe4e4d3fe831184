//! What to do about what compactions lost: at most three lines, each with the number that it
//! follows from.

use compactometer_formats::added_text::AddedText;

use super::Losses;
use super::losses_screen::{counted, percent, thousands};

/// A share must rise by this much for a line about it.
const WORTH_SAYING: f64 = 0.05;
/// Shares of fewer uses than this support no advice.
const FEWEST_USES: usize = 10;
/// Nor do shares of fewer sentences than this.
const FEWEST_SENTENCES: usize = 20;
/// What was read again must be this much more than before.
const TOKENS_WORTH_SAYING: f64 = 1_000.0;

/// What to paste into the prompt of a compaction.
const FOR_THE_PROMPT: &str = "List every path, id, command and URL still needed: exact, one a line, paths relative to the working directory.";

impl Losses {
    pub(super) fn advice(&self) -> Vec<String> {
        let address = &self.uses.address;
        let held = address.held_at_most.or(address.held_in_log);
        let ledger = address
            .with(AddedText::Ledger)
            .filter(|_| address.uses >= FEWEST_USES);
        let values = held.zip(ledger);
        let values = values.map(|shares| Gain::new(shares, "needed values".to_owned()));
        let gains = values.clone().into_iter().chain(self.gain_of_words());
        let worth = gains.filter(Gain::is_worth_saying);
        let worth = worth.map(|gain| gain.text).collect::<Vec<_>>();
        let budget = thousands(self.budget.into());
        let mut lines = Vec::new();
        if !worth.is_empty() {
            let cost = self.ledger_cost.map_or(String::new(), |cost| {
                format!(", ${cost:.4} a turn from the cache")
            });
            lines.push(format!(
                "Add a ledger after each compaction: {} for {budget} tokens{cost}. To set it up, run: compactometer hook --print",
                worth.join(" and ")
            ));
        }
        match values {
            Some(gain) if gain.is_worth_saying() => lines.push(format!(
                "Or add to your prompt of the compaction: \"{FOR_THE_PROMPT}\""
            )),
            Some(gain) if worth.is_empty() => lines.push(format!(
                "More values would hardly help: a ledger of {budget} tokens brings {}.",
                gain.text
            )),
            _ => {}
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
    /// What a ledger brings of the sentences that are followed longest.
    fn gain_of_words(&self) -> Option<Gain> {
        let mut after = self.said.after.iter().rev();
        let left = after.find(|left| left.all.of >= FEWEST_SENTENCES)?;
        let shares = left.all.share().zip(left.with_ledger.share())?;
        let times = counted(left.compactions, "compaction");
        Some(Gain::new(shares, format!("your sentences after {times}")))
    }
}

/// What a ledger brings.
#[derive(Clone)]
struct Gain {
    by: f64,
    /// From which share to which, and of what.
    text: String,
}

impl Gain {
    fn new((without, with): (f64, f64), of: String) -> Self {
        Gain {
            by: with - without,
            text: format!("{} to {} of {of}", percent(without), percent(with)),
        }
    }

    fn is_worth_saying(&self) -> bool {
        self.by >= WORTH_SAYING
    }
}
