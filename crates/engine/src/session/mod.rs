//! One conversation under compaction: decides when, applies what a strategy answers, checks it, and
//! falls back.

mod background;
mod breaker;
mod compaction;
pub mod event;
pub mod health;
mod recover;
mod session_memory;
mod settle;
mod snapshot;
pub mod store;

use std::sync::Arc;

use tracing::Instrument;

use crate::budget::Budget;
use crate::budget::estimate::Estimator;
use crate::conversation::log::{Log, Refused};
pub use crate::conversation::outside::retained_tokens;
use crate::conversation::outside::tokens_outside;
use crate::conversation::record::History;
use crate::conversation::view::{Entry, UnknownMessage, View};
use crate::message::Usage;
use crate::model::embed::{Embedder, Lexical};
use crate::model::meter::Metered;
use crate::recovery::Recovery;
use crate::session::event::{CheckpointEvent, Event, Outcome, RecoveryEvent};
use crate::session::health::Health;
use crate::session::store::{State, Store};
use crate::strategy::decision_meter::DecisionMeter;
use crate::strategy::declined::SkipReason;
use crate::strategy::{Context, Strategy};
use crate::tokens::CountedMessage;
use crate::tokens::{TokenCounter, total};

use background::SessionMoment;
pub use background::{CheckpointPreparation, Preparation, Prepared, PreparedCheckpoint};
use breaker::{Breaker, BreakerStep};
use compaction::{Decision, decide, declined_as, unchanged};
pub use snapshot::Snapshot;

/// What happens to a view that a provider would refuse, or that is no smaller than the one before.
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
    /// Tokens of every request beside the view, such as tool definitions; they count towards the
    /// trigger.
    pub overhead: u32,
    /// The summarizer's context window, which its request and answer must fit together; none where
    /// it does not bind.
    pub summarizer_window: Option<u32>,
    /// Whether checkpoints and compactions start by themselves. Off, only [`Session::compact`]
    /// compacts.
    pub automatic: bool,
    /// What happens to an answer that breaks the rules.
    pub policy: Policy,
}

/// When the next compaction is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompactionDue {
    /// When the request reaches its trigger.
    #[default]
    AtTrigger,
    /// Now: a request of any size counts as having reached its trigger.
    Now,
    /// Not before the host says so.
    NotYet,
}

/// One conversation: its log, its view and what was saved.
pub struct Session<'s> {
    strategy: &'s dyn Strategy,
    summarizer: &'s Metered<'s>,
    /// Writes checkpoints before turns in the summarizer's place; with its window.
    checkpointer: Option<(&'s Metered<'s>, Option<u32>)>,
    embedder: &'s dyn Embedder,
    recovery: Recovery,
    counter: &'s dyn TokenCounter,
    config: SessionConfig,
    due: CompactionDue,
    log: Log,
    view: Arc<View>,
    /// The view's size on the scale of an estimator that reads text.
    estimated: u32,
    /// What the agent's last call used, for the estimators that go by it.
    reported: u32,
    history: History,
    events: Vec<Event>,
    checkpoint_events: Vec<CheckpointEvent>,
    recovery_events: Vec<RecoveryEvent>,
    health: Health,
    breaker: Breaker,
    store: Option<Box<dyn Store + 's>>,
    /// Whoever reads a snapshot holds this too.
    in_use: Arc<()>,
    /// Whoever prepares a compaction holds this too.
    under_way: Arc<()>,
    /// Whoever prepares a checkpoint holds this too.
    checkpoint_under_way: Arc<()>,
}

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
            checkpointer: None,
            embedder: &Lexical,
            recovery: Recovery::default(),
            counter,
            config,
            due: CompactionDue::default(),
            log: Log::default(),
            view: Arc::default(),
            estimated: 0,
            reported: 0,
            history: History::default(),
            events: Vec::new(),
            checkpoint_events: Vec::new(),
            recovery_events: Vec::new(),
            health: Health::default(),
            breaker: Breaker::default(),
            store: None,
            in_use: Arc::default(),
            under_way: Arc::default(),
            checkpoint_under_way: Arc::default(),
        }
    }

    /// Continues a conversation: the same view as when its state was committed, and what was said
    /// since.
    ///
    /// # Errors
    /// [`UnknownMessage`] where the state names a message that the log does not hold, or its view
    /// one after its own end; nothing changes then.
    pub fn restored(mut self, log: Log, state: State) -> Result<Self, UnknownMessage> {
        if let Some(after) = state.after.filter(|after| log.get(*after).is_none()) {
            return Err(UnknownMessage(after));
        }
        let mut view = View::from_edits(state.view, &log, self.counter)?;
        let named = view.entries().iter().filter_map(Entry::message_id).max();
        if let Some(late) = named.filter(|late| state.after.is_none_or(|after| *late > after)) {
            return Err(UnknownMessage(late));
        }
        for counted in log.since(state.after) {
            view.follow(counted, &log, self.counter);
        }
        self.log = log;
        self.history = state.history.into();
        // What was prepared of the conversation before does not belong to this one.
        self.under_way = Arc::default();
        self.checkpoint_under_way = Arc::default();
        self.show(Arc::new(view));
        Ok(self)
    }

    /// Commits every decision to a store from now on. What cannot be committed is not applied.
    #[must_use]
    pub fn stored_in(self, store: impl Store + 's) -> Self {
        Session {
            store: Some(Box::new(store)),
            ..self
        }
    }

    /// Appends a message that was said.
    ///
    /// # Errors
    /// [`Refused`] where no provider would take a chat with it; nothing changes then.
    pub fn push(&mut self, counted: impl Into<Arc<CountedMessage>>) -> Result<(), Refused> {
        self.log.push(counted)?;
        let view = Arc::make_mut(&mut self.view);
        let before = view.entries().len();
        if let Some(counted) = self.log.messages().last() {
            view.follow(counted, &self.log, self.counter);
        }
        let estimator = self.config.budget.estimator;
        if estimator.reads_text() {
            let added = view.entries()[before..]
                .iter()
                .map(|entry| estimator.of_entry(entry));
            self.estimated = total([self.estimated].into_iter().chain(added));
        }
        Ok(())
    }

    /// Call after each model call of the agent with what it reported: the agent loop counts by it.
    pub fn report_usage(&mut self, usage: Usage) {
        self.reported =
            u32::try_from(usage.total_input().saturating_add(usage.output)).unwrap_or(u32::MAX);
    }

    /// Call before each model call of the agent, also between a tool result and the next call:
    /// compacts where the view has reached its trigger. `now_ms` is the caller's clock, in
    /// milliseconds since the Unix epoch.
    ///
    /// Where three tries in a row leave the request at its trigger, the next event is
    /// [`crate::strategy::declined::FailReason::StaysAtTrigger`] and no call is made; a new try
    /// comes when the window's headroom has filled once more, or when less is outside a
    /// compaction's reach.
    pub async fn before_call(&mut self, now_ms: Option<i64>) -> Option<&Event> {
        // Futures that are seldom needed are boxed, so that a host that waits here for thousands of
        // sessions holds little for each.
        if self.config.automatic && self.strategy.follows_turns() {
            let tally = DecisionMeter::new(self.summarizer);
            Box::pin(self.strategy.before_turn(&self.context(&tally))).await;
        }
        if self.checkpoint_is_due() {
            Box::pin(self.checkpoint(now_ms)).await;
        }
        if let Some(reason) = self.recovery_due(now_ms) {
            Box::pin(self.recover(reason, None, now_ms)).await;
        }
        if !self.is_due() {
            return None;
        }
        if self.strategy.is_due().is_none() && self.step() == BreakerStep::GiveUp {
            self.give_up()
        } else {
            Box::pin(self.compact(now_ms)).await
        }
    }

    /// Changes the limits from the next decision on, as when a host changes the model.
    pub fn limit(&mut self, budget: Budget) {
        self.schedule(budget, CompactionDue::AtTrigger);
    }

    /// Changes the limits, and says when the next compaction is due, as where compactions come at
    /// given moments. Under [`CompactionDue::Now`], the trigger is the size of the request if that is
    /// smaller.
    pub fn schedule(&mut self, budget: Budget, due: CompactionDue) {
        let trigger = if due == CompactionDue::Now {
            budget.trigger.min(self.request_estimate()).max(1)
        } else {
            budget.trigger
        };
        self.config.budget = Budget { trigger, ..budget };
        self.due = due;
    }

    /// Whether [`Session::before_call`] would decide about a compaction. A strategy that decides
    /// itself says so only before the turn.
    pub fn is_due(&self) -> bool {
        let by_trigger = || {
            self.due != CompactionDue::NotYet
                && self.is_at_trigger()
                && self.step() != BreakerStep::Wait
        };
        self.config.automatic && self.strategy.is_due().unwrap_or_else(by_trigger)
    }

    /// What the strategy counted of itself.
    pub fn counted(&self) -> Vec<(&'static str, u64)> {
        self.strategy.counted()
    }

    /// Whether the strategy decides when it compacts, and not a trigger.
    pub fn follows_strategy(&self) -> bool {
        self.config.automatic && self.strategy.is_due().is_some()
    }

    /// Whether the next request has reached its trigger.
    pub fn is_at_trigger(&self) -> bool {
        let trigger = self.config.budget.trigger;
        trigger > 0 && self.request_estimate() >= trigger
    }

    /// Compacts now, whatever the size of the view. An empty log gives no event.
    pub async fn compact(&mut self, now_ms: Option<i64>) -> Option<&Event> {
        let after = self.log.last()?;
        if let Some(reason) = self.blocked() {
            let event = unchanged(&self.view, after, tokens_outside(&self.log));
            self.events.push(Event {
                outcome: Outcome::Skipped(reason),
                ..event
            });
            return self.events.last();
        }
        let tally = DecisionMeter::new(self.summarizer);
        let span = tracing::info_span!(
            "compaction",
            after = after.0,
            tokens = self.request_estimate()
        );
        let decided = decide(
            self.strategy,
            self.context(&tally),
            self.config.policy,
            after,
        );
        let decision = decided.instrument(span).await;
        self.settle(decision, tally.usage(), now_ms).await
    }

    fn blocked(&self) -> Option<SkipReason> {
        match () {
            () if self.is_preparing() => Some(SkipReason::UnderWay),
            () if self.is_read() => Some(SkipReason::SnapshotInUse),
            () => None,
        }
    }

    /// A compaction to be run beside the conversation. None where the log is empty or one is under
    /// way: there is one at a time, and until it is adopted or dropped this session compacts no
    /// other way.
    pub fn prepare(&self) -> Option<Preparation<'s>> {
        let model = (self.summarizer, self.config.summarizer_window);
        (!self.is_preparing())
            .then(|| self.moment(model))?
            .map(|moment| Preparation {
                moment,
                under_way: Arc::clone(&self.under_way),
            })
    }

    /// The session as it is now, for a model and its window; none where the log is empty.
    fn moment(&self, (model, window): (&'s Metered<'s>, Option<u32>)) -> Option<SessionMoment<'s>> {
        let config = SessionConfig {
            summarizer_window: window,
            ..self.config
        };
        Some(SessionMoment {
            strategy: self.strategy,
            model,
            counter: self.counter,
            config,
            log: self.log.clone(),
            view: Arc::clone(&self.view),
            history: self.history.clone(),
            request_tokens: self.request_estimate(),
            after: self.log.last()?,
        })
    }

    /// Applies what a [`Preparation`] of this session came to; messages that arrived meanwhile
    /// stay, as they were said. One of another session changes nothing.
    pub async fn adopt(&mut self, prepared: Prepared, now_ms: Option<i64>) -> Option<&Event> {
        if !Arc::ptr_eq(&self.under_way, &prepared.under_way) {
            return None;
        }
        let Prepared {
            mut decision,
            usage,
            ..
        } = prepared;
        if self.is_read() {
            decision = self.not_adopted(decision.event, usage);
        }
        self.settle(decision, usage, now_ms).await
    }

    /// The view for all agents that serve one request: it does not change, and nothing is
    /// compacted, while one of them holds it (the threshold plan).
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.view), Arc::clone(&self.in_use))
    }

    /// The next request.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The next request, to be held across a decision; a message that is said meanwhile makes the
    /// session copy it.
    pub fn shared_view(&self) -> Arc<View> {
        Arc::clone(&self.view)
    }

    /// Tokens of the next request: the view and what is sent beside it.
    pub fn request_tokens(&self) -> u32 {
        self.config.overhead.saturating_add(self.view.tokens())
    }

    /// Size of the next request on the trigger's scale: see [`Budget::estimator`].
    pub fn request_estimate(&self) -> u32 {
        match self.config.budget.estimator {
            Estimator::Exact => self.request_tokens(),
            Estimator::Characters | Estimator::Classes => self.estimated,
            Estimator::Usage | Estimator::Recount => self.reported,
        }
    }

    /// Everything that was said.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What compactions saved, oldest first.
    pub fn history(&self) -> &History {
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

    /// Tokens outside the retained budget: the system prompt and the pending part.
    pub fn tokens_outside(&self) -> u32 {
        tokens_outside(&self.log)
    }

    /// What a strategy may see now.
    fn context<'c>(&'c self, tally: &'c DecisionMeter<'c>) -> Context<'c> {
        Context {
            log: &self.log,
            view: &self.view,
            history: &self.history,
            request_tokens: self.request_estimate(),
            budget: self.config.budget,
            summarizer: tally,
            summarizer_window: self.config.summarizer_window,
            counter: self.counter,
        }
    }

    /// A decision that comes while agents read the view: a summary that no view holds is not
    /// remembered, its cost is.
    fn not_adopted(&self, prepared: Event, usage: Usage) -> Decision {
        let Event {
            after,
            attempts,
            extractions,
            ..
        } = prepared;
        let event = Event {
            attempts,
            extractions,
            ..unchanged(&self.view, after, self.tokens_outside())
        };
        declined_as(event, SkipReason::SnapshotInUse.into(), usage)
    }

    fn is_preparing(&self) -> bool {
        Arc::strong_count(&self.under_way) > 1
    }

    fn is_read(&self) -> bool {
        Arc::strong_count(&self.in_use) > 1
    }

    fn step(&self) -> BreakerStep {
        self.breaker
            .step(self.request_estimate(), self.tokens_outside())
    }

    fn give_up(&mut self) -> Option<&Event> {
        let (tokens, outside, budget) = (
            self.request_estimate(),
            self.tokens_outside(),
            self.config.budget,
        );
        let event = unchanged(&self.view, self.log.last()?, outside);
        self.breaker.gave_up(tokens, outside, &budget);
        let event = Event {
            outcome: Outcome::Failed(Breaker::error(tokens, &budget)),
            ..event
        };
        event.log(&self.events);
        self.events.push(event);
        self.events.last()
    }
}
