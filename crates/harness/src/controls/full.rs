//! `full`: nothing is ever compacted. It is the upper bound of recall, and the cost to beat.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::SkipReason;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};

use crate::plan::Control;

pub(super) const CONTROL: Control = Control {
    name: "full",
    about: "no compaction: the whole conversation, over the context window too",
    tail_share: 1.0,
    compacts: false,
    evidence: None,
    build: |_, _| Arc::new(Full),
};

struct Full;

#[async_trait]
impl Strategy for Full {
    async fn compact(&self, _: &Context<'_>) -> Result<Compacted, Declined> {
        Err(SkipReason::NothingToCompact.into())
    }
}
