//! What comes from memory: answers that no message states, but a memory document or a note of an
//! earlier conversation.

use compactometer_formats::scenario::MemoryPart;
use compactometer_formats::summary::MetricValue;

use super::{GradedAnswer, answers};
use crate::data::StrategyRecords;
use crate::metrics::value::{over_units, ratio};
use crate::metrics::{Metric, MetricsSection};

pub(crate) const MEMORY_DOCUMENT_RECALL: Metric = Metric {
    id: "memory_document_recall",
    definition: "requests that hold the answer / questions whose answer only the memory document states, by conversation",
    compute: |_, strategy| {
        share(strategy, |answer| {
            is_from(answer, MemoryPart::Document).then_some(answer.row.present)
        })
    },
    ..Metric::share(MetricsSection::Retrieval, "Memory")
};

pub(crate) const MEMORY_NOTE_RECALL: Metric = Metric {
    id: "memory_note_recall",
    definition: "requests that hold the answer, with what the strategy retrieves for the question within the retained budget / \
              questions whose answer only notes of an earlier conversation state, by conversation",
    compute: |_, strategy| {
        share(strategy, |answer| {
            is_from(answer, MemoryPart::Notes).then_some(answer.row.present)
        })
    },
    ..Metric::share(MetricsSection::Retrieval, "Memory")
};

pub(crate) const MEMORY_ANSWER_RECALL: Metric = Metric {
    id: "memory_answer_recall",
    definition: "right answers, with what was retrieved for the question / questions whose answer only memory states, by conversation; failed calls are misses",
    compute: |_, strategy| {
        share(strategy, |answer| {
            answer.probe.memory.is_some().then(|| answer.is_right())
        })
    },
    ..Metric::share(MetricsSection::Answers, "Memory")
};

fn is_from(answer: &GradedAnswer, part: MemoryPart) -> bool {
    answer.probe.memory == Some(part)
}

fn share(strategy: &StrategyRecords, hit: impl Fn(&GradedAnswer) -> Option<bool>) -> MetricValue {
    over_units(
        strategy,
        "no question asks for what only memory states",
        |unit| {
            let answers = unit.records.iter().flat_map(|record| answers(record));
            let last = answers.filter(|answer| answer.row.prompted || !answer.is_prompted_too());
            let hits = last.filter_map(|answer| hit(&answer)).collect::<Vec<_>>();
            ratio(
                hits.iter().filter(|hit| **hit).count() as f64,
                hits.len() as f64,
            )
        },
    )
}
