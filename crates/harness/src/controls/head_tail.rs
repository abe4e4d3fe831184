//! `head-tail`: half the budget for the first messages, half for the last.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::SkipReason;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::selection::Selection;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::view::Edit;

use super::keep_system;
use crate::plan::Control;

pub(super) const CONTROL: Control = Control {
    name: "head-tail",
    about: "keeps the first and the last messages, half the budget each",
    tail_share: 0.5,
    compacts: true,
    evidence: None,
    build: |_, _| Arc::new(HeadTail),
};

struct HeadTail;

#[async_trait]
impl Strategy for HeadTail {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = Selection::recent(cx.log, cx.view, cx.budget.tail);
        if !selection.takes_messages() {
            return Err(SkipReason::NothingToCompact.into());
        }
        let first_kept = selection.kept.first().copied();
        let before_tail = |counted: &&Arc<CountedMessage>| {
            first_kept.is_none_or(|first| counted.message.id < first)
        };
        let spoken = cx
            .log
            .messages()
            .iter()
            .filter(|counted| counted.message.role != Role::System);
        let head = head(spoken.take_while(before_tail), cx.budget.written);
        // A chat opens with a user's turn, also where the first message is too long for the head.
        let is_users = |id: &MessageId| {
            let messages = cx.log.messages();
            let user = |counted: &Arc<CountedMessage>| {
                counted.message.id == *id && counted.message.role == Role::User
            };
            messages.iter().any(user)
        };
        let tail = selection.kept.iter();
        let tail = tail.skip_while(|id| head.is_empty() && !is_users(id));
        let edits = keep_system(cx.log)
            .into_iter()
            .chain(head.iter().copied().map(Edit::Keep))
            .chain(tail.map(|id| Edit::Keep(*id)));
        Ok(Compacted::without_reading(cx, edits.collect()))
    }
}

/// The longest run of first messages that fits and does not split a call batch.
fn head<'l>(
    messages: impl Iterator<Item = &'l Arc<CountedMessage>>,
    budget: u32,
) -> Vec<MessageId> {
    let mut whole = Vec::new();
    let mut open = Vec::new();
    let mut room = budget;
    for counted in messages {
        if counted.message.role != Role::Tool {
            whole.append(&mut open);
        }
        let Some(rest) = room.checked_sub(counted.tokens) else {
            return whole;
        };
        room = rest;
        open.push(counted.message.id);
    }
    whole
}
