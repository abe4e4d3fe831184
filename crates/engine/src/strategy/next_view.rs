//! The answers that most strategies give: the system prompt with its sections, what they wrote, and
//! what is kept.

use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::view::{Edit, Origin};
use crate::recovery::{self, Showing};
use crate::strategy::declined::{Declined, SkipReason};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context};

/// The usual answer: system prompt with its sections, one summary, and what is kept.
pub(crate) fn with_summary(
    cx: &Context<'_>,
    selection: &Selection<'_>,
    summary: String,
) -> Compacted {
    with_summary_under(system_with_sections(cx, selection), cx, selection, summary)
}

/// As [`with_summary`], under a system message of the strategy's own.
pub(crate) fn with_summary_under(
    system: Option<Edit>,
    cx: &Context<'_>,
    selection: &Selection<'_>,
    summary: String,
) -> Compacted {
    let turn = summary_turn(&summary, cx.number_of_new(0));
    let edits = system
        .into_iter()
        .chain([turn])
        .chain(selection.keep_edits())
        .collect();
    let saved = NewRecord::new(RecordKind::Summary, selection.covers(), summary);
    Compacted {
        edits,
        saved: vec![saved],
        ..Compacted::default()
    }
}

/// The system prompt with the sections that the session's records give it.
pub(crate) fn system_with_sections(cx: &Context<'_>, selection: &Selection<'_>) -> Option<Edit> {
    let checkpoint = recovery::latest_checkpoint(cx.history);
    let shared = cx.history.latest(RecordKind::Shared);
    recovery::system_with(
        selection.system,
        recovery::sections(checkpoint.as_ref(), Showing::default(), shared),
    )
}

/// System prompt with its sections, that message, and what is kept.
pub(crate) fn edits_with(cx: &Context<'_>, selection: &Selection<'_>, turn: Edit) -> Vec<Edit> {
    let system = system_with_sections(cx, selection);
    system
        .into_iter()
        .chain([turn])
        .chain(selection.keep_edits())
        .collect()
}

/// A summary as a synthetic user turn, so that the chat opens with a user's turn whatever follows
/// it.
pub(crate) fn summary_turn(summary: &str, number: u32) -> Edit {
    Edit::turn(
        format!("Summary of the conversation so far:\n\n{summary}"),
        Origin::Summary(number),
    )
}

/// The selection of the recent tail, where something leaves it.
pub(crate) fn recent_or_skip<'s>(cx: &Context<'s>) -> Result<Selection<'s>, Declined> {
    let selection = Selection::recent(cx.log, cx.view, cx.budget.tail);
    if selection.takes_messages() {
        Ok(selection)
    } else {
        Err(SkipReason::NothingToCompact.into())
    }
}
