//! Where the stated facts ended: shares by fate at each scenario's last observation point.

use std::collections::BTreeMap;

use compactometer_formats::fate::Fate;
use compactometer_formats::record::{FactRow, Record};
use compactometer_formats::summary::StrategySummary;

use crate::data::{StrategyRecords, UnitRecords, points};

/// The share of facts in contexts that count as empty, whatever they hold.
pub(crate) const UNUSABLE: &str = "unusable";

/// Whether all summaries of a row could be read, so that its shares say how facts went.
pub(crate) fn are_known(row: &StrategySummary) -> bool {
    !row.fates.is_empty() && !row.fates.contains_key(Fate::Sealed.name())
}

/// Shares of all stated facts, decoys left out, by name of the fate, and of [`UNUSABLE`]; the mean
/// over units. They sum to 1; empty where no fact is stated. `stored_only`, `sealed` and `unusable`
/// are there only where they occur.
pub(crate) fn shares(strategy: &StrategyRecords) -> BTreeMap<String, f64> {
    let units: Vec<Vec<f64>> = strategy.units.iter().filter_map(unit_shares).collect();
    if units.is_empty() {
        return BTreeMap::new();
    }
    let mean = |at: usize| units.iter().map(|shares| shares[at]).sum::<f64>() / units.len() as f64;
    let names = Fate::STATED
        .iter()
        .map(|fate| fate.name())
        .chain([UNUSABLE]);
    let shares = names.enumerate().map(|(at, name)| (name, mean(at)));
    let occurs = |(name, share): &(&str, f64)| {
        let seldom = [Fate::StoredOnly.name(), Fate::Sealed.name(), UNUSABLE];
        !seldom.contains(name) || *share > 0.0
    };
    shares
        .filter(occurs)
        .map(|(name, share)| (name.to_owned(), share))
        .collect()
}

/// Each fact's fate at the record's last observation point; nothing without one.
pub(crate) fn last(record: &Record) -> impl Iterator<Item = (&FactRow, Fate)> {
    let fates = points(record)
        .last()
        .map_or(&[][..], |observation| &observation.fates.0);
    record.facts.iter().zip(fates.iter().copied())
}

fn unit_shares(unit: &UnitRecords) -> Option<Vec<f64>> {
    let mut counts = vec![0.0; Fate::STATED.len() + 1];
    for record in &unit.records {
        let is_unusable = points(record)
            .last()
            .is_some_and(|observation| observation.unusable.is_some());
        for (_, fate) in last(record).filter(|(fact, _)| !fact.decoy) {
            if let Some(at) = Fate::STATED.iter().position(|stated| *stated == fate) {
                counts[if is_unusable { Fate::STATED.len() } else { at }] += 1.0;
            }
        }
    }
    let stated: f64 = counts.iter().sum();
    (stated > 0.0).then(|| counts.iter().map(|count| count / stated).collect())
}
