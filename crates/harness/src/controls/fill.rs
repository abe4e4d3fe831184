//! Filling the budget with texts of the view, for controls that keep parts of messages.

use compactometer_engine::event::SkipReason;
use compactometer_engine::message::{Part, Role, part_text};
use compactometer_engine::strategy::{Compacted, Context, Declined};
use compactometer_engine::tokens::MESSAGE_OVERHEAD;
use compactometer_engine::view::{Edit, Entry, Origin, WrittenPart};

use super::{keep_system, pending_ids};

/// A text that the compaction removes.
pub(super) struct CutText<'v> {
    pub(super) text: &'v str,
    pub(super) origin: Origin,
    /// Whether somebody said it, rather than called a tool or answered such a call.
    pub(super) is_talk: bool,
}

/// The texts of the view outside the system prompt and the pending part, newest first.
pub(super) fn cut_texts<'v>(cx: &Context<'v>) -> Result<Vec<CutText<'v>>, Declined> {
    let pending = pending_ids(cx.log).collect::<Vec<_>>();
    let is_cut = |entry: &&Entry| {
        entry.role() != Role::System && entry.message_id().is_none_or(|id| !pending.contains(&id))
    };
    let parts = cx
        .view
        .entries()
        .iter()
        .filter(is_cut)
        .flat_map(Entry::parts);
    let texts = parts.filter_map(|(part, origin)| {
        Some(CutText {
            text: part_text(part)?,
            origin,
            is_talk: matches!(part, Part::Text { .. }),
        })
    });
    let mut texts = texts.collect::<Vec<_>>();
    texts.reverse();
    if texts.is_empty() {
        Err(SkipReason::NothingToCompact.into())
    } else {
        Ok(texts)
    }
}

/// The first of these texts that fit the budget, the newest last.
pub(super) fn newest_that_fit(
    cx: &Context<'_>,
    newest_first: impl Iterator<Item = (String, Origin)>,
) -> Vec<(String, Origin)> {
    let mut room = cx
        .budget
        .retained
        .unwrap_or_default()
        .saturating_sub(MESSAGE_OVERHEAD);
    let fitting = newest_first.take_while(|(text, _)| {
        let rest = room.checked_sub(cx.counter.count_text(text));
        room = rest.unwrap_or_default();
        rest.is_some()
    });
    let mut fitting = fitting.collect::<Vec<_>>();
    fitting.reverse();
    fitting
}

/// The system prompt, one turn of these texts, and the pending part.
pub(super) fn compacted(cx: &Context<'_>, texts: Vec<(String, Origin)>) -> Compacted {
    let part = |(text, origin)| WrittenPart {
        part: Part::Text { text },
        origin,
    };
    let parts = texts.into_iter().map(part).collect::<Vec<_>>();
    let turn = (!parts.is_empty()).then_some(Edit::Insert(Role::User, parts));
    let edits = keep_system(cx.log)
        .into_iter()
        .chain(turn)
        .chain(pending_ids(cx.log).map(Edit::Keep));
    Compacted::without_reading(cx, edits.collect())
}
