//! Lets the session compact before a turn, and records what it did.

use std::collections::HashSet;
use std::sync::Arc;

use compactometer_engine::event::{Event, Outcome};
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::meter::{Call, Purpose};
use compactometer_engine::view::{Entry, View};
use compactometer_formats::record::{
    CheckpointRow, CompactionRow, ContextRow, Family, ObservationKind, Stages,
};

use super::Replay;
use crate::plan::{Point, point};
use crate::prepare::recorded_context::written_texts;
use crate::trace::{
    entries_of, holds_request, inserted_texts, left_messages, parts_of, saved_rows,
    session_call_row, shared_tokens, tail_start, waited_ms,
};

impl Replay<'_> {
    /// Lets the session compact, and traces what it did. Returns the milliseconds that the turn
    /// waits for it.
    pub(super) async fn ask_session(&mut self, now_ms: Option<i64>) -> u64 {
        // The view changes only where a compaction is due or a checkpoint may be shown.
        let may_change = self.session.is_due()
            || self.session.follows_strategy()
            || self.session.may_recover(now_ms)
            || self.is_writing_beside();
        let before = may_change.then(|| self.session.shared_view());
        let checkpoints_before = self.session.checkpoint_events().len();
        let recoveries_before = self.session.recovery_events().len();
        let saved_before = self.session.history().len();
        let mut beside = Vec::new();
        // Seldom needed, so boxed: a turn is taken thousands of times.
        if self.session.writes_beside() {
            beside = Box::pin(self.adopt_checkpoint(now_ms)).await;
            Box::pin(self.write_checkpoint_beside()).await;
        }
        let event = self.session.before_call(now_ms).await.cloned();
        if event.is_some() {
            self.counts.in_vain = self.session.is_at_trigger();
        }
        // A recount reads everything and writes nothing that stays, so it is charged but not
        // traced.
        let (recounts, mut calls): (Vec<Call>, Vec<Call>) = self
            .meters
            .take_session_calls()
            .partition(|call| call.purpose == Purpose::Recount);
        let waited_ms = calls.iter().chain(&recounts).map(waited_ms).sum();
        calls.splice(0..0, beside);
        let (mut compacting, checkpointing): (Vec<&Call>, Vec<&Call>) = calls
            .iter()
            .partition(|call| call.purpose == Purpose::Compaction);
        compacting.extend(&recounts);
        self.book_checkpoint(checkpoints_before, &checkpointing);
        self.keep_context(before.as_ref(), saved_before);
        let recovered = self.session.recovery_events().len() > recoveries_before;
        match (event, before) {
            (Some(event), Some(before)) if self.only_cuts(&event, &before, &calls) => {
                self.book_recovery(&before, &calls);
            }
            (Some(event), Some(before)) => {
                self.book_compaction(event, &before, &calls, &compacting)
            }
            (None, Some(before)) if recovered => self.book_recovery(&before, &calls),
            _ if !calls.is_empty() => drop(self.tracer.compacted(
                self.session.view(),
                self.session.history(),
                &calls,
            )),
            _ => {}
        }
        waited_ms
    }

    /// Whether a strategy that decides itself has only cut messages, such as an agent that takes the
    /// middle out of a long result: nothing was compacted.
    fn only_cuts(&self, event: &Event, before: &View, calls: &[Call]) -> bool {
        self.session.follows_strategy()
            && calls.is_empty()
            && event.outcome == Outcome::Applied
            && messages(before).is_subset(&messages(self.session.view()))
    }

    /// Keeps the checkpoint that was written beside the last turn, and returns its calls.
    async fn adopt_checkpoint(&mut self, now_ms: Option<i64>) -> Vec<Call> {
        let Some((prepared, calls)) = self.beside.take() else {
            return Vec::new();
        };
        self.session.adopt_checkpoint(prepared, now_ms).await;
        calls
    }

    /// Has a checkpoint written from what was said so far, if one is due. A recording does not say
    /// how long a turn would take, so the checkpoint counts as written when the next turn begins.
    async fn write_checkpoint_beside(&mut self) {
        if let Some(preparation) = self.session.prepare_checkpoint() {
            let prepared = preparation.run().await;
            self.beside = Some((prepared, self.meters.take_session_calls().collect()));
        }
    }

    /// Whether a checkpoint waits for the next turn.
    pub(crate) fn is_writing_beside(&self) -> bool {
        self.beside.is_some()
    }

    /// Keeps a checkpoint that was still being written when the conversation ended: it is paid for.
    pub(super) async fn end_of_conversation(&mut self) {
        let checkpoints_before = self.session.checkpoint_events().len();
        let saved_before = self.session.history().len();
        let calls = self.adopt_checkpoint(None).await;
        self.book_checkpoint(checkpoints_before, &calls.iter().collect::<Vec<_>>());
        self.keep_context(None, saved_before);
    }

    /// Records the checkpoint that came since so many; there is at most one between two turns.
    fn book_checkpoint(&mut self, checkpoints_before: usize, calls: &[&Call]) {
        let Some(event) = self.session.checkpoint_events().get(checkpoints_before) else {
            return;
        };
        let calls = calls
            .iter()
            .map(|call| session_call_row(self.prepared, call, &mut self.texts))
            .collect();
        self.checkpoints.push(CheckpointRow {
            event: event.clone(),
            calls,
        });
    }

    /// Keeps what the session changed, if it changed something.
    fn keep_context(&mut self, before: Option<&Arc<View>>, saved_before: usize) {
        let Some(after) = self
            .session
            .log()
            .messages()
            .last()
            .map(|last| last.message.id)
        else {
            return;
        };
        let is_changed =
            before.is_some_and(|before| !Arc::ptr_eq(before, &self.session.shared_view()));
        let view =
            is_changed.then(|| entries_of(self.prepared, self.session.view(), &mut self.texts));
        let saved = saved_rows(
            self.prepared,
            &self.session.history()[saved_before..],
            &mut self.texts,
        );
        if view.is_some() || !saved.is_empty() {
            self.contexts.push(ContextRow { after, view, saved });
        }
    }

    /// A checkpoint was shown outside a compaction.
    fn book_recovery(&mut self, before: &View, calls: &[Call]) {
        self.tracer
            .compacted(self.session.view(), self.session.history(), calls);
        let shared = shared_tokens(before, self.session.view(), self.counter);
        self.counts.shared_after_compaction = Some(self.prepared.tool_tokens + shared);
    }

    fn book_compaction(
        &mut self,
        event: Event,
        before: &View,
        calls: &[Call],
        compacting: &[&Call],
    ) {
        let mut stages = Stages::default();
        let applied = event.outcome == Outcome::Applied;
        let still_failed = self.counts.failed && self.counts.in_vain;
        self.counts.failed =
            !applied && (still_failed || matches!(event.outcome, Outcome::Failed(_)));
        if applied {
            stages = self.trace_compaction(&event, calls);
            self.counts.violations = self.session.view().check().len() as u32;
            let shared = shared_tokens(before, self.session.view(), self.counter);
            self.counts.shared_after_compaction = Some(self.prepared.tool_tokens + shared);
        } else {
            // If a checkpoint was shown before the attempt failed, the view has changed all the
            // same.
            self.book_recovery(before, calls);
        }
        let inserted = if applied {
            inserted_texts(self.session.view())
        } else {
            Vec::new()
        };
        let row = CompactionRow {
            left: left_messages(before, self.session.view()),
            holds_request: holds_request(self.session.log(), self.session.view()),
            inserted: inserted
                .into_iter()
                .map(|text| self.texts.keep(&text))
                .collect(),
            recorded_usage: applied.then(|| self.recorded_usage(&event)).flatten(),
            calls: compacting
                .iter()
                .map(|call| session_call_row(self.prepared, call, &mut self.texts))
                .collect(),
            event,
            stages,
            view: applied.then(|| parts_of(self.session.view(), self.counter)),
        };
        self.compactions.push(row);
    }

    /// What the recorded program's own call used, if this was its compaction.
    fn recorded_usage(&self, event: &Event) -> Option<Usage> {
        let is_its_own = self.case.entrant.family == Family::Recorded;
        let made = is_its_own.then(|| {
            self.prepared
                .scenario
                .compactions
                .iter()
                .find(|made| made.after == event.after)
        })??;
        let tokens = |tokens: u32| u64::from(tokens);
        let output = written_texts(made)
            .map(|text| tokens(self.counter.count_text(text)))
            .sum();
        let input = tokens(self.prepared.tool_tokens) + tokens(event.tokens_before);
        Some(made.usage.unwrap_or(Usage {
            input,
            output,
            ..Usage::default()
        }))
    }

    fn trace_compaction(&mut self, event: &Event, calls: &[Call]) -> Stages {
        let length = self.session.log().messages().len();
        self.counts.round += 1;
        self.counts.compacted_at = length;
        self.counts.retained = event.tokens_retained;
        let pending_tokens = self.session.tokens_outside().saturating_sub(
            self.session
                .log()
                .system()
                .map_or(0, |system| system.tokens),
        );
        self.pending_over_budget |= self
            .budget
            .retained
            .is_some_and(|most| pending_tokens > most);
        let stages = self
            .tracer
            .compacted(self.session.view(), self.session.history(), calls);
        let pending = self.session.log().pending();
        let tail = tail_start(self.session.view(), self.session.log());
        self.random.compacted(&pending, tail, event.tokens_retained);
        let fates = self.tracer.fates();
        let (distances, kind) = (self.case.distances(), ObservationKind::Compaction);
        let point = Point {
            used: Vec::new(),
            needed: Vec::new(),
            echoed: 0,
            ..point(self.prepared, length, distances, kind)
        };
        self.observe(&point, fates);
        stages
    }
}

/// The messages of which a view has something.
fn messages(view: &View) -> HashSet<MessageId> {
    view.entries()
        .iter()
        .filter_map(Entry::message_id)
        .collect()
}
