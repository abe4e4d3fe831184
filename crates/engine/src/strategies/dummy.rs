//! A strategy for tests: it is named only in the registry, and must be found there and run in a
//! session. It has no prompt, no parameters and no published form.

use std::sync::Arc;

use async_trait::async_trait;

use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::view::{Edit, Origin};
use crate::strategy::next_view::{edits_with, recent_or_skip};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};

pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "dummy",
    about: "keeps the recent tail, in tests",
    source: "tests",
    approach: None,
    prompt: "",
    placeholders: &[],
    params: &[],
    limits: |_| {
        let (tail, estimator) = (Tail::Messages(4), Estimator::Exact);
        Ok(Limits {
            window: 500,
            assumed_window: false,
            trigger: 400,
            tail,
            written: 50,
            estimator,
        })
    },
    build: |_| Arc::new(DummyStrategy),
    published: None,
};

struct DummyStrategy;

#[async_trait]
impl Strategy for DummyStrategy {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let turn = Edit::turn("Earlier messages were cut.", Origin::Filler);
        Ok(Compacted::without_reading(
            cx,
            edits_with(cx, &selection, turn),
        ))
    }
}
