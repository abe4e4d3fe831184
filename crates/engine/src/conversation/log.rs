//! The append-only log of a conversation, each message counted once.
//!
//! What no provider takes and nobody can mend later is refused when it is said, with an error that
//! names message and cure: see [`Refused`]. What happens every day is taken: a call that is never
//! answered because somebody spoke first. The log keeps it as it was; the view answers it
//! ([`crate::conversation::view::View::follow`]). Its result, should it still come, is refused,
//! since a provider takes a result only right after its call; it can be said as a user's text. A
//! chat that opens with the agent is taken too, since some providers take it;
//! [`crate::conversation::view::View::check`] lists it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::message::{Message, MessageId, Part, Role};
use crate::tokens::CountedMessage;

/// Everything that was said, in order. May end in a tool batch whose results are still to come.
#[derive(Clone, Debug, Default)]
pub struct Log {
    messages: Vec<Arc<CountedMessage>>,
    calls: BTreeSet<String>,
    /// Calls of the last batch without a result so far.
    open: Vec<String>,
    unanswered: BTreeSet<String>,
    /// Indices of the messages whose time is known.
    timed: Vec<usize>,
}

impl Log {
    /// Appends a message.
    ///
    /// # Errors
    /// [`Refused`] where no provider would take a chat with it; nothing changes then.
    ///
    /// ```
    /// use compactometer_engine::log::Log;
    /// use compactometer_engine::message::{Message, MessageId, Part, Role};
    /// use compactometer_engine::tokens::{CountedMessage, Encoding};
    ///
    /// let said = |id, role, part| {
    ///     let message = Message { id: MessageId(id), role, at_ms: None, parts: vec![part], usage: None };
    ///     CountedMessage::new(message, &Encoding::O200k)
    /// };
    /// let mut log = Log::default();
    /// log.push(said(0, Role::User, Part::Text { text: "How is the build?".into() }))?;
    /// let result = Part::ToolResult { call_id: "call_1".into(), text: "green".into(), is_error: false };
    /// let refused = log.push(said(1, Role::Tool, result)).unwrap_err();
    /// assert!(refused.to_string().contains("call_1"), "a result needs its call: {refused}");
    /// # Ok::<(), compactometer_engine::log::Refused>(())
    /// ```
    pub fn push(&mut self, counted: impl Into<Arc<CountedMessage>>) -> Result<(), Refused> {
        let counted = counted.into();
        let still_open = self.open_after(&counted.message)?;
        if counted.message.role != Role::Tool {
            self.unanswered.extend(std::mem::take(&mut self.open));
        }
        for call_id in counted.message.call_ids() {
            self.calls.insert(call_id.to_owned());
        }
        self.open = still_open;
        if counted.message.at_ms.is_some() {
            self.timed.push(self.messages.len());
        }
        self.messages.push(counted);
        Ok(())
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> &[Arc<CountedMessage>] {
        &self.messages
    }

    /// The last message's id.
    pub fn last(&self) -> Option<MessageId> {
        self.messages.last().map(|counted| counted.message.id)
    }

    /// The messages after that one; all if there is none.
    pub fn since(&self, after: Option<MessageId>) -> &[Arc<CountedMessage>] {
        &self.messages[self
            .messages
            .partition_point(|counted| after.is_some_and(|after| counted.message.id <= after))..]
    }

    /// The message of that id.
    pub fn get(&self, id: MessageId) -> Option<&Arc<CountedMessage>> {
        self.place(id).map(|at| &self.messages[at])
    }

    /// The index of the message of that id.
    pub(crate) fn place(&self, id: MessageId) -> Option<usize> {
        self.messages
            .binary_search_by_key(&id, |counted| counted.message.id)
            .ok()
    }

    /// When the last of the messages before that index was said whose time is known, in
    /// milliseconds since the Unix epoch.
    pub fn said_before(&self, index: usize) -> Option<i64> {
        let timed = self
            .timed
            .partition_point(|at| *at < index)
            .checked_sub(1)?;
        self.messages[self.timed[timed]].message.at_ms
    }

    /// The system message, where the conversation has one.
    pub fn system(&self) -> Option<&CountedMessage> {
        self.messages
            .first()
            .map(Arc::as_ref)
            .filter(|counted| counted.message.role == Role::System)
    }

    /// Whether a result for that call may still come: it is in the last batch, and nobody has
    /// answered or spoken since.
    pub fn is_open(&self, call_id: &str) -> bool {
        self.open.iter().any(|open| open == call_id)
    }

    /// Whether somebody spoke before that call was answered, so that it has no result and gets
    /// none.
    pub fn is_unanswered(&self, call_id: &str) -> bool {
        self.unanswered.contains(call_id)
    }

    /// Whether any call got no result, as most logs have none.
    pub(crate) fn has_unanswered(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// What every strategy keeps: see [`Pending`].
    pub fn pending(&self) -> Pending {
        Pending::from_messages(&self.messages)
    }

    /// The calls that would be open after that message, where it can be said now.
    fn open_after(&self, message: &Message) -> Result<Vec<String>, Refused> {
        let id = message.id;
        if let Some(after) = self
            .messages
            .last()
            .map(|last| last.message.id)
            .filter(|last| *last >= id)
        {
            return Err(Refused::OutOfOrder { id, after });
        }
        if message.parts.is_empty() {
            return Err(Refused::Empty { id });
        }
        if message.role == Role::System && !self.messages.is_empty() {
            return Err(Refused::LateSystem { id });
        }
        let mut open = if message.role == Role::Tool {
            self.open.clone()
        } else {
            Vec::new()
        };
        for part in &message.parts {
            match part {
                Part::ToolCall { .. } if message.role != Role::Assistant => {
                    return Err(Refused::Misplaced {
                        id,
                        part: "tool call",
                        role: message.role,
                    });
                }
                Part::ToolResult { .. } if message.role != Role::Tool => {
                    return Err(Refused::Misplaced {
                        id,
                        part: "tool result",
                        role: message.role,
                    });
                }
                Part::ToolCall { id: call_id, .. }
                    if self.calls.contains(call_id) || open.contains(call_id) =>
                {
                    return Err(Refused::RepeatedCall {
                        id,
                        call_id: call_id.clone(),
                    });
                }
                Part::ToolCall { id: call_id, .. } => open.push(call_id.clone()),
                Part::ToolResult { call_id, .. } => {
                    match open.iter().position(|open| open == call_id) {
                        Some(at) => drop(open.remove(at)),
                        None => {
                            return Err(Refused::NoOpenCall {
                                id,
                                call_id: call_id.clone(),
                            });
                        }
                    }
                }
                Part::Text { .. }
                | Part::Thinking { .. }
                | Part::Media { .. }
                | Part::Sealed { .. } => {}
            }
        }
        Ok(open)
    }
}

/// The part of a log that the next call answers, as indices into [`Log::messages`]: the last user
/// message, and the last call batch with the results that it has so far, where the log ends in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The last user message.
    pub last_user: Option<usize>,
    /// The last call batch with its results so far; empty where the log ends otherwise.
    pub batch: std::ops::Range<usize>,
}

impl Pending {
    /// The pending part of a log of these messages.
    pub(crate) fn from_messages(messages: &[Arc<CountedMessage>]) -> Self {
        let last_user = messages
            .iter()
            .rposition(|counted| counted.message.role == Role::User);
        Pending {
            last_user,
            batch: Self::batch_of(messages),
        }
    }

    /// The last call batch of a log of these messages, with its results so far.
    pub fn batch_of(messages: &[Arc<CountedMessage>]) -> std::ops::Range<usize> {
        let length = messages.len();
        let caller = messages
            .iter()
            .rposition(|counted| counted.message.role != Role::Tool);
        let open = caller.filter(|index| messages[*index].message.call_ids().next().is_some());
        open.unwrap_or(length)..length
    }

    /// Whether the message at that index is pending.
    pub fn contains(&self, index: usize) -> bool {
        self.last_user == Some(index) || self.batch.contains(&index)
    }
}

/// Why a message cannot be said now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its id does not ascend.
    #[error("message id `{}` does not follow `{}`: ids ascend", id.0, after.0)]
    OutOfOrder {
        /// The id that came.
        id: MessageId,
        /// The id before it.
        after: MessageId,
    },
    /// It has no parts.
    #[error("message `{}` has no parts: leave it out, or give it an empty text", id.0)]
    Empty {
        /// The message.
        id: MessageId,
    },
    /// It is a system message and not the first message.
    #[error("message `{}` is a system message: only the first message may be one; give later instructions as a user", id.0)]
    LateSystem {
        /// The message.
        id: MessageId,
    },
    /// It holds a call or a result that its role cannot have.
    #[error("message `{}` of role `{}` holds a {part}: calls are the assistant's, results have the role `tool`", id.0, role.name())]
    Misplaced {
        /// The message.
        id: MessageId,
        /// What it holds.
        part: &'static str,
        /// Who speaks.
        role: Role,
    },
    /// It makes a call under the id of an earlier one.
    #[error("message `{}` repeats the tool call id `{call_id}`: give each call of a conversation its own", id.0)]
    RepeatedCall {
        /// The message.
        id: MessageId,
        /// The id.
        call_id: String,
    },
    /// It answers a call that was never made, is answered, or was left without an answer when
    /// somebody spoke.
    #[error(
        "message `{}` answers tool call `{call_id}`, which is not open: a result follows its call, once, before anybody else \
         speaks; say a late one as a user's text",
        id.0
    )]
    NoOpenCall {
        /// The message.
        id: MessageId,
        /// The call that it names.
        call_id: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(id: u32, role: Role, parts: Vec<Part>) -> CountedMessage {
        let message = Message {
            id: MessageId(id),
            role,
            at_ms: None,
            parts,
            usage: None,
        };
        CountedMessage { message, tokens: 1 }
    }

    fn text() -> Part {
        Part::Text { text: "x".into() }
    }

    fn call(id: &str) -> Part {
        Part::ToolCall {
            id: id.into(),
            name: "run".into(),
            arguments: "{}".into(),
        }
    }

    fn result(id: &str) -> Part {
        Part::ToolResult {
            call_id: id.into(),
            text: String::new(),
            is_error: false,
        }
    }

    #[test]
    fn what_no_provider_takes_is_refused_and_changes_nothing() {
        let mut log = Log::default();
        log.push(counted(0, Role::User, vec![text()])).unwrap();
        log.push(counted(1, Role::Assistant, vec![call("a"), call("b")]))
            .unwrap();
        log.push(counted(2, Role::Tool, vec![result("a")])).unwrap();
        let id = MessageId(3);
        let none = |call_id: &str| Refused::NoOpenCall {
            id,
            call_id: call_id.to_owned(),
        };
        let repeats = |call_id: &str| Refused::RepeatedCall {
            id,
            call_id: call_id.to_owned(),
        };
        for (role, parts, expected) in [
            (Role::User, vec![], Refused::Empty { id }),
            (Role::System, vec![text()], Refused::LateSystem { id }),
            (Role::Tool, vec![result("never")], none("never")),
            (Role::Tool, vec![result("a")], none("a")),
            (Role::Tool, vec![result("b"), result("b")], none("b")),
            (Role::Assistant, vec![call("a")], repeats("a")),
            (Role::Assistant, vec![call("c"), call("c")], repeats("c")),
            (
                Role::User,
                vec![call("c")],
                Refused::Misplaced {
                    id,
                    part: "tool call",
                    role: Role::User,
                },
            ),
            (
                Role::Assistant,
                vec![result("b")],
                Refused::Misplaced {
                    id,
                    part: "tool result",
                    role: Role::Assistant,
                },
            ),
        ] {
            assert_eq!(log.push(counted(3, role, parts)), Err(expected));
        }
        let late = Refused::OutOfOrder {
            id: MessageId(2),
            after: MessageId(2),
        };
        assert_eq!(log.push(counted(2, Role::User, vec![text()])), Err(late));
        assert!(log.messages().len() == 3 && log.is_open("b") && !log.is_unanswered("b"));
        log.push(counted(3, Role::User, vec![text()])).unwrap();
        assert!(!log.is_open("b") && log.is_unanswered("b") && !log.is_unanswered("a"));
    }
}
