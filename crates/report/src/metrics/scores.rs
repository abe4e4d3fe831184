//! Values of the primary metrics by unit: the one place from which comparisons, gates and baselines
//! take them.
//!
//! Absent on purpose: what is made of them.

use std::collections::BTreeMap;

use compactometer_formats::summary::StrategySummary;

use crate::data::{StrategyRecords, UnitRecords};
use crate::metrics::answered::{ANSWER_RECALL, answer_shares};
use crate::metrics::bound::BOUND_RECALL_CORRECTED;
use crate::metrics::chance::CorrectedRecall;
use crate::metrics::recall::{
    ADDRESS_USE_RECALL, CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED, FEWEST_USES, address_uses,
    fact_shares, needed_of_unit, needed_shares,
};
use crate::metrics::{Metric, answered, bound, recall};

/// Recall of values that are given to their subjects, corrected for chance: the headline.
pub(crate) const BOUND: &str = BOUND_RECALL_CORRECTED.id;
/// Recall of the old values that calls need.
pub(crate) const NEEDED: &str = ADDRESS_USE_RECALL.id;
/// Recall corrected for chance.
pub(crate) const CORRECTED: &str = CONTEXT_RECALL_CORRECTED.id;
/// Raw recall, used if chance is unknown.
pub(crate) const RAW: &str = CONTEXT_RECALL.id;
/// Right answers of the target model.
pub(crate) const ANSWERS: &str = ANSWER_RECALL.id;

/// What a test is made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrimaryMetric {
    /// BR*; CR* where facts have no subjects, and CR where q is undefined on either side.
    Context,
    /// The old values that calls need, for the gate.
    Needed,
    /// CR*, for the gate: what a context holds must not fall either.
    Values,
    /// AR.
    Answers,
}

impl PrimaryMetric {
    /// Those that are compared by row, in the order of reports.
    pub(crate) const TESTED: [PrimaryMetric; 3] = [
        PrimaryMetric::Context,
        PrimaryMetric::Needed,
        PrimaryMetric::Answers,
    ];
    /// Those by which the orders of two runs are compared.
    pub(crate) const COMPARED: [PrimaryMetric; 2] =
        [PrimaryMetric::Context, PrimaryMetric::Answers];
    /// Those that a gate asks for.
    pub(crate) const GATED: [PrimaryMetric; 4] = [
        PrimaryMetric::Needed,
        PrimaryMetric::Context,
        PrimaryMetric::Values,
        PrimaryMetric::Answers,
    ];

    /// The metrics that can represent it, the preferred one first.
    pub(crate) fn metrics(self) -> &'static [&'static str] {
        match self {
            PrimaryMetric::Needed => &[NEEDED],
            PrimaryMetric::Context => &[BOUND, CORRECTED, RAW],
            PrimaryMetric::Values => &[CORRECTED, RAW],
            PrimaryMetric::Answers => &[ANSWERS],
        }
    }
}

/// One metric of one strategy, by unit in the order of [`StrategyRecords::units`].
pub(crate) struct UnitScores {
    groups: Vec<String>,
    values: ScoreValues,
}

enum ScoreValues {
    CorrectedRecall(CorrectedRecall),
    Plain(Vec<Option<f64>>),
}

impl UnitScores {
    /// Nothing if no unit has a value.
    pub(crate) fn new(metric: &str, strategy: &StrategyRecords) -> Option<Self> {
        let groups = strategy
            .units
            .iter()
            .map(|unit| unit.group.to_owned())
            .collect();
        if strategy.is_sealed && metric != ANSWERS {
            return None;
        }
        let values = match metric {
            CORRECTED => ScoreValues::CorrectedRecall(CorrectedRecall::own(strategy)),
            NEEDED if !has_enough_uses(strategy) => return None,
            NEEDED => ScoreValues::Plain(strategy.units.iter().map(needed_of_unit).collect()),
            BOUND if bound::why_undefined(strategy).is_some() => return None,
            BOUND => ScoreValues::Plain(strategy.units.iter().map(bound::of_unit).collect()),
            RAW => ScoreValues::Plain(strategy.units.iter().map(recall::of_unit).collect()),
            _ => ScoreValues::Plain(strategy.units.iter().map(answered::score).collect()),
        };
        let scores = UnitScores { groups, values };
        let has_any = scores
            .drawn(&vec![1; strategy.units.len()])
            .iter()
            .any(Option::is_some);
        has_any.then_some(scores)
    }

    /// The units' values, given how often each unit is drawn: q of CR* is that of the drawn units.
    pub(crate) fn drawn(&self, times: &[u32]) -> Vec<Option<f64>> {
        match &self.values {
            ScoreValues::CorrectedRecall(corrected) => corrected.unit_values(times),
            ScoreValues::Plain(values) => values.clone(),
        }
    }

    /// The units that have a value.
    pub(crate) fn by_unit(&self) -> BTreeMap<String, f64> {
        let values = self.drawn(&vec![1; self.groups.len()]);
        let found = self.groups.iter().cloned().zip(values);
        found
            .filter_map(|(group, value)| Some((group, value?)))
            .collect()
    }

    /// By unit, the contribution of each fact that contexts hold or answers give.
    pub(crate) fn held_by_unit(
        &self,
        metric: &str,
        strategy: &StrategyRecords,
    ) -> BTreeMap<String, Vec<f64>> {
        let held = match &self.values {
            ScoreValues::CorrectedRecall(corrected) => corrected.adds_by_fact(strategy),
            ScoreValues::Plain(_) => strategy
                .units
                .iter()
                .map(|unit| parts(&shares(metric, unit)))
                .collect(),
        };
        self.groups.iter().cloned().zip(held).collect()
    }
}

/// Whether the share of a unit is more than the chance of one or two uses.
fn has_enough_uses(strategy: &StrategyRecords) -> bool {
    let least = FEWEST_OF_UNIT * strategy.units.len() as f64;
    address_uses(strategy) >= least.max(FEWEST_USES)
}

/// Fewer uses of old values in a unit, in the mean, make its share a matter of chance.
const FEWEST_OF_UNIT: f64 = 3.0;

/// The weight of each fact of a unit, and its share of hits.
fn shares(metric: &str, unit: &UnitRecords) -> Vec<(f64, f64)> {
    match metric {
        NEEDED => needed_shares(unit),
        BOUND => bound::shares_of_unit(unit),
        RAW => fact_shares(unit).into_values().collect(),
        _ => answer_shares(unit),
    }
}

/// What each share adds to their weighted mean, of those that add anything.
fn parts(shares: &[(f64, f64)]) -> Vec<f64> {
    let whole: f64 = shares.iter().map(|(weight, _)| weight).sum();
    shares
        .iter()
        .map(|(weight, share)| weight * share / whole)
        .filter(|part| *part > 0.0)
        .collect()
}

/// The recall of a group that readers see first: BR*; CR* where facts have no subjects, and CR
/// where chance is unknown.
pub(crate) fn shown_recall(strategies: &[StrategySummary]) -> &'static Metric {
    let has_any = |metric: &&'static Metric| {
        strategies
            .iter()
            .any(|strategy| metric.value(strategy).is_some())
    };
    [&BOUND_RECALL_CORRECTED, &CONTEXT_RECALL_CORRECTED]
        .into_iter()
        .find(has_any)
        .unwrap_or(&CONTEXT_RECALL)
}
