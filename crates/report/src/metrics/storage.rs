//! What a session's records take, and how much of a checkpoint they fill.

use compactometer_formats::view_breakdown::Storage;

use super::{Better, Metric, Section, over_units, ratio};
use crate::data::UnitRecords;
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

fn kept<'u>(unit: &'u UnitRecords<'_>) -> impl Iterator<Item = &'u Storage> {
    unit.records.iter().filter_map(|record| record.storage.as_ref())
}
