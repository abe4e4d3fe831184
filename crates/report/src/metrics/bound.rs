//! Bound recall: facts count where the context gives their values to their own subjects.

use compactometer_formats::record::RANDOM_DRAWS;
use compactometer_formats::scenario::Category;
use compactometer_formats::summary::MetricValue;

use super::by_fact::{NONE_ELIGIBLE, fact_means, mean_over_looks};
use super::{Metric, MetricsSection};
use crate::data::{Look, StrategyRecords, UnitRecords, looks_at_points};
use crate::metrics::value::{over_units, undefined};

pub(crate) const BOUND_RECALL: Metric = Metric {
    id: "bound_recall",
    definition: "as context_recall over facts with a subject; hit = the context holds the fact, and at an occurrence of its value the \
              fact's own subject wins among all subjects of the conversation",
    compute: |_, strategy| {
        bound(strategy, |look| {
            look.binding.as_ref().map(|binding| binding.own)
        })
    },
    ..Metric::share(MetricsSection::Recall, "Bound recall")
};

pub(crate) const BOUND_RECALL_CORRECTED: Metric = Metric {
    id: "bound_recall_corrected",
    is_signed: true,
    place: Some(1),
    definition: "as bound_recall, hit = (own - wrong / rivals) / (own + wrong); own = 1 if the context binds the fact, else 0; wrong = the other \
              subjects that win at its value although no message gave it to them; rivals = the values of the mentioned subjects that \
              could, over those of its own subject; 0 if none wins; never clipped",
    compute: |_, strategy| bound(strategy, corrected),
    ..Metric::share(MetricsSection::Recall, "Bound recall")
};

/// The most facts of a suite that may be left out because their own statement does not bind them.
const MOST_LEFT_OUT: f64 = 0.05;

/// A unit's BR*.
pub(crate) fn of_unit(unit: &UnitRecords) -> Option<f64> {
    over_points(unit, &corrected)
}

/// The share by which a unit's BR* exceeds that of random contexts.
fn lift_of_unit(unit: &UnitRecords) -> Option<f64> {
    over_points(unit, &|look| {
        let binding = look.binding.as_ref()?;
        Some(binding.corrected - binding.random_own / f64::from(RANDOM_DRAWS))
    })
}

/// BR* minus that of random contexts; nothing if the facts have no subjects.
pub(super) fn lift(strategy: &StrategyRecords) -> Option<MetricValue> {
    why_undefined(strategy)
        .is_none()
        .then(|| over_units(strategy, NONE_ELIGIBLE, lift_of_unit))
}

/// Of each fact of a unit: its weight, and its part in BR*.
pub(crate) fn shares_of_unit(unit: &UnitRecords) -> Vec<(f64, f64)> {
    fact_means(unit, corrected)
}

/// Why there is no bound recall.
pub(crate) fn why_undefined(strategy: &StrategyRecords) -> Option<String> {
    let facts = strategy
        .records()
        .flat_map(|record| &record.facts)
        .filter(|fact| !fact.decoy && !fact.generic);
    let (mut with_subject, mut left_out) = (0, 0);
    for fact in facts.filter(|fact| fact.category != Category::Incidental) {
        with_subject += 1;
        left_out += usize::from(!fact.has_subject);
    }
    match (with_subject, left_out) {
        (0, _) => Some("no fact has a subject: imported facts are values only".to_owned()),
        (all, none) if all == none => Some("the records are too old to hold subjects".to_owned()),
        (all, left_out) if left_out as f64 > MOST_LEFT_OUT * all as f64 => Some(format!(
            "{left_out} of {all} facts are not bound by their own first statement; at most 5 % may be left out"
        )),
        _ => None,
    }
}

fn bound(strategy: &StrategyRecords, of_look: impl Fn(&Look) -> Option<f64>) -> MetricValue {
    match why_undefined(strategy) {
        Some(reason) => undefined(reason),
        None => over_units(strategy, NONE_ELIGIBLE, |unit| over_points(unit, &of_look)),
    }
}

fn corrected(look: &Look) -> Option<f64> {
    look.binding.as_ref().map(|binding| binding.corrected)
}

fn over_points(unit: &UnitRecords, of_look: &dyn Fn(&Look) -> Option<f64>) -> Option<f64> {
    mean_over_looks(unit, looks_at_points, of_look)
}
