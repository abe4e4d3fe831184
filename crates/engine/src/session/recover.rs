//! Showing the latest checkpoint outside a compaction: after absence, when the agent appears lost,
//! on demand.
//!
//! Of the view only the section of the system message changes, and the next compaction carries on
//! from it.

use std::sync::Arc;

use crate::checkpoint::Checkpoint;
use crate::conversation::record::{History, NewRecord, RecordKind, SessionRecord};
use crate::conversation::view::{Edit, Entry, Origin, View, WrittenPart};
use crate::message::{Part, Role};
use crate::model::embed::{Embedder, Lexical};
use crate::recovery::{self, Recovery, RecoverySection};
use crate::session::Session;
use crate::session::event::{RecoveryEvent, RecoveryOutcome, RecoveryReason};
use crate::strategy::declined::FailReason;
use crate::tokens::TokenCounter;

impl<'s> Session<'s> {
    /// Shows the latest checkpoint: all of it, or what of it `query` is about, in at most the
    /// tokens that a compaction may write. A part of another query makes way. An empty log gives no
    /// event.
    pub async fn recover(
        &mut self,
        reason: RecoveryReason,
        query: Option<&str>,
        now_ms: Option<i64>,
    ) -> Option<&RecoveryEvent> {
        self.log.last()?;
        let (section, fallback) = match query {
            None => (self.whole_section(), None),
            Some(query) => {
                let budget = self.config.budget.written;
                about(&self.history, query, budget, self.embedder, self.counter).await
            }
        };
        let outcome = match section.filter(|section| !self.is_shown(section)) {
            Some(section) => self.show_section(section),
            None => (RecoveryOutcome::NothingToShow, self.view.tokens()),
        };
        self.report(reason, outcome, fallback, now_ms)
    }

    /// Shows what other threads share, as [`recovery::Sharing::shared`] gives it, in place of what
    /// they shared before; an empty checkpoint takes it away. Nothing is shared without this call.
    pub fn share(&mut self, shared: &Checkpoint, now_ms: Option<i64>) -> Option<&RecoveryEvent> {
        let after = self.log.last()?;
        let body = serde_json::to_string(shared).unwrap_or_default();
        let tokens = (self.view.tokens(), self.view.tokens());
        let new = NewRecord::new(RecordKind::Shared, Some((after, after)), body);
        let saved = self.numbered(vec![new], Default::default(), tokens, now_ms);
        let of = shared.items().len() as u32;
        let showing = self.strategy.showing();
        let own = recovery::latest_checkpoint(&self.history).filter(|_| self.shows_a_checkpoint());
        let parts = recovery::sections(own.as_ref(), showing, saved.first());
        let outcome = self.put(parts, saved, RecoveryOutcome::Shown(of, of));
        self.report(RecoveryReason::Shared, outcome, None, now_ms)
    }

    /// When it shows a checkpoint by itself; [`Recovery::default`] unless this is called.
    #[must_use]
    pub fn recovering(self, recovery: Recovery) -> Self {
        Session { recovery, ..self }
    }

    /// What compares a checkpoint with a query; [`Lexical`] unless this is called.
    #[must_use]
    pub fn embedding_with(self, embedder: &'s dyn Embedder) -> Self {
        Session { embedder, ..self }
    }

    /// Why [`Session::before_call`] would show the latest checkpoint, where it would.
    pub fn recovery_due(&self, now_ms: Option<i64>) -> Option<RecoveryReason> {
        if !self.config.automatic || self.is_preparing() || self.is_read() {
            return None;
        }
        // Most sessions have nothing to show, and this is asked before every turn.
        self.history.latest(RecordKind::Checkpoint)?;
        let reason = self.absence(now_ms).map(RecoveryReason::Absence);
        let reason = reason.or_else(|| self.appears_lost().then_some(RecoveryReason::Lost))?;
        let section = self.whole_section()?;
        (!self.is_shown(&section)).then_some(reason)
    }

    /// Whether [`Session::before_call`] may show a checkpoint, one among them that it writes
    /// itself.
    pub fn may_recover(&self, now_ms: Option<i64>) -> bool {
        let by_itself = self.recovery.lost || self.absence(now_ms).is_some();
        self.config.automatic && (by_itself || self.strategy.showing().at_once)
    }

    /// Every decision about showing a checkpoint outside a compaction, oldest first.
    pub fn recovery_events(&self) -> &[RecoveryEvent] {
        &self.recovery_events
    }

    /// How long nobody spoke before the user came back, where that counts as absence.
    fn absence(&self, now_ms: Option<i64>) -> Option<i64> {
        let least = self.recovery.absence_ms?;
        let messages = self.log.messages();
        let back = messages
            .iter()
            .rposition(|counted| counted.message.role != Role::User)?
            + 1;
        let back_at = messages.get(back)?.message.at_ms.or(now_ms)?;
        let before = self.log.said_before(back)?;
        Some(back_at.saturating_sub(before)).filter(|gap| *gap >= least)
    }

    /// Whether the agent's last text asks for what the checkpoint holds.
    fn appears_lost(&self) -> bool {
        if !self.recovery.lost {
            return false;
        }
        let said = self
            .log
            .messages()
            .iter()
            .rfind(|counted| counted.message.role == Role::Assistant);
        let parts = said.into_iter().flat_map(|said| &said.message.parts);
        let texts = parts.filter_map(|part| {
            if let Part::Text { text } = part {
                Some(text)
            } else {
                None
            }
        });
        let mut asking = texts.filter(|text| recovery::may_ask(text)).peekable();
        if asking.peek().is_none() {
            return false;
        }
        let Some((checkpoint, _)) = recovery::latest_checkpoint(&self.history) else {
            return false;
        };
        asking.any(|text| !recovery::asks_for(text, &checkpoint).is_empty())
    }

    fn whole_section(&self) -> Option<RecoverySection> {
        recovery::whole(
            &self.history,
            self.config.budget.written,
            self.strategy.showing(),
            self.counter,
        )
    }

    fn is_shown(&self, section: &RecoverySection) -> bool {
        let wanted = WrittenPart::text(section.text.clone(), Origin::Checkpoint(section.number));
        self.system_parts()
            .any(|it| it == (&wanted.part, wanted.origin))
    }

    /// Whether the system prompt shows a checkpoint of this thread.
    fn shows_a_checkpoint(&self) -> bool {
        let checkpoints = self
            .history
            .iter()
            .filter(|saved| saved.kind == RecordKind::Checkpoint);
        let origins = checkpoints
            .map(|saved| Origin::Checkpoint(saved.number))
            .collect::<Vec<_>>();
        self.system_parts()
            .any(|(_, origin)| origins.contains(&origin))
    }

    fn system_parts(&self) -> impl Iterator<Item = (&Part, Origin)> {
        let system = self
            .view
            .entries()
            .first()
            .filter(|entry| entry.role() == Role::System);
        system.into_iter().flat_map(Entry::parts)
    }

    fn show_section(&mut self, section: RecoverySection) -> (RecoveryOutcome, u32) {
        let RecoverySection {
            text,
            number,
            shown,
            of,
        } = section;
        let shared = recovery::sections(
            None,
            self.strategy.showing(),
            self.history.latest(RecordKind::Shared),
        );
        let parts = [WrittenPart::text(text, Origin::Checkpoint(number))]
            .into_iter()
            .chain(shared)
            .collect();
        self.put(parts, Vec::new(), RecoveryOutcome::Shown(shown, of))
    }

    /// Puts these sections into the system message and commits view and records; else nothing
    /// changes. Gives the tokens before.
    fn put(
        &mut self,
        parts: Vec<WrittenPart>,
        saved: Vec<SessionRecord>,
        shown: RecoveryOutcome,
    ) -> (RecoveryOutcome, u32) {
        let before = self.view.tokens();
        let put = self.with_sections(parts).and_then(|view| {
            let after = self
                .log
                .last()
                .ok_or_else(|| FailReason::InvalidView("nothing was said".into()))?;
            self.commit(&saved, Some(&view), after).map(|()| view)
        });
        let outcome = match put {
            Ok(view) => {
                self.remember(saved);
                // The view grew by what is shown; what a call reported of the rest still holds.
                let reported = self.reported;
                self.show(Arc::new(view));
                self.reported = reported;
                shown
            }
            Err(reason) => RecoveryOutcome::Failed(reason),
        };
        (outcome, before)
    }

    fn with_sections(&self, parts: Vec<WrittenPart>) -> Result<View, FailReason> {
        let has_system = self
            .view
            .entries()
            .first()
            .is_some_and(|entry| entry.role() == Role::System);
        let others = self
            .view
            .to_edits()
            .into_iter()
            .skip(usize::from(has_system));
        let system =
            recovery::system_with(self.log.system().map(|counted| &counted.message), parts);
        let edits = system.into_iter().chain(others).collect::<Vec<Edit>>();
        View::from_edits(edits, &self.log, self.counter)
            .map_err(|error| FailReason::InvalidView(error.to_string()))
    }

    fn report(
        &mut self,
        reason: RecoveryReason,
        (outcome, tokens_before): (RecoveryOutcome, u32),
        fallback: Option<FailReason>,
        at_ms: Option<i64>,
    ) -> Option<&RecoveryEvent> {
        let (after, tokens_after) = (self.log.last()?, self.view.tokens());
        let event = RecoveryEvent {
            after,
            at_ms,
            reason,
            outcome,
            tokens_before,
            tokens_after,
            fallback,
        };
        event.log();
        self.recovery_events.push(event);
        self.recovery_events.last()
    }
}

/// What of the latest checkpoint the query is about; by words where the embedder fails.
async fn about(
    history: &History,
    query: &str,
    budget: u32,
    embedder: &dyn Embedder,
    counter: &dyn TokenCounter,
) -> (Option<RecoverySection>, Option<FailReason>) {
    match recovery::section_for(history, query, budget, embedder, counter).await {
        Ok(section) => (section, None),
        Err(error) => {
            let by_words = recovery::section_for(history, query, budget, &Lexical, counter).await;
            (by_words.unwrap_or_default(), Some(error.into()))
        }
    }
}
