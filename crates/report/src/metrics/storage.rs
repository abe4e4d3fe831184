//! What a session's records take, and how much of a checkpoint they fill.

use compactometer_engine::event::{RecoveryEvent, RecoveryOutcome};
use compactometer_engine::record::RecordKind;
use compactometer_formats::record::Record;
use compactometer_formats::view_breakdown::Storage;

use super::{Better, Metric, MetricsSection};
use crate::data::{UnitRecords, points};
use crate::metrics::MetricUnit;
use crate::metrics::value::{over_units, ratio};
use crate::stats::mean;

pub(crate) const STORAGE_BYTES: Metric = Metric {
    id: "storage_bytes",
    unit: MetricUnit::Bytes,
    better: Better::Lower,
    definition: "bytes of the JSON of all records (summaries, checkpoints, failed attempts) that a session has saved at the end of \
              its conversation, uncompressed, without views; mean over conversations",
    compute: |_, strategy| {
        over_units(strategy, TOO_OLD, |unit| {
            mean(
                &storage_of(unit)
                    .map(|storage| storage.bytes as f64)
                    .collect::<Vec<_>>(),
            )
        })
    },
    ..Metric::share(MetricsSection::Storage, "Summaries and checkpoints")
};

pub(crate) const FIELDS_POPULATED: Metric = Metric {
    id: "fields_populated",
    definition: "fields with a value / fields that the conversation supported (a fact of the field's category was stated by then), \
              over all checkpoints of the strategic plan's form; by conversation",
    compute: |_, strategy| {
        over_units(
            strategy,
            "no checkpoint was written where the suite's facts support a field",
            |unit| {
                let sum = |of: fn(&Storage) -> u32| storage_of(unit).map(of).sum::<u32>();
                ratio(
                    f64::from(sum(|storage| storage.fields_populated)),
                    f64::from(sum(|storage| storage.fields_supported)),
                )
            },
        )
    },
    ..Metric::share(MetricsSection::Summarizer, "Summaries and checkpoints")
};

pub(crate) const STORED_SHARE: Metric = Metric {
    id: "stored_share",
    definition: "facts that the latest checkpoint, the latest pinned record or a note of a message that states them still holds / \
              facts out of the context (never read, left out or lost later), at each conversation's last observation point, decoys \
              left out; by conversation",
    compute: |_, strategy| {
        over_units(
            strategy,
            "no fact is out of the context at the end",
            |unit| {
                let (stored, lost) = unit
                    .records
                    .iter()
                    .map(|record| out_of_context(record))
                    .fold((0.0, 0.0), add);
                ratio(stored, lost)
            },
        )
    },
    ..Metric::share(MetricsSection::Storage, "Fates")
};

pub(crate) const CHECKPOINTS_WRITTEN: Metric = Metric {
    id: "checkpoints_written",
    definition: "checkpoints that were saved in a conversation, at a compaction or before a turn; mean over conversations",
    compute: |_, strategy| {
        over_units(strategy, TOO_OLD, |unit| {
            let written = |record: &&Record| {
                let saved = record.contexts.iter().flat_map(|context| &context.saved);
                let written = saved
                    .filter(|saved| saved.kind == RecordKind::Checkpoint)
                    .count() as f64;
                // Records from before contexts were kept say how many records there were, and not
                // of which kind.
                let is_known = !record.contexts.is_empty()
                    || record.storage.is_some_and(|storage| storage.records == 0);
                is_known.then_some(written)
            };
            mean(
                &unit
                    .records
                    .iter()
                    .map(written)
                    .collect::<Option<Vec<_>>>()?,
            )
        })
    },
    ..COUNTED
};

pub(crate) const RECOVERIES_SHOWN: Metric = Metric {
    id: "recoveries_shown",
    definition: "times that a checkpoint was shown in the system prompt outside a compaction in a conversation; mean over conversations",
    compute: |_, strategy| {
        over_units(strategy, "there is no record", |unit| {
            let is_shown =
                |event: &&RecoveryEvent| matches!(event.outcome, RecoveryOutcome::Shown(..));
            let shown = |record: &&Record| record.recoveries.iter().filter(is_shown).count() as f64;
            mean(&unit.records.iter().map(shown).collect::<Vec<_>>())
        })
    },
    ..COUNTED
};

pub(crate) const SUMMARIES_SHOWN: Metric = Metric {
    id: "summaries_shown",
    definition: "summaries that the context shows after an applied compaction, merged ones as one; mean over a conversation's compactions, \
              then over conversations",
    compute: |_, strategy| {
        over_units(
            strategy,
            "no compaction is recorded with the view after it",
            |unit| {
                let views = unit
                    .records
                    .iter()
                    .flat_map(|record| &record.compactions)
                    .filter_map(|row| row.view.as_ref());
                mean(
                    &views
                        .map(|view| view.summaries.len() as f64)
                        .collect::<Vec<_>>(),
                )
            },
        )
    },
    ..COUNTED
};

const COUNTED: Metric = Metric {
    unit: MetricUnit::Count,
    better: Better::Neither,
    ..Metric::share(MetricsSection::Storage, "Summaries and checkpoints")
};

const TOO_OLD: &str = "the records are too old to hold it";

/// Of a conversation's facts that are out of the context at the end, those that storage holds, and
/// all.
fn out_of_context(record: &Record) -> (f64, f64) {
    let Some(end) = points(record).last() else {
        return (0.0, 0.0);
    };
    let facts = record.facts.iter().zip(&end.fates.0).enumerate();
    let lost = facts
        .filter(|(_, (fact, fate))| !fact.decoy && fate.is_lost())
        .map(|(index, _)| index as u32);
    lost.fold((0.0, 0.0), |sum, fact| {
        add(sum, (f64::from(u8::from(end.is_stored(fact))), 1.0))
    })
}

fn add(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}

fn storage_of<'u>(unit: &'u UnitRecords<'_>) -> impl Iterator<Item = &'u Storage> {
    unit.records
        .iter()
        .filter_map(|record| record.storage.as_ref())
}
