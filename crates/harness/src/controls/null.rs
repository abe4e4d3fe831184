//! `null`: keeps only what the budget does not count. It is what a score must fall to if nothing is
//! kept.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::view::Edit;

use super::{keep_system, pending_ids};
use crate::plan::Control;

pub(super) const CONTROL: Control = Control {
    name: "null",
    about: "keeps only the system prompt and the pending part",
    tail_share: 0.0,
    compacts: true,
    evidence: None,
    build: |_, _| Arc::new(Null),
};

struct Null;

#[async_trait]
impl Strategy for Null {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let edits = keep_system(cx.log)
            .into_iter()
            .chain(pending_ids(cx.log).map(Edit::Keep))
            .collect();
        Ok(Compacted::without_reading(cx, edits))
    }
}
