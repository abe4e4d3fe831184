//! A metric for tests: it is named only in the registry, and must be found in every table, file and list.

use compactometer_formats::summary::MetricValue;

use super::{Better, Metric, MetricUnit, Section};

pub(crate) const DUMMY: Metric = Metric {
    id: "dummy_metric",
    unit: MetricUnit::Count,
    better: Better::Neither,
    definition: "four thousand three hundred and twenty-one",
    section: Section::Storage,
    chapter: "Context recall",
    compute: |_, strategy| MetricValue {
        value: Some(4_321.0),
        low: None,
        high: None,
        n: strategy.units.len(),
        unit: String::new(),
        reason: None,
    },
};
