//! `hybrid-checkpoint`: part 8 of the strategic plan. Fine checkpoints by extraction before the trigger, a coarse one with the
//! summary, merged field by field: the finer value wins.

use std::sync::Arc;

use async_trait::async_trait;

use super::middleware_checkpoint::{Extraction, FORM, PARAMS};
use super::prompt_checkpoint::{Deviations, Options, ask_for_both, json, with_summary_and_checkpoint};
use crate::checkpoint::Checkpoint;
use crate::conversation::record::NewRecord;
use crate::conversation::view::WrittenPart;
use crate::recovery::{Showing, latest_checkpoint};
use crate::strategy::{Compacted, Context, Declined, FailReason, Strategy, StrategySpec, retrieve};

/// Registry entry: those of its two parts; `prompt` is the extraction's. The source says no more of this strategy than that
/// both are combined, so its published form has the deviations of both.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "hybrid-checkpoint",
    about: "checkpoints before the trigger and with the summary, merged",
    source: "the strategic plan, part 8",
    prompt: include_str!("../middleware_checkpoint/prompt.md"),
    placeholders: &["messages"],
    params: PARAMS,
    limits: |settings| Options::read(settings).limits(),
    build: |settings| Arc::new(HybridCheckpoint { extraction: Extraction::new(settings) }),
    published: Some(FORM),
};

const COARSE_PROMPT: &str = include_str!("../prompt_checkpoint/prompt.md");

struct HybridCheckpoint {
    extraction: Extraction,
}

#[async_trait]
impl Strategy for HybridCheckpoint {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let Extraction { deviations, checkpoints, summaries, .. } = &self.extraction;
        let deviations = Deviations { parser: deviations.parser, checkpoints: *checkpoints, summaries: *summaries };
        let selection = summaries.selection(cx)?;
        let (summary, body) = ask_for_both(cx, COARSE_PROMPT, &selection, deviations).await?;
        let coarse = body.and_then(|body| serde_json::from_str::<Checkpoint>(&body).ok());
        let fine = latest_checkpoint(cx.history).map(|(checkpoint, _)| checkpoint);
        let merged = match (coarse, fine) {
            (Some(coarse), Some(fine)) => Some(coarse.merged_with(fine)),
            (coarse, _) => coarse,
        };
        let merged = merged.map(|merged| json(&merged));
        Ok(with_summary_and_checkpoint(cx, &selection, &summary, merged, self.showing()))
    }

    fn checkpoint_is_due(&self, cx: &Context<'_>) -> bool {
        self.extraction.is_due(cx)
    }

    async fn checkpoint(&self, cx: &Context<'_>) -> Result<NewRecord, FailReason> {
        self.extraction.run(cx).await
    }

    fn showing(&self) -> Showing {
        self.extraction.showing()
    }

    async fn retrieve(&self, cx: &Context<'_>, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
        retrieve::checkpoint(cx, questions, room).await
    }
}
