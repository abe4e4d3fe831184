//! What users complain of: compactions that free little, fire again at once, lose the live request,
//! or make the agent wait.

use compactometer_formats::record::Record;
use compactometer_formats::summary::MetricValue;

use super::{Better, Metric, MetricUnit, MetricsSection, engine};
use crate::data::{StrategyRecords, UnitRecords, is_applied};
use crate::metrics::value::{defined, over_units, ratio, undefined};
use crate::stats::{mean, quantile};

pub(crate) const FREED_SHARE: Metric = Metric {
    id: "freed_share",
    is_signed: true,
    definition: "(tokens of the request before - after) / before; mean over a conversation's applied compactions, then over conversations",
    compute: |_, strategy| over_units(strategy, NONE_APPLIED, freed),
    ..Metric::share(MetricsSection::Requests, "Compactions")
};

pub(crate) const REFIRE_SHARE: Metric = Metric {
    id: "refire_share",
    better: Better::Lower,
    definition: "applied compactions that the next one follows within three turns of the agent / applied compactions with a next \
              one, by conversation",
    compute: |_, strategy| over_units(strategy, "no compaction followed another", refired),
    ..Metric::share(MetricsSection::Requests, "Compactions")
};

pub(crate) const LIVE_REQUEST_PRESENT: Metric = Metric {
    id: "live_request_present",
    definition: "applied compactions after which the context holds the user's last message, whole or in part / applied compactions, \
              by conversation",
    compute: |_, strategy| {
        over_units(
            strategy,
            "no record says whether the user's last message stayed",
            live_request,
        )
    },
    ..Metric::share(MetricsSection::Requests, "Compactions")
};

pub(crate) const WRITTEN_BUDGET: Metric = Metric {
    id: "written_budget",
    place: Some(65),
    unit: MetricUnit::Tokens,
    better: Better::Neither,
    definition: "tokens that the strategy may write at a compaction; the rest of the retained budget is its verbatim tail",
    compute: |_, strategy| over_units(strategy, "there is no record", written_tokens),
    ..Metric::share(MetricsSection::Requests, "Sizes")
};

pub(crate) const WAIT_MS_P50: Metric = Metric {
    id: "wait_ms_p50",
    place: Some(68),
    definition: "median over the turns that waited for compactions or checkpoints of the time that they waited; no interval",
    compute: |_, strategy| wait(strategy, 0.5),
    ..IN_MILLISECONDS
};

pub(crate) const WAIT_MS_P95: Metric = Metric {
    id: "wait_ms_p95",
    place: Some(40),
    definition: "95th percentile over the turns that waited for compactions or checkpoints of the time that they waited; no interval",
    compute: |_, strategy| wait(strategy, 0.95),
    ..IN_MILLISECONDS
};

pub(crate) const WAIT_MS_TOTAL: Metric = Metric {
    id: "wait_ms_total",
    definition: "time that all turns of a conversation waited for compactions and checkpoints; mean over conversations",
    compute: |_, strategy| over_units(strategy, engine::NO_WAITS, waited),
    ..IN_MILLISECONDS
};

pub(crate) const WAITING_SHARE: Metric = Metric {
    id: "waiting_share",
    better: Better::Lower,
    definition: "turns of the agent that waited for compactions or checkpoints / turns, by conversation",
    compute: |_, strategy| over_units(strategy, engine::NO_WAITS, waiting),
    ..Metric::share(MetricsSection::Requests, "Latency")
};

const IN_MILLISECONDS: Metric = Metric {
    unit: MetricUnit::Milliseconds,
    better: Better::Lower,
    ..Metric::share(MetricsSection::Requests, "Latency")
};

const NONE_APPLIED: &str = "no compaction was applied";
/// Turns of the agent.
const SOON: usize = 3;

fn freed(unit: &UnitRecords) -> Option<f64> {
    let applied = unit
        .records
        .iter()
        .flat_map(|record| &record.compactions)
        .filter(|row| is_applied(row));
    let share =
        |before: u32, after: u32| ratio(f64::from(before) - f64::from(after), f64::from(before));
    mean(
        &applied
            .filter_map(|row| share(row.event.tokens_before, row.event.tokens_after))
            .collect::<Vec<_>>(),
    )
}

fn refired(unit: &UnitRecords) -> Option<f64> {
    let (mut soon, mut all) = (0.0, 0.0);
    for record in &unit.records {
        let applied = record
            .compactions
            .iter()
            .filter(|row| is_applied(row))
            .map(|row| row.event.after);
        let applied = applied.collect::<Vec<_>>();
        for pair in applied.windows(2) {
            let between = record
                .turns
                .iter()
                .filter(|turn| turn.message > pair[0] && turn.message <= pair[1])
                .count();
            soon += f64::from(u8::from(between <= SOON));
            all += 1.0;
        }
    }
    ratio(soon, all)
}

fn live_request(unit: &UnitRecords) -> Option<f64> {
    let applied = unit
        .records
        .iter()
        .flat_map(|record| &record.compactions)
        .filter(|row| is_applied(row));
    mean(
        &applied
            .filter_map(|row| row.holds_request)
            .map(|holds| f64::from(u8::from(holds)))
            .collect::<Vec<_>>(),
    )
}

fn written_tokens(unit: &UnitRecords) -> Option<f64> {
    mean(
        &unit
            .records
            .iter()
            .map(|record| f64::from(record.case.budget.written))
            .collect::<Vec<_>>(),
    )
}

fn waited(unit: &UnitRecords) -> Option<f64> {
    let of_record = |record: &&Record| {
        record
            .turns
            .iter()
            .map(|turn| Some(turn.waited_ms? as f64))
            .sum::<Option<f64>>()
    };
    mean(
        &unit
            .records
            .iter()
            .map(of_record)
            .collect::<Option<Vec<_>>>()?,
    )
}

fn waiting(unit: &UnitRecords) -> Option<f64> {
    let turns = unit.records.iter().flat_map(|record| &record.turns);
    let waited = turns
        .map(|turn| Some(f64::from(u8::from(turn.waited_ms? > 0))))
        .collect::<Option<Vec<_>>>()?;
    mean(&waited)
}

/// The time of the session's calls for which no turn waited, in a conversation: mean over units.
/// Unknown if a latency is.
pub(crate) fn background_ms(strategy: &StrategyRecords) -> Option<f64> {
    let of_record = |record: &&Record| {
        let calls = record
            .calls()
            .map(|call| Some(call.latency_ms? as f64))
            .sum::<Option<f64>>()?;
        let waited = record
            .turns
            .iter()
            .map(|turn| Some(turn.waited_ms? as f64))
            .sum::<Option<f64>>()?;
        Some((calls - waited).max(0.0))
    };
    let of_unit = |unit: &UnitRecords| {
        mean(
            &unit
                .records
                .iter()
                .map(of_record)
                .collect::<Option<Vec<_>>>()?,
        )
    };
    mean(
        &strategy
            .units
            .iter()
            .map(of_unit)
            .collect::<Option<Vec<_>>>()?,
    )
}

/// How long each turn that waited did, in milliseconds, the shortest first; nothing where that is
/// not known.
pub(crate) fn waits_of(strategy: &StrategyRecords) -> Option<Vec<f64>> {
    let mut waits = engine::waits(strategy)?;
    waits.retain(|wait| *wait > 0.0);
    waits.sort_by(f64::total_cmp);
    Some(waits)
}

fn wait(strategy: &StrategyRecords, share: f64) -> MetricValue {
    let Some(waits) = waits_of(strategy) else {
        return undefined(engine::NO_WAITS);
    };
    match quantile(&waits, share) {
        Some(wait) => defined(wait, None, strategy.units.len()),
        None => undefined("no turn waited for a compaction"),
    }
}
