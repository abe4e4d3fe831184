//! What comes of a decision: committed and applied together, or neither.

use std::sync::Arc;

use crate::budget::estimate::Estimator;
use crate::conversation::record::{NewRecord, SessionRecord};
use crate::conversation::view::View;
use crate::message::{MessageId, Usage};
use crate::model::ChatRequest;
use crate::model::meter::{Metered, Purpose};
use crate::session::Session;
use crate::session::background::{CheckpointPreparation, PreparedCheckpoint, WrittenBefore};
use crate::session::compaction::{Decision, failed_attempt, unchanged};
use crate::session::event::{CheckpointEvent, Event, Outcome, RecoveryReason};
use crate::session::health::Health;
use crate::session::store::Commit;
use crate::strategy::Context;
use crate::strategy::decision_meter::DecisionMeter;
use crate::strategy::declined::{FailReason, SkipReason};

impl<'s> Session<'s> {
    /// Has checkpoints before turns written by another model, usually a cheaper one (the strategic
    /// plan, "use fast model"), in its context window; the summarizer writes them unless this is
    /// called, and always those that come with a summary.
    #[must_use]
    pub fn checkpointing_with(self, model: &'s Metered<'s>, window: Option<u32>) -> Self {
        Session {
            checkpointer: Some((model, window)),
            ..self
        }
    }

    /// How attempts at checkpoints went so far.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Commits and applies a decision; messages said since its snapshot follow in the new view.
    pub(super) async fn settle(
        &mut self,
        decision: Decision,
        usage: Usage,
        now_ms: Option<i64>,
    ) -> Option<&Event> {
        let Decision {
            mut event,
            saved,
            view,
        } = decision;
        let next = view.map(|mut view| {
            let meanwhile = self.log.since(Some(event.after));
            let decided = view.tokens();
            meanwhile
                .iter()
                .for_each(|counted| view.follow(counted, &self.log, self.counter));
            event.tokens_before = event.tokens_before.saturating_add(view.tokens() - decided);
            event.tokens_after = view.tokens();
            Arc::new(view)
        });
        let after = self.log.last()?;
        let saved = self.numbered(
            saved,
            usage,
            (event.tokens_before, event.tokens_after),
            now_ms,
        );
        match self.commit(&saved, next.as_deref(), after) {
            Ok(()) => {
                self.remember(saved);
                if let Some(view) = next {
                    self.show(view);
                }
            }
            Err(reason) => {
                let stays = unchanged(&self.view, event.after, self.tokens_outside());
                let (attempts, extractions) = (event.attempts, event.extractions);
                event = Event {
                    outcome: Outcome::Failed(reason),
                    attempts,
                    extractions,
                    ..stays
                };
            }
        }
        event
            .extractions
            .iter()
            .for_each(|extraction| self.health.note(event.after, extraction));
        // Logged before the only wait: a caller that gives up on it has the view, its record and
        // its event alike.
        let is_applied = event.outcome == Outcome::Applied;
        let is_try = event.outcome != Outcome::Skipped(SkipReason::SnapshotInUse);
        event.log(&self.events);
        self.events.push(event);
        if is_applied {
            self.recount().await;
        }
        if is_try {
            self.breaker
                .tried(self.request_estimate(), &self.config.budget);
        }
        self.events.last()
    }

    /// Whether [`Session::before_call`] would write a checkpoint: the strategy finds one due, and
    /// nothing is under way.
    pub(super) fn checkpoint_is_due(&self) -> bool {
        let is_free =
            self.config.automatic && !self.is_preparing() && !self.log.messages().is_empty();
        if !is_free || Arc::strong_count(&self.checkpoint_under_way) > 1 {
            return false;
        }
        let (model, summarizer_window) = self.checkpoints_by();
        let tally = DecisionMeter::new(model);
        self.strategy.checkpoint_is_due(&Context {
            summarizer_window,
            ..self.context(&tally)
        })
    }

    /// Whether the strategy's checkpoints should be written beside the agent's turn.
    pub fn writes_beside(&self) -> bool {
        self.strategy.writes_beside()
    }

    /// A checkpoint to be written beside the agent's turn, if one is due. Call it before
    /// [`Session::before_call`], which otherwise writes the checkpoint and waits for it. None also
    /// while another is under way.
    pub fn prepare_checkpoint(&self) -> Option<CheckpointPreparation<'s>> {
        let moment = self
            .checkpoint_is_due()
            .then(|| self.moment(self.checkpoints_by()))?;
        moment.map(|moment| CheckpointPreparation {
            moment,
            under_way: Arc::clone(&self.checkpoint_under_way),
        })
    }

    /// Keeps what a [`CheckpointPreparation`] of this session came to; the next compaction shows
    /// it. One of another session changes nothing. Returns whether it was kept or booked as failed.
    pub async fn adopt_checkpoint(
        &mut self,
        prepared: PreparedCheckpoint,
        now_ms: Option<i64>,
    ) -> bool {
        let is_own = Arc::ptr_eq(&self.checkpoint_under_way, &prepared.under_way);
        if is_own {
            self.keep_checkpoint(prepared.written, now_ms).await;
        }
        is_own
    }

    /// Lets the strategy write a checkpoint, and waits for it.
    pub(super) async fn checkpoint(&mut self, now_ms: Option<i64>) {
        let Some(after) = self.log.last() else { return };
        let (model, summarizer_window) = self.checkpoints_by();
        let tally = DecisionMeter::new(model);
        let cx = Context {
            summarizer_window,
            ..self.context(&tally)
        };
        let written = WrittenBefore::of(self.strategy, &cx, after).await;
        self.keep_checkpoint(written, now_ms).await;
    }

    async fn keep_checkpoint(&mut self, written: WrittenBefore, now_ms: Option<i64>) {
        let WrittenBefore {
            record,
            after,
            view_tokens,
            usage,
            extraction,
        } = written;
        let Some(last) = self.log.last() else { return };
        let (saved, mut failed) = match record {
            Ok(saved) => (saved, None),
            Err(reason) => (failed_attempt(&reason, after), Some(reason)),
        };
        let saved = self.numbered(vec![saved], usage, (view_tokens, view_tokens), now_ms);
        match self.commit(&saved, None, last) {
            Ok(()) => self.remember(saved),
            Err(reason) => failed = Some(reason),
        }
        extraction
            .iter()
            .for_each(|extraction| self.health.note(after, extraction));
        let is_written = failed.is_none();
        let event = CheckpointEvent {
            after,
            tokens: self.config.overhead.saturating_add(view_tokens),
            failed,
            extraction,
        };
        event.log();
        self.checkpoint_events.push(event);
        if is_written && self.strategy.showing().at_once {
            self.recover(RecoveryReason::Written, None, now_ms).await;
        }
    }

    /// Who writes checkpoints before turns, and in what window.
    fn checkpoints_by(&self) -> (&'s Metered<'s>, Option<u32>) {
        self.checkpointer
            .unwrap_or((self.summarizer, self.config.summarizer_window))
    }

    /// Adds records to those that the session keeps.
    pub(super) fn remember(&mut self, saved: Vec<SessionRecord>) {
        self.history.extend(saved);
    }

    /// Makes a view the next request.
    pub(super) fn show(&mut self, view: Arc<View>) {
        self.estimated = self.config.budget.estimator.of_view(&view);
        self.reported = 0;
        self.view = view;
    }

    /// Records and the view, a new one where there is one, to the store, where there is one.
    pub(super) fn commit(
        &mut self,
        saved: &[SessionRecord],
        next: Option<&View>,
        after: MessageId,
    ) -> Result<(), FailReason> {
        let Some(store) = self
            .store
            .as_mut()
            .filter(|_| next.is_some() || !saved.is_empty())
        else {
            return Ok(());
        };
        let view = next.unwrap_or(&self.view).to_edits();
        store
            .commit(&Commit {
                saved,
                view: &view,
                after,
            })
            .map_err(|error| FailReason::Store(error.to_string()))
    }

    /// Counts the new view by a minimal call, where the estimator is [`Estimator::Recount`]. A
    /// failed call leaves 0, as before the agent's first call.
    async fn recount(&mut self) {
        /// The agent loop, `CountTokens`.
        const OUTPUT_TOKENS: u32 = 16;
        if self.config.budget.estimator != Estimator::Recount {
            return;
        }
        let minimal =
            ChatRequest::prompt(String::new(), OUTPUT_TOKENS, None, self.summarizer.seed());
        let request = ChatRequest {
            messages: self.view.to_wire(),
            ..minimal
        };
        if let Ok(reply) = self.summarizer.complete(Purpose::Recount, request).await {
            self.report_usage(Usage {
                output: 0,
                ..reply.usage
            });
        }
    }

    pub(super) fn numbered(
        &self,
        saved: Vec<NewRecord>,
        usage: Usage,
        tokens: (u32, u32),
        now_ms: Option<i64>,
    ) -> Vec<SessionRecord> {
        let number = |(index, mut new): (usize, NewRecord)| {
            // Kept for as long as the session lives.
            new.body.shrink_to_fit();
            SessionRecord {
                number: (self.history.len() + index) as u32,
                kind: new.kind,
                covers: new.covers,
                tokens_before: tokens.0,
                tokens_after: tokens.1,
                usage: if index == 0 { usage } else { Usage::default() },
                created_at_ms: now_ms,
                body: new.body,
                stage: new.stage,
            }
        };
        saved.into_iter().enumerate().map(number).collect()
    }
}
