//! A session's memory: notes of the host, what the strategy finds for a question, and a fresh log
//! for the compacted view.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::conversation::log::Log;
use crate::conversation::view::{Entry, WrittenPart};
use crate::memory::Note;
use crate::message::Usage;
use crate::session::Session;
use crate::session::breaker::Breaker;
use crate::strategy::decision_meter::DecisionMeter;
use crate::strategy::declined::Declined;
use crate::strategy::declined::{FailReason, SkipReason};

impl Session<'_> {
    /// Notes something, to be found by [`crate::memory::search`] and shown by
    /// [`crate::memory::built_context`]; the view stays as it is. Importance over 0 makes it an
    /// important one, more is more. Gives the record's number.
    ///
    /// # Errors
    /// [`SkipReason::UnderWay`] while a compaction is prepared; [`FailReason::Store`] where a store
    /// cannot keep it, or nothing was said yet that its commit could follow.
    pub fn note(
        &mut self,
        text: &str,
        importance: u8,
        now_ms: Option<i64>,
    ) -> Result<u32, Declined> {
        if self.is_preparing() {
            // What is prepared has counted the records that there are.
            return Err(SkipReason::UnderWay.into());
        }
        let after = self
            .log
            .last()
            .ok_or_else(|| FailReason::Store("nothing was said yet".to_owned()))?;
        let note = Note {
            text: text.to_owned(),
            importance: Some(importance),
        };
        let tokens = (self.view.tokens(), self.view.tokens());
        let saved = self.numbered(vec![note.to_record(None)], Usage::default(), tokens, now_ms);
        self.commit(&saved, None, after)?;
        self.remember(saved);
        Ok(self.history.len() as u32 - 1)
    }

    /// What the strategy finds for each question in what it stored, in at most `room` tokens each;
    /// an empty list where it has nothing to look in. No model is called and nothing changes: the
    /// host decides what of it joins a request.
    pub async fn retrieve(&self, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
        let tally = DecisionMeter::new(self.summarizer);
        self.strategy
            .retrieve(&self.context(&tally), questions, room)
            .await
    }

    /// Starts a fresh log with what the view still holds of the old one (the agent loop, step 7:
    /// new interaction log, reset middleware). Messages keep their ids and the view stays as it is,
    /// so a summary does not become a user's words; records stay, so notes are found as before;
    /// tries that failed are forgotten. A host may drop every message that [`Session::log`] no
    /// longer has.
    ///
    /// # Errors
    /// [`FailReason::InvalidView`] where what the view holds is not a log, and
    /// [`FailReason::Store`] where a store cannot keep the change; nothing changes then.
    pub fn reset(&mut self) -> Result<(), Declined> {
        let holds = self
            .view
            .entries()
            .iter()
            .filter_map(Entry::message_id)
            .collect::<BTreeSet<_>>();
        let mut log = Log::default();
        for counted in self
            .log
            .messages()
            .iter()
            .filter(|counted| holds.contains(&counted.message.id))
        {
            log.push(counted.clone())
                .map_err(|refused| FailReason::InvalidView(refused.to_string()))?;
        }
        let view = Arc::clone(&self.view);
        if let Some(after) = log.last() {
            self.commit(&[], Some(&view), after)?;
        }
        self.log = log;
        self.breaker = Breaker::default();
        Ok(())
    }
}
