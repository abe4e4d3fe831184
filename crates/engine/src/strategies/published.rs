//! Deviations that the strategies of the strategic plan share. A source's own form is the plain strategy with its deviations
//! switched on; a deviation is a parameter like any other, and there is no second strategy.

use crate::strategy::ask::AskOptions;
use crate::strategy::next_view::recent_or_skip;
use crate::strategy::params::{Param, parameters};
use crate::strategy::selection::Selection;
use crate::strategy::{Context, Declined, SkipReason};

parameters! {
    /// How the strategic plan summarizes.
    SummaryDeviations {
        unchecked: bool = Param::deviation(), "any answer is taken for a summary";
        one_piece: bool = Param::deviation(), "all is asked for at once, whether the summarizer's window holds it or not";
        pending: bool = Param::deviation(), "the tail alone stays, be the last user message or an open batch in it or not";
    }
}

impl SummaryDeviations {
    /// How the summarizer is asked.
    pub(super) fn options(self) -> AskOptions {
        AskOptions { unchecked: self.unchecked, one_piece: self.one_piece }
    }

    /// The selection of the recent tail; with the deviation `pending`, of only the tail.
    pub(super) fn selection<'s>(self, cx: &Context<'s>) -> Result<Selection<'s>, Declined> {
        if !self.pending {
            return recent_or_skip(cx);
        }
        let selection = Selection::tail_alone(cx.log, cx.view, cx.budget.tail);
        if selection.takes_messages() { Ok(selection) } else { Err(SkipReason::NothingToCompact.into()) }
    }
}
