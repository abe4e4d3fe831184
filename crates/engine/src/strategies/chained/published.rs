//! How source 004 reads a chat: the first message is the system prompt, the second may be a summary, the last ones stay.
//!
//! Its program gives the system prompt beside the messages, so that the first of them is a user's.

use super::{UNKNOWN_TASK, first_text};
use crate::budget::Tail;
use crate::conversation::view::{Edit, Entry, Origin, View, WrittenPart};
use crate::message::{Part, Role};
use crate::strategy::Context;
use crate::strategy::declined::Declined;
use crate::strategy::declined::SkipReason;
use crate::strategy::selection::Selection;

/// 004, `selectMessagesToCompact`, over what stands in the view; a tail in tokens has no least number of messages.
pub(super) fn selection<'s>(cx: &Context<'s>) -> Result<Selection<'s>, Declined> {
    let entries = cx.view.entries();
    let mut boundary = match cx.budget.tail {
        Tail::Messages(keep) if entries.len() <= keep as usize + 1 => return Err(SkipReason::NothingToCompact.into()),
        Tail::Messages(keep) => entries.len() - keep as usize,
        Tail::Tokens(room) => first_that_fits(entries, room),
    };
    while boundary > 1 && entries.get(boundary).is_some_and(|entry| entry.role() == Role::Tool) {
        boundary -= 1;
    }
    let start = if summary(cx.view).is_some() { 2 } else { 1 };
    if boundary <= start {
        return Err(SkipReason::NothingToCompact.into());
    }
    let kept = entries[boundary..].iter().filter(|entry| entry.written().is_none());
    Ok(Selection {
        system: entries[0].kept(),
        kept: kept.filter_map(Entry::message_id).collect(),
        leaving: entries[1..boundary].iter().collect(),
    })
}

/// The second message where it is an assistant's and begins like a summary, with its text.
pub(super) fn summary(view: &View) -> Option<(&Entry, &str)> {
    let second = view.entries().get(1).filter(|entry| entry.role() == Role::Assistant)?;
    let text = first_text(second.parts().map(|(part, _)| part))?;
    text.starts_with("## Session Summary").then_some((second, text))
}

/// 004, `extractOriginalTask`.
pub(super) fn task(view: &View) -> &str {
    let users = view.entries().iter().filter(|entry| entry.role() == Role::User);
    first_text(users.flat_map(Entry::parts).map(|(part, _)| part)).unwrap_or(UNKNOWN_TASK)
}

/// The summary as an assistant's turn, without words that introduce it.
pub(super) fn assistants(cx: &Context<'_>, summary: &str) -> Edit {
    let part = Part::Text { text: summary.to_owned() };
    Edit::Insert(Role::Assistant, vec![WrittenPart { part, origin: Origin::Summary(cx.number_of_new(0)) }])
}

/// Place of the first of the messages at the end that fit so many tokens.
fn first_that_fits(entries: &[Entry], mut room: u32) -> usize {
    let fit = entries.iter().rev().take_while(|entry| {
        let fits = entry.tokens() <= room;
        room = room.saturating_sub(entry.tokens());
        fits
    });
    entries.len() - fit.count()
}
