//! Compactions that failed and requests over the window. Both keep everything in the context, and
//! neither is memory.

use compactometer_engine::event::Outcome;
use compactometer_formats::summary::{Compared, StrategySummary};

use super::{Better, Metric, MetricsSection};
use crate::data::{ProtocolRun, StrategyRecords, UnitRecords, is_applied};
use crate::metrics::value::{over_units, ratio};

pub(crate) const FAILED_SHARE: Metric = Metric {
    id: "failed_share",
    better: Better::Lower,
    definition: "compactions that were due and failed / those that were applied or failed, by conversation",
    compute: |_, strategy| over_units(strategy, "no compaction was due", failed),
    ..Metric::share(MetricsSection::Requests, "Contexts that count as empty")
};

pub(crate) const OVER_WINDOW_SHARE: Metric = Metric {
    id: "over_window_share",
    better: Better::Lower,
    definition: "turns whose request exceeds the context window / turns, by conversation",
    compute: |_, strategy| over_units(strategy, "the agent took no turn", over_window),
    ..Metric::share(MetricsSection::Requests, "Contexts that count as empty")
};

/// The greatest share of either with which a strategy is compared.
const MOST: f64 = 0.05;

/// Why a strategy cannot be compared: it asks another model, or it fails or exceeds the window too
/// often.
pub(crate) fn why_not_compared(
    run: &ProtocolRun,
    strategy: &StrategyRecords,
) -> Option<(Compared, String)> {
    if run.is_unmetered(strategy.name) {
        let reason = "asks a model past the meter, so its summaries may be another model's, and its calls are in no cost";
        return Some((Compared::Unmetered, reason.to_owned()));
    }
    if let Some(found) = not_understood(strategy) {
        return Some((Compared::NotUnderstood, found));
    }
    Some((Compared::FailsTooOften, fails_too_often(strategy)?))
}

fn fails_too_often(strategy: &StrategyRecords) -> Option<String> {
    let mean = |of: fn(&UnitRecords) -> Option<f64>| {
        crate::stats::mean(&strategy.units.iter().filter_map(of).collect::<Vec<_>>())
            .filter(|share| *share > MOST)
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    if let Some(share) = mean(failed) {
        return Some(format!(
            "{} of the compactions that were due failed; a failed compaction keeps everything, so its recall means nothing",
            percent(share)
        ));
    }
    let share = mean(over_window)?;
    Some(format!(
        "{} of its turns were sent over the context window, which no provider takes",
        percent(share)
    ))
}

/// Fewer facts that were shown to a summarizer do not decide whether it understood its prompt.
const SHOWN: u32 = 200;

/// The number of facts that a summarizer was shown, if there are enough to decide whether it understood
/// its prompt.
pub(crate) fn shown_enough(strategy: &StrategyRecords) -> Option<u32> {
    let rows = strategy.rows().filter(|row| is_applied(row));
    let shown = rows.map(|row| row.stages.reached).sum::<u32>();
    (shown >= SHOWN).then_some(shown)
}

/// That a summarizer wrote no fact of the many that it was shown, with the compaction at which it was
/// shown most. Its recall is that of a prompt which it did not understand.
pub(crate) fn not_understood(strategy: &StrategyRecords) -> Option<String> {
    // A call that failed says nothing about what a summarizer understands.
    let rows = || {
        let records = strategy.records();
        let rows =
            records.flat_map(|record| record.compactions.iter().map(move |row| (record, row)));
        rows.filter(|(_, row)| is_applied(row))
    };
    let shown = shown_enough(strategy).filter(|_| !strategy.is_sealed)?;
    if rows().any(|(_, row)| row.stages.written > 0) {
        return None;
    }
    let (record, most) = rows().max_by_key(|(_, row)| row.stages.reached)?;
    Some(format!(
        "the summarizer did not understand this prompt: it wrote none of the {shown} facts that it was shown; in `{}` after message {} it was shown {}",
        record.case.scenario, most.event.after.0, most.stages.reached
    ))
}

/// Whether a report marks the strategy as one that fails, or exceeds the window, too often to be
/// compared.
pub(crate) fn is_marked(strategy: &StrategySummary) -> bool {
    let exceeds = |metric: &Metric| metric.value(strategy).is_some_and(|share| share > MOST);
    strategy.family.is_tested() && (exceeds(&FAILED_SHARE) || exceeds(&OVER_WINDOW_SHARE))
}

pub(crate) fn failed(unit: &UnitRecords) -> Option<f64> {
    let rows = || unit.records.iter().flat_map(|record| &record.compactions);
    let failed = rows()
        .filter(|row| matches!(row.event.outcome, Outcome::Failed(_)))
        .count();
    let applied = rows().filter(|row| is_applied(row)).count();
    ratio(failed as f64, (failed + applied) as f64)
}

pub(crate) fn over_window(unit: &UnitRecords) -> Option<f64> {
    let turns = || unit.records.iter().flat_map(|record| &record.turns);
    ratio(
        turns().filter(|turn| turn.over_window).count() as f64,
        turns().count() as f64,
    )
}
