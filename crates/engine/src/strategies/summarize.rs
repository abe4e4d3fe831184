//! `summarize`: the plain set-up of source 000 before checkpoints: a word-limited summary before the recent tail.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ask, fill, recent_or_skip, words_in};
use crate::message::{Part, Role};
use crate::render::{self, Limits};
use crate::saved::{NewSaved, SavedKind};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::view::{Edit, Origin, WrittenPart};

/// Registry entry. The source keeps 2,000 tokens beside a summary of 300 words, some 400 tokens.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "summarize",
    about: "one summary of 200-300 words before the recent tail",
    source: "000, part 1 (today's set-up)",
    tail_share: 2_000.0 / 2_400.0,
    prompt: PROMPT,
    build: || Arc::new(Summarize),
};

const PROMPT: &str = include_str!("summarize.md");

struct Summarize;

#[async_trait]
impl Strategy for Summarize {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let messages = render::transcript(selection.leaving.iter().copied(), Limits::NONE);
        let words = words_in(cx.budget.written).to_string();
        let prompt = fill(PROMPT, &[("words", &words), ("messages", &messages)]);
        let summary = ask(cx, prompt, cx.budget.written, None).await?;
        let mut edits: Vec<Edit> = selection.system.map(|system| Edit::Keep(system.id)).into_iter().collect();
        edits.push(summary_turn(&summary, cx.number_of_new(0)));
        edits.extend(selection.keep_edits());
        let saved = NewSaved { kind: SavedKind::Summary, covers: selection.covers(), body: summary };
        Ok(Compacted { edits, saved: vec![saved] })
    }
}

/// A summary as a synthetic user turn, so that the chat opens with a user's whatever stands after it.
pub(super) fn summary_turn(summary: &str, number: u32) -> Edit {
    let text = format!("Summary of the conversation so far:\n\n{summary}");
    Edit::Insert(Role::User, vec![WrittenPart { part: Part::Text { text }, origin: Origin::Summary(number) }])
}
