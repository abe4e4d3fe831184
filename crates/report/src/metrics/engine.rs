//! What compactions did to requests: size, validity and waiting.

use compactometer_engine::event::{Event, Outcome};
use compactometer_formats::summary::MetricValue;

use super::{Better, Metric, MetricsSection};
use crate::data::{StrategyRecords, UnitRecords, is_applied};
use crate::metrics::MetricUnit;
use crate::metrics::value::{over_units, ratio};
use crate::stats::mean;

pub(crate) const TOKENS_RETAINED: Metric = Metric {
    id: "tokens_retained",
    place: Some(60),
    unit: MetricUnit::Tokens,
    better: Better::Neither,
    definition: "tokens that count against the retained budget after a compaction; a failed one leaves what there was; mean over a \
              conversation's compactions that were applied or failed, then over conversations",
    compute: |_, strategy| over_units(strategy, "no compaction was due", tokens_retained),
    ..Metric::share(MetricsSection::Requests, "Sizes")
};

pub(crate) const COMPRESSION_RATIO: Metric = Metric {
    id: "compression_ratio",
    unit: MetricUnit::Ratio,
    better: Better::Neither,
    definition: "tokens of the view after / before; mean over a conversation's applied compactions, then over conversations",
    compute: |_, strategy| {
        over_compactions(strategy, |event| {
            ratio(
                f64::from(event.tokens_after),
                f64::from(event.tokens_before),
            )
        })
    },
    ..Metric::share(MetricsSection::Requests, "Sizes")
};

pub(crate) const REQUEST_VALIDITY: Metric = Metric {
    id: "request_validity",
    definition: "turns whose request no provider would refuse / turns, by conversation",
    compute: |_, strategy| over_units(strategy, NO_TURN, valid_turns),
    ..Metric::share(MetricsSection::Requests, "Summaries and checkpoints")
};

/// Why there are no waits.
pub(crate) const NO_WAITS: &str =
    "the records hold no waits; if a server was called, `timings.json` has them";

/// How long each turn waited for compactions, in milliseconds; nothing if a wait is unknown.
pub(crate) fn waits(strategy: &StrategyRecords) -> Option<Vec<f64>> {
    let turns = strategy.records().flat_map(|record| &record.turns);
    turns
        .map(|turn| turn.waited_ms.map(|waited| waited as f64))
        .collect()
}

const NO_TURN: &str = "the agent took no turn";

/// Mean tokens after a unit's compactions, those included that failed and left everything.
pub(crate) fn tokens_retained(unit: &UnitRecords) -> Option<f64> {
    let due = unit.records.iter().flat_map(|record| &record.compactions);
    let due = due.filter(|row| is_applied(row) || matches!(row.event.outcome, Outcome::Failed(_)));
    mean(
        &due.map(|row| f64::from(row.event.tokens_retained))
            .collect::<Vec<_>>(),
    )
}

fn over_compactions(
    strategy: &StrategyRecords,
    number: impl Fn(&Event) -> Option<f64>,
) -> MetricValue {
    over_units(strategy, "no compaction was applied", |group| {
        let applied = group
            .records
            .iter()
            .flat_map(|record| &record.compactions)
            .filter(|row| is_applied(row));
        mean(
            &applied
                .filter_map(|row| number(&row.event))
                .collect::<Vec<_>>(),
        )
    })
}

fn valid_turns(unit: &UnitRecords) -> Option<f64> {
    let turns = || unit.records.iter().flat_map(|record| &record.turns);
    ratio(
        turns().filter(|turn| turn.violations == 0).count() as f64,
        turns().count() as f64,
    )
}
