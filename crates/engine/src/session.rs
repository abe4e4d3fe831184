//! One conversation under compaction: decides when, applies what a strategy answers, checks it, and falls back.

use crate::budget::Budget;
use crate::event::{CheckpointEvent, Event, FailReason, Outcome, SkipReason};
use crate::log::{Counted, Log, Refused};
use crate::message::{MessageId, Usage};
use crate::meter::Metered;
use crate::saved::{NewSaved, Saved, SavedKind};
use crate::strategy::{Compacted, Context, Declined, Strategy};
use crate::tokens::TokenCounter;
use crate::view::View;

/// What happens to a view that a provider would refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It is discarded and the view stays; the default.
    Enforce,
    /// It is used and shows in [`View::check`]; for measuring strategies as they are.
    Observe,
}

/// How a session runs.
#[derive(Clone, Copy, Debug)]
pub struct SessionConfig {
    /// The limits.
    pub budget: Budget,
    /// Tokens of every request beside the view, such as tool definitions; they count towards the trigger.
    pub overhead: u32,
    /// The summarizer's context window, which its request and answer must fit together; none where it does not bind.
    pub summarizer_window: Option<u32>,
    /// Whether a compaction starts by itself at [`Budget::trigger`].
    pub automatic: bool,
    /// What happens to an invalid view.
    pub policy: Policy,
}

/// One conversation: its log, its view and what was saved.
pub struct Session<'s> {
    strategy: &'s dyn Strategy,
    summarizer: &'s Metered<'s>,
    counter: &'s dyn TokenCounter,
    config: SessionConfig,
    log: Log,
    view: View,
    history: Vec<Saved>,
    events: Vec<Event>,
    checkpoint_events: Vec<CheckpointEvent>,
    retry_at: u32,
}

/// A strategy's answer that passed every check but the budget.
struct Answer {
    view: View,
    saved: Vec<NewSaved>,
    fallback: Option<FailReason>,
    unread: Vec<MessageId>,
    retained: u32,
}

fn failed_attempt(reason: &dyn std::fmt::Display, after: MessageId) -> NewSaved {
    NewSaved { kind: SavedKind::Failed, covers: Some((after, after)), body: reason.to_string() }
}

/// A budget-breaking answer is asked for once more.
const ATTEMPTS: u32 = 2;

impl<'s> Session<'s> {
    /// An empty session.
    pub fn new(
        strategy: &'s dyn Strategy,
        summarizer: &'s Metered<'s>,
        counter: &'s dyn TokenCounter,
        config: SessionConfig,
    ) -> Self {
        Session {
            strategy,
            summarizer,
            counter,
            config,
            log: Log::default(),
            view: View::default(),
            history: Vec::new(),
            events: Vec::new(),
            checkpoint_events: Vec::new(),
            retry_at: 0,
        }
    }

    /// Appends a message that was said.
    ///
    /// # Errors
    /// [`Refused`] where no provider would take a chat with it; nothing changes then.
    pub fn push(&mut self, counted: Counted) -> Result<(), Refused> {
        self.log.push(counted.clone())?;
        self.view.answer_open(&self.log, self.counter);
        self.view.push(&counted);
        Ok(())
    }

    /// Call before each model call of the agent, also between a tool result and the next call: compacts where the view
    /// has reached its trigger. `now_ms` is the caller's clock, in milliseconds since the Unix epoch.
    pub async fn before_call(&mut self, now_ms: Option<i64>) -> Option<&Event> {
        if self.config.automatic {
            self.checkpoint(now_ms).await;
        }
        if self.is_due() { self.compact(now_ms).await } else { None }
    }

    /// Lets the strategy write a checkpoint, where it finds one due.
    async fn checkpoint(&mut self, now_ms: Option<i64>) {
        let Some(after) = self.log.messages().last().map(|last| last.message.id) else { return };
        let usage_before = self.summarizer.usage();
        let written = self.strategy.checkpoint(&self.context(self.config.budget)).await;
        let (saved, failed) = match written {
            Ok(None) => return,
            Ok(Some(saved)) => (saved, None),
            Err(reason) => (failed_attempt(&reason, after), Some(reason)),
        };
        let tokens = (self.view.tokens(), self.view.tokens());
        self.remember(vec![saved], self.summarizer.usage() - usage_before, tokens, now_ms);
        self.checkpoint_events.push(CheckpointEvent { after, tokens: self.request_tokens(), failed });
    }

    /// What a strategy may see now.
    fn context(&self, budget: Budget) -> Context<'_> {
        Context {
            log: &self.log,
            view: &self.view,
            history: &self.history,
            request_tokens: self.request_tokens(),
            budget,
            summarizer: self.summarizer,
            summarizer_window: self.config.summarizer_window,
            counter: self.counter,
        }
    }

    /// Whether [`Session::before_call`] would compact.
    pub fn is_due(&self) -> bool {
        self.config.automatic && self.request_tokens() >= self.config.budget.trigger.max(self.retry_at)
    }

    /// Compacts now, whatever the size of the view. An empty log gives no event.
    pub async fn compact(&mut self, now_ms: Option<i64>) -> Option<&Event> {
        let after = self.log.messages().last()?.message.id;
        let event = self.decide(after, now_ms).await;
        let below = self.request_tokens() < self.config.budget.trigger;
        self.retry_at = match event.outcome {
            Outcome::Applied if below => 0,
            // A request that stays at its trigger would otherwise be compacted again at every call.
            _ => self.request_tokens() + (self.config.budget.window - self.config.budget.trigger) / 4 + 1,
        };
        self.events.push(event);
        self.events.last()
    }

    /// The next request.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Tokens of the next request: the view and what stands beside it.
    pub fn request_tokens(&self) -> u32 {
        self.config.overhead + self.view.tokens()
    }

    /// Everything that was said.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What compactions saved, oldest first.
    pub fn history(&self) -> &[Saved] {
        &self.history
    }

    /// Every decision, oldest first.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Every decision about a checkpoint before a turn, oldest first.
    pub fn checkpoint_events(&self) -> &[CheckpointEvent] {
        &self.checkpoint_events
    }

    /// Tokens that stand outside the retained budget: the system prompt and the pending part.
    pub fn tokens_outside(&self) -> u32 {
        let pending = self.log.pending();
        let messages = self.log.messages().iter().enumerate();
        let system = self.log.system().map_or(0, |system| system.tokens);
        system + messages.filter(|(index, _)| pending.contains(*index)).map(|(_, counted)| counted.tokens).sum::<u32>()
    }

    async fn decide(&mut self, after: MessageId, now_ms: Option<i64>) -> Event {
        let usage_before = self.summarizer.usage();
        let outside = self.tokens_outside();
        let mut event = Event {
            after,
            outcome: Outcome::Applied,
            tokens_before: self.view.tokens(),
            tokens_after: self.view.tokens(),
            tokens_retained: self.view.tokens().saturating_sub(outside),
            over_budget: false,
            attempts: 0,
            fallback: None,
            unread: Vec::new(),
        };
        let mut budget = self.config.budget;
        let mut best: Option<Answer> = None;
        while event.attempts < ATTEMPTS {
            event.attempts += 1;
            let answer = match self.attempt(budget).await {
                Ok(answer) => answer,
                // An answer over the budget is better than none.
                Err(_) if best.is_some() => break,
                Err(declined) => return self.give_up(declined, event, usage_before, now_ms),
            };
            let excess = self.config.budget.retained.map_or(0, |most| answer.retained.saturating_sub(most));
            if best.as_ref().is_none_or(|best| answer.retained < best.retained) {
                best = Some(answer);
            }
            if excess == 0 {
                break;
            }
            // A tenth beyond the excess, since a model keeps to a limit only roughly.
            budget.written = budget.written.saturating_sub(excess + excess / 10 + 1).max(1);
        }
        if let Some(Answer { view, saved, fallback, unread, retained }) = best {
            event.tokens_after = view.tokens();
            event.tokens_retained = retained;
            event.over_budget = self.config.budget.retained.is_some_and(|most| retained > most);
            event.fallback = fallback;
            event.unread = unread;
            let usage = self.summarizer.usage() - usage_before;
            self.remember(saved, usage, (event.tokens_before, event.tokens_after), now_ms);
            self.view = view;
        }
        event
    }

    /// The view stays. What failed, or was paid for, is remembered.
    fn give_up(&mut self, declined: Declined, event: Event, usage_before: Usage, now_ms: Option<i64>) -> Event {
        let usage = self.summarizer.usage() - usage_before;
        if matches!(declined, Declined::Fail(_)) || usage != Usage::default() {
            let tokens = (event.tokens_before, event.tokens_after);
            self.remember(vec![failed_attempt(&declined, event.after)], usage, tokens, now_ms);
        }
        let outcome = match declined {
            Declined::Skip(reason) => Outcome::Skipped(reason),
            Declined::Fail(reason) => Outcome::Failed(reason),
        };
        Event { outcome, ..event }
    }

    async fn attempt(&self, budget: Budget) -> Result<Answer, Declined> {
        let Compacted { edits, saved, fallback, unread } = self.strategy.compact(&self.context(budget)).await?;
        let view = View::from_edits(edits, &self.log, self.counter)
            .map_err(|error| FailReason::InvalidView(error.to_string()))?;
        if self.config.policy == Policy::Enforce
            && let Some(violation) = view.check_against(&self.log).first()
        {
            return Err(FailReason::InvalidView(violation.to_string()).into());
        }
        if view.tokens() >= self.view.tokens() {
            return Err(SkipReason::NoProgress.into());
        }
        let retained = view.tokens().saturating_sub(self.tokens_outside());
        Ok(Answer { view, saved, fallback, unread, retained })
    }

    fn remember(&mut self, saved: Vec<NewSaved>, usage: Usage, tokens: (u32, u32), now_ms: Option<i64>) {
        for (index, new) in saved.into_iter().enumerate() {
            self.history.push(Saved {
                number: self.history.len() as u32,
                kind: new.kind,
                covers: new.covers,
                tokens_before: tokens.0,
                tokens_after: tokens.1,
                usage: if index == 0 { usage } else { Usage::default() },
                created_at_ms: now_ms,
                body: new.body,
            });
        }
    }
}
