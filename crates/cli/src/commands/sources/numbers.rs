//! Every parameter of every strategy beside the place in its document that gives the number. A
//! number that no document gives says why it was chosen.

use compactometer_engine::params::{Param, ParamUnit};

use super::sourced_row::{SourceDocument, SourceRow, SourceVerdict};

/// Strategy, parameter, its default as users type it, and where its document says so; after `ours: `
/// why it is so.
const NUMBERS: &[(&str, &str, &str, &str)] = &[
    (
        "summarize",
        "window",
        "12500",
        "ours: makes the trigger .8 of it; no request is refused for it",
    ),
    (
        "summarize",
        "trigger",
        "10000",
        "part 1, MW_SUMMARIZATION_MAX_TOKENS",
    ),
    (
        "summarize",
        "tail",
        "2000",
        "part 1, MW_SUMMARIZATION_TARGET_TOKENS",
    ),
    (
        "summarize",
        "written",
        "400",
        "part 1, 300 words: four tokens in three words",
    ),
    (
        "prompt-checkpoint",
        "window",
        "12500",
        "ours: makes the trigger .8 of it; no request is refused for it",
    ),
    (
        "prompt-checkpoint",
        "trigger",
        "10000",
        "part 1, MW_SUMMARIZATION_MAX_TOKENS",
    ),
    (
        "prompt-checkpoint",
        "tail",
        "2000",
        "part 1, MW_SUMMARIZATION_TARGET_TOKENS",
    ),
    (
        "prompt-checkpoint",
        "written",
        "800",
        "ours: 300 words for the summary, as in approach A, and as much again for the checkpoint",
    ),
    (
        "middleware-checkpoint",
        "window",
        "12500",
        "ours: makes the trigger .8 of it; no request is refused for it",
    ),
    (
        "middleware-checkpoint",
        "trigger",
        "10000",
        "part 1, MW_SUMMARIZATION_MAX_TOKENS",
    ),
    (
        "middleware-checkpoint",
        "tail",
        "2000",
        "part 1, MW_SUMMARIZATION_TARGET_TOKENS",
    ),
    (
        "middleware-checkpoint",
        "written",
        "800",
        "ours: as much for the checkpoint as for the summary",
    ),
    (
        "middleware-checkpoint",
        "ratio",
        "0.8",
        "part 2, approach B, checkpoint_threshold_ratio",
    ),
    (
        "middleware-checkpoint",
        "delta",
        "1000",
        "part 7, minimum delta threshold",
    ),
    (
        "middleware-checkpoint",
        "background",
        "off",
        "part 7, async extraction against latency; the code of part 2 waits",
    ),
    (
        "middleware-checkpoint",
        "predictive",
        "off",
        "part 8, planned for later",
    ),
    (
        "middleware-checkpoint",
        "ahead",
        "3",
        "ours: the document predicts without a number",
    ),
    (
        "middleware-checkpoint",
        "shift",
        "0.1",
        "ours: the document predicts without a number",
    ),
    (
        "middleware-checkpoint",
        "other_threads",
        "0",
        "ours: how far another thread had come, for the defect `stale_count`",
    ),
    (
        "hybrid-checkpoint",
        "window",
        "12500",
        "ours: makes the trigger .8 of it; no request is refused for it",
    ),
    (
        "hybrid-checkpoint",
        "trigger",
        "10000",
        "part 1, MW_SUMMARIZATION_MAX_TOKENS",
    ),
    (
        "hybrid-checkpoint",
        "tail",
        "2000",
        "part 1, MW_SUMMARIZATION_TARGET_TOKENS",
    ),
    (
        "hybrid-checkpoint",
        "written",
        "800",
        "ours: as much for the checkpoint as for the summary",
    ),
    (
        "hybrid-checkpoint",
        "ratio",
        "0.8",
        "part 2, approach B, checkpoint_threshold_ratio",
    ),
    (
        "hybrid-checkpoint",
        "delta",
        "1000",
        "part 7, minimum delta threshold",
    ),
    (
        "hybrid-checkpoint",
        "background",
        "off",
        "part 7, async extraction against latency; the code of part 2 waits",
    ),
    (
        "hybrid-checkpoint",
        "predictive",
        "off",
        "part 8, planned for later",
    ),
    (
        "hybrid-checkpoint",
        "ahead",
        "3",
        "ours: the document predicts without a number",
    ),
    (
        "hybrid-checkpoint",
        "shift",
        "0.1",
        "ours: the document predicts without a number",
    ),
    (
        "hybrid-checkpoint",
        "other_threads",
        "0",
        "ours: how far another thread had come, for the defect `stale_count`",
    ),
    (
        "threshold-summary",
        "window",
        "100000",
        "ours: makes the threshold .8 of it; no request is refused for it",
    ),
    (
        "threshold-summary",
        "threshold",
        "80000",
        "configuration, threshold_tokens (the diagram has 50,000; the code rules)",
    ),
    (
        "threshold-summary",
        "tail",
        "10",
        "configuration, keep_recent_messages",
    ),
    (
        "threshold-summary",
        "written",
        "500",
        "configuration, max_summary_tokens",
    ),
    (
        "threshold-summary",
        "calls",
        "5",
        "risk mitigation 3, max 5",
    ),
    (
        "threshold-summary",
        "enabled",
        "true",
        "configuration, enabled (the rollout has false; the configuration rules)",
    ),
    (
        "progressive",
        "window",
        "32000",
        "token budget example, 32K",
    ),
    (
        "progressive",
        "threshold",
        "0.8",
        "configuration, threshold",
    ),
    (
        "progressive",
        "tail",
        "4096",
        "configuration, preserveRecent",
    ),
    (
        "progressive",
        "summary",
        "1024",
        "configuration, summaryMaxTokens",
    ),
    (
        "progressive",
        "written",
        "3000",
        "scalable to long tasks, 10 x 300",
    ),
    (
        "progressive",
        "detailed",
        "800",
        "efficient token usage, 800 tokens each",
    ),
    (
        "progressive",
        "moderate_age",
        "5",
        "checkpoint limits, MODERATE_AGE",
    ),
    (
        "progressive",
        "moderate",
        "300",
        "compression timeline, ~300 tokens",
    ),
    (
        "progressive",
        "lines",
        "5",
        "compression timeline, first 5 lines",
    ),
    (
        "progressive",
        "compact_age",
        "10",
        "checkpoint limits, COMPACT_AGE",
    ),
    (
        "progressive",
        "compact",
        "80",
        "compression timeline, ~80 tokens",
    ),
    (
        "progressive",
        "most",
        "10",
        "checkpoint limits, MAX_CHECKPOINTS",
    ),
    (
        "progressive",
        "pinned",
        "0.25",
        "ours: phase 2 gives its pinned items no bound",
    ),
    ("progressive", "merge", "oldest", "compression flow, step 6"),
    (
        "handoff",
        "window",
        "250000",
        "ours: makes the threshold .8 of it; no request is refused for it",
    ),
    (
        "handoff",
        "threshold",
        "200000",
        "section 2, DefaultCompactThreshold",
    ),
    (
        "handoff",
        "written",
        "4000",
        "ours: the document gives its summary no length",
    ),
    (
        "handoff",
        "estimator",
        "recount",
        "section 7, a call with max_tokens 16",
    ),
    ("handoff", "memory", "on", "section 8, memory_search"),
    (
        "handoff",
        "note",
        "2000",
        "ours: the document gives its fragments no length",
    ),
    (
        "chained",
        "window",
        "128000",
        "constants, modelContextLimit",
    ),
    (
        "chained",
        "system_reserve",
        "2000",
        "constants, systemReserve",
    ),
    (
        "chained",
        "output_reserve",
        "4000",
        "constants, outputReserve",
    ),
    (
        "chained",
        "safety_buffer",
        "5000",
        "constants, safetyBuffer",
    ),
    ("chained", "threshold", "0.8", "constants, thresholdPercent"),
    ("chained", "tail", "10", "constants, recentMessagesToKeep"),
    (
        "chained",
        "asked",
        "800",
        "summary generation, 800 tokens in the prompt",
    ),
    (
        "chained",
        "written",
        "1000",
        "summary generation, maxTokens",
    ),
    (
        "chained",
        "message_limit",
        "2000",
        "formatMessagesForSummary, a message (the table of edge cases has 10,000; the code rules)",
    ),
    (
        "chained",
        "result_limit",
        "500",
        "formatMessagesForSummary, a tool result",
    ),
    ("chained", "chain", "on", "chaining rules"),
    (
        "chained",
        "temperature",
        "0.3",
        "summary generation, temperature",
    ),
    (
        "chained",
        "estimator",
        "exact",
        "ours: a quarter of the characters, as in the document, is under half of the tokens of Chinese or of logs",
    ),
    (
        "chained",
        "model",
        "window",
        "model-specific limits, the default",
    ),
];

pub(super) fn rows(document: SourceDocument) -> Vec<SourceRow> {
    let params = document.strategies().flat_map(|spec| {
        let own = spec.params().filter(|param| !param.is_deviation());
        own.map(|param| (spec.name, param))
    });
    params
        .map(|(strategy, param)| row(document, strategy, param))
        .collect()
}

fn row(document: SourceDocument, strategy: &str, param: &Param) -> SourceRow {
    let unit = match param.unit {
        ParamUnit::Choice(_) | ParamUnit::Share | ParamUnit::Temperature => String::new(),
        unit => format!(" {}", unit.name()),
    };
    let (section, verdict, reason) = stated(strategy, param);
    let claim = format!("`{strategy}.{}`: {}", param.name, param.about);
    let found = (verdict, shown(param) + &unit, reason.to_owned());
    SourceRow::new(document, (section, claim), found)
}

/// Where the default is stated, or why it was chosen.
fn stated(strategy: &str, param: &Param) -> (&'static str, SourceVerdict, &'static str) {
    let value = shown(param);
    let mut rows = NUMBERS
        .iter()
        .filter(|row| row.0 == strategy && row.1 == param.name);
    match rows.next() {
        Some((.., number, place)) if *number == value => match place.strip_prefix("ours: ") {
            Some(why) => ("left open", SourceVerdict::Assumed, why),
            None => (place, SourceVerdict::Holds, ""),
        },
        _ => ("", SourceVerdict::Fails, ""),
    }
}

/// A default as users type it.
fn shown(param: &Param) -> String {
    param
        .chosen(param.default)
        .map_or_else(|| param.default.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_as_its_document_has_it_and_every_row_is_used() {
        let rows = SourceDocument::ALL
            .iter()
            .flat_map(|document| rows(*document))
            .collect::<Vec<_>>();
        let failing = rows
            .iter()
            .filter(|row| row.verdict == SourceVerdict::Fails)
            .collect::<Vec<_>>();
        assert!(failing.is_empty(), "{failing:?}");
        assert_eq!(rows.len(), NUMBERS.len());
    }
}
