//! Whether a comparison compared anything, and what to do where it did not.

use anyhow::anyhow;
use compactometer_formats::summary::Summary;
use compactometer_harness::plan::{Plan, smallest_feasible};

use crate::output::failure::Failure;

/// What a suite has to offer, kept after its conversations are dropped.
pub(super) struct Suite {
    /// The number of facts that recall can count.
    facts: usize,
    /// Tokens of the longest conversation.
    longest: u64,
    /// The largest window in which the longest conversation triggers, if the window is feasible.
    window: Option<u32>,
}

impl Suite {
    pub(super) fn of(plan: &Plan) -> Self {
        let facts = plan.suite.iter().flat_map(|prepared| &prepared.scenario.facts);
        let sizes = plan.suite.iter().map(|prepared| prepared.tokens_between(0, prepared.messages.len()));
        let longest = sizes.max().unwrap_or_default();
        let shares = plan.options.shares;
        // Half of what would just do, so that facts are distant enough to be asked for.
        let window = (longest as f64 / shares.trigger / 2.0) as u32;
        Suite {
            facts: facts.filter(|fact| fact.decoy_of.is_none() && !fact.generic).count(),
            longest,
            window: (window >= smallest_feasible(&plan.suite, shares)).then_some(window),
        }
    }

    /// Fails if nothing can be compared: there is no fact, or no strategy under test compacted anything.
    pub(super) fn check(&self, summary: &Summary) -> Result<(), Failure> {
        if self.facts == 0 {
            return Err(Failure::inconclusive(anyhow!(
                "nothing was compared: the suite has no fact that recall could count; `compactometer import FORMAT FILE... \
                 --auto-facts` takes exact values of transcripts as facts, `compactometer generate` writes conversations with facts"
            )));
        }
        let strategies = summary.groups.iter().flat_map(|group| &group.strategies);
        let mut tested = strategies.filter(|strategy| strategy.family.is_tested()).peekable();
        if tested.peek().is_none() || tested.any(|strategy| strategy.triggered.conversations > 0) {
            return Ok(());
        }
        let longest = self.longest;
        let remedy = match self.window {
            Some(window) => format!("`--window {window}` would do"),
            None => "no window would do: import or generate a longer one".to_owned(),
        };
        Err(Failure::inconclusive(anyhow!(
            "nothing was compared: no strategy compacted anything, since the longest conversation has {longest} tokens; {remedy}"
        )))
    }
}
