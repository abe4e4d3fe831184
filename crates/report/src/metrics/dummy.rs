//! A metric for tests: it is named only in the registry, and must be found in every table, file and
//! list.

use super::{Better, Metric, MetricUnit, MetricsSection};
use crate::metrics::value::defined;

pub(crate) const DUMMY: Metric = Metric {
    id: "dummy_metric",
    place: Some(99),
    unit: MetricUnit::Count,
    better: Better::Neither,
    definition: "four thousand three hundred and twenty-one",
    compute: |_, strategy| defined(4_321.0, None, strategy.units.len()),
    ..Metric::share(MetricsSection::Storage, "Context recall")
};
