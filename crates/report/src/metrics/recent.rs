//! Recall of recent facts: what a tail of the newest messages is for.

use super::by_fact::mean_over_looks;
use super::{Metric, MetricsSection};
use crate::data::recent_looks;
use crate::metrics::value::over_units;

pub(crate) const RECENT_RECALL: Metric = Metric {
    id: "recent_recall",
    place: Some(62),
    definition: "as context_recall over the other facts that hold at a point: last mentioned within the trigger's distance, or in the system prompt \
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
    ..Metric::share(MetricsSection::Recall, "Context recall")
};
