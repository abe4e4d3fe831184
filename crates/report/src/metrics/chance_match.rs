//! Chance matches (`keyword_luck`): how often a value is found in a text that never stated it, as
//! recall by keywords would count it.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::MetricValue;

use super::recall::{CONTEXT_RECALL, bare, recall_at_points};
use super::{Better, Metric, MetricsSection};
use crate::data::label;
use crate::data::{StrategyRecords, UnitRecords, points};
use crate::metrics::value::{over_units, ratio};

pub(crate) const KEYWORD_LUCK: Metric = Metric {
    id: "keyword_luck",
    better: Better::Neither,
    definition: "matches of foreign scenarios' facts in what contexts carry / facts looked for, over a conversation's observation points and \
              all kinds; mean over conversations. The q of context_recall_corrected pools conversations instead, by kind and round",
    compute: |_, strategy| over_units(strategy, NO_FOREIGN, |unit| of_kind(unit, |_| true)),
    ..Metric::share(MetricsSection::Recall, "Chance correction")
};

const NO_FOREIGN: &str =
    "the suite has too few other conversations whose facts could be looked for";

/// Recall and chance matches by the facts' value kind. Exploratory, so without intervals.
pub(crate) fn by_kind(
    strategy: &StrategyRecords,
) -> BTreeMap<String, BTreeMap<String, MetricValue>> {
    let facts = strategy
        .records()
        .flat_map(|record| &record.facts)
        .filter(|fact| !fact.decoy);
    let kinds: BTreeSet<ValueKind> = facts.map(|fact| fact.value_kind).collect();
    let row = |kind| {
        let recall = bare(strategy, |unit| {
            recall_at_points(unit, |look| look.fact.value_kind == kind)
        });
        let luck = bare(strategy, |unit| of_kind(unit, |found| found == kind));
        let luck = MetricValue {
            reason: luck.reason.map(|_| NO_FOREIGN.to_owned()),
            ..luck
        };
        let row = BTreeMap::from([
            (CONTEXT_RECALL.id.to_owned(), recall),
            (KEYWORD_LUCK.id.to_owned(), luck),
        ]);
        (label(&kind), row)
    };
    kinds.into_iter().map(row).collect()
}

fn of_kind(unit: &UnitRecords, is_wanted: impl Fn(ValueKind) -> bool) -> Option<f64> {
    let points = unit.records.iter().flat_map(|record| points(record));
    let cells = points
        .flat_map(|point| &point.chance)
        .filter(|cell| is_wanted(cell.kind));
    let (hits, pairs) = cells.fold((0.0, 0.0), |sum, cell| {
        (sum.0 + f64::from(cell.hits), sum.1 + f64::from(cell.pairs))
    });
    ratio(hits, pairs)
}
