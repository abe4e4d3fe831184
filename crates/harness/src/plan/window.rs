//! The context window of a run: its shares, and the rule that chooses it for a suite.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use compactometer_formats::scenario::Scenario;

use super::{Point, Sizes, points};
use crate::prepare::PreparedScenario;

/// Shares of the window under the matched protocol, and for controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Where a compaction starts: more than `retained`, at most 1.
    pub trigger: f64,
    /// What a compaction may leave: more than 0.
    pub retained: f64,
}

impl Default for Shares {
    fn default() -> Self {
        Shares {
            trigger: 0.8,
            retained: 0.3,
        }
    }
}

impl Shares {
    /// The limits of a window.
    pub(crate) fn sizes(self, window: u32) -> Sizes {
        let tokens = |share: f64| (f64::from(window) * share) as u32;
        Sizes {
            window,
            trigger: tokens(self.trigger),
            retained: tokens(self.retained),
            split: None,
        }
    }
}

/// Shares of the median conversation that are tried as a window, largest first.
const SHARES: [(u64, &str); 4] = [
    (2, "a half"),
    (3, "a third"),
    (4, "a quarter"),
    (6, "a sixth"),
];
/// How many events, in how many groups, a window must leave to be chosen by rule.
const ENOUGH_EVENTS: (usize, usize) = (20, 5);

/// The largest window among a half, third, quarter and sixth of the median conversation (the upper
/// one of an even count) that leaves 20 eligible events in 5 groups, else the largest feasible one,
/// with the reason for the user. It depends only on the trigger's share, so that runs with
/// different retained budgets have one window.
pub fn choose(suite: &[impl Borrow<PreparedScenario>], trigger: f64) -> (u32, String) {
    let shares = Shares {
        trigger,
        retained: Shares::default().retained.min(trigger / 2.0),
    };
    let mut sizes = suite
        .iter()
        .map(Borrow::borrow)
        .map(|prepared: &PreparedScenario| prepared.tokens_between(0, prepared.messages.len()))
        .collect::<Vec<_>>();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    let smallest = smallest_feasible(suite, shares);
    let candidates = SHARES.map(|(divisor, share)| ((median / divisor) as u32, share));
    let feasible = candidates.iter().filter(|(window, _)| *window >= smallest);
    for (window, share) in feasible.clone() {
        let (events, groups) = events(suite, shares.sizes(*window).trigger);
        if events >= ENOUGH_EVENTS.0 && groups >= ENOUGH_EVENTS.1 {
            let because = format!(
                "{share} of the median conversation ({median} tokens), {events} eligible events in {groups} groups"
            );
            return (*window, because);
        }
    }
    let (wanted_events, wanted_groups) = ENOUGH_EVENTS;
    let window = feasible
        .map(|(window, _)| *window)
        .next()
        .unwrap_or(smallest);
    let because = format!(
        "the largest feasible one: no share of the median conversation ({median} tokens) leaves {wanted_events} eligible events in {wanted_groups} groups"
    );
    (window, because)
}

/// The smallest window whose shares are whole tokens.
const SMALLEST: u32 = 4;

/// The smallest window in which every conversation's system prompt and tools leave room for a
/// retained budget of that share.
pub fn smallest_feasible(suite: &[impl Borrow<PreparedScenario>], shares: Shares) -> u32 {
    let fixed = suite
        .iter()
        .map(|prepared| prepared.borrow().fixed_tokens())
        .max()
        .unwrap_or_default();
    // fixed + retained must stay under the trigger, or a compaction could never end below it.
    ((f64::from(fixed) / (shares.trigger - shares.retained)) as u32 + 1).max(SMALLEST)
}

/// The number of eligible events at that trigger, and of groups that have one. An event is a use if
/// the suite has uses, else a fact at a point.
fn events(suite: &[impl Borrow<PreparedScenario>], trigger: u32) -> (usize, usize) {
    let suite = suite
        .iter()
        .map(Borrow::borrow)
        .collect::<Vec<&PreparedScenario>>();
    let per_scenario = suite
        .iter()
        .map(|prepared| (*prepared, points(prepared, trigger)))
        .collect::<Vec<_>>();
    let has_uses = suite.iter().any(|prepared| has_uses(&prepared.scenario));
    let mut total = 0;
    let mut groups = BTreeSet::new();
    for (prepared, points) in &per_scenario {
        let ranked = |fact: &&u32| !prepared.scenario.facts[**fact as usize].generic;
        let of_point = |point: &Point| {
            if has_uses {
                point.used.iter().filter(ranked).count()
            } else {
                point.eligible.len()
            }
        };
        let count = points.iter().map(of_point).sum::<usize>();
        total += count;
        if count > 0 {
            groups.insert(prepared.scenario.group_id.as_str());
        }
    }
    (total, groups.len())
}

fn has_uses(scenario: &Scenario) -> bool {
    scenario.facts.iter().any(|fact| !fact.used_at.is_empty())
}
