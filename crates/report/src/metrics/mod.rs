//! The metrics. Each is a row that holds everything about it: id, unit, direction, definition, the
//! table that shows it, the heading of a page of `docs/measurement` that explains it, and its
//! computation. Pages, files and lists iterate [`ALL`], so a new metric needs its row and one line
//! there.
//!
//! Absent on purpose: rankings.

mod agents;
pub(crate) mod answered;
pub(crate) mod answers;
pub(crate) mod around_facts;
pub(crate) mod bound;
mod by_fact;
pub(crate) mod chance;
pub(crate) mod chance_match;
pub(crate) mod compaction_trouble;
pub(crate) mod cost;
#[cfg(test)]
pub(crate) mod dummy;
pub(crate) mod engine;
pub(crate) mod failures;
mod metric;
pub(crate) mod position;
pub(crate) mod prompted;
pub(crate) mod recall;
mod recent;
pub(crate) mod scores;
mod section;
mod stages;
pub(crate) mod storage;
pub(crate) mod survival;
mod unit;
pub(crate) mod user_sentences;
pub(crate) mod value;

pub use metric::{Better, Metric};
pub(crate) use metric::{SEALED, UNMETERED};
pub use section::MetricsSection;
pub use unit::MetricUnit;

/// Every metric, in the order of reports.
pub const ALL: &[Metric] = &[
    bound::BOUND_RECALL,
    bound::BOUND_RECALL_CORRECTED,
    recall::CONTEXT_RECALL,
    recall::CONTEXT_RECALL_CORRECTED,
    recent::RECENT_RECALL,
    user_sentences::SAID_RECALL,
    user_sentences::SAID_RECALL_1,
    user_sentences::SAID_RECALL_2,
    user_sentences::SAID_RECALL_3,
    around_facts::STATED_SHARE,
    around_facts::BINDING_INDEX,
    recall::LIFT,
    recall::SELECTION_LIFT,
    recall::ADDRESS_USE_RECALL,
    recall::ADDRESS_USE_FLOOR,
    recall::ADDRESS_USE_CEILING,
    recall::ADDRESS_USES,
    recall::ADDRESS_USE_LIFT,
    recall::UNCOMPACTED_ADDRESS_USE_RECALL,
    recall::UNCOMPACTED_ADDRESS_USES,
    recall::DISTANT_ADDRESS_USE_RECALL,
    recall::ADDRESS_USE_RECALL_AT_MOST,
    recall::NEEDED_AT_USE_RECALL,
    recall::NEEDED_AT_USE_WITH_GENERIC,
    prompted::PROMPTED_RECALL,
    prompted::PROMPTED_RECALL_CORRECTED,
    prompted::RETRIEVED_TOKENS,
    answered::memory::MEMORY_DOCUMENT_RECALL,
    answered::memory::MEMORY_NOTE_RECALL,
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
    compaction_trouble::LIVE_REQUEST_PRESENT,
    compaction_trouble::FREED_SHARE,
    compaction_trouble::REFIRE_SHARE,
    compaction_trouble::WRITTEN_BUDGET,
    compaction_trouble::WAIT_MS_P50,
    compaction_trouble::WAIT_MS_P95,
    compaction_trouble::WAIT_MS_TOTAL,
    compaction_trouble::WAITING_SHARE,
    answers::EXTRACTION_SUCCESS,
    answers::IS_SUMMARY,
    storage::FIELDS_POPULATED,
    survival::SURVIVAL_FIRST_ROUND,
    survival::DRIFT,
    survival::DRIFT_20_ROUNDS,
    survival::DRIFT_100_ROUNDS,
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
    agents::TURNS_PLAYED,
    agents::RESULTS_WHOLE,
    agents::OWN_TOKENS,
    agents::REQUESTS_OVER_WINDOW,
    agents::COMPACTIONS_UNASKED,
    #[cfg(test)]
    dummy::DUMMY,
];

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
        assert!(
            ALL.iter()
                .all(|metric| !metric.id.is_empty() && !metric.definition.is_empty())
        );
        for id in REQUIRED.split_whitespace() {
            assert_eq!(
                ALL.iter().filter(|metric| metric.id == id).count(),
                1,
                "{id}"
            );
        }
    }
}
