//! Compaction beside the conversation: prepared over a snapshot while the agent goes on, adopted
//! when it is ready.

use std::sync::Arc;

use crate::conversation::log::Log;
use crate::conversation::record::History;
use crate::conversation::view::View;
use crate::message::{MessageId, Usage};
use crate::model::meter::Metered;
use crate::session::SessionConfig;
use crate::session::compaction::{Decision, decide};
use crate::strategy::decision_meter::DecisionMeter;
use crate::strategy::{Context, Strategy};
use crate::tokens::TokenCounter;

/// A snapshot of a session, ready to be compacted while messages arrive. One at a time: dropping it
/// gives up.
pub struct Preparation<'s> {
    pub(crate) strategy: &'s dyn Strategy,
    pub(crate) summarizer: &'s Metered<'s>,
    pub(crate) counter: &'s dyn TokenCounter,
    pub(crate) config: SessionConfig,
    pub(crate) log: Log,
    pub(crate) view: Arc<View>,
    pub(crate) history: History,
    pub(crate) request_tokens: u32,
    pub(crate) after: MessageId,
    pub(crate) under_way: Arc<()>,
}

impl<'s> Preparation<'s> {
    /// Asks the strategy. The session itself is free meanwhile.
    pub async fn run(self) -> Prepared {
        let tally = DecisionMeter::new(self.summarizer);
        let cx = Context {
            log: &self.log,
            view: &self.view,
            history: &self.history,
            request_tokens: self.request_tokens,
            budget: self.config.budget,
            summarizer: &tally,
            summarizer_window: self.config.summarizer_window,
            counter: self.counter,
        };
        let decision = decide(self.strategy, cx, self.config.policy, self.after).await;
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
