//! The context window of a run: its shares, and the rule that chooses it for a suite.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::UseKind;
use compactometer_formats::scenario::Scenario;

use super::common::common_moments;
use super::{Distance, Distances, PlanOptions, Point, Sizes, points};
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
    /// The same, but no more is left than by a compaction in production.
    pub(super) fn like_production(self, window: u32) -> Self {
        let left = f64::from(LEFT_IN_PRODUCTION) / f64::from(window);
        Shares {
            retained: self.retained.min(left),
            ..self
        }
    }

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

/// What a compaction of a program in production leaves, in tokens: the median of 108 recorded ones
/// is 2,900.
const LEFT_IN_PRODUCTION: u32 = 3_000;
/// The largest window that is chosen by rule, in tokens: the recorded programs compacted where
/// their requests counted 102,000, which is 0.8 of it.
const WINDOW_IN_PRODUCTION: u32 = 128_000;

/// The window of a run and where it comes from: the one that is given, else the suite's, else one
/// chosen by rule. Nothing if recorded compactions set the limits.
pub(super) fn of_run(
    options: &PlanOptions,
    of_suite: Option<u32>,
    suite: &[Arc<PreparedScenario>],
) -> Option<(u32, String)> {
    let is_recorded = |protocol: &Protocol| *protocol == Protocol::Recorded;
    if options.protocols.iter().all(is_recorded) {
        return None;
    }
    let given = options.window.map(|window| (window, "as given".to_owned()));
    let from_suite = || of_suite.map(|window| (window, "the suite's own".to_owned()));
    let by_rule = || choose(suite, options.shares.trigger);
    Some(given.or_else(from_suite).unwrap_or_else(by_rule))
}

/// Shares of the median conversation that are tried as a window, largest first.
const SHARES: [(u64, &str); 4] = [
    (2, "a half"),
    (3, "a third"),
    (4, "a quarter"),
    (6, "a sixth"),
];
/// How many eligible facts, or uses of old values, in how many groups, a window must leave to be
/// chosen by rule. Fewer uses give no number.
const ENOUGH_FACTS: usize = 20;
const ENOUGH_USES: usize = 100;
const ENOUGH_GROUPS: usize = 5;

/// The largest window among a half, third, quarter and sixth of the median conversation (the upper
/// one of an even count), none over what production has, that leaves enough to count in 5 groups
/// (100 uses of old values if calls use any, else 20 eligible facts), else the largest feasible one,
/// with the reason for the user. It depends only on the trigger's share, so that runs with different
/// retained budgets have one window.
pub fn choose(suite: &[impl Borrow<PreparedScenario>], trigger: f64) -> (u32, String) {
    let shares = Shares {
        trigger,
        retained: Shares::default().retained.min(trigger / 2.0),
    };
    let suite: Vec<&PreparedScenario> = suite.iter().map(Borrow::borrow).collect();
    let mut sizes: Vec<u64> = suite
        .iter()
        .map(|prepared| prepared.tokens_between(0, prepared.messages.len()))
        .collect();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    let smallest = smallest_feasible(&suite, shares);
    let of_median = |(divisor, share)| WindowCandidate::new(median, divisor, share);
    let mut candidates: Vec<WindowCandidate> = SHARES.into_iter().map(of_median).collect();
    candidates.retain(|candidate| candidate.window >= smallest);
    candidates.dedup_by_key(|candidate| candidate.window);
    let (counted, enough) = match suite.iter().any(|prepared| has_uses(&prepared.scenario)) {
        true => ("uses of old values", ENOUGH_USES),
        false => ("looks for old facts", ENOUGH_FACTS),
    };
    for candidate in &candidates {
        let (events, groups) = events(&suite, shares.sizes(candidate.window).trigger);
        if events >= enough && groups >= ENOUGH_GROUPS {
            let because = format!(
                "{}, {events} {counted} in {groups} independent conversations",
                candidate.because
            );
            return (candidate.window, because);
        }
    }
    let window = candidates.first().map_or(smallest, |first| first.window);
    let because = format!(
        "the largest feasible one: no share of the median conversation ({median} tokens) leaves {enough} {counted} in {ENOUGH_GROUPS} independent conversations"
    );
    (window, because)
}

/// A window that may be chosen.
struct WindowCandidate {
    window: u32,
    because: String,
}

impl WindowCandidate {
    /// That share of the median conversation, if production has no smaller window.
    fn new(median: u64, divisor: u64, share: &str) -> Self {
        let window = (median / divisor) as u32;
        match window < WINDOW_IN_PRODUCTION {
            true => WindowCandidate {
                window,
                because: format!("{share} of the median conversation ({median} tokens)"),
            },
            false => WindowCandidate {
                window: WINDOW_IN_PRODUCTION,
                because: format!(
                    "as in production, under {share} of the median conversation ({median} tokens)"
                ),
            },
        }
    }
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

/// The number of uses of old values at that trigger, or of eligible facts at points if the suite has
/// no uses, and of groups that have one.
fn events(suite: &[&PreparedScenario], trigger: u32) -> (usize, usize) {
    let has_uses = suite.iter().any(|prepared| has_uses(&prepared.scenario));
    let mut total = 0;
    let mut groups = BTreeSet::new();
    for prepared in suite {
        let moments = common_moments(prepared, trigger);
        let distances = Distances {
            facts: Distance::Tokens(trigger),
            uses: Distance::Moments(&moments),
        };
        let is_address =
            |length: usize, fact: u32| prepared.uses.kind(length, fact) == UseKind::Address;
        let of_point = |point: &Point| match has_uses {
            true => {
                let needed = point.needed.iter();
                needed
                    .filter(|fact| is_address(point.length, **fact))
                    .count()
            }
            false => point.eligible.len(),
        };
        let count = points(prepared, distances)
            .iter()
            .map(of_point)
            .sum::<usize>();
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
