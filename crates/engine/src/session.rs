//! One conversation under compaction: decides when, applies what a strategy answers, checks it, and falls back.

use crate::budget::Budget;
use crate::event::{Event, FailReason, Outcome, SkipReason};
use crate::log::{Counted, Log, OutOfOrder};
use crate::message::{MessageId, Usage};
use crate::meter::Metered;
use crate::saved::{NewSaved, Saved};
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
    retry_at: u32,
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
            retry_at: 0,
        }
    }

    /// Appends a message that was said.
    ///
    /// # Errors
    /// [`OutOfOrder`] where its id does not ascend; nothing changes then.
    pub fn push(&mut self, counted: Counted) -> Result<(), OutOfOrder> {
        self.log.push(counted.clone())?;
        self.view.push(&counted);
        Ok(())
    }

    /// Call before each model call of the agent, also between a tool result and the next call: compacts where the view
    /// has reached its trigger. `now_ms` is the caller's clock, in milliseconds since the Unix epoch.
    pub async fn before_call(&mut self, now_ms: Option<i64>) -> Option<&Event> {
        if self.is_due() { self.compact(now_ms).await } else { None }
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
        };
        let mut budget = self.config.budget;
        let mut answer: Option<(View, Vec<NewSaved>, u32)> = None;
        while event.attempts < ATTEMPTS {
            event.attempts += 1;
            let (view, saved) = match self.attempt(budget).await {
                Ok(answer) => answer,
                // An answer over the budget is better than none.
                Err(_) if answer.is_some() => break,
                Err(Declined::Skip(reason)) => return Event { outcome: Outcome::Skipped(reason), ..event },
                Err(Declined::Fail(reason)) => return Event { outcome: Outcome::Failed(reason), ..event },
            };
            let retained = view.tokens().saturating_sub(outside);
            if answer.as_ref().is_none_or(|(_, _, before)| retained < *before) {
                answer = Some((view, saved, retained));
            }
            let excess = self.config.budget.retained.map_or(0, |most| retained.saturating_sub(most));
            if excess == 0 {
                break;
            }
            // A tenth beyond the excess, since a model keeps to a limit only roughly.
            budget.written = budget.written.saturating_sub(excess + excess / 10 + 1).max(1);
        }
        if let Some((view, saved, retained)) = answer {
            event.tokens_after = view.tokens();
            event.tokens_retained = retained;
            event.over_budget = self.config.budget.retained.is_some_and(|most| retained > most);
            self.remember(saved, self.summarizer.usage() - usage_before, &event, now_ms);
            self.view = view;
        }
        event
    }

    async fn attempt(&self, budget: Budget) -> Result<(View, Vec<NewSaved>), Declined> {
        let cx = Context {
            log: &self.log,
            view: &self.view,
            history: &self.history,
            budget,
            summarizer: self.summarizer,
            counter: self.counter,
        };
        let Compacted { edits, saved } = self.strategy.compact(&cx).await?;
        let view = View::from_edits(edits, &self.log, self.counter)
            .map_err(|error| FailReason::InvalidView(error.to_string()))?;
        if self.config.policy == Policy::Enforce
            && let Some(violation) = view.check().first()
        {
            return Err(FailReason::InvalidView(violation.to_string()).into());
        }
        if view.tokens() >= self.view.tokens() {
            return Err(SkipReason::NoProgress.into());
        }
        Ok((view, saved))
    }

    fn remember(&mut self, saved: Vec<NewSaved>, usage: Usage, event: &Event, now_ms: Option<i64>) {
        for (index, new) in saved.into_iter().enumerate() {
            self.history.push(Saved {
                number: self.history.len() as u32,
                kind: new.kind,
                covers: new.covers,
                tokens_before: event.tokens_before,
                tokens_after: event.tokens_after,
                usage: if index == 0 { usage } else { Usage::default() },
                created_at_ms: now_ms,
                body: new.body,
            });
        }
    }
}
