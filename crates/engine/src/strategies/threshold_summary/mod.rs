//! `threshold-summary`: the threshold plan. Bullets and key facts before the last ten messages;
//! where the summarizer fails, or its calls are used up, the messages are cut without one.
//!
//! Corrected against the source: each compaction covers what left since the last one (there a
//! checkpoint was reused for ever), and all of it (there the latest 100 messages); what stays
//! verbatim is not summarized too and stays messages (there one text); key facts are asked for.
//! Where nothing left since the last summary, that one stays and no call is made.

mod published;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use self::published::Deviations;
use super::summarize::ask_for_summary;
use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::record::{NewRecord, RecordKind, SessionRecord};
use crate::conversation::view::{Edit, Entry, Origin};
use crate::message::{MessageId, Role};
use crate::strategy::approach::Approach;
use crate::strategy::ask::AskOptions;
use crate::strategy::next_view::{recent_or_skip, system_with_sections, with_summary};
use crate::strategy::params::{Param, ParamError, ParamUnit, Settings, parameters, within_window};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Declined, FailReason, Strategy, StrategySpec};
use crate::tokens::{MESSAGE_OVERHEAD, total};

/// Registry entry, with the source's `context_compaction` settings; the window makes its threshold
/// 0.8 of it. The source's diagram has a threshold of 50,000; its code, settings and tests agree on
/// this one.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "threshold-summary",
    about: "bullets and key facts before the last messages; cut without a summary where it fails",
    source: "the threshold plan",
    approach: Some(Approach::Middleware),
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: &[Options::PARAMS, Deviations::PARAMS],
    limits,
    build: |settings| {
        Arc::new(ThresholdSummary {
            prompt: settings.prompt().to_owned(),
            calls: Options::read(settings).calls,
            deviations: Deviations::read(settings),
        })
    },
    published: Some(published::FORM),
};

const ASSUMED_WINDOW: u32 = 100_000;

parameters! {
    /// The source's settings.
    Options {
        window: u32 = Param::tokens(ASSUMED_WINDOW).of_limits(), "context window (assumed: no request is refused for it unless you set another)";
        threshold: u32 = Param::tokens(80_000).of_limits(), "size at which a compaction starts";
        tail: u32 = Param::count(ParamUnit::Messages, 10, (0, 10_000)).of_limits(), "kept verbatim";
        written: u32 = Param::tokens(500).of_limits(), "most that the summary may have";
        calls: u32 = Param::count(ParamUnit::Calls, 5, (0, 100_000)), "most compactions of a session that ask the summarizer; in a larger window fewer, in a smaller one more, so that together they read as much";
        enabled: bool = Param::choice(&["true", "false"], 0).of_limits(), "whether it compacts by itself";
    }
}

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let Options {
        window,
        threshold,
        tail,
        written,
        enabled,
        ..
    } = Options::read(settings);
    within_window("threshold", threshold, window)?;
    let trigger = if enabled {
        Deviations::read(settings).trigger(threshold).min(window)
    } else {
        0
    };
    let (assumed_window, tail) = (window == ASSUMED_WINDOW, Tail::Messages(tail));
    Ok(Limits {
        window,
        assumed_window,
        trigger,
        tail,
        written,
        estimator: Estimator::Exact,
    })
}

struct ThresholdSummary {
    prompt: String,
    /// Most attempts of a session.
    calls: u32,
    deviations: Deviations,
}

#[async_trait]
impl Strategy for ThresholdSummary {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let said = self.deviations.everything_said(cx.log);
        let mut selection = match &said {
            None => recent_or_skip(cx)?,
            Some(said) => Selection::recent(cx.log, said, cx.budget.tail),
        };
        if let Some(again) = self.deviations.summary_again(cx, &selection) {
            return Ok(again);
        }
        let read =
            self.deviations
                .read_by_summarizer(cx, said.as_ref().unwrap_or(cx.view), &selection);
        let mut compacted = match self.summarize(cx, &read).await {
            Ok(summary) => with_summary(cx, &selection, summary),
            Err(reason) => {
                if let Some(smaller) = tail_beside_summary(cx, &selection) {
                    selection = smaller;
                }
                truncated(cx, &selection, reason)
            }
        };
        self.deviations.change(cx, &selection, &mut compacted);
        let read = if compacted.fallback.is_some() {
            Vec::new()
        } else {
            read
        };
        Ok(Compacted {
            unread: unread(cx, &selection, &read),
            ..compacted
        })
    }
}

impl ThresholdSummary {
    async fn summarize(&self, cx: &Context<'_>, read: &[&Entry]) -> Result<String, FailReason> {
        // Attempts, not requests: one that was refused, or read in pieces, made several.
        let is_attempt =
            |saved: &&SessionRecord| matches!(saved.kind, RecordKind::Summary | RecordKind::Failed);
        if cx.history.iter().filter(is_attempt).count() >= self.calls as usize {
            return Err(FailReason::CallsUsedUp(self.calls));
        }
        let options = AskOptions::unguarded(self.deviations.unguarded);
        ask_for_summary(cx, &self.prompt, read, cx.budget.written, options).await
    }
}

/// A shorter tail, where the summary that stays takes more than its part: it was written beside a
/// tail that left it room.
fn tail_beside_summary<'s>(cx: &Context<'s>, selection: &Selection<'_>) -> Option<Selection<'s>> {
    let over = tokens(&summaries(cx, selection)).saturating_sub(cx.budget.written);
    match cx.budget.tail {
        Tail::Tokens(tail) if over > 0 => Some(Selection::recent(
            cx.log,
            cx.view,
            Tail::Tokens(tail.saturating_sub(over)),
        )),
        _ => None,
    }
}

/// What is kept, and the last summary where there is one: nothing reads what leaves. An attempt
/// that failed counts among the calls.
fn truncated(cx: &Context<'_>, selection: &Selection<'_>, reason: FailReason) -> Compacted {
    let mut edits: Vec<Edit> = system_with_sections(cx, selection).into_iter().collect();
    let summaries = summaries(cx, selection);
    let written = tokens(&summaries);
    edits.extend(summaries.iter().map(|entry| {
        Edit::Insert(
            entry.role(),
            entry.written_parts().unwrap_or_default().to_vec(),
        )
    }));
    // A summary opens the chat as well, so where it takes all the room the notice goes.
    if summaries.is_empty()
        || total([written, MESSAGE_OVERHEAD, cx.counter.count_text(NOTICE)]) <= cx.budget.written
    {
        edits.push(Edit::turn(NOTICE, Origin::Filler));
    }
    edits.extend(selection.keep_edits());
    let attempt = NewRecord::new(RecordKind::Failed, selection.covers(), reason.to_string());
    let saved = if matches!(reason, FailReason::CallsUsedUp(_)) {
        Vec::new()
    } else {
        vec![attempt]
    };
    Compacted {
        edits,
        saved,
        fallback: Some(reason),
        ..Compacted::default()
    }
}

/// Messages that are in the view and are neither kept nor read.
fn unread(cx: &Context<'_>, selection: &Selection<'_>, read: &[&Entry]) -> Vec<MessageId> {
    let read = read
        .iter()
        .filter_map(|entry| entry.message_id())
        .collect::<BTreeSet<_>>();
    let chat = cx
        .view
        .entries()
        .iter()
        .filter(|entry| entry.role() != Role::System);
    let spoken = chat
        .flat_map(Entry::parts)
        .filter_map(|(_, origin)| match origin {
            Origin::Spoken(id) => Some(id),
            _ => None,
        });
    let left = spoken.filter(|id| selection.kept.binary_search(id).is_err() && !read.contains(id));
    left.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Says that something is missing, as a user turn, so that the chat opens with one whatever is
/// kept.
const NOTICE: &str = "Earlier messages were cut without a summary.";

/// The summaries in the view, which stay where nothing new is written.
fn summaries<'s>(cx: &Context<'_>, selection: &Selection<'s>) -> Vec<&'s Entry> {
    let has_record = cx.history.latest(RecordKind::Summary).is_some();
    selection
        .leaving
        .iter()
        .copied()
        .filter(|entry| has_record && is_summary(entry))
        .collect()
}

fn tokens(entries: &[&Entry]) -> u32 {
    total(entries.iter().map(|entry| entry.tokens()))
}

fn is_summary(entry: &Entry) -> bool {
    entry.written_parts().is_some_and(|written| {
        written
            .iter()
            .any(|part| matches!(part.origin, Origin::Summary(_)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (100_000, 80_000, Tail::Messages(10), 500)
        );
    }
}
