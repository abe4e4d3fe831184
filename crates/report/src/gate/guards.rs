//! Failures and requests over the window. A run with more of them is worse whatever its contexts hold, since a failed compaction
//! loses nothing and no provider takes a request over the window.
//!
//! Absent on purpose: a place in the family of the tests of recall. Guards are a family of their own, so that they cost these
//! tests no power.

use std::collections::BTreeMap;

use compactometer_formats::baseline::StrategyHead;

use super::judge::MetricGate;
use super::{GatedStrategy, Verdict, rule};
use crate::data::{StrategyRecords, UnitRecords};
use crate::metrics::{FAILED_SHARE, OVER_WINDOW_SHARE, failed_share_of, over_window_share_of};
use crate::stats::{LEVEL, family, mean, nine_digits};

/// One share that must not rise.
pub(super) struct Guard {
    /// The metric's id.
    pub(super) metric: &'static str,
    of_unit: fn(&UnitRecords) -> Option<f64>,
    /// A rise up to this much is no finding.
    allowed: f64,
    /// The same share over all units, for baselines that have no shares by unit.
    whole: fn(&StrategyHead) -> f64,
    finding: &'static str,
}

pub(super) const GUARDS: [Guard; 2] = [
    Guard {
        metric: FAILED_SHARE.id,
        of_unit: failed_share_of,
        allowed: 0.05,
        whole: |head| head.failed as f64 / (head.failed + head.applied).max(1) as f64,
        finding: "a failed compaction loses nothing",
    },
    Guard {
        metric: OVER_WINDOW_SHARE.id,
        of_unit: over_window_share_of,
        allowed: 0.0,
        whole: |head| head.over_window as f64,
        finding: "no provider takes a request over the window",
    },
];

impl Guard {
    /// By unit; 0 where nothing was due.
    pub(super) fn by_unit(&self, strategy: &StrategyRecords) -> BTreeMap<String, f64> {
        let share = |unit: &UnitRecords| nine_digits((self.of_unit)(unit).unwrap_or(0.0));
        strategy.units.iter().map(|unit| (unit.group.to_owned(), share(unit))).collect()
    }
}

/// For each pair, the guards that found more than they allow.
pub(super) fn all(pairs: &[GatedStrategy]) -> Vec<Vec<MetricGate>> {
    let rises: Vec<Vec<Rise>> =
        pairs.iter().map(|pair| GUARDS.iter().filter_map(|guard| Rise::of(guard, pair)).collect()).collect();
    let tests = GUARDS.len() * pairs.len();
    let found: Vec<f64> = rises.iter().flatten().map(|rise| rise.p).collect();
    let mut adjusted = family::holm(&found, tests).into_iter();
    let gates =
        |rises: Vec<Rise>| rises.into_iter().map(|rise| rise.gate(adjusted.next().unwrap_or(1.0), tests)).collect();
    rises.into_iter().map(gates).collect()
}

/// A share that rose by more than is allowed.
struct Rise {
    guard: &'static str,
    finding: String,
    units: usize,
    before: f64,
    after: f64,
    /// P of such differences where the share did not rise; 1 where the baseline has no shares by unit.
    p: f64,
}

impl Rise {
    fn of(guard: &Guard, pair: &GatedStrategy) -> Option<Self> {
        let (head, old) = (&pair.head, &pair.baseline.head);
        let new = guard.by_unit(pair.strategy);
        let units = pair.baseline.units.iter();
        let shared: Vec<(f64, f64)> =
            units.filter_map(|unit| Some((*unit.scores.get(guard.metric)?, *new.get(&unit.unit)?))).collect();
        let differences: Vec<f64> = shared.iter().map(|(old, new)| old - new).collect();
        let side = |of: fn(&(f64, f64)) -> f64| mean(&shared.iter().map(of).collect::<Vec<_>>());
        let by_unit = side(|pair| pair.0).zip(side(|pair| pair.1));
        let (before, after) = by_unit.unwrap_or_else(|| ((guard.whole)(old), (guard.whole)(head)));
        let p = rule::judge(&differences, 0.0).map_or(1.0, |judged| judged.p_regression);
        let finding = format!("{}: {}", counts(head, old), guard.finding);
        let rise = Rise { guard: guard.metric, finding, units: shared.len(), before, after, p };
        (after > before + guard.allowed).then_some(rise)
    }

    fn gate(self, p_holm: f64, tests: usize) -> MetricGate {
        let is_found = self.units >= rule::fewest(tests) && p_holm <= LEVEL;
        MetricGate {
            metric: self.guard.to_owned(),
            verdict: if is_found { Verdict::Regression } else { Verdict::Inconclusive },
            reason: Some(self.finding),
            units: self.units,
            baseline: Some(nine_digits(self.before)),
            run: Some(nine_digits(self.after)),
            difference: Some(nine_digits(self.after - self.before)),
            p_regression: Some(nine_digits(self.p)),
            p_holm: Some(nine_digits(p_holm)),
            ..MetricGate::default()
        }
    }
}

fn counts(new: &StrategyHead, old: &StrategyHead) -> String {
    let due = |head: &StrategyHead| head.failed + head.applied;
    format!(
        "{} of {} compactions failed and {} turns were over the window, {} of {} and {} in the baseline",
        new.failed,
        due(new),
        new.over_window,
        old.failed,
        due(old),
        old.over_window
    )
}
