//! Whether answers put facts in the order in which they were stated.
//!
//! Absent on purpose: prompted answers. What is retrieved for a question has an order of its own.

use super::answers;
use crate::metrics::MetricUnit;
use crate::metrics::value::over_units;
use crate::metrics::{Metric, MetricsSection};
use crate::stats::tau::tau_b;

pub(crate) const ORDER: Metric = Metric {
    id: "order",
    is_signed: true,
    unit: MetricUnit::Ratio,
    definition: "Kendall's tau, ties counted, from -1 to 1, of the order that an answer gives with that in which the facts asked for were \
              stated; a pair of facts that the answer does not both name is tied, and an answer that names fewer than two counts 0, failed \
              calls too; mean over a conversation's answers, then over conversations; in no other row of answers but `failed_probes` and \
              `cost_usd_probes`",
    compute: |_, strategy| {
        over_units(
            strategy,
            "no question asks for the order of facts in the headline set",
            |unit| {
                let asked = unit.records.iter().flat_map(|record| answers(record));
                let asked = asked.filter(|answer| answer.probe.ordered && !answer.row.prompted);
                let orders: Vec<f64> = asked
                    .map(|answer| tau_b(&answer.row.order, answer.probe.facts.len()))
                    .collect();
                crate::stats::mean(&orders)
            },
        )
    },
    ..Metric::share(MetricsSection::Answers, "Order")
};
