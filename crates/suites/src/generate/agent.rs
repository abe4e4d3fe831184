//! How the agent of a generated conversation works: the optional table `[agent]` of a spec.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::dice::SeededDice;
use crate::generate::range::{SHARES, ordered, within};

/// The table's keys. Shares are percentages.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentTable {
    /// The fewest and the most turns with calls for a request.
    pub(crate) turns: [usize; 2],
    /// The share of turns with more than one call.
    pub(crate) parallel: usize,
    /// The share of turns with calls and without words, if the agent has nothing to state.
    pub(crate) silent: usize,
    /// The share of the agent's incidental sentences that quote what a tool said.
    pub(crate) quotes: usize,
    /// The share of calls that read a file.
    pub(crate) files: usize,
    /// The share of calls that write a text.
    pub(crate) written: usize,
    /// The share of calls that read again what an earlier call read.
    pub(crate) again: usize,
    /// The share of values in calls and talk, and half the share of those in results, that were
    /// mentioned earlier.
    pub(crate) known: usize,
    /// The share of results that are long.
    pub(crate) long: usize,
    /// The share of identifiers and paths among the facts that later calls use.
    pub(crate) needed: usize,
    /// The share of requests into which the user pastes lines.
    pub(crate) pasted: usize,
    /// The share of requests that begin with a correction of the agent.
    pub(crate) corrected: usize,
    /// The share of requests that the user cancels.
    pub(crate) cancelled: usize,
    /// The share of requests after a pause of five minutes to some hours.
    pub(crate) pauses: usize,
}

/// Turns with calls for a request that a spec may ask for.
const TURNS: RangeInclusive<usize> = 1..=100;

impl AgentTable {
    /// What is wrong with the keys, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        // Each key by name, so that none can be forgotten.
        let AgentTable {
            turns,
            parallel,
            silent,
            quotes,
            files,
            written,
            again,
            known,
            long,
            needed,
            pasted,
            corrected,
            cancelled,
            pauses,
        } = *self;
        let shares = [
            ("parallel", parallel),
            ("silent", silent),
            ("quotes", quotes),
            ("files", files),
            ("written", written),
            ("again", again),
            ("known", known),
            ("long", long),
            ("needed", needed),
            ("pasted", pasted),
            ("corrected", corrected),
            ("cancelled", cancelled),
            ("pauses", pauses),
        ];
        shares
            .into_iter()
            .try_for_each(|(key, share)| within(&format!("agent.{key}"), share, &SHARES))?;
        ordered("agent.turns", turns, &TURNS)
    }

    /// The number of turns with calls for a request: each doubling is as frequent as the others.
    pub(crate) fn turns(&self, dice: &mut SeededDice) -> usize {
        let [fewest, most] = self.turns;
        let doublings = (most / fewest).ilog2() as usize;
        let low = fewest << dice.below(doublings + 1);
        dice.between(low, (2 * low - 1).min(most))
    }

    /// The number of calls of a turn.
    pub(crate) fn calls(&self, dice: &mut SeededDice) -> usize {
        if dice.chance(self.parallel) {
            dice.between(2, 3)
        } else {
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Stream;

    #[test]
    fn few_turns_are_as_frequent_as_many() {
        let agent = AgentTable {
            turns: [2, 40],
            parallel: 0,
            silent: 0,
            quotes: 0,
            files: 0,
            written: 0,
            again: 0,
            known: 0,
            long: 0,
            needed: 0,
            pasted: 0,
            corrected: 0,
            cancelled: 0,
            pauses: 0,
        };
        let mut dice = SeededDice::new(1, 0, Stream::Text);
        let drawn = (0..4_000)
            .map(|_| agent.turns(&mut dice))
            .collect::<Vec<_>>();
        let between = |low: usize, high: usize| {
            drawn
                .iter()
                .filter(|turns| (low..high).contains(*turns))
                .count()
        };
        assert_eq!(between(2, 41), 4_000);
        for low in [2, 4, 8, 16] {
            assert!(
                (700..900).contains(&between(low, 2 * low)),
                "{low}: {}",
                between(low, 2 * low)
            );
        }
    }
}
