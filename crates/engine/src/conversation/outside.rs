//! What is outside the retained budget, whatever a strategy does: the system prompt and the pending
//! part.

use crate::conversation::log::Log;
use crate::conversation::view::{Entry, View};
use crate::tokens::{CountedMessage, total};

/// Tokens that a view holds beside the system prompt and the pending part.
pub fn retained_tokens(view: &View, log: &Log) -> u32 {
    let entries = view.entries();
    // The system prompt comes first and the pending part last, so this looks at few entries.
    let holds = |id| {
        let is_it = |entry: &Entry| entry.message_id() == Some(id);
        entries.first().is_some_and(is_it) || entries.iter().rev().any(is_it)
    };
    let held = outside(log)
        .filter(|counted| holds(counted.message.id))
        .map(|counted| counted.tokens);
    view.tokens().saturating_sub(total(held))
}

/// Tokens outside the retained budget: the system prompt and the pending part.
pub(crate) fn tokens_outside(log: &Log) -> u32 {
    total(outside(log).map(|counted| counted.tokens))
}

/// The system prompt and the pending part.
fn outside(log: &Log) -> impl Iterator<Item = &CountedMessage> {
    let (messages, pending) = (log.messages(), log.pending());
    let last_user = pending
        .last_user
        .filter(|index| !pending.batch.contains(index));
    let batch = messages[pending.batch].iter().map(|counted| &**counted);
    log.system()
        .into_iter()
        .chain(last_user.map(|index| &*messages[index]))
        .chain(batch)
}
