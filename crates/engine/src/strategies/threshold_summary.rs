//! `threshold-summary`: source 001. Bullets and key facts before the last ten messages; where the summarizer fails, or its
//! calls are used up, the messages are cut without one.
//!
//! Mended against the source: each compaction covers what left since the last one (there a checkpoint was reused for ever),
//! what stays verbatim is not summarized too, and key facts are asked for.

use std::sync::Arc;

use async_trait::async_trait;

use super::summarize::ask_for_summary;
use super::{messages, recent_or_skip, tokens, with_summary};
use crate::budget::{Limits, Tail};
use crate::event::FailReason;
use crate::message::{Part, Role};
use crate::params::{Param, ParamError, Settings, Unit};
use crate::saved::{NewSaved, SavedKind, latest};
use crate::select::Selection;
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::view::{Edit, Entry, Origin, WrittenPart};

/// Registry entry, with the source's `context_compaction` settings; the window makes its threshold 0.8 of it.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "threshold-summary",
    about: "bullets and key facts before the last messages; cut without a summary where it fails",
    source: "001",
    prompt: include_str!("threshold_summary.md"),
    placeholders: &["messages"],
    params: &[
        tokens("window", "context window that the threshold is meant for (assumed)", 100_000),
        tokens("threshold", "size at which a compaction starts", 80_000),
        messages("tail", "kept verbatim", 10),
        tokens("written", "most that the summary may have", 500),
        Param {
            name: "calls",
            about: "most compactions of a session that ask the summarizer",
            unit: Unit::Calls,
            default: 5.0,
            range: (0.0, 100_000.0),
        },
    ],
    limits,
    build: |settings| {
        Arc::new(ThresholdSummary { prompt: settings.prompt().to_owned(), most_calls: settings.count("calls") })
    },
};

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let (window, trigger) = (settings.count("window"), settings.count("threshold"));
    if trigger > window {
        return Err(ParamError::Contradiction(format!("`threshold` is {trigger} tokens; the window has {window}")));
    }
    Ok(Limits { window, trigger, tail: Tail::Messages(settings.count("tail")), written: settings.count("written") })
}

struct ThresholdSummary {
    prompt: String,
    most_calls: u32,
}

#[async_trait]
impl Strategy for ThresholdSummary {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        // Attempts, not requests: one that was refused, or read in pieces, made several.
        let calls =
            cx.history.iter().filter(|saved| matches!(saved.kind, SavedKind::Summary | SavedKind::Failed)).count();
        let answer = if calls < self.most_calls as usize {
            ask_for_summary(cx, &self.prompt, &selection, cx.budget.written).await
        } else {
            Err(FailReason::CallsUsedUp(self.most_calls))
        };
        Ok(match answer {
            Ok(summary) => with_summary(cx, &selection, summary),
            Err(reason) => truncated(cx, &selection, reason),
        })
    }
}

/// What is kept, and the last summary where there is one: nothing reads what leaves. An attempt that failed counts among the
/// calls.
fn truncated(cx: &Context<'_>, selection: &Selection<'_>, reason: FailReason) -> Compacted {
    let mut edits: Vec<Edit> = selection.system.map(|system| Edit::Keep(system.id)).into_iter().collect();
    if latest(cx.history, SavedKind::Summary).is_some() {
        edits.extend(selection.leaving.iter().copied().filter_map(summary_again));
    }
    edits.push(notice());
    edits.extend(selection.keep_edits());
    let attempt = NewSaved { kind: SavedKind::Failed, covers: selection.covers(), body: reason.to_string() };
    let saved = if matches!(reason, FailReason::CallsUsedUp(_)) { Vec::new() } else { vec![attempt] };
    Compacted { saved, fallback: Some(reason), ..Compacted::without_reading(cx, edits) }
}

/// Says that something is missing, as a user turn, so that the chat opens with one whatever is kept.
fn notice() -> Edit {
    let text = "Earlier messages were cut without a summary.".to_owned();
    Edit::Insert(Role::User, vec![WrittenPart { part: Part::Text { text }, origin: Origin::Filler }])
}

fn summary_again(entry: &Entry) -> Option<Edit> {
    let written = entry.written()?;
    let is_summary = written.iter().any(|part| matches!(part.origin, Origin::Summary(_)));
    is_summary.then(|| Edit::Insert(entry.role, written.to_vec()))
}
