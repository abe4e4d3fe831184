//! What stays and what leaves: the recent tail, cut so that no tool batch is split.

use crate::budget::Tail;
use crate::conversation::log::{Log, Pending};
use crate::conversation::view::{Edit, Entry, Origin, View};
use crate::message::{Message, MessageId, Role};
use crate::tokens::CountedMessage;
use crate::tokens::total;
use std::sync::Arc;

/// A split of a conversation into what a compaction keeps and what it takes away.
#[derive(Debug)]
pub struct Selection<'s> {
    /// The system message.
    pub system: Option<&'s Message>,
    /// Messages kept verbatim after the summary, in order: the pending part and the recent tail.
    pub kept: Vec<MessageId>,
    /// Entries of the view that leave, in order; what earlier compactions wrote is among them, the
    /// engine's own words are not.
    pub leaving: Vec<&'s Entry>,
}

impl<'s> Selection<'s> {
    /// Keeps the pending part and, before it, the longest run of whole messages or call batches
    /// that fits `tail` and still is whole in the view.
    pub fn recent(log: &'s Log, view: &'s View, tail: Tail) -> Self {
        Self::keeping(log, view, tail, &log.pending())
    }

    /// Keeps only the recent tail, as sources do that know no pending part.
    pub(crate) fn tail_alone(log: &'s Log, view: &'s View, tail: Tail) -> Self {
        let length = log.messages().len();
        Self::keeping(
            log,
            view,
            tail,
            &Pending {
                last_user: None,
                batch: length..length,
            },
        )
    }

    fn keeping(log: &'s Log, view: &'s View, tail: Tail, pending: &Pending) -> Self {
        let first_kept = first_of_tail(log, view, tail, pending);
        let messages = log.messages();
        let spoken = |index: usize| {
            let message = &messages[index].message;
            (message.role != Role::System).then_some(message.id)
        };
        // Nothing before these stays, and a log is long.
        let earliest = pending
            .last_user
            .unwrap_or(first_kept)
            .min(pending.batch.start)
            .min(first_kept);
        let before_tail = (earliest..first_kept)
            .filter(|&index| pending.contains(index))
            .filter_map(spoken);
        let before_tail = before_tail.collect::<Vec<_>>();
        let tail_from = messages.get(first_kept).map(|counted| counted.message.id);
        // Ids ascend with the log, so all from the tail's first on stay: only the few before it are
        // looked up.
        let stays = |id| {
            tail_from.is_some_and(|first| id >= first) || before_tail.binary_search(&id).is_ok()
        };
        let entries = view
            .entries()
            .iter()
            .filter(|entry| entry.role() != Role::System);
        let mut leaving = Vec::with_capacity(view.entries().len());
        leaving.extend(
            entries.filter(|entry| !kept_id(entry).is_some_and(stays) && !is_filler(entry)),
        );
        let kept = before_tail
            .iter()
            .copied()
            .chain((first_kept..messages.len()).filter_map(spoken))
            .collect();
        Selection {
            system: log.system().map(|counted| &counted.message),
            kept,
            leaving,
        }
    }

    /// Whether something that was said would leave; without it a compaction would only rewrite its
    /// own summary.
    pub fn takes_messages(&self) -> bool {
        self.leaving.iter().any(|entry| {
            entry
                .parts()
                .any(|(_, origin)| matches!(origin, Origin::Spoken(_)))
        })
    }

    /// First and last message among those that leave.
    pub fn covers(&self) -> Option<(MessageId, MessageId)> {
        let spoken = self
            .leaving
            .iter()
            .filter_map(|entry| entry.message_id())
            .map(|id| (id, id));
        spoken.reduce(|(first, last), (id, _)| (first.min(id), last.max(id)))
    }

    /// The kept messages as edits.
    pub fn keep_edits(&self) -> impl Iterator<Item = Edit> {
        self.kept.iter().map(|id| Edit::Keep(*id))
    }
}

fn kept_id(entry: &Entry) -> Option<MessageId> {
    entry.log_message().map(|message| message.id)
}

fn is_filler(entry: &Entry) -> bool {
    match entry {
        Entry::Kept(counted) => counted.message.parts.is_empty(),
        Entry::Written(written) => written
            .parts
            .iter()
            .all(|part| part.origin == Origin::Filler),
    }
}

/// Index of the first message of the tail. Pending messages cost nothing here: they are outside the
/// budget.
fn first_of_tail(log: &Log, view: &View, tail: Tail, pending: &Pending) -> usize {
    let messages = log.messages();
    let mut whole_in_view = whole_in(view);
    let (mut room, by_tokens) = match tail {
        Tail::Tokens(tokens) => (tokens, true),
        Tail::Messages(messages) => (messages, false),
    };
    let mut first = messages.len();
    while first > 0 {
        let start = batch_start(messages, first - 1);
        let group = &messages[start..first];
        let whole = group
            .iter()
            .rev()
            .all(|counted| takes_last(&mut whole_in_view, counted.message.id));
        let unpaid = (start..first).filter(|&index| !pending.contains(index));
        let cost = total(unpaid.map(|index| if by_tokens { messages[index].tokens } else { 1 }));
        if group[0].message.role == Role::System || !whole || room < cost {
            break;
        }
        room -= cost;
        first = start;
    }
    first
}

/// The messages that a view shows whole, in ascending order.
fn whole_in(view: &View) -> Vec<MessageId> {
    let mut ids = view
        .entries()
        .iter()
        .filter_map(kept_id)
        .collect::<Vec<_>>();
    ids.sort_unstable();
    ids
}

/// Whether that id is the largest of those that are not above it; the ones above it are dropped.
fn takes_last(ascending: &mut Vec<MessageId>, id: MessageId) -> bool {
    while ascending.last().is_some_and(|last| *last > id) {
        ascending.pop();
    }
    ascending.last() == Some(&id)
}

/// Index of the first message of the batch that ends at `last`: the call message before its
/// results.
fn batch_start(messages: &[Arc<CountedMessage>], last: usize) -> usize {
    let mut start = last;
    while start > 0 && messages[start].message.role == Role::Tool {
        start -= 1;
    }
    start
}
