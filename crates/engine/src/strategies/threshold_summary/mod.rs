//! `threshold-summary`: source 001. Bullets and key facts before the last ten messages; where the summarizer fails, or its
//! calls are used up, the messages are cut without one.
//!
//! Mended against the source: each compaction covers what left since the last one (there a checkpoint was reused for ever), and
//! all of it (there the latest 100 messages); what stays verbatim is not summarized too and stays messages (there one text);
//! key facts are asked for. Where nothing left since the last summary, that one stays and no call is made.

mod published;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Faithful, ask, ask_once, defect, edits_with, fill_around, messages, recent_or_skip, summary_turn,
    system_with_sections, tokens, with_summary, words_in,
};
use crate::budget::{Limits, Tail};
use crate::conversation::record::{NewRecord, RecordKind, SessionRecord};
use crate::conversation::render::{self, Material};
use crate::conversation::view::{Edit, Entry, Origin, View, WrittenPart};
use crate::message::{MessageId, Part, Role};
use crate::strategy::declined::Declined;
use crate::strategy::declined::FailReason;
use crate::strategy::params::{Param, ParamError, Settings, Unit};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};

/// Registry entry, with the source's `context_compaction` settings; the window makes its threshold 0.8 of it. The source's
/// diagram has a threshold of 50,000; its code, settings and tests agree on this one.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "threshold-summary",
    about: "bullets and key facts before the last messages; cut without a summary where it fails",
    source: "001",
    prompt: include_str!("prompt.md"),
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
        Param {
            name: "enabled",
            about: "whether it compacts by itself; the source's settings say true, its flag false",
            unit: Unit::Choice(&["true", "false"]),
            default: 0.0,
            range: (0.0, 1.0),
        },
        defect("strict", "starts above the threshold, not at it"),
        defect("reuse", "the first summary is shown for ever; what leaves after it is never read"),
        defect("limit", "reads the latest 100 messages alone"),
        defect("overlap", "reads what stays verbatim too"),
        defect("gapless", "takes ids for gapless: covers up to the last id less the messages kept"),
        defect("section", "rebuilds the context from all that was said, as one text"),
        defect("unguarded", "one request of any size, and any answer is taken for a summary"),
    ],
    limits,
    build: |settings| Arc::new(ThresholdSummary { settings: settings.clone() }),
};

/// As the document has it. Its prompt asks for no key facts. Where it contradicts itself its code rules: 80,000, and enabled.
pub(super) const FAITHFUL: Faithful = Faithful {
    spec: &SPEC,
    values: &[
        ("prompt", include_str!("published.md")),
        ("strict", "faithful"),
        ("reuse", "faithful"),
        ("limit", "faithful"),
        ("overlap", "faithful"),
        ("gapless", "faithful"),
        ("section", "faithful"),
        ("unguarded", "faithful"),
    ],
    breaks: &[1, 3, 5, 6, 8, 9, 21],
};

/// 001, `persistence_load_conversation_context`.
const HISTORY_LIMIT: usize = 100;

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let (window, threshold) = (settings.count("window"), settings.count("threshold"));
    if threshold > window {
        return Err(ParamError::Contradiction(format!("`threshold` is {threshold} tokens; the window has {window}")));
    }
    let is_enabled = settings.count("enabled") == 0;
    let trigger = (threshold + u32::from(settings.is_faithful("strict"))).min(window);
    let trigger = if is_enabled { trigger } else { 0 };
    Ok(Limits { window, trigger, tail: Tail::Messages(settings.count("tail")), written: settings.count("written") })
}

struct ThresholdSummary {
    settings: Settings,
}

#[async_trait]
impl Strategy for ThresholdSummary {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let said = self.settings.is_faithful("section").then(|| published::everything_said(cx.log));
        let selection = match &said {
            None => recent_or_skip(cx)?,
            Some(said) => Selection::recent(cx.log, said, cx.budget.tail),
        };
        let earlier = cx.history.latest(RecordKind::Summary);
        if let Some(earlier) = earlier.filter(|_| self.settings.is_faithful("reuse")) {
            return Ok(self.again(cx, &selection, earlier));
        }
        let read = self.read(cx, said.as_ref().unwrap_or(cx.view), &selection);
        let answer = self.summarize(cx, &read).await;
        let mut compacted = match answer {
            Ok(summary) => with_summary(cx, &selection, summary),
            Err(reason) => truncated(cx, &selection, reason),
        };
        if said.is_some() {
            let new = compacted.saved.first().filter(|saved| saved.kind == RecordKind::Summary);
            let new = new.map(|saved| (cx.number_of_new(0), saved.body.as_str()));
            let shown = new.or(earlier.map(|saved| (saved.number, saved.body.as_str())));
            compacted.edits = published::edits(cx, &selection, shown);
        }
        if let Some(saved) = compacted.saved.first_mut().filter(|_| self.settings.is_faithful("gapless")) {
            saved.covers = published::covers_by_count(cx.log, self.kept(cx, &selection));
        }
        let read = if compacted.fallback.is_some() { Vec::new() } else { read };
        Ok(Compacted { unread: unread(cx, &selection, &read), ..compacted })
    }
}

impl ThresholdSummary {
    /// What the summarizer is to read.
    fn read<'v>(&self, cx: &Context<'_>, view: &'v View, selection: &Selection<'v>) -> Vec<&'v Entry> {
        let said = cx.log.messages();
        let first = said.len().saturating_sub(HISTORY_LIMIT);
        let oldest = said.get(first).filter(|_| self.settings.is_faithful("limit")).map(|counted| counted.message.id);
        let all = match self.settings.is_faithful("overlap") {
            true => view.entries().iter().filter(|entry| entry.role() != Role::System).collect(),
            false => selection.leaving.clone(),
        };
        all.into_iter()
            .filter(|entry| entry.message_id().is_none_or(|id| oldest.is_none_or(|first| id >= first)))
            .collect()
    }

    async fn summarize(&self, cx: &Context<'_>, read: &[&Entry]) -> Result<String, FailReason> {
        // Attempts, not requests: one that was refused, or read in pieces, made several.
        let is_attempt = |saved: &&SessionRecord| matches!(saved.kind, RecordKind::Summary | RecordKind::Failed);
        let (made, most) = (cx.history.iter().filter(is_attempt).count(), self.settings.count("calls"));
        if made >= most as usize {
            return Err(FailReason::CallsUsedUp(most));
        }
        let (material, written) = (
            Material::new(read.iter().copied(), render::RenderLimits::NONE, self.settings.prompt().len()),
            cx.budget.written,
        );
        let (words, tokens) = (words_in(written).to_string(), written.to_string());
        let values = [("words", words.as_str()), ("tokens", &tokens)];
        let with = |messages| fill_around(messages, self.settings.prompt(), &values);
        if self.settings.is_faithful("unguarded") {
            return Ok(ask_once(cx, with(material.text), written, None).await?.text);
        }
        ask(cx, material, with, written, None).await
    }

    /// 001, `compaction_get_checkpoint`: the summary that there is, whatever has been said since.
    fn again(&self, cx: &Context<'_>, selection: &Selection<'_>, earlier: &SessionRecord) -> Compacted {
        let edits = match self.settings.is_faithful("section") {
            true => published::edits(cx, selection, Some((earlier.number, &earlier.body))),
            false => edits_with(cx, selection, summary_turn(&earlier.body, earlier.number)),
        };
        Compacted { edits, saved: Vec::new(), fallback: None, unread: unread(cx, selection, &[]) }
    }

    fn kept(&self, cx: &Context<'_>, selection: &Selection<'_>) -> u32 {
        match cx.budget.tail {
            Tail::Messages(messages) => messages,
            Tail::Tokens(_) => selection.kept.len() as u32,
        }
    }
}

/// What is kept, and the last summary where there is one: nothing reads what leaves. An attempt that failed counts among the
/// calls.
fn truncated(cx: &Context<'_>, selection: &Selection<'_>, reason: FailReason) -> Compacted {
    let mut edits: Vec<Edit> = system_with_sections(cx, selection).into_iter().collect();
    if cx.history.latest(RecordKind::Summary).is_some() {
        edits.extend(selection.leaving.iter().copied().filter_map(summary_again));
    }
    edits.push(notice());
    edits.extend(selection.keep_edits());
    let attempt = NewRecord { kind: RecordKind::Failed, covers: selection.covers(), body: reason.to_string() };
    let saved = if matches!(reason, FailReason::CallsUsedUp(_)) { Vec::new() } else { vec![attempt] };
    Compacted { edits, saved, fallback: Some(reason), unread: Vec::new() }
}

/// What was said, stands in the view, and is neither kept nor read.
fn unread(cx: &Context<'_>, selection: &Selection<'_>, read: &[&Entry]) -> Vec<MessageId> {
    let read = read.iter().filter_map(|entry| entry.message_id()).collect::<BTreeSet<_>>();
    let chat = cx.view.entries().iter().filter(|entry| entry.role() != Role::System);
    let spoken = chat.flat_map(Entry::parts).filter_map(|(_, origin)| match origin {
        Origin::Spoken(id) => Some(id),
        _ => None,
    });
    let left = spoken.filter(|id| selection.kept.binary_search(id).is_err() && !read.contains(id));
    left.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Says that something is missing, as a user turn, so that the chat opens with one whatever is kept.
fn notice() -> Edit {
    let text = "Earlier messages were cut without a summary.".to_owned();
    Edit::Insert(Role::User, vec![WrittenPart { part: Part::Text { text }, origin: Origin::Filler }])
}

fn summary_again(entry: &Entry) -> Option<Edit> {
    let written = entry.written()?;
    let is_summary = written.iter().any(|part| matches!(part.origin, Origin::Summary(_)));
    is_summary.then(|| Edit::Insert(entry.role(), written.to_vec()))
}
