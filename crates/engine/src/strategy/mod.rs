//! The seam to a strategy: a snapshot goes in, edits come out; and the registry of strategies.
//!
//! Absent on purpose: state. What a strategy must remember it reads from [`Context::history`].

pub mod approach;
pub(crate) mod ask;
pub mod composed;
pub mod decision_meter;
pub mod declined;
pub mod journey;
pub(crate) mod next_view;
pub mod params;
pub(crate) mod pieces;
pub(crate) mod prompt;
pub(crate) mod retrieve;
pub mod selection;
pub mod summary;
pub mod with_ledger;

use std::sync::Arc;

use async_trait::async_trait;

use crate::budget::{Budget, Limits};
use crate::conversation::log::Log;
use crate::conversation::record::{History, NewRecord};
use crate::conversation::view::{Edit, Entry, View, WrittenPart, kept_by};
use crate::message::{MessageId, Role};
use crate::recovery::Showing;
use crate::strategy::approach::Approach;
use crate::strategy::decision_meter::DecisionMeter;
use crate::strategy::journey::Journey;

use crate::strategy::params::{Param, ParamError, Settings};
use crate::tokens::TokenCounter;

pub use declined::{Declined, FailReason, SkipReason};
pub use prompt::Placeholder;

/// A way to compact a conversation. Stateless: one value serves any number of sessions.
#[async_trait]
pub trait Strategy: Send + Sync {
    /// Answers with the whole next view.
    ///
    /// # Errors
    /// [`Declined`] where the view should stay as it is.
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined>;

    /// Whether [`Strategy::before_turn`] should be called.
    fn follows_turns(&self) -> bool {
        false
    }

    /// Sees the session before each turn of the agent, whether or not a compaction is due; the view
    /// and the session stay as they are.
    async fn before_turn(&self, _: &Context<'_>) {}

    /// Whether it compacts now, where the strategy decides and not a trigger; asked after
    /// [`Strategy::before_turn`].
    fn is_due(&self) -> Option<bool> {
        None
    }

    /// What it counted of itself so far, for whoever measures it: names and numbers.
    fn counted(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Whether [`Strategy::checkpoint`] should write one now; asked before each turn, so it costs
    /// little.
    fn checkpoint_is_due(&self, _: &Context<'_>) -> bool {
        false
    }

    /// Writes a checkpoint before a turn; the view stays as it is.
    ///
    /// # Errors
    /// Why it could not be written.
    async fn checkpoint(&self, _: &Context<'_>) -> Result<NewRecord, FailReason> {
        Err(FailReason::NoCheckpoint)
    }

    /// Whether its checkpoints should be written beside the agent's turn:
    /// [`crate::session::Session::prepare_checkpoint`] is the host's way to do so.
    fn writes_beside(&self) -> bool {
        false
    }

    /// How its checkpoints are shown.
    fn showing(&self) -> Showing {
        Showing::default()
    }

    /// What it finds for each question in what it stored, in at most `room` tokens each and without
    /// a model call. An empty list where it has nothing to look in; the view and the session stay
    /// as they are.
    async fn retrieve(
        &self,
        _: &Context<'_>,
        _questions: &[&str],
        _room: u32,
    ) -> Vec<Vec<WrittenPart>> {
        Vec::new()
    }
}

/// What a strategy sees: a snapshot of one session.
pub struct Context<'s> {
    /// Everything that was said.
    pub log: &'s Log,
    /// The view that outgrew its trigger.
    pub view: &'s View,
    /// What earlier compactions of this session saved, oldest first.
    pub history: &'s History,
    /// Size of the next request on the trigger's scale, that of the budget's
    /// [`crate::budget::estimate::Estimator`].
    pub request_tokens: u32,
    /// The limits to stay in. A retry comes with a smaller `written`.
    pub budget: Budget,
    /// The summarizer.
    pub summarizer: &'s DecisionMeter<'s>,
    /// Its context window, which request and answer must fit together; none where it does not bind.
    pub summarizer_window: Option<u32>,
    /// The measuring counter, on whose scale the budget is.
    pub counter: &'s dyn TokenCounter,
}

impl Context<'_> {
    /// The number that the session will give to the strategy's new record at that index.
    pub fn number_of_new(&self, index: u32) -> u32 {
        self.history.next_number() + index
    }
}

/// A strategy's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacted {
    /// The next view, whole and in order.
    pub edits: Vec<Edit>,
    /// What the session should remember.
    pub saved: Vec<NewRecord>,
    /// Why this is a lesser answer than the strategy's usual one.
    pub fallback: Option<FailReason>,
    /// See [`crate::session::event::Event::unread`].
    pub unread: Vec<MessageId>,
    /// What it shows of several summaries, from a strategy that keeps them side by side.
    pub journey: Option<Journey>,
}

impl Compacted {
    /// An answer for which no model read anything: all that was in the view and is not kept whole
    /// leaves unread.
    pub fn without_reading(cx: &Context<'_>, edits: Vec<Edit>) -> Self {
        let keeps = kept_by(&edits);
        let said = cx
            .view
            .entries()
            .iter()
            .filter(|entry| entry.role() != Role::System && entry.written_parts().is_none());
        let unread = said
            .filter_map(Entry::message_id)
            .filter(|id| !keeps.contains(id))
            .collect();
        Compacted {
            edits,
            unread,
            ..Compacted::default()
        }
    }
}

/// A strategy's entry in `strategies::ALL`.
pub struct StrategySpec {
    /// The name users type.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// The document or system that it comes from, with section or version.
    pub source: &'static str,
    /// How it works, where its source belongs to one of the approaches.
    pub approach: Option<Approach>,
    /// Its prompt, empty where it calls no model.
    pub prompt: &'static str,
    /// What a prompt must have a `{place}` for.
    pub placeholders: &'static [&'static str],
    /// Its parameters with the source's values, in groups: its own first, then how it may deviate
    /// as its source does.
    pub params: &'static [&'static [Param]],
    /// The source's limits under these parameters.
    pub limits: fn(&Settings) -> Result<Limits, ParamError>,
    /// Builds the strategy.
    pub build: fn(&Settings) -> Arc<dyn Strategy>,
    /// The form that its source describes, where that is not the corrected one.
    pub published: Option<PublishedForm>,
}

/// A strategy as its source describes it: the same strategy with the source's deviations switched
/// on, so that anybody can repeat each correction as an ablation.
pub struct PublishedForm {
    /// Parameters that differ from the corrected form, and their values in the source.
    pub values: &'static [(&'static str, &'static str)],
    /// Invariants that it breaks, by their numbers in the engine's README.
    pub breaks: &'static [u8],
}

impl StrategySpec {
    /// Every parameter, in the order of lists.
    pub fn params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().copied().flatten()
    }

    /// The name of its published form.
    pub fn published_name(&self) -> String {
        format!("{}-faithful", self.name)
    }
}
