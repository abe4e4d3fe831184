//! Means over the facts of a unit: of each fact over its looks, then over facts by weight.

use std::collections::BTreeMap;

use compactometer_formats::record::Record;

use crate::data::{Look, UnitRecords, looks_at_points, prompted_looks, visits};
use crate::metrics::value::ratio;

/// Why a recall has no value.
pub(super) const NONE_ELIGIBLE: &str = "no fact is old enough at any observation point";

/// The looks at one conversation's facts that were asked for.
pub(super) fn asked(record: &Record) -> Vec<Look<'_>> {
    visits(record)
        .flat_map(|observation| prompted_looks(record, observation))
        .collect()
}

/// The mean over a unit's weighted facts of the share of looks at which each is present.
pub(super) fn recall<'r, L: Iterator<Item = Look<'r>>>(
    unit: &UnitRecords<'r>,
    looks: impl Fn(&'r Record) -> L,
) -> Option<f64> {
    mean_over_looks(unit, looks, |look| {
        Some(f64::from(u8::from(look.is_present)))
    })
}

/// The mean over a unit's weighted facts of the mean of a number over the looks that have it.
pub(super) fn mean_over_looks<'r, L: Iterator<Item = Look<'r>>>(
    unit: &UnitRecords<'r>,
    looks: impl Fn(&'r Record) -> L,
    of_look: impl Fn(&Look) -> Option<f64>,
) -> Option<f64> {
    let (mut held, mut weights) = (0.0, 0.0);
    for record in &unit.records {
        for (weight, mean) in means_by_fact(looks(record), &of_look).into_values() {
            held += weight * mean;
            weights += weight;
        }
    }
    ratio(held, weights)
}

/// The weight of each fact and the mean of a number over its looks, by the fact's index.
pub(super) fn means_by_fact<'r>(
    looks: impl Iterator<Item = Look<'r>>,
    of_look: impl Fn(&Look) -> Option<f64>,
) -> BTreeMap<usize, (f64, f64)> {
    let mut by_fact: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for look in looks {
        let Some(number) = of_look(&look) else {
            continue;
        };
        let (sum, times, weight) = by_fact.entry(look.index).or_default();
        *sum += number;
        *times += 1.0;
        *weight = look.fact.weight;
    }
    by_fact
        .into_iter()
        .map(|(fact, (sum, times, weight))| (fact, (weight, sum / times)))
        .collect()
}

/// The weight of each fact of a unit, and the mean of a number over its looks at points.
pub(super) fn fact_means(
    unit: &UnitRecords,
    of_look: impl Fn(&Look) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let of_record = |record| means_by_fact(looks_at_points(record), &of_look).into_values();
    unit.records
        .iter()
        .flat_map(|record| of_record(record))
        .collect()
}
