//! What one decision of a session uses of its model.

use std::sync::{Arc, Mutex, PoisonError};

use crate::checkpoint::{Extraction, LadderReading, Unreadable};
use crate::message::Usage;
use crate::model::meter::{Metered, Purpose};
use crate::model::{ChatError, ChatReply, ChatRequest};
use crate::strategy::declined::FailReason;

/// What one decision uses of a meter, and what became of the checkpoints that its answers should
/// hold: decisions of several sessions, or one in the background, may share the meter itself.
pub struct DecisionMeter<'t> {
    metered: &'t Metered<'t>,
    usage: Mutex<Usage>,
    extractions: Mutex<Vec<Extraction>>,
}

impl<'t> DecisionMeter<'t> {
    /// An account without calls.
    pub fn new(metered: &'t Metered<'t>) -> Self {
        DecisionMeter {
            metered,
            usage: Mutex::default(),
            extractions: Mutex::default(),
        }
    }

    /// See [`Metered::seed`].
    pub fn seed(&self) -> u64 {
        self.metered.seed()
    }

    /// See [`Metered::complete`].
    ///
    /// # Errors
    /// What the model returned.
    pub async fn complete(
        &self,
        purpose: Purpose,
        request: impl Into<Arc<ChatRequest>>,
    ) -> Result<ChatReply, ChatError> {
        let reply = self.metered.complete(purpose, request).await?;
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) += reply.usage;
        Ok(reply)
    }

    /// Keeps what became of an attempt at a checkpoint, also where the attempt fails the whole
    /// compaction.
    pub fn note(&self, extraction: Extraction) {
        self.extractions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(extraction);
    }

    /// Keeps an attempt whose answer could not be read at all, for that reason.
    pub(crate) fn note_failed(&self, reason: &FailReason) {
        self.note(Extraction::new(LadderReading::Unreadable(match reason {
            FailReason::NoSummary(_) => Unreadable::Refused,
            _ => Unreadable::NoAnswer,
        })));
    }

    /// What was noted, oldest first.
    pub fn extractions(&self) -> Vec<Extraction> {
        self.extractions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What the calls through this account used together.
    pub fn usage(&self) -> Usage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
