//! What the engine decided, counted: failures, retries, fallbacks, and failures in a row.

use std::collections::BTreeMap;

use compactometer_engine::checkpoint::{Extraction, LadderReading};
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_formats::record::Record;
use compactometer_formats::summary::{Decisions, FailureCount};

use crate::data::{StrategyRecords, is_applied};

/// The number of failures in a row from which readers are warned.
pub(crate) const ALERT: usize = 3;

/// The decisions of all conversations of a strategy.
pub(crate) fn counted(strategy: &StrategyRecords) -> Decisions {
    let mut counts = Decisions::default();
    for record in strategy.records() {
        for row in &record.compactions {
            match row.event.outcome {
                Outcome::Applied => counts.applied += 1,
                Outcome::Skipped(_) => counts.skipped += 1,
                Outcome::Failed(_) => counts.failed += 1,
            }
            counts.fallbacks += usize::from(is_applied(row) && row.event.fallback.is_some());
            counts.retries += row.event.attempts.saturating_sub(1) as usize;
        }
        let failed = record
            .checkpoints
            .iter()
            .filter(|row| row.event.failed.is_some())
            .count();
        counts.checkpoints += record.checkpoints.len() - failed;
        counts.checkpoints_failed += failed;
        counts.calls += record.calls().count();
        counts.calls_failed += record.calls().filter(|call| call.error.is_some()).count();
        let [compactions, extractions] = in_a_row(record);
        counts.most_failures_in_a_row = counts.most_failures_in_a_row.max(compactions);
        counts.most_unread_in_a_row = counts.most_unread_in_a_row.max(extractions);
        counts.alerts += usize::from(compactions.max(extractions) >= ALERT);
    }
    counts
}

/// Reasons that are reported.
const MOST_REASONS: usize = 3;

/// The most frequent reasons for which compactions or checkpoints failed, or compactions fell back
/// to a lesser answer.
pub(crate) fn frequent_failures(strategy: &StrategyRecords) -> Vec<FailureCount> {
    let mut by_reason = BTreeMap::<String, usize>::new();
    strategy
        .records()
        .flat_map(failures)
        .for_each(|reason| *by_reason.entry(reason).or_default() += 1);
    let mut counts: Vec<_> = by_reason
        .into_iter()
        .map(|(reason, count)| FailureCount { reason, count })
        .collect();
    counts.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    counts.truncate(MOST_REASONS);
    counts
}

/// Why compactions and checkpoints of a case failed.
fn failures(record: &Record) -> impl Iterator<Item = String> + '_ {
    let compactions = record.compactions.iter();
    let compactions = compactions.filter_map(|row| match &row.event.outcome {
        Outcome::Failed(reason) => Some(reason),
        _ => row.event.fallback.as_ref(),
    });
    let checkpoints = record.checkpoints.iter();
    let checkpoints = checkpoints.filter_map(|row| row.event.failed.as_ref());
    compactions.chain(checkpoints).map(words)
}

/// The reason without the numbers that differ each time.
fn words(reason: &FailReason) -> String {
    match reason {
        FailReason::StaysAtTrigger { .. } => {
            "the request stays at its trigger whatever is compacted".to_owned()
        }
        other => other.to_string(),
    }
}

/// The longest series of failures of one conversation: of compactions, and of checkpoints that
/// could not be read. What is skipped, or has used up the calls that the strategy allows itself,
/// neither continues nor ends a series.
fn in_a_row(record: &Record) -> [usize; 2] {
    let compactions = record.compactions.iter().filter_map(|row| {
        match (&row.event.outcome, &row.event.fallback) {
            (Outcome::Failed(FailReason::CallsUsedUp(_)), _)
            | (Outcome::Applied, Some(FailReason::CallsUsedUp(_))) => None,
            (Outcome::Skipped(_), _) => None,
            (Outcome::Failed(_), _) | (Outcome::Applied, Some(_)) => Some(true),
            (Outcome::Applied, None) => Some(false),
        }
    });
    let with_summaries = record
        .compactions
        .iter()
        .flat_map(|row| row.event.extractions.iter().map(|of| (row.event.after, of)));
    let before_turns = record
        .checkpoints
        .iter()
        .filter_map(|row| Some((row.event.after, row.event.extraction.as_ref()?)));
    // Before a turn a checkpoint comes first, then the compaction.
    let mut extractions = before_turns.chain(with_summaries).collect::<Vec<_>>();
    extractions.sort_by_key(|(after, _)| *after);
    [
        longest(compactions),
        longest(
            extractions
                .into_iter()
                .map(|(_, extraction)| is_unread(extraction)),
        ),
    ]
}

fn is_unread(extraction: &Extraction) -> bool {
    matches!(extraction.reading, LadderReading::Unreadable(_))
}

fn longest(failed: impl Iterator<Item = bool>) -> usize {
    let mut row = 0;
    failed.fold(0, |most, failed| {
        row = if failed { row + 1 } else { 0 };
        most.max(row)
    })
}
