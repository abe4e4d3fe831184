//! The append-only log of a conversation, each message counted once.

use std::sync::Arc;

use crate::message::{Message, MessageId, Role};

/// Everything that was said, in order. May end in a tool batch whose results are still to come.
#[derive(Clone, Debug, Default)]
pub struct Log {
    messages: Vec<Counted>,
}

/// A message and its tokens. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The message.
    pub message: Arc<Message>,
    /// Its tokens on the measuring scale.
    pub tokens: u32,
}

impl Log {
    /// Appends a message.
    ///
    /// # Errors
    /// [`OutOfOrder`] where the id does not ascend.
    pub fn push(&mut self, counted: Counted) -> Result<(), OutOfOrder> {
        if let Some(last) = self.messages.last()
            && last.message.id >= counted.message.id
        {
            return Err(OutOfOrder { id: counted.message.id, after: last.message.id });
        }
        self.messages.push(counted);
        Ok(())
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> &[Counted] {
        &self.messages
    }

    /// The last message's id.
    pub fn last(&self) -> Option<MessageId> {
        self.messages.last().map(|counted| counted.message.id)
    }

    /// The messages after that one; all where there is none.
    pub fn since(&self, after: Option<MessageId>) -> &[Counted] {
        &self.messages
            [self.messages.partition_point(|counted| after.is_some_and(|after| counted.message.id <= after))..]
    }

    /// The message of that id.
    pub fn get(&self, id: MessageId) -> Option<&Counted> {
        self.messages.binary_search_by_key(&id, |counted| counted.message.id).ok().map(|at| &self.messages[at])
    }

    /// The system message, where the conversation has one.
    pub fn system(&self) -> Option<&Counted> {
        self.messages.first().filter(|counted| counted.message.role == Role::System)
    }

    /// What every strategy keeps: see [`Pending`].
    pub fn pending(&self) -> Pending {
        let last_user = self.messages.iter().rposition(|counted| counted.message.role == Role::User);
        let length = self.messages.len();
        let caller = self.messages.iter().rposition(|counted| counted.message.role != Role::Tool);
        let open = caller.filter(|index| self.messages[*index].message.call_ids().next().is_some());
        Pending { last_user, batch: open.unwrap_or(length)..length }
    }
}

/// The part of a log that the next call answers, as indices into [`Log::messages`]: the last user message, and the last
/// call batch with the results that it has so far, where the log ends in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The last user message.
    pub last_user: Option<usize>,
    /// The last call batch with its results so far; empty where the log ends otherwise.
    pub batch: std::ops::Range<usize>,
}

impl Pending {
    /// Whether the message at that index is pending.
    pub fn contains(&self, index: usize) -> bool {
        self.last_user == Some(index) || self.batch.contains(&index)
    }
}

/// A message came with an id that does not ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message id `{}` does not follow `{}`: ids ascend", id.0, after.0)]
pub struct OutOfOrder {
    /// The id that came.
    pub id: MessageId,
    /// The id before it.
    pub after: MessageId,
}
