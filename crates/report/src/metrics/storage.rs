//! What a session's records take, and how much of a checkpoint they fill.

use compactometer_formats::record::Record;
use compactometer_formats::view_breakdown::Storage;

use super::{Better, Metric, Section, over_units, ratio};
use crate::data::{UnitRecords, points};
use crate::metrics::MetricUnit;
use crate::stats::mean;

pub(crate) const STORAGE_BYTES: Metric = Metric {
    id: "storage_bytes",
    unit: MetricUnit::Bytes,
    better: Better::Lower,
    definition: "bytes of the JSON of all records (summaries, checkpoints, failed attempts) that a session has saved at the end of \
              its conversation, uncompressed, without views; mean over a unit's conversations, then over units",
    compute: |_, strategy| {
        over_units(strategy, "the records are too old to hold it", |unit| {
            mean(&kept(unit).map(|storage| storage.bytes as f64).collect::<Vec<_>>())
        })
    },
    ..Metric::share(Section::Storage, "Summaries and checkpoints")
};

pub(crate) const FIELDS_POPULATED: Metric = Metric {
    id: "fields_populated",
    definition: "fields with a value / fields that the conversation supported (a fact of the field's category was stated by then), \
              over all checkpoints of the strategic plan's form; by unit; mean over units",
    compute: |_, strategy| {
        over_units(strategy, "no checkpoint was written where the suite's facts support a field", |unit| {
            let sum = |of: fn(&Storage) -> u32| kept(unit).map(of).sum::<u32>();
            ratio(
                f64::from(sum(|storage| storage.fields_populated)),
                f64::from(sum(|storage| storage.fields_supported)),
            )
        })
    },
    ..Metric::share(Section::Summarizer, "Summaries and checkpoints")
};

pub(crate) const STORED_SHARE: Metric = Metric {
    id: "stored_share",
    definition: "facts that the latest checkpoint, the latest pinned record or a note of a message that states them still holds / \
              facts out of the context (dropped_unseen, unwritten or eroded), at each conversation's last observation point, decoys \
              left out; by unit; mean over units",
    compute: |_, strategy| {
        over_units(strategy, "no fact is out of the context at the end", |unit| {
            let (stored, lost) = unit.records.iter().map(|record| out_of_context(record)).fold((0.0, 0.0), add);
            ratio(stored, lost)
        })
    },
    ..Metric::share(Section::Storage, "Fates")
};

/// Of a conversation's facts that are out of the context at the end, those that storage holds, and all.
fn out_of_context(record: &Record) -> (f64, f64) {
    let Some(end) = points(record).last() else { return (0.0, 0.0) };
    let facts = record.facts.iter().zip(&end.fates.0).enumerate();
    let lost = facts.filter(|(_, (fact, fate))| !fact.decoy && fate.is_lost()).map(|(index, _)| index as u32);
    lost.fold((0.0, 0.0), |sum, fact| add(sum, (f64::from(u8::from(end.is_stored(fact))), 1.0)))
}

fn add(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}

fn kept<'u>(unit: &'u UnitRecords<'_>) -> impl Iterator<Item = &'u Storage> {
    unit.records.iter().filter_map(|record| record.storage.as_ref())
}
