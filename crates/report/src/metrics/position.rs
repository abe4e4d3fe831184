//! Recall by position in the conversation: facts by the fifth in which they were first stated.
//!
//! Absent on purpose: intervals. The fifths are five small samples, and no claim is made about a
//! single one.

use std::collections::BTreeMap;

use compactometer_formats::record::{FactRow, Record};
use compactometer_formats::summary::MetricValue;

use super::bound::{self, BOUND_RECALL};
use super::by_fact::mean_over_looks;
use super::recall::{CONTEXT_RECALL, bare};
use crate::data::{Look, StrategyRecords, UnitRecords, looks_at_points};
use crate::metrics::value::undefined;

const FIFTHS: u64 = 5;

/// Recall of the facts that each fifth of a conversation first states, the first fifth first;
/// nothing where a record does not say which messages state its facts.
pub(crate) fn by_position(strategy: &StrategyRecords) -> Vec<BTreeMap<String, MetricValue>> {
    if strategy.records().any(is_without_mentions) {
        return Vec::new();
    }
    let unbound = bound::why_undefined(strategy);
    let row = |place| {
        let held = |look: &Look| Some(f64::from(u8::from(look.is_present)));
        let own = |look: &Look| look.binding.as_ref().map(|binding| binding.own);
        let bound = match &unbound {
            Some(reason) => undefined(reason),
            None => bare(strategy, |unit| of_unit(unit, place, own)),
        };
        let context = bare(strategy, |unit| of_unit(unit, place, held));
        BTreeMap::from([
            (CONTEXT_RECALL.id.to_owned(), context),
            (BOUND_RECALL.id.to_owned(), bound),
        ])
    };
    (0..FIFTHS).map(row).collect()
}

/// Whether an older version, which did not keep them, wrote the record.
fn is_without_mentions(record: &Record) -> bool {
    looks_at_points(record).any(|look| look.fact.mentions.is_empty())
}

fn of_unit(unit: &UnitRecords, place: u64, number: impl Fn(&Look) -> Option<f64>) -> Option<f64> {
    let of_place = |record| {
        looks_at_points(record).filter(move |look: &Look| fifth(record, look.fact) == Some(place))
    };
    mean_over_looks(unit, of_place, number)
}

/// The fifth of the conversation's messages, from 0, in which the fact is first stated. The last
/// observation is at the end.
fn fifth(record: &Record, fact: &FactRow) -> Option<u64> {
    let end = u64::from(record.observations.iter().map(|seen| seen.after.0).max()?);
    let first = u64::from(fact.mentions.first()?.0);
    Some((first * FIFTHS / (end + 1)).min(FIFTHS - 1))
}
