//! What a session's records take, and how much of a checkpoint they fill.

use compactometer_formats::view_breakdown::Storage;

use super::{Better, Metric, over_units, ratio};
use crate::data::Unit as Group;
use crate::stats::mean;
use crate::text::Unit;

pub(super) const STORAGE_BYTES: Metric = Metric {
    id: "storage_bytes",
    unit: Unit::Bytes,
    better: Better::Lower,
    formula: "bytes of the JSON of all records (summaries, checkpoints, failed attempts) that a session has saved at the end of \
              its conversation, uncompressed, without views; mean over a unit's conversations, then over units",
    source: "source 000, part 6",
    compute: |_, strategy| {
        over_units(strategy, Unit::Bytes, "records of before it was kept", |unit| {
            mean(&kept(unit).map(|storage| storage.bytes as f64).collect::<Vec<_>>())
        })
    },
};

pub(super) const FIELDS_POPULATED: Metric = Metric {
    id: "fields_populated",
    unit: Unit::Share,
    better: Better::Higher,
    formula: "fields with a value / fields that the conversation supported (a fact of the field's category was stated by then), \
              over all checkpoints of source 000's form; by unit; mean over units",
    source: "source 000, part 6; MEASUREMENT section 3",
    compute: |_, strategy| {
        over_units(strategy, Unit::Share, "no checkpoint was written where the suite's facts support a field", |unit| {
            let sum = |of: fn(&Storage) -> u32| kept(unit).map(of).sum::<u32>();
            ratio(
                f64::from(sum(|storage| storage.fields_populated)),
                f64::from(sum(|storage| storage.fields_supported)),
            )
        })
    },
};

fn kept<'u>(unit: &'u Group<'_>) -> impl Iterator<Item = &'u Storage> {
    unit.records.iter().filter_map(|record| record.storage.as_ref())
}
