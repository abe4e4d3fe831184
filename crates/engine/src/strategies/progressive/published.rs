//! `progressive` as the progressive plan describes it.

use crate::strategy::PublishedForm;
use crate::strategy::params::{Param, parameters};

/// Its task definition and architecture decisions are planned only, so its prompt does not ask for
/// them and nothing is pinned; how it merges it does not say, so that stays ours.
pub(super) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("pinned", "0"),
        ("unbounded", "faithful"),
    ],
    breaks: &[10],
};

parameters! {
    /// How the source deviates.
    Deviations {
        unbounded: bool = Param::deviation(), "only age decides what is shown, whether it fits or not";
    }
}
