//! What was played to an agent, and what became of it there.

use compactometer_formats::summary::MetricValue;

use super::value::{over_units, ratio};
use super::{Better, Metric, MetricUnit, MetricsSection};
use crate::data::{StrategyRecords, UnitRecords};
use crate::stats::mean;

const CHAPTER: &str = "Agents";
const NO_AGENT: &str = "the row is no agent";

pub(crate) const TURNS_PLAYED: Metric = Metric {
    id: "agent_turns_played",
    definition: "recorded turns that the agent took / turns of the conversation; by conversation",
    compute: |_, strategy| shares(strategy, "turns_played", "turns"),
    ..Metric::share(MetricsSection::Agents, CHAPTER)
};

pub(crate) const RESULTS_WHOLE: Metric = Metric {
    id: "agent_results_whole",
    definition: "results of tools that the agent's next request holds whole / results that it got; by conversation",
    compute: |_, strategy| shares(strategy, "results_whole", "results"),
    ..Metric::share(MetricsSection::Agents, CHAPTER)
};

pub(crate) const OWN_TOKENS: Metric = Metric {
    id: "agent_own_tokens",
    unit: MetricUnit::Tokens,
    better: Better::Lower,
    definition: "tokens of the agent's first request beside the conversation: its own prompts and tools; mean over conversations",
    compute: |_, strategy| means(strategy, "own_tokens"),
    ..Metric::share(MetricsSection::Agents, CHAPTER)
};

pub(crate) const REQUESTS_OVER_WINDOW: Metric = Metric {
    id: "agent_requests_over_window",
    unit: MetricUnit::Count,
    better: Better::Lower,
    definition: "requests of the agent that its model refused, since they were longer than the context window; mean over conversations",
    compute: |_, strategy| means(strategy, "requests_over_window"),
    ..Metric::share(MetricsSection::Agents, CHAPTER)
};

pub(crate) const COMPACTIONS_UNASKED: Metric = Metric {
    id: "agent_compactions_unasked",
    better: Better::Lower,
    definition: "compactions without a request for a summary / compactions: what the agent took out of its history by itself; by conversation",
    compute: |_, strategy| {
        over_units(strategy, NO_AGENT, |unit| {
            let records = || {
                unit.records
                    .iter()
                    .filter(|record| !record.counted.is_empty())
            };
            let rows = || records().flat_map(|record| &record.compactions);
            let unasked = rows().filter(|row| row.calls.is_empty()).count();
            ratio(unasked as f64, rows().count() as f64)
        })
    },
    ..Metric::share(MetricsSection::Agents, CHAPTER)
};

/// What a conversation's records counted under a name.
fn counted<'u>(unit: &'u UnitRecords<'_>, name: &'u str) -> impl Iterator<Item = f64> {
    let records = unit.records.iter();
    records.filter_map(move |record| record.counted.get(name).map(|number| *number as f64))
}

fn shares(strategy: &StrategyRecords, part: &str, whole: &str) -> MetricValue {
    over_units(strategy, NO_AGENT, |unit| {
        ratio(counted(unit, part).sum(), counted(unit, whole).sum())
    })
}

fn means(strategy: &StrategyRecords, name: &str) -> MetricValue {
    over_units(strategy, NO_AGENT, |unit| {
        mean(&counted(unit, name).collect::<Vec<_>>())
    })
}
