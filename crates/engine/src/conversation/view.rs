//! The next request: an ordered selection of log messages, replaced parts and inserted messages.
//!
//! A call that the log left unanswered because somebody spoke first gets [`NO_RESPONSE`] as its
//! result, of origin [`Origin::Filler`]. Only a view's own making fills, and only where the log has
//! no result: a batch that a strategy split stays a violation.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::conversation::log::Log;
use crate::conversation::vec_growth;
use crate::message::{Message, MessageId, Part, Role, part_text};
use crate::model::WireMessage;
use crate::tokens::CountedMessage;
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter, total};

/// What the model will be sent, with the origin of every part.
#[derive(Clone, Debug, Default)]
pub struct View {
    entries: Vec<Entry>,
    tokens: u32,
}

/// One message of a view. Views are copied and kept in great numbers, so that each shares what it
/// is made of.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A log message, unchanged.
    Kept(Arc<CountedMessage>),
    /// What a strategy wrote, in place of a log message or beside them.
    Written(Arc<Written>),
}

/// A message that a strategy wrote.
#[derive(Clone, Debug)]
pub struct Written {
    /// Who speaks.
    pub role: Role,
    /// The log message that it replaces.
    pub replaces: Option<MessageId>,
    /// Its parts.
    pub parts: Vec<WrittenPart>,
    /// Its tokens on the measuring scale.
    pub tokens: u32,
}

/// A part and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenPart {
    /// The part.
    pub part: Part,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a part of a view comes from. Numbers are those of
/// [`crate::conversation::record::SessionRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Words of that message, whole or cut.
    Spoken(MessageId),
    /// That summary.
    Summary(u32),
    /// That checkpoint, or that record of what is pinned.
    Checkpoint(u32),
    /// That note.
    Memory(u32),
    /// A ledger, a text that is compared with one, or what an agent's program writes around a
    /// summary: whatever it holds was copied by rule from what was said.
    Ledger,
    /// The engine's own words, where a provider's grammar or honesty asks for some: nobody said
    /// them.
    Filler,
}

impl Origin {
    /// Whether a model wrote the words.
    pub fn is_of_model(self) -> bool {
        matches!(self, Origin::Summary(_) | Origin::Checkpoint(_))
    }
}

/// The result of a call that was never answered (the agent loop, `fillMissingToolResponses`).
pub const NO_RESPONSE: &str = "Tool no response";

/// One step of a strategy's answer: together, in order, the edits are the new view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// That log message, unchanged.
    Keep(MessageId),
    /// These parts in place of that log message.
    Replace(MessageId, Vec<WrittenPart>),
    /// A message that nobody said.
    Insert(Role, Vec<WrittenPart>),
}

impl WrittenPart {
    /// A text from there.
    pub fn text(text: impl Into<String>, origin: Origin) -> Self {
        WrittenPart {
            part: Part::Text { text: text.into() },
            origin,
        }
    }
}

impl Edit {
    /// A user turn of one text, which nobody said.
    pub(crate) fn turn(text: impl Into<String>, origin: Origin) -> Self {
        Edit::Insert(Role::User, vec![WrittenPart::text(text, origin)])
    }
}

impl View {
    /// The view that the edits describe.
    ///
    /// # Errors
    /// [`UnknownMessage`] where an edit names a message that the log does not hold.
    pub fn from_edits(
        edits: Vec<Edit>,
        log: &Log,
        counter: &dyn TokenCounter,
    ) -> Result<Self, UnknownMessage> {
        let mut view = View {
            entries: Vec::with_capacity(edits.len()),
            tokens: 0,
        };
        let mut next = 0;
        let mut find = |id| find(log, id, &mut next);
        for edit in edits.into_iter().filter(|edit| !is_filled_result(edit)) {
            let entry = match edit {
                Edit::Keep(id) => Entry::Kept(Arc::clone(find(id)?)),
                Edit::Replace(id, parts) => {
                    written_entry(find(id)?.message.role, Some(id), parts, counter)
                }
                Edit::Insert(role, parts) => written_entry(role, None, parts, counter),
            };
            if entry.role() != Role::Tool {
                view.answer_open(log, counter);
            }
            view.append(entry);
        }
        Ok(view)
    }

    /// The edits that make this view from its log.
    pub fn to_edits(&self) -> Vec<Edit> {
        let edit = |entry: &Entry| match entry {
            Entry::Kept(counted) => Edit::Keep(counted.message.id),
            Entry::Written(written) => match written.replaces {
                Some(id) => Edit::Replace(id, written.parts.clone()),
                None => Edit::Insert(written.role, written.parts.clone()),
            },
        };
        self.entries.iter().map(edit).collect()
    }

    /// The view without some of its entries.
    pub(crate) fn without(&self, leaves: impl Fn(&Entry) -> bool) -> View {
        let mut view = View::default();
        self.entries
            .iter()
            .filter(|entry| !leaves(entry))
            .for_each(|entry| view.append(entry.clone()));
        view
    }

    /// Appends a message.
    pub fn push(&mut self, counted: &Arc<CountedMessage>) {
        self.append(Entry::Kept(Arc::clone(counted)));
    }

    /// Appends a message of the log, and before it answers the calls at the end that the log left
    /// unanswered. Results are part of their batch: the log may know by now that another call of it
    /// was never answered.
    pub fn follow(&mut self, counted: &Arc<CountedMessage>, log: &Log, counter: &dyn TokenCounter) {
        if counted.message.role != Role::Tool {
            self.answer_open(log, counter);
        }
        self.push(counted);
    }

    /// Answers the calls at the end that the log left unanswered, before the message that was said
    /// instead is appended.
    fn answer_open(&mut self, log: &Log, counter: &dyn TokenCounter) {
        if !log.has_unanswered() {
            return;
        }
        let unanswered = self
            .open_calls()
            .into_iter()
            .filter(|id| log.is_unanswered(id));
        let parts = unanswered
            .map(|id| WrittenPart {
                part: no_response(id),
                origin: Origin::Filler,
            })
            .collect::<Vec<_>>();
        if !parts.is_empty() {
            self.append(written_entry(Role::Tool, None, parts, counter));
        }
    }

    /// The messages, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The texts that it holds, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .flat_map(Entry::parts)
            .filter_map(|(part, _)| part_text(part))
    }

    /// Tokens of the whole view on the measuring scale.
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    /// The view as wire content.
    pub fn to_wire(&self) -> Vec<WireMessage> {
        let parts = |entry: &Entry| match entry {
            Entry::Kept(counted) => Arc::clone(counted).into(),
            Entry::Written(written) => written
                .parts
                .iter()
                .map(|written| written.part.clone())
                .collect::<Vec<_>>()
                .into(),
        };
        self.entries
            .iter()
            .map(|entry| WireMessage {
                role: entry.role(),
                parts: parts(entry),
            })
            .collect()
    }

    /// Everything in the view that a provider would refuse. A tool batch at the very end may be
    /// unfinished.
    pub fn check(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        self.check_roles(&mut violations);
        self.check_pairs(&mut violations);
        violations
    }

    /// As [`View::check`]; also the calls at the very end for which no result is to come, since the
    /// log answers them or goes on.
    pub fn check_against(&self, log: &Log) -> Vec<Violation> {
        let mut violations = self.check();
        let lost = self.open_calls().into_iter().filter(|id| !log.is_open(id));
        violations.extend(lost.map(|call_id| Violation::Unanswered { call_id }));
        let opens = self.entries.first().map(Entry::role);
        violations.extend(
            (log.system().is_some() && opens != Some(Role::System)).then_some(Violation::NoSystem),
        );
        violations
    }

    /// Ids of the calls at the very end whose results are still to come.
    pub fn open_calls(&self) -> Vec<String> {
        let caller = self
            .entries
            .iter()
            .rposition(|entry| entry.role() != Role::Tool)
            .unwrap_or(0);
        let parts = || {
            self.entries[caller..]
                .iter()
                .flat_map(Entry::parts)
                .map(|(part, _)| part)
        };
        let is_answered = |id: &str| {
            parts().any(|part| matches!(part, Part::ToolResult { call_id, .. } if call_id == id))
        };
        let called = parts().filter_map(|part| match part {
            Part::ToolCall { id, .. } if !is_answered(id) => Some(id.clone()),
            _ => None,
        });
        called.collect()
    }

    fn check_roles(&self, violations: &mut Vec<Violation>) {
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.role() == Role::System && index > 0 {
                violations.push(Violation::LateSystem { index });
            }
            if entry.parts().next().is_none() {
                violations.push(Violation::Empty { index });
            }
        }
        let first = self
            .entries
            .iter()
            .find(|entry| entry.role() != Role::System);
        if let Some(first) = first
            && first.role() != Role::User
        {
            violations.push(Violation::LeadingTurn { role: first.role() });
        }
    }

    fn check_pairs(&self, violations: &mut Vec<Violation>) {
        let mut seen = HashSet::new();
        let mut open: Vec<&str> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.role() != Role::Tool {
                violations.extend(open.drain(..).map(|id| Violation::Unanswered {
                    call_id: id.to_owned(),
                }));
            }
            for (part, _) in entry.parts() {
                match part {
                    Part::ToolCall { id, .. } if !seen.insert(id.as_str()) => {
                        violations.push(Violation::RepeatedCall {
                            call_id: id.clone(),
                        });
                    }
                    Part::ToolCall { id, .. } => open.push(id),
                    Part::ToolResult { call_id, .. } => {
                        match open.iter().position(|id| id == call_id) {
                            Some(at) => drop(open.swap_remove(at)),
                            None => violations.push(Violation::Orphan {
                                call_id: call_id.clone(),
                                index,
                            }),
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn append(&mut self, entry: Entry) {
        self.tokens = self.tokens.saturating_add(entry.tokens());
        vec_growth::reserve(&mut self.entries, 1);
        self.entries.push(entry);
    }
}

impl Entry {
    /// Who speaks.
    pub fn role(&self) -> Role {
        match self {
            Entry::Kept(counted) => counted.message.role,
            Entry::Written(written) => written.role,
        }
    }

    /// Its tokens on the measuring scale.
    pub fn tokens(&self) -> u32 {
        match self {
            Entry::Kept(counted) => counted.tokens,
            Entry::Written(written) => written.tokens,
        }
    }

    /// The parts with their origins.
    pub fn parts(&self) -> impl Iterator<Item = (&Part, Origin)> {
        let (kept, spoken, written) = match self {
            Entry::Kept(counted) => (
                counted.message.parts.as_slice(),
                Origin::Spoken(counted.message.id),
                [].as_slice(),
            ),
            Entry::Written(written) => ([].as_slice(), Origin::Filler, written.parts.as_slice()),
        };
        let written = written
            .iter()
            .map(|written| (&written.part, written.origin));
        kept.iter().map(move |part| (part, spoken)).chain(written)
    }

    /// The log message, if it is unchanged.
    pub fn log_message(&self) -> Option<&Message> {
        match self {
            Entry::Kept(counted) => Some(&counted.message),
            Entry::Written(_) => None,
        }
    }

    /// The parts that a strategy wrote, where it wrote this entry.
    pub fn written_parts(&self) -> Option<&[WrittenPart]> {
        match self {
            Entry::Kept(_) => None,
            Entry::Written(written) => Some(&written.parts),
        }
    }

    /// The log message that this entry is or replaces.
    pub fn message_id(&self) -> Option<MessageId> {
        match self {
            Entry::Kept(counted) => Some(counted.message.id),
            Entry::Written(written) => written.replaces,
        }
    }
}

/// The messages that edits keep whole.
pub(crate) fn kept_by(edits: &[Edit]) -> BTreeSet<MessageId> {
    edits
        .iter()
        .filter_map(|edit| {
            if let Edit::Keep(id) = edit {
                Some(*id)
            } else {
                None
            }
        })
        .collect()
}

/// The result of a call that was never answered.
pub(crate) fn no_response(call_id: String) -> Part {
    Part::ToolResult {
        call_id,
        text: NO_RESPONSE.to_owned(),
        is_error: true,
    }
}

/// Such results are made again with each view, so that none covers up for a batch that was split.
fn is_filled_result(edit: &Edit) -> bool {
    matches!(edit, Edit::Insert(Role::Tool, parts) if parts.iter().all(|written| written.origin == Origin::Filler))
}

/// The message of that id. It is looked for at `next` first, after the one found before: edits
/// mostly follow the log.
fn find<'l>(
    log: &'l Log,
    id: MessageId,
    next: &mut usize,
) -> Result<&'l Arc<CountedMessage>, UnknownMessage> {
    let is_it = |at: &usize| {
        log.messages()
            .get(*at)
            .is_some_and(|counted| counted.message.id == id)
    };
    let at = Some(*next)
        .filter(is_it)
        .or_else(|| log.place(id))
        .ok_or(UnknownMessage(id))?;
    *next = at + 1;
    Ok(&log.messages()[at])
}

fn written_entry(
    role: Role,
    replaces: Option<MessageId>,
    parts: Vec<WrittenPart>,
    counter: &dyn TokenCounter,
) -> Entry {
    let tokens = total(
        [MESSAGE_OVERHEAD].into_iter().chain(
            parts
                .iter()
                .map(|written| counter.count_part(&written.part)),
        ),
    );
    Entry::Written(Arc::new(Written {
        role,
        replaces,
        parts,
        tokens,
    }))
}

/// An edit names a message that the log does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edit names message `{}`, which the log does not hold", .0.0)]
pub struct UnknownMessage(pub MessageId);

/// Something that a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "violation", rename_all = "snake_case")]
pub enum Violation {
    /// The system prompt of the log, in its own words or with a section, is not the first message.
    #[error("the system prompt is missing")]
    NoSystem,
    /// A system message after the first place.
    #[error("system message at place {index}: only the first message may be one")]
    LateSystem {
        /// Place in the view, from 0.
        index: usize,
    },
    /// A message without parts.
    #[error("message at place {index} has no parts")]
    Empty {
        /// Place in the view, from 0.
        index: usize,
    },
    /// The chat does not open with a user turn.
    #[error("the chat opens with a turn of role `{}`: it opens with a user's", role.name())]
    LeadingTurn {
        /// The role that opens it.
        role: Role,
    },
    /// A call whose result does not follow.
    #[error("tool call `{call_id}` has no result")]
    Unanswered {
        /// The call.
        call_id: String,
    },
    /// A result without its call in the turn before it.
    #[error("tool result for `{call_id}` at place {index} has no call before it")]
    Orphan {
        /// The call that it names.
        call_id: String,
        /// Place in the view, from 0.
        index: usize,
    },
    /// Two calls with one id.
    #[error("tool call id `{call_id}` repeats")]
    RepeatedCall {
        /// The id.
        call_id: String,
    },
}
