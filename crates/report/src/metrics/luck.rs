//! Keyword luck: how often a value "stands" in a text that never stated it. What recall by keywords alone would count.

use std::collections::BTreeMap;

use compactometer_schema::record::Record;
use compactometer_schema::scenario::ValueKind;
use compactometer_schema::summary::MetricValue;

use super::recall::{CONTEXT_RECALL, bare, recall_at_points};
use super::{Better, Metric, estimated, ratio, undefined};
use crate::data::{Strategy, points};
use crate::text::{Unit, label};

pub(super) const KEYWORD_LUCK: Metric = Metric {
    id: "keyword_luck",
    unit: Unit::Share,
    better: Better::Neither,
    formula: "q over all kinds and rounds: matches of foreign scenarios' facts in what contexts carry / facts looked for, pooled \
              over observation points",
    source: "MEASUREMENT section 3",
    compute: |_, strategy| of_kind(strategy, |_| true, true),
};

const NO_FOREIGN: &str = "the suite has too few other groups whose facts could be looked for";

/// Recall and keyword luck by the facts' value kind. Without intervals: exploratory.
pub(crate) fn by_kind(strategy: &Strategy) -> BTreeMap<String, BTreeMap<String, MetricValue>> {
    let facts = strategy.records().flat_map(|record| &record.facts).filter(|fact| !fact.decoy);
    let mut kinds: Vec<ValueKind> = facts.map(|fact| fact.value_kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let row = |kind| {
        let recall = bare(strategy, |unit| recall_at_points(unit, |look| look.fact.value_kind == kind));
        let luck = of_kind(strategy, |found| found == kind, false);
        let row = BTreeMap::from([(CONTEXT_RECALL.id.to_owned(), recall), (KEYWORD_LUCK.id.to_owned(), luck)]);
        (label(&kind), row)
    };
    kinds.into_iter().map(row).collect()
}

fn of_kind(strategy: &Strategy, is_wanted: impl Fn(ValueKind) -> bool, has_interval: bool) -> MetricValue {
    let found = |record: &&Record| {
        let cells = points(record).flat_map(|point| &point.chance).filter(|cell| is_wanted(cell.kind));
        cells.fold((0.0, 0.0), |sum, cell| (sum.0 + f64::from(cell.hits), sum.1 + f64::from(cell.pairs)))
    };
    let plus = |sum: (f64, f64), more: (f64, f64)| (sum.0 + more.0, sum.1 + more.1);
    let units: Vec<(f64, f64)> =
        strategy.units.iter().map(|unit| unit.records.iter().map(found).fold((0.0, 0.0), plus)).collect();
    let n = units.iter().filter(|(_, pairs)| *pairs > 0.0).count();
    if n == 0 {
        return undefined(Unit::Share, NO_FOREIGN);
    }
    let pooled = |times: &[u32]| {
        let drawn =
            units.iter().zip(times).map(|((hits, pairs), times)| (hits * f64::from(*times), pairs * f64::from(*times)));
        let (hits, pairs) = drawn.fold((0.0, 0.0), plus);
        ratio(hits, pairs)
    };
    if has_interval {
        return estimated(Unit::Share, units.len(), n, pooled);
    }
    let unit = Unit::Share.name().to_owned();
    MetricValue { value: pooled(&vec![1; units.len()]), low: None, high: None, n, unit, reason: None }
}
