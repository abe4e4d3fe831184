//! The record of a case, so far or finished.

use compactometer_formats::record::{Case, FactRow, Record, VERSION};

use super::Replay;
use crate::trace::{CaseResult, storage};

impl Replay<'_> {
    pub(crate) fn into_result(mut self) -> CaseResult {
        // Observations and turns are moved: those of a long conversation are large.
        let (observations, turns) = (
            std::mem::take(&mut self.observations),
            std::mem::take(&mut self.turns),
        );
        let record = Record {
            observations,
            turns,
            ..self.record()
        };
        CaseResult {
            record,
            texts: self.texts,
        }
    }

    /// The record so far.
    pub(crate) fn record(&self) -> Record {
        let (case, scenario) = (self.case, &self.prepared.scenario);
        Record {
            version: VERSION,
            key: case.key.clone(),
            case: Case {
                scenario: scenario.id.clone(),
                group: scenario.group_id.clone(),
                strategy: case.entrant.name.clone(),
                family: case.entrant.family,
                protocol: case.protocol,
                budget: case.budget(),
                split: case.split,
                summarizer: self.meters.summarizer.to_owned(),
                target: self.meters.target.map(str::to_owned),
                checkpointer: self.meters.checkpointer_name.map(str::to_owned),
                seed: case.seed,
                tool_tokens: self.prepared.tool_tokens,
                system_tokens: self
                    .session
                    .log()
                    .system()
                    .map_or(0, |system| system.tokens),
                fixed_prefix_tokens: self.prepared.fixed_prefix_tokens(),
                foreign: self.prepared.checks().foreign_scenarios.clone(),
                pending_over_budget: self.pending_over_budget,
            },
            facts: (0..scenario.facts.len())
                .map(|index| self.fact_row(index))
                .collect(),
            observations: self.observations.clone(),
            compactions: self.compactions.clone(),
            checkpoints: self.checkpoints.clone(),
            recoveries: self
                .recoveries
                .iter()
                .chain(self.session.recovery_events())
                .cloned()
                .collect(),
            contexts: self.contexts.clone(),
            turns: self.turns.clone(),
            probes: self
                .prepared
                .checks()
                .keys
                .probes
                .iter()
                .map(|key| key.row.clone())
                .collect(),
            answers: self.answers.clone(),
            storage: Some(storage(self.prepared, self.session.history())),
            counted: self
                .session
                .counted()
                .into_iter()
                .map(|(name, number)| (name.to_owned(), number))
                .collect(),
        }
    }

    fn fact_row(&self, index: usize) -> FactRow {
        let fact = &self.prepared.scenario.facts[index];
        FactRow {
            id: fact.id.clone(),
            category: fact.category,
            value_kind: fact.value_kind,
            weight: fact.weight,
            decoy: fact.decoy_of.is_some(),
            generic: fact.generic,
            has_subject: self
                .prepared
                .checks()
                .bindings
                .as_ref()
                .is_some_and(|bindings| bindings.counts(index)),
            mentions: self.prepared.mentions[index]
                .iter()
                .map(|at| self.prepared.messages[*at].message.id)
                .collect(),
        }
    }
}
