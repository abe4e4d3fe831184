//! Whether a summarizer's replies can be used: whether they are summaries, and whether their
//! checkpoints can be read.

use std::collections::BTreeMap;

use compactometer_engine::checkpoint::{Extraction, LadderReading};
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_engine::meter::Purpose;
use compactometer_formats::record::{CompactionRow, Record};
use compactometer_formats::summary::{Extractions, MetricValue};

use super::{Metric, MetricsSection};
use crate::data::StrategyRecords;
use crate::data::label;
use crate::metrics::value::{over_units, ratio};

pub(crate) const EXTRACTION_SUCCESS: Metric = Metric {
    id: "extraction_success",
    definition: "checkpoints read on some rung of the ladder / checkpoints asked for, failed calls included, by conversation",
    compute: |_, strategy| {
        rate(
            strategy,
            "the records hold no attempt at a checkpoint",
            |record| {
                let all = || extractions(record);
                (
                    all()
                        .filter(|extraction| matches!(extraction.reading, LadderReading::Rung(_)))
                        .count(),
                    all().count(),
                )
            },
        )
    },
    ..Metric::share(MetricsSection::Summarizer, "Summaries and checkpoints")
};

pub(crate) const IS_SUMMARY: Metric = Metric {
    id: "is_summary",
    definition: "compactions whose answer was accepted as a summary, at once or on the second request / compactions that \
              asked for one, failed calls included, by conversation",
    compute: |_, strategy| {
        rate(strategy, "no compaction asked for a summary", |record| {
            let asked = || record.compactions.iter().filter(|row| has_asked(row));
            (
                asked().filter(|row| is_accepted(row)).count(),
                asked().count(),
            )
        })
    },
    ..Metric::share(MetricsSection::Summarizer, "Summaries and checkpoints")
};

/// Counts a strategy's attempts at checkpoints; nothing if there were none.
pub(crate) fn extraction_counts(strategy: &StrategyRecords) -> Option<Extractions> {
    let mut counts = Extractions::default();
    for extraction in strategy.records().flat_map(extractions) {
        let (of, name): (&mut BTreeMap<String, usize>, _) = match &extraction.reading {
            LadderReading::Rung(rung) => (&mut counts.by_rung, label(rung)),
            LadderReading::Unreadable(reason) => (&mut counts.unreadable, label(reason)),
        };
        *of.entry(name).or_default() += 1;
        counts.attempts += 1;
        counts.leaked += extraction.leaked as usize;
        counts.left_out += extraction.left_out as usize;
    }
    (counts.attempts > 0).then_some(counts)
}

fn extractions(record: &Record) -> impl Iterator<Item = &Extraction> {
    let with_summaries = record
        .compactions
        .iter()
        .flat_map(|row| &row.event.extractions);
    with_summaries.chain(
        record
            .checkpoints
            .iter()
            .filter_map(|row| row.event.extraction.as_ref()),
    )
}

fn has_asked(row: &CompactionRow) -> bool {
    row.calls
        .iter()
        .any(|call| call.purpose == Purpose::Compaction)
}

fn is_accepted(row: &CompactionRow) -> bool {
    let failed = match &row.event.outcome {
        Outcome::Failed(reason) => Some(reason),
        _ => row.event.fallback.as_ref(),
    };
    !matches!(failed, Some(FailReason::NoSummary(_) | FailReason::Call(_)))
}

fn rate(
    strategy: &StrategyRecords,
    reason: &str,
    count: impl Fn(&Record) -> (usize, usize),
) -> MetricValue {
    over_units(strategy, reason, |unit| {
        let counts = unit.records.iter().map(|record| count(record));
        let (part, whole) = counts.fold((0, 0), |sum, found| (sum.0 + found.0, sum.1 + found.1));
        ratio(part as f64, whole as f64)
    })
}
