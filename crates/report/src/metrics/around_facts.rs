//! What contexts say around the values of facts without a subject. Diagnostics beside CR*: nothing
//! is decided by them.

use std::collections::BTreeSet;

use compactometer_formats::scenario::Category;
use compactometer_formats::summary::MetricValue;

use super::by_fact::mean_over_looks;
use super::{Metric, MetricsSection};
use crate::data::{Look, StrategyRecords, UnitRecords, looks_at_points};
use crate::metrics::value::{over_units, undefined};

pub(crate) const STATED_SHARE: Metric = Metric {
    id: "stated_share",
    place: Some(80),
    definition: "of eligible facts without a subject that the context holds, those in a clause with two or more words that belong to no \
              exact value; averaged as context_recall over the looks that hold the fact",
    compute: |_, strategy| match why_undefined(strategy) {
        Some(reason) => undefined(reason),
        None => over_units(strategy, "no context holds an eligible fact", |unit| {
            of_unit(unit, stated)
        }),
    },
    ..Metric::share(MetricsSection::Recall, "Imported facts")
};

pub(crate) const BINDING_INDEX: Metric = Metric {
    id: "binding_index",
    definition: "2 P - 1; P = the share of up to 20 other values of its kind whose first mention the words around a value in written \
              text, exact values left out, fit less than the value's own; a tie counts half; averaged as context_recall over the looks whose \
              written text holds the fact; at least 50 such facts",
    compute: |_, strategy| binding_index(strategy),
    ..Metric::share(MetricsSection::Recall, "Imported facts")
};

/// Records from this version on say what contexts state.
const FIRST_VERSION: u32 = 3;
/// Fewer values give no index.
const FEWEST_VALUES: usize = 50;

fn binding_index(strategy: &StrategyRecords) -> MetricValue {
    if let Some(reason) = why_undefined(strategy) {
        return undefined(reason);
    }
    let values = strategy.records().map(|record| {
        looks_at_points(record)
            .filter(|look| look.fit.is_some())
            .map(|look| look.index)
            .collect::<BTreeSet<_>>()
            .len()
    });
    match values.sum::<usize>() {
        few if few < FEWEST_VALUES => undefined(format!(
            "written text holds under {FEWEST_VALUES} facts beside other values of their kind"
        )),
        _ => over_units(strategy, "no written text holds an eligible fact", |unit| {
            of_unit(unit, |look| look.fit).map(|share| 2.0 * share - 1.0)
        }),
    }
}

/// A unit's share of held values that the context says something about; nothing where facts have
/// subjects.
pub(crate) fn stated_share_of(strategy: &StrategyRecords, unit: &UnitRecords) -> Option<f64> {
    if why_undefined(strategy).is_some() {
        None
    } else {
        of_unit(unit, stated)
    }
}

fn stated(look: &Look) -> Option<f64> {
    look.is_present
        .then_some(f64::from(u8::from(look.is_stated)))
}

fn of_unit(unit: &UnitRecords, of_look: impl Fn(&Look) -> Option<f64>) -> Option<f64> {
    mean_over_looks(unit, looks_at_points, of_look)
}

fn why_undefined(strategy: &StrategyRecords) -> Option<&'static str> {
    let mut facts = strategy.records().flat_map(|record| &record.facts);
    let has_subjects = facts.any(|fact| !fact.decoy && fact.category != Category::Incidental);
    match () {
        () if has_subjects => Some("facts have subjects: see bound_recall"),
        () if strategy
            .records()
            .any(|record| record.version < FIRST_VERSION) =>
        {
            Some("the records are too old to hold it")
        }
        () => None,
    }
}
