//! Recall of recent facts: what a tail of the newest messages is for.

use super::by_fact::mean_over_looks;
use super::{Column, Metric, Section};
use crate::data::recent_looks;
use crate::metrics::value::over_units;

pub(crate) const RECENT_RECALL: Metric = Metric {
    id: "recent_recall",
    column: Column::at(
        62,
        ["of", "recent"],
        "Of recent: the share of newer facts whose values the context holds.",
    ),
    definition: "as CR over the other facts that hold at a point: last mentioned within the trigger's distance, or in the system prompt \
              or the pending part; without correction for chance",
    compute: |_, strategy| {
        over_units(
            strategy,
            "no fact is recent at any observation point",
            |unit| {
                mean_over_looks(unit, recent_looks, |look| {
                    Some(f64::from(u8::from(look.is_present)))
                })
            },
        )
    },
    ..Metric::share(Section::Recall, "Context recall")
};
