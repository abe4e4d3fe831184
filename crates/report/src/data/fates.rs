//! Where the stated facts ended: shares by fate at each scenario's last observation point.

use std::collections::BTreeMap;

use compactometer_formats::fate::Fate;
use compactometer_formats::record::{FactRow, Record};

use crate::data::{StrategyRecords, UnitRecords, points};

/// Shares of all stated facts, decoys left out, by name of the fate; the mean over units. They sum to 1; empty where no
/// fact is stated. `stored_only` is there only where an early record has it.
pub(crate) fn shares(strategy: &StrategyRecords) -> BTreeMap<String, f64> {
    let units: Vec<Vec<f64>> = strategy.units.iter().filter_map(unit_shares).collect();
    if units.is_empty() {
        return BTreeMap::new();
    }
    let mean = |at: usize| units.iter().map(|shares| shares[at]).sum::<f64>() / units.len() as f64;
    let shares = Fate::STATED.iter().enumerate().map(|(at, fate)| (*fate, mean(at)));
    let occurs = |(fate, share): &(Fate, f64)| *fate != Fate::StoredOnly || *share > 0.0;
    shares.filter(occurs).map(|(fate, share)| (fate.name().to_owned(), share)).collect()
}

/// Each fact's fate at the record's last observation point; nothing without one.
pub(crate) fn last(record: &Record) -> impl Iterator<Item = (&FactRow, Fate)> {
    let fates = points(record).last().map_or(&[][..], |observation| &observation.fates.0);
    record.facts.iter().zip(fates.iter().copied())
}

fn unit_shares(unit: &UnitRecords) -> Option<Vec<f64>> {
    let mut counts = vec![0.0; Fate::STATED.len()];
    for (_, fate) in unit.records.iter().flat_map(|record| last(record)).filter(|(fact, _)| !fact.decoy) {
        if let Some(at) = Fate::STATED.iter().position(|stated| *stated == fate) {
            counts[at] += 1.0;
        }
    }
    let stated: f64 = counts.iter().sum();
    (stated > 0.0).then(|| counts.iter().map(|count| count / stated).collect())
}
