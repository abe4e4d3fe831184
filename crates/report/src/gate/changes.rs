//! Which facts a run newly lost or newly kept, and what became of them.

use std::collections::BTreeMap;

use compactometer_formats::baseline::{Baseline, StrategyBaseline};
use compactometer_formats::fate::{Fate, Fates};
use compactometer_formats::scenario::Speaker;
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
    /// What the fact is about and its value, if the suite is at hand; see
    /// [`GateReport::name_facts`](super::GateReport::name_facts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated: Option<StatedFact>,
    /// Its fate in the baseline.
    pub before: Fate,
    /// Its fate in the run.
    pub after: Fate,
}

/// A fact as its suite states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatedFact {
    /// What it is about.
    pub subject: String,
    /// Its value.
    pub value: String,
    /// Who said it first.
    pub said_by: Speaker,
    /// The message that said it first, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u32>,
}

/// The facts newly lost and newly kept, by conversation in the baseline's order.
pub(super) fn changes(
    baseline: &Baseline,
    of: &StrategyBaseline,
    strategy: &StrategyRecords,
) -> (Vec<FateChange>, Vec<FateChange>) {
    let before: BTreeMap<&str, &Fates> = of
        .units
        .iter()
        .flat_map(|unit| &unit.fates)
        .map(|(scenario, fates)| (scenario.as_str(), fates))
        .collect();
    let after: BTreeMap<&str, Fates> = strategy
        .records()
        .map(|record| (record.case.scenario.as_str(), last_fates(record)))
        .collect();
    let mut found = Vec::new();
    for conversation in &baseline.scenarios {
        let scenario = conversation.scenario.as_str();
        let (Some(before), Some(after)) = (before.get(scenario), after.get(scenario)) else {
            continue;
        };
        for ((fact, before), after) in conversation.facts.iter().zip(&before.0).zip(&after.0) {
            let (scenario, fact) = (scenario.to_owned(), fact.clone());
            found.push(FateChange {
                scenario,
                fact,
                stated: None,
                before: *before,
                after: *after,
            });
        }
    }
    let is_valid = |fate: Fate| !matches!(fate, Fate::Superseded | Fate::Unstated);
    found.retain(|change| is_valid(change.before) && is_valid(change.after));
    found.retain(|change| change.before.is_present() != change.after.is_present());
    found
        .into_iter()
        .partition(|change| change.before.is_present())
}
