//! The metrics. Each is a row that holds everything about it: id, unit, direction, definition, the table that shows it, the
//! heading of a page of `docs/measurement` that explains it, and its computation. Pages, files and lists iterate [`ALL`], so a new metric
//! needs its row and one line there.
//!
//! Absent on purpose: rankings.

use compactometer_formats::summary::{MetricValue, StrategySummary};

use crate::data::{ProtocolRun, StrategyRecords, UnitRecords};
use crate::stats::{interval, mean, nine_digits};

mod answered;
mod answers;
mod bound;
mod by_fact;
mod chance;
mod chance_match;
mod compactions;
mod cost;
#[cfg(test)]
pub(crate) mod dummy;
mod engine;
mod failures;
mod position;
mod prompted;
mod recall;
mod said;
pub(crate) mod scores;
mod section;
mod stages;
mod storage;
mod survival;
mod unit;

pub(crate) use answered::memory::{MEMORY_DOCUMENT_RECALL, MEMORY_NOTE_RECALL};
pub(crate) use answered::wrong::is_cut;
pub(crate) use answered::{ANSWER_RECALL, COST_USD_PROBES};
pub(crate) use answered::{answer_shares, of_carried, reader_strength, score as answer_score};
pub(crate) use answers::{EXTRACTION_SUCCESS, extraction_counts};
pub(crate) use bound::{
    BOUND_RECALL, BOUND_RECALL_CORRECTED, of_unit as bound_of_unit, shares_of_unit as bound_shares,
    why_undefined as why_unbound,
};
pub(crate) use chance::CorrectedRecall;
pub(crate) use chance_match::{KEYWORD_LUCK, by_kind};
pub(crate) use compactions::{WAIT_MS_P50, WAIT_MS_P95, WAIT_MS_TOTAL, WAITING_SHARE, WRITTEN_BUDGET, background_ms};
pub(crate) use cost::{BREAK_EVEN_TURNS, COST_AGAINST_FULL, COST_SAVING, COST_SAVING_10MIN};
pub(crate) use cost::{COST_USD, COST_USD_10MIN, COST_USD_CHECKPOINT, COST_USD_COMPACTION};
pub(crate) use cost::{COST_USD_RECORDED, FIXED_PREFIX_TOKENS};
pub(crate) use cost::{CostParts, parts as cost_parts, saving_without_cache};
pub(crate) use engine::{NO_WAITS, TOKENS_RETAINED, tokens_retained, waits};
pub(crate) use failures::{
    FAILED_SHARE, OVER_WINDOW_SHARE, failed as failed_share_of, is_marked, over_window as over_window_share_of,
    why_not_compared,
};
pub(crate) use position::by_position;
pub(crate) use prompted::{PROMPTED_RECALL, RETRIEVED_TOKENS};
pub(crate) use recall::{ADDRESS_USE_RECALL, CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED};
pub(crate) use recall::{by_category, by_round, fact_shares, of_unit as recall_of_unit};
pub(crate) use said::{STATED_SHARE, stated_share_of};
pub use section::Section;
pub(crate) use storage::{FIELDS_POPULATED, STORAGE_BYTES, STORED_SHARE};
pub(crate) use survival::{
    by_rounds as survival_by_rounds, by_tokens as survival_by_tokens, drift_at, least_drift, nothing_survives,
};
pub use unit::MetricUnit;
pub(crate) use unit::{grouped, short_share};

/// Every metric, in the order of reports.
pub const ALL: &[Metric] = &[
    bound::BOUND_RECALL,
    bound::BOUND_RECALL_CORRECTED,
    recall::CONTEXT_RECALL,
    recall::CONTEXT_RECALL_CORRECTED,
    STATED_SHARE,
    said::BINDING_INDEX,
    recall::LIFT,
    recall::SELECTION_LIFT,
    recall::ADDRESS_USE_RECALL,
    recall::ADDRESS_USE_RECALL_AT_MOST,
    recall::NEEDED_AT_USE_RECALL,
    recall::NEEDED_AT_USE_WITH_GENERIC,
    prompted::PROMPTED_RECALL,
    prompted::PROMPTED_RECALL_CORRECTED,
    prompted::RETRIEVED_TOKENS,
    MEMORY_DOCUMENT_RECALL,
    MEMORY_NOTE_RECALL,
    chance_match::KEYWORD_LUCK,
    answered::ANSWER_RECALL,
    answered::ANSWER_RECALL_CORRECTED,
    answered::PROMPTED_ANSWER_RECALL,
    answered::ANSWERED_GIVEN_PRESENT,
    answered::ANSWERED_GIVEN_ABSENT,
    answered::CLOSED_BOOK,
    answered::wrong::WRONG_VALUE_RATE,
    answered::wrong::STALENESS,
    answered::wrong::CONTRADICTION,
    answered::wrong::HALLUCINATION,
    answered::wrong::ABSTENTION,
    answered::wrong::FALSE_ABSTENTION,
    answered::order::ORDER,
    answered::memory::MEMORY_ANSWER_RECALL,
    answered::wrong::FAILED_PROBES,
    answered::wrong::CUT_ANSWERS,
    stages::REACHED,
    stages::WRITTEN,
    stages::KEPT,
    engine::TOKENS_RETAINED,
    engine::COMPRESSION_RATIO,
    engine::REQUEST_VALIDITY,
    failures::FAILED_SHARE,
    failures::OVER_WINDOW_SHARE,
    compactions::LIVE_REQUEST_PRESENT,
    compactions::FREED_SHARE,
    compactions::REFIRE_SHARE,
    compactions::WRITTEN_BUDGET,
    compactions::WAIT_MS_P50,
    compactions::WAIT_MS_P95,
    compactions::WAIT_MS_TOTAL,
    compactions::WAITING_SHARE,
    answers::EXTRACTION_SUCCESS,
    answers::IS_SUMMARY,
    storage::FIELDS_POPULATED,
    survival::SURVIVAL_FIRST_ROUND,
    survival::DRIFT,
    survival::CLIFF,
    cost::COST_USD,
    cost::COST_USD_10MIN,
    cost::COST_USD_COMPACTION,
    cost::COST_USD_CHECKPOINT,
    answered::COST_USD_PROBES,
    cost::COST_SAVING,
    cost::COST_SAVING_10MIN,
    cost::COST_AGAINST_FULL,
    cost::BREAK_EVEN_TURNS,
    cost::CACHE_HIT_RATE,
    cost::COST_USD_RECORDED,
    cost::FIXED_PREFIX_TOKENS,
    storage::CHECKPOINTS_WRITTEN,
    storage::RECOVERIES_SHOWN,
    storage::SUMMARIES_SHOWN,
    storage::STORAGE_BYTES,
    storage::STORED_SHARE,
    #[cfg(test)]
    dummy::DUMMY,
];

/// One metric.
pub struct Metric {
    /// Its id in `summary.json`.
    pub id: &'static str,
    /// What its value counts.
    pub unit: MetricUnit,
    /// Which way is better.
    pub better: Better,
    /// How it is computed.
    pub definition: &'static str,
    /// The table that shows it.
    pub section: Section,
    /// The heading of a page of `docs/measurement` that explains it.
    pub chapter: &'static str,
    /// Whether it can be under 0: what is corrected for chance, and differences.
    pub(crate) is_signed: bool,
    /// Its column of the terminal's table, which has room for a few; pages show all.
    pub(crate) column: Option<Column>,
    pub(crate) compute: fn(&ProtocolRun, &StrategyRecords) -> MetricValue,
}

/// A column of the terminal's table.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// Its two lines.
    pub(crate) header: [&'static str; 2],
    /// Its place from left to right. A narrow terminal shows the first ones.
    pub(crate) place: u8,
    pub(crate) has_interval: bool,
    /// What the header does not say, as a sentence below the table; may be empty.
    pub(crate) about: &'static str,
}

impl Column {
    const fn at(place: u8, header: [&'static str; 2], about: &'static str) -> Option<Self> {
        Some(Column { header, place, has_interval: false, about })
    }
}

/// The recall of a group that readers see first: BR*; CR* where facts have no subjects, and CR where chance is unknown.
pub(crate) fn shown_recall(strategies: &[StrategySummary]) -> &'static Metric {
    let has_any = |metric: &&'static Metric| strategies.iter().any(|strategy| metric.value(strategy).is_some());
    [&BOUND_RECALL_CORRECTED, &CONTEXT_RECALL_CORRECTED].into_iter().find(has_any).unwrap_or(&CONTEXT_RECALL)
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: a property to hold equal, not to win by.
    Neither,
}

impl Better {
    /// The word that reports print.
    pub fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }
    }
}

impl Metric {
    /// What most metrics are: a share, better higher, without a column in the terminal's table. A row adds the rest.
    const fn share(section: Section, chapter: &'static str) -> Self {
        Metric {
            id: "",
            unit: MetricUnit::Share,
            better: Better::Higher,
            definition: "",
            section,
            chapter,
            is_signed: false,
            column: None,
            compute: |_, _| undefined("not computed"),
        }
    }

    /// Its value for a strategy, with an interval that reaches no further than the metric does.
    pub(crate) fn measure(&self, run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
        let value = (self.compute)(run, strategy);
        let least = if self.is_signed { f64::NEG_INFINITY } else { 0.0 };
        rounded(self.unit, within(self.unit, least, value))
    }

    /// What a summary has for a strategy.
    pub(crate) fn of<'s>(&self, strategy: &'s StrategySummary) -> Option<&'s MetricValue> {
        strategy.metrics.get(self.id)
    }

    /// The number, if it is defined.
    pub(crate) fn value(&self, strategy: &StrategySummary) -> Option<f64> {
        self.of(strategy)?.value
    }
}

/// The numbers of a summary: nine digits, with their unit.
pub(crate) fn rounded(unit: MetricUnit, value: MetricValue) -> MetricValue {
    let [low, high] = [value.low, value.high].map(|end| end.map(nine_digits));
    MetricValue { value: value.value.map(nine_digits), low, high, unit: unit.name().to_owned(), ..value }
}

/// The interval cut off at the least that the value can be and, of a share, at 1.
pub(crate) fn within(unit: MetricUnit, least: f64, value: MetricValue) -> MetricValue {
    let most = if unit == MetricUnit::Share { 1.0 } else { f64::INFINITY };
    MetricValue { low: value.low.map(|low| low.max(least)), high: value.high.map(|high| high.min(most)), ..value }
}

/// No value; [`rounded`] adds the unit.
pub(crate) fn undefined(reason: impl Into<String>) -> MetricValue {
    MetricValue::undefined("", reason)
}

/// A value of `n` units; [`rounded`] adds the unit.
pub(crate) fn defined(value: f64, interval: Option<(f64, f64)>, n: usize) -> MetricValue {
    let (low, high) = interval.unzip();
    MetricValue { value: Some(value), low, high, n, unit: String::new(), reason: None }
}

/// The mean of a number over the units that have it, with its interval.
fn over_units(strategy: &StrategyRecords, reason: &str, number: impl Fn(&UnitRecords) -> Option<f64>) -> MetricValue {
    let values: Vec<f64> = strategy.units.iter().filter_map(number).collect();
    let Some(value) = mean(&values) else { return undefined(reason) };
    let is_one = values.iter().all(|other| *other == values[0]);
    // The mean of equal numbers differs from them by rounding.
    defined(if is_one { values[0] } else { value }, interval::of_mean(&values), values.len())
}

/// A statistic of units that each count so many times, with its interval; `n` of `units` carry a value.
fn estimated(units: usize, n: usize, statistic: impl Fn(&[u32]) -> Option<f64>) -> MetricValue {
    let value = statistic(&vec![1; units]);
    MetricValue { value, ..defined(0.0, interval::of_statistic(units, n, statistic), n) }
}

fn weighted_mean(values: &[f64], times: &[u32]) -> Option<f64> {
    let drawn: u32 = times.iter().sum();
    let sum: f64 = values.iter().zip(times).map(|(value, times)| value * f64::from(*times)).sum();
    (drawn > 0).then(|| sum / f64::from(drawn))
}

/// `part / whole`, if `whole` is over 0.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The metrics that no release may lose.
    const REQUIRED: &str = "context_recall context_recall_corrected lift needed_at_use_recall answer_recall reached \
        written kept tokens_retained compression_ratio request_validity wrong_value_rate staleness extraction_success \
        is_summary fields_populated drift cost_usd cost_usd_compaction cache_hit_rate wait_ms_p50 \
        wait_ms_p95 wait_ms_total waiting_share storage_bytes checkpoints_written recoveries_shown summaries_shown";

    #[test]
    fn every_required_metric_has_one_row() {
        assert!(ALL.iter().all(|metric| !metric.id.is_empty() && !metric.definition.is_empty()));
        for id in REQUIRED.split_whitespace() {
            assert_eq!(ALL.iter().filter(|metric| metric.id == id).count(), 1, "{id}");
        }
    }
}
