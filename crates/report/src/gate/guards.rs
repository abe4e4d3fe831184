//! Failures, requests over the window, and lists of bare values. A run with more of them is worse
//! whatever its contexts hold, since a failed compaction loses nothing, no provider takes a request
//! over the window, and a list of values says nothing about them.
//!
//! Absent on purpose: a place in the family of the tests of recall. Guards are a family of their
//! own, so that they cost these tests no power.

use std::collections::BTreeMap;

use compactometer_formats::baseline::StrategyHead;

use super::metric_gate::MetricGate;
use super::{GateVerdict, GatedStrategy, rule};
use crate::data::{StrategyRecords, UnitRecords};
use crate::metrics::around_facts::{STATED_SHARE, stated_share_of};
use crate::metrics::failures;
use crate::metrics::failures::{FAILED_SHARE, OVER_WINDOW_SHARE};
use crate::stats::{LEVEL, family, mean, nine_digits};

/// One share that must not get worse.
pub(super) struct Guard {
    /// The metric's id.
    pub(super) metric: &'static str,
    /// Nothing where the unit has no such share.
    of_unit: fn(&StrategyRecords, &UnitRecords) -> Option<f64>,
    /// Whether the second share is worse than the first by more than is allowed.
    is_worse: fn(f64, f64) -> bool,
    /// Whether a larger share is worse.
    is_failure: bool,
    /// The same share over all units, for baselines that have no shares by unit.
    whole: fn(&StrategyHead) -> Option<f64>,
    finding: fn(&StrategyHead, &StrategyHead) -> String,
}

pub(super) const GUARDS: [Guard; 3] = [
    Guard {
        metric: FAILED_SHARE.id,
        // Nothing was due where there is no share.
        of_unit: |_, unit| failures::failed(unit).or(Some(0.0)),
        is_worse: |before, after| after > before + 0.05,
        is_failure: true,
        whole: |head| Some(head.failed as f64 / (head.failed + head.applied).max(1) as f64),
        finding: |new, old| format!("{}: a failed compaction loses nothing", counts(new, old)),
    },
    Guard {
        metric: OVER_WINDOW_SHARE.id,
        of_unit: |_, unit| failures::over_window(unit).or(Some(0.0)),
        is_worse: |before, after| after > before,
        is_failure: true,
        whole: |head| Some(head.over_window as f64),
        finding: |new, old| {
            format!(
                "{}: no provider takes a request over the context window",
                counts(new, old)
            )
        },
    },
    Guard {
        metric: STATED_SHARE.id,
        of_unit: stated_share_of,
        is_worse: |before, after| after < before / 2.0,
        is_failure: false,
        whole: |_| None,
        finding: |_, _| {
            "most values that it holds are in no clause with other words: a list of bare values is not a summary"
                .to_owned()
        },
    },
];

impl Guard {
    /// By unit.
    pub(super) fn by_unit(&self, strategy: &StrategyRecords) -> BTreeMap<String, f64> {
        let share = |unit: &UnitRecords| {
            Some((
                unit.group.to_owned(),
                nine_digits((self.of_unit)(strategy, unit)?),
            ))
        };
        strategy.units.iter().filter_map(share).collect()
    }

    /// Whether any unit of the strategy has such a share.
    fn applies(&self, strategy: &StrategyRecords) -> bool {
        strategy
            .units
            .iter()
            .any(|unit| (self.of_unit)(strategy, unit).is_some())
    }
}

/// For each pair, the guards that found more than they allow.
pub(super) fn all(pairs: &[GatedStrategy]) -> Vec<Vec<MetricGate>> {
    let rises: Vec<Vec<Rise>> = pairs
        .iter()
        .map(|pair| {
            GUARDS
                .iter()
                .filter_map(|guard| Rise::new(guard, pair))
                .collect()
        })
        .collect();
    let tests = pairs
        .iter()
        .map(|pair| {
            GUARDS
                .iter()
                .filter(|guard| guard.applies(pair.strategy))
                .count()
        })
        .sum();
    let found: Vec<f64> = rises.iter().flatten().map(|rise| rise.p).collect();
    let mut adjusted = family::holm(&found, tests).into_iter();
    let gates = |rises: Vec<Rise>| {
        rises
            .into_iter()
            .map(|rise| rise.gate(adjusted.next().unwrap_or(1.0), tests))
            .collect()
    };
    rises.into_iter().map(gates).collect()
}

/// A share that got worse by more than is allowed.
struct Rise {
    guard: &'static str,
    finding: String,
    units: usize,
    before: f64,
    after: f64,
    /// P of such differences where the share did not get worse; 1 where the baseline has no shares
    /// by unit.
    p: f64,
}

impl Rise {
    fn new(guard: &Guard, pair: &GatedStrategy) -> Option<Self> {
        let (head, old) = (&pair.head, &pair.baseline.head);
        let new = guard.by_unit(pair.strategy);
        let units = pair.baseline.units.iter();
        let shared: Vec<(f64, f64)> = units
            .filter_map(|unit| Some((*unit.scores.get(guard.metric)?, *new.get(&unit.unit)?)))
            .collect();
        let sign = if guard.is_failure { 1.0 } else { -1.0 };
        let differences: Vec<f64> = shared.iter().map(|(old, new)| sign * (old - new)).collect();
        let side = |of: fn(&(f64, f64)) -> f64| mean(&shared.iter().map(of).collect::<Vec<_>>());
        let by_unit = side(|pair| pair.0).zip(side(|pair| pair.1));
        let (before, after) = by_unit.or_else(|| (guard.whole)(old).zip((guard.whole)(head)))?;
        let p = rule::judge(&differences, 0.0).map_or(1.0, |judged| judged.p_regression);
        let finding = (guard.finding)(head, old);
        let rise = Rise {
            guard: guard.metric,
            finding,
            units: shared.len(),
            before,
            after,
            p,
        };
        (guard.is_worse)(before, after).then_some(rise)
    }

    fn gate(self, p_holm: f64, tests: usize) -> MetricGate {
        let is_found = self.units >= rule::fewest(tests) && p_holm <= LEVEL;
        MetricGate {
            metric: self.guard.to_owned(),
            verdict: if is_found {
                GateVerdict::Regression
            } else {
                GateVerdict::Inconclusive
            },
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
        "{} of {} compactions failed and {} turns were over the context window, {} of {} and {} in the baseline",
        new.failed,
        due(new),
        new.over_window,
        old.failed,
        due(old),
        old.over_window
    )
}
