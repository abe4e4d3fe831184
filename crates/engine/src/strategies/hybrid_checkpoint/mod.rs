//! `hybrid-checkpoint`: part 8 of the strategic plan. Fine checkpoints by extraction before the
//! trigger, a coarse one with the summary, merged field by field: the newer value wins.

use std::sync::Arc;

use super::middleware_checkpoint::{Extracting, FORM, PARAMS};
use super::prompt_checkpoint::limits;
use crate::strategy::StrategySpec;
use crate::strategy::approach::Approach;

/// Registry entry: those of its two parts; `prompt` is the extraction's. The source says no more of
/// this strategy than that both are combined, so its published form has the deviations of both.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "hybrid-checkpoint",
    about: "checkpoints before the trigger and with the summary, merged",
    source: "the strategic plan, part 8",
    approach: Some(Approach::Middleware),
    prompt: include_str!("../middleware_checkpoint/prompt.md"),
    placeholders: &["messages"],
    params: PARAMS,
    limits,
    build: |settings| Arc::new(Extracting::new(settings, true)),
    published: Some(FORM),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Tail;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (12_500, 10_000, Tail::Tokens(2_000), 800)
        );
    }
}
