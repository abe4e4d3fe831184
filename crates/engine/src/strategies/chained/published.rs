//! `chained` as the summary chain's own code does it: the first message is the system prompt, the
//! second may be a summary, the last ones stay.
//!
//! Its program gives the system prompt beside the messages, so that the first of them is a user's.

use super::{UNKNOWN_TASK, first_text};
use crate::budget::Tail;
use crate::conversation::view::{Edit, Entry, Origin, View, WrittenPart};
use crate::message::Role;
use crate::strategy::next_view::edits_with;
use crate::strategy::params::{Param, parameters};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Declined, PublishedForm, SkipReason};

/// As the document has it. Its prompt's heading is not the one that its detector looks for. Where
/// its table says 10,000 characters its code says 2,000, and that rules.
pub(super) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("estimator", "characters"),
        ("lookup", "faithful"),
        ("negative", "faithful"),
        ("detector", "faithful"),
        ("task", "faithful"),
        ("assistant", "faithful"),
        ("by_place", "faithful"),
        ("unmarked", "faithful"),
        ("unguarded", "faithful"),
    ],
    breaks: &[3, 5, 6, 8, 9, 12, 15, 21],
};

parameters! {
    /// How the source deviates.
    Deviations {
        lookup: bool = Param::deviation().of_limits(), "a model's limit is looked up nowhere";
        negative: bool = Param::deviation().of_limits(), "a context window that the reserves use up compacts at every call";
        detector: bool = Param::deviation(), "an earlier summary is known only by its place and the heading `## Session Summary`";
        task: bool = Param::deviation(), "the original task is the first user turn that is still there";
        assistant: bool = Param::deviation(), "the summary is an assistant's turn";
        by_place: bool = Param::deviation(), "the first message counts as the system prompt, and the last ones are chosen only by number";
        unmarked: bool = Param::deviation(), "the record names none of the messages that it replaces";
        unguarded: bool = Param::deviation(), "one request of any size, and any answer is taken for a summary";
    }
}

impl Deviations {
    /// Shows and records a summary as the source does.
    pub(super) fn change(
        self,
        cx: &Context<'_>,
        selection: &Selection<'_>,
        compacted: &mut Compacted,
    ) {
        let Some(saved) = compacted.saved.first_mut() else {
            return;
        };
        if self.assistant {
            compacted.edits = edits_with(cx, selection, assistants(cx, &saved.body));
        }
        if self.unmarked {
            saved.covers = None;
        }
    }
}

/// The summary to merge as the source finds it, and what leaves without it.
pub(super) fn previous_and_leaving<'v>(
    view: &'v View,
    leaving: impl Iterator<Item = &'v Entry>,
) -> (Option<&'v str>, Vec<&'v Entry>) {
    let found = summary(view);
    let is_found = |entry: &&Entry| found.is_some_and(|(summary, _)| std::ptr::eq(summary, *entry));
    (
        found.map(|(_, text)| text),
        leaving.filter(|entry| !is_found(entry)).collect(),
    )
}

/// `selectMessagesToCompact`, over the entries of the view; a tail in tokens has no least number of
/// messages.
pub(super) fn selection<'s>(cx: &Context<'s>) -> Result<Selection<'s>, Declined> {
    let entries = cx.view.entries();
    let boundary = boundary(entries, cx.budget.tail)?;
    let start = if summary(cx.view).is_some() { 2 } else { 1 };
    if boundary <= start {
        return Err(SkipReason::NothingToCompact.into());
    }
    let kept = entries[boundary..]
        .iter()
        .filter(|entry| entry.written_parts().is_none());
    Ok(Selection {
        system: entries[0].log_message(),
        kept: kept.filter_map(Entry::message_id).collect(),
        leaving: entries[1..boundary].iter().collect(),
    })
}

fn boundary(entries: &[Entry], tail: Tail) -> Result<usize, Declined> {
    let mut boundary = match tail {
        Tail::Messages(keep) if entries.len() <= keep as usize + 1 => {
            return Err(SkipReason::NothingToCompact.into());
        }
        Tail::Messages(keep) => entries.len() - keep as usize,
        Tail::Tokens(room) => first_that_fits(entries, room),
    };
    let is_result = |at| {
        entries
            .get(at)
            .is_some_and(|entry: &Entry| entry.role() == Role::Tool)
    };
    while boundary > 1 && is_result(boundary) {
        boundary -= 1;
    }
    Ok(boundary)
}

/// The second message where it is an assistant's and begins like a summary, with its text.
fn summary(view: &View) -> Option<(&Entry, &str)> {
    let second = view
        .entries()
        .get(1)
        .filter(|entry| entry.role() == Role::Assistant)?;
    let text = first_text(second.parts().map(|(part, _)| part))?;
    text.starts_with("## Session Summary")
        .then_some((second, text))
}

/// `extractOriginalTask`.
pub(super) fn task(view: &View) -> &str {
    let users = view
        .entries()
        .iter()
        .filter(|entry| entry.role() == Role::User);
    first_text(users.flat_map(Entry::parts).map(|(part, _)| part)).unwrap_or(UNKNOWN_TASK)
}

/// The summary as an assistant's turn, without words that introduce it.
fn assistants(cx: &Context<'_>, summary: &str) -> Edit {
    Edit::Insert(
        Role::Assistant,
        vec![WrittenPart::text(
            summary,
            Origin::Summary(cx.number_of_new(0)),
        )],
    )
}

/// The index of the first message of the longest run at the end that fits `room` tokens.
fn first_that_fits(entries: &[Entry], mut room: u32) -> usize {
    let fit = entries.iter().rev().take_while(|entry| {
        let fits = entry.tokens() <= room;
        room = room.saturating_sub(entry.tokens());
        fits
    });
    entries.len() - fit.count()
}
