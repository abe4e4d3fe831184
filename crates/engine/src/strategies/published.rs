//! The documents' own forms: the plain strategies with the defects of their sources switched on, so that mending is an
//! ablation anybody can repeat. A defect is a parameter like any other; there is no second strategy.

use super::{
    chained, defect, handoff, hybrid_checkpoint, middleware_checkpoint, progressive, prompt_checkpoint, recent_or_skip,
    summarize, threshold_summary,
};
use crate::conversation::render::Material;
use crate::strategy::declined::Declined;
use crate::strategy::declined::{FailReason, SkipReason};
use crate::strategy::params::{Param, ParamError, Settings};
use crate::strategy::pieces;
use crate::strategy::selection::Selection;
use crate::strategy::{Context, StrategySpec};

/// A strategy as its document describes it.
pub struct Faithful {
    /// The plain form.
    pub spec: &'static StrategySpec,
    /// Parameters that differ from the plain form, and their values in the document.
    pub values: &'static [(&'static str, &'static str)],
    /// Invariants that it breaks, by their numbers in the engine's README.
    pub breaks: &'static [u8],
}

/// Every document's own form, in the order of [`super::ALL`].
pub const FAITHFUL: &[&Faithful] = &[
    &summarize::FAITHFUL,
    &prompt_checkpoint::FAITHFUL,
    &middleware_checkpoint::FAITHFUL,
    &hybrid_checkpoint::FAITHFUL,
    &threshold_summary::FAITHFUL,
    &progressive::FAITHFUL,
    &handoff::FAITHFUL,
    &chained::FAITHFUL,
];

impl Faithful {
    /// The name that users type.
    pub fn name(&self) -> String {
        format!("{}-faithful", self.spec.name)
    }

    /// The document's own settings.
    ///
    /// # Errors
    /// [`ParamError`] where a value does not fit its parameter.
    pub fn settings(&self) -> Result<Settings, ParamError> {
        let mut settings = Settings::defaults(self.spec);
        for (name, value) in self.values {
            settings.set(self.spec, name, value)?;
        }
        Ok(settings)
    }
}

// Defects that the strategies of source 000 share.
pub(super) const UNCHECKED: Param = defect("unchecked", "any answer is taken for a summary");
pub(super) const ONE_PIECE: Param =
    defect("one_piece", "all is asked for at once, whether the summarizer's window holds it or not");
pub(super) const PENDING: Param =
    defect("pending", "the tail alone stays, be the last user message or an open batch in it or not");

/// How a summarizer is asked.
#[derive(Clone, Copy, Default)]
pub(super) struct Asking {
    pub(super) unchecked: bool,
    one_piece: bool,
}

impl Asking {
    pub(super) fn new(settings: &Settings) -> Self {
        Asking { unchecked: settings.is_faithful("unchecked"), one_piece: settings.is_faithful("one_piece") }
    }

    pub(super) fn pieces(
        self,
        cx: &Context<'_>,
        material: Material,
        fixed: impl FnOnce() -> u32,
        most: u32,
    ) -> Result<Vec<String>, FailReason> {
        if self.one_piece { Ok(vec![material.text]) } else { pieces::pieces(cx, material, fixed, most) }
    }
}

/// The selection of the recent tail; with the defect `pending` of the tail alone.
pub(super) fn selected<'s>(cx: &Context<'s>, settings: &Settings) -> Result<Selection<'s>, Declined> {
    if !settings.is_faithful("pending") {
        return recent_or_skip(cx);
    }
    let selection = Selection::tail_alone(cx.log, cx.view, cx.budget.tail);
    if selection.takes_messages() { Ok(selection) } else { Err(SkipReason::NothingToCompact.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_faithful_value_differs_from_the_plain_form_and_fits() {
        for faithful in FAITHFUL {
            let settings = faithful.settings().expect("fits");
            let plain = Settings::defaults(faithful.spec);
            assert!((faithful.spec.limits)(&settings).is_ok(), "{}", faithful.name());
            for (name, value) in faithful.values {
                let mut only = Settings::defaults(faithful.spec);
                only.set(faithful.spec, name, value).expect("fits");
                assert_ne!(only, plain, "{} {name}", faithful.name());
            }
            assert!(faithful.breaks.iter().all(|number| (1..=22).contains(number)), "{}", faithful.name());
            assert!(faithful.breaks.is_sorted());
        }
    }
}
