//! How far facts come on their way out of the context: reached | left, written | reached, kept |
//! written.

use compactometer_formats::record::Stages;
use compactometer_formats::summary::MetricValue;

use super::{Metric, MetricsSection};
use crate::data::StrategyRecords;
use crate::metrics::value::{over_units, ratio, undefined};

pub(crate) const REACHED: Metric = Metric {
    id: "reached",
    definition: "facts that an answered request to the summarizer held / facts whose last original left, by conversation",
    compute: |_, strategy| {
        rate(strategy, "no fact left", |stages| {
            (stages.reached, stages.left)
        })
    },
    ..Metric::share(MetricsSection::Stages, "Stages")
};

pub(crate) const WRITTEN: Metric = Metric {
    id: "written",
    definition: "facts that a reply held / facts that reached a summarizer, by conversation",
    compute: |_, strategy| {
        rate(strategy, "no fact reached a summarizer", |stages| {
            (stages.written, stages.reached)
        })
    },
    reads_texts: true,
    ..Metric::share(MetricsSection::Stages, "Stages")
};

pub(crate) const KEPT: Metric = Metric {
    id: "kept",
    definition: "facts that the new context carries / facts that a reply held, by conversation",
    compute: |_, strategy| {
        rate(strategy, "no fact was written", |stages| {
            (stages.kept, stages.written)
        })
    },
    reads_texts: true,
    ..Metric::share(MetricsSection::Stages, "Stages")
};

fn rate(
    strategy: &StrategyRecords,
    reason: &str,
    parts: impl Fn(&Stages) -> (u32, u32),
) -> MetricValue {
    if strategy.calls().next().is_none() {
        return undefined("calls no summarizer");
    }
    over_units(strategy, reason, |unit| {
        let rows = unit.records.iter().flat_map(|record| &record.compactions);
        let (part, whole) = rows
            .map(|row| parts(&row.stages))
            .fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        ratio(f64::from(part), f64::from(whole))
    })
}
