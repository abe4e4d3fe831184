//! A control for tests: it is named only in the registry, and must be found in every list.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::SkipReason;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};

use crate::plan::Control;

pub(crate) const CONTROL: Control = Control {
    name: "dummy-control",
    about: "keeps everything, in tests",
    tail_share: 0.0,
    compacts: true,
    evidence: None,
    build: |_, _| Arc::new(DummyControl),
};

struct DummyControl;

#[async_trait]
impl Strategy for DummyControl {
    async fn compact(&self, _: &Context<'_>) -> Result<Compacted, Declined> {
        Err(SkipReason::NothingToCompact.into())
    }
}
