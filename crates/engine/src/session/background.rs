//! Work beside the conversation: a compaction or a checkpoint is prepared over a snapshot while the
//! agent goes on, and adopted when it is ready.

use std::sync::Arc;

use crate::checkpoint::Extraction;
use crate::conversation::log::Log;
use crate::conversation::record::{History, NewRecord};
use crate::conversation::view::View;
use crate::message::{MessageId, Usage};
use crate::model::meter::Metered;
use crate::session::SessionConfig;
use crate::session::compaction::{Decision, decide};
use crate::strategy::decision_meter::DecisionMeter;
use crate::strategy::declined::FailReason;
use crate::strategy::{Context, Strategy};
use crate::tokens::TokenCounter;

/// A session as it was at one moment.
pub(super) struct SessionMoment<'s> {
    pub(super) strategy: &'s dyn Strategy,
    pub(super) model: &'s Metered<'s>,
    pub(super) counter: &'s dyn TokenCounter,
    pub(super) config: SessionConfig,
    pub(super) log: Log,
    pub(super) view: Arc<View>,
    pub(super) history: History,
    pub(super) request_tokens: u32,
    pub(super) after: MessageId,
}

impl SessionMoment<'_> {
    fn context<'c>(&'c self, tally: &'c DecisionMeter<'c>) -> Context<'c> {
        Context {
            log: &self.log,
            view: &self.view,
            history: &self.history,
            request_tokens: self.request_tokens,
            budget: self.config.budget,
            summarizer: tally,
            summarizer_window: self.config.summarizer_window,
            counter: self.counter,
        }
    }
}

/// A snapshot of a session, ready to be compacted while messages arrive. One at a time: dropping it
/// gives up.
pub struct Preparation<'s> {
    pub(super) moment: SessionMoment<'s>,
    pub(super) under_way: Arc<()>,
}

impl Preparation<'_> {
    /// Asks the strategy. The session itself is free meanwhile.
    pub async fn run(self) -> Prepared {
        let moment = &self.moment;
        let tally = DecisionMeter::new(moment.model);
        let cx = moment.context(&tally);
        let decision = decide(moment.strategy, cx, moment.config.policy, moment.after).await;
        Prepared {
            decision,
            usage: tally.usage(),
            under_way: self.under_way,
        }
    }
}

/// A compaction that waits for [`crate::session::Session::adopt`].
pub struct Prepared {
    pub(crate) decision: Decision,
    pub(crate) usage: Usage,
    pub(crate) under_way: Arc<()>,
}

/// A snapshot of a session, ready to have its checkpoint written while messages arrive. One at a
/// time: dropping it gives up.
pub struct CheckpointPreparation<'s> {
    pub(super) moment: SessionMoment<'s>,
    pub(super) under_way: Arc<()>,
}

impl CheckpointPreparation<'_> {
    /// Asks the strategy. The session itself is free meanwhile, and may compact.
    pub async fn run(self) -> PreparedCheckpoint {
        let tally = DecisionMeter::new(self.moment.model);
        let cx = self.moment.context(&tally);
        let written = WrittenBefore::of(self.moment.strategy, &cx, self.moment.after).await;
        PreparedCheckpoint {
            written,
            under_way: self.under_way,
        }
    }
}

/// A checkpoint that waits for [`crate::session::Session::adopt_checkpoint`].
pub struct PreparedCheckpoint {
    pub(super) written: WrittenBefore,
    pub(super) under_way: Arc<()>,
}

/// What came of an attempt at a checkpoint before a turn.
pub(super) struct WrittenBefore {
    pub(super) record: Result<NewRecord, FailReason>,
    /// The last message that it could read.
    pub(super) after: MessageId,
    /// Of the view that it read.
    pub(super) view_tokens: u32,
    pub(super) usage: Usage,
    pub(super) extraction: Option<Extraction>,
}

impl WrittenBefore {
    pub(super) async fn of(strategy: &dyn Strategy, cx: &Context<'_>, after: MessageId) -> Self {
        let record = strategy.checkpoint(cx).await;
        WrittenBefore {
            record,
            after,
            view_tokens: cx.view.tokens(),
            usage: cx.summarizer.usage(),
            extraction: cx.summarizer.extractions().pop(),
        }
    }
}
