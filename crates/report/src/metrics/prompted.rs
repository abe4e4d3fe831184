//! Prompted recall: what contexts hold together with what a strategy retrieves for a question,
//! without a model call.

use compactometer_formats::record::{Observation, Prompted};

use super::by_fact::{asked, recall};
use super::chance::CorrectedRecall;
use super::{Better, Metric, MetricsSection};
use crate::data::{StrategyRecords, UnitRecords, visits};
use crate::metrics::MetricUnit;
use crate::metrics::value::{over_units, ratio, undefined};

pub(crate) const PROMPTED_RECALL: Metric = Metric {
    id: "prompted_recall",
    definition: "as context_recall over the eligible facts that the scenario has a question for; hit = the context and what the strategy \
              retrieves for the question, both within the retained budget, hold the fact",
    compute: |_, strategy| match why_undefined(strategy) {
        Some(reason) => undefined(reason),
        None => over_units(strategy, NO_QUESTION, |unit| {
            recall(unit, |record| asked(record).into_iter())
        }),
    },
    ..Metric::share(MetricsSection::Retrieval, "Probes")
};

pub(crate) const PROMPTED_RECALL_CORRECTED: Metric = Metric {
    id: "prompted_recall_corrected",
    is_signed: true,
    definition: "as context_recall_corrected, over the facts of prompted_recall; q = the rate at which facts of foreign scenarios match contexts \
              and retrieved texts together",
    compute: |run, strategy| {
        if let Some(reason) = why_undefined(strategy) {
            return undefined(reason);
        }
        CorrectedRecall::prompted(strategy).metric(run, strategy)
    },
    ..Metric::share(MetricsSection::Retrieval, "Probes")
};

pub(crate) const RETRIEVED_TOKENS: Metric = Metric {
    id: "retrieved_tokens",
    unit: MetricUnit::Tokens,
    better: Better::Neither,
    definition: "tokens that the strategy retrieves for the questions of prompted_recall / questions, by conversation",
    compute: |_, strategy| match why_undefined(strategy) {
        Some(reason) => undefined(reason),
        None => over_units(strategy, NO_QUESTION, tokens_by_question),
    },
    ..Metric::share(MetricsSection::Retrieval, "Probes")
};

const NO_QUESTION: &str = "no eligible fact has a question";

fn why_undefined(strategy: &StrategyRecords) -> Option<String> {
    let points = || {
        strategy
            .records()
            .flat_map(visits)
            .filter(|point| !point.asked.is_empty())
    };
    let retrieved = || points().filter_map(|point| point.prompted.as_ref());
    let reason = match () {
        () if points().next().is_none() => NO_QUESTION,
        () if retrieved().next().is_none() => "the strategy has nothing to look in for a question",
        () if retrieved().all(|prompted| prompted.tokens == 0) => {
            "nothing that fits the retained budget was retrieved"
        }
        () => return None,
    };
    Some(reason.to_owned())
}

fn tokens_by_question(unit: &UnitRecords) -> Option<f64> {
    let points = || unit.records.iter().flat_map(|record| visits(record));
    let tokens = |point: &Observation| {
        point
            .prompted
            .as_ref()
            .map_or(0, |Prompted { tokens, .. }| *tokens)
    };
    let questions = points().map(|point| point.asked.len()).sum::<usize>();
    ratio(points().map(tokens).sum::<u64>() as f64, questions as f64)
}
