//! A recorded compaction with a text beside what it left, for comparison with a ledger of that
//! size. It sees the messages and not the facts, most of which are values that calls use later:
//! chosen among facts, random values would look good.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::FailReason;
use compactometer_engine::ledger::Ledger;
use compactometer_engine::log::Log;
use compactometer_engine::message::Role;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::tokens::MESSAGE_OVERHEAD;
use compactometer_engine::view::{Edit, Origin, View, WrittenPart};
use compactometer_formats::added_text::AddedText;

use super::texts::{SaidUpTo, added_texts};
use crate::ledgers::read;
use crate::prepare::PreparedScenario;

pub(super) struct Beside {
    pub(super) strategy: Arc<dyn Strategy>,
    pub(super) text: AddedText,
    /// Most tokens, the message included.
    pub(super) tokens: u32,
    pub(super) prepared: Arc<PreparedScenario>,
}

#[async_trait]
impl Strategy for Beside {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let mut compacted = self.strategy.compact(cx).await?;
        let text = self.text(&compacted.edits, cx)?;
        if !text.is_empty() {
            let place = usize::from(cx.log.system().is_some()).min(compacted.edits.len());
            compacted.edits.insert(
                place,
                Edit::Insert(Role::User, vec![WrittenPart::text(text, Origin::Ledger)]),
            );
        }
        Ok(compacted)
    }
}

impl Beside {
    fn text(&self, edits: &[Edit], cx: &Context<'_>) -> Result<String, FailReason> {
        let budget = self.tokens.saturating_sub(MESSAGE_OVERHEAD);
        let said =
            SaidUpTo::of_messages(&self.prepared, cx.log.messages().len(), budget, cx.counter);
        let view = View::from_edits(edits.to_vec(), cx.log, cx.counter)
            .map_err(|error| FailReason::InvalidView(error.to_string()))?;
        let ledger = self.ledger(cx.log);
        let lack = ledger.lack(view.texts());
        Ok(added_texts(self.text, &said, &lack)
            .next()
            .unwrap_or_default())
    }

    fn ledger(&self, log: &Log) -> Ledger {
        let mut ledger = Ledger::in_directories(&self.prepared.scenario.directories);
        for counted in log.messages() {
            read(&mut ledger, &self.prepared.scenario, &counted.message);
        }
        ledger
    }
}
