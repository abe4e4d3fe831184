//! `summarize` as the strategic plan describes it. The strategies that write checkpoints share its
//! deviations.

use crate::strategy::ask::AskOptions;
use crate::strategy::next_view::recent_or_skip;
use crate::strategy::params::{Param, parameters};
use crate::strategy::selection::Selection;
use crate::strategy::{Context, Declined, PublishedForm, SkipReason};

/// As the document has it.
pub(super) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("unchecked", "faithful"),
        ("one_piece", "faithful"),
        ("pending", "faithful"),
    ],
    breaks: &[1, 3, 5, 6, 8],
};

parameters! {
    /// How the strategic plan summarizes.
    SummaryDeviations {
        unchecked: bool = Param::deviation(), "any answer is taken for a summary";
        one_piece: bool = Param::deviation(), "all is asked for at once, whether the summarizer's context window holds it or not";
        pending: bool = Param::deviation(), "only the tail stays; the last user message and an open batch of calls leave if they are not in it";
    }
}

impl SummaryDeviations {
    /// How the summarizer is asked.
    pub(in crate::strategies) fn options(self) -> AskOptions<'static> {
        AskOptions {
            unchecked: self.unchecked,
            one_piece: self.one_piece,
            ..AskOptions::default()
        }
    }

    /// The selection of the recent tail; with the deviation `pending`, of only the tail.
    pub(in crate::strategies) fn selection<'s>(
        self,
        cx: &Context<'s>,
    ) -> Result<Selection<'s>, Declined> {
        if !self.pending {
            return recent_or_skip(cx);
        }
        let selection = Selection::tail_alone(cx.log, cx.view, cx.budget.tail);
        if selection.takes_messages() {
            Ok(selection)
        } else {
            Err(SkipReason::NothingToCompact.into())
        }
    }
}
