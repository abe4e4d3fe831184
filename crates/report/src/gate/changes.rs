//! Which facts a run newly lost or newly kept, and what became of them.

use std::collections::BTreeMap;

use compactometer_formats::baseline::{Baseline, StrategyBaseline};
use compactometer_formats::fate::{Fate, Fates};
use serde::Serialize;

use super::baseline::last_fates;
use crate::data::StrategyRecords;

/// A fact whose presence at the last observation point changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FateChange {
    /// The conversation.
    pub scenario: String,
    /// The fact's id.
    pub fact: String,
    /// Its fate in the baseline.
    pub before: Fate,
    /// Its fate in the run.
    pub after: Fate,
}

/// The facts newly lost and newly kept, by conversation in the baseline's order.
pub(super) fn changes(
    baseline: &Baseline,
    of: &StrategyBaseline,
    strategy: &StrategyRecords,
) -> (Vec<FateChange>, Vec<FateChange>) {
    let before: BTreeMap<&str, &Fates> =
        of.units.iter().flat_map(|unit| &unit.fates).map(|(scenario, fates)| (scenario.as_str(), fates)).collect();
    let after: BTreeMap<&str, Fates> =
        strategy.records().map(|record| (record.case.scenario.as_str(), last_fates(record))).collect();
    let mut found = Vec::new();
    for conversation in &baseline.scenarios {
        let scenario = conversation.scenario.as_str();
        let (Some(before), Some(after)) = (before.get(scenario), after.get(scenario)) else { continue };
        for ((fact, before), after) in conversation.facts.iter().zip(&before.0).zip(&after.0) {
            let change =
                FateChange { scenario: scenario.to_owned(), fact: fact.clone(), before: *before, after: *after };
            found.push(change);
        }
    }
    let is_valid = |fate: Fate| !matches!(fate, Fate::Superseded | Fate::Unstated);
    found.retain(|change| is_valid(change.before) && is_valid(change.after));
    found.retain(|change| change.before.is_present() != change.after.is_present());
    found.into_iter().partition(|change| change.before.is_present())
}
