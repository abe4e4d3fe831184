//! `summarize`: the plain set-up of source 000 before checkpoints: a word-limited summary before the recent tail.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ask, fill, plain_limits, recent_or_skip, tokens, with_summary, words_in};
use crate::event::FailReason;
use crate::render::{Limits, Material};
use crate::select::Selection;
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};

/// Registry entry. The source triggers at 10,000 tokens, keeps 2,000 and asks for 300 words, some 400 tokens.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "summarize",
    about: "one summary of 200-300 words before the recent tail",
    source: "000, part 1 (today's set-up)",
    prompt: include_str!("summarize.md"),
    placeholders: &["messages"],
    params: &[
        tokens("window", "context window that the trigger is meant for", 12_500),
        tokens("trigger", "size at which a compaction starts", 10_000),
        tokens("tail", "kept verbatim", 2_000),
        tokens("written", "most that the summary may have", 400),
    ],
    limits: plain_limits,
    build: |settings| Arc::new(Summarize { prompt: settings.prompt().to_owned() }),
};

struct Summarize {
    prompt: String,
}

#[async_trait]
impl Strategy for Summarize {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let summary = ask_for_summary(cx, &self.prompt, &selection, cx.budget.written).await?;
        Ok(with_summary(cx, &selection, summary))
    }
}

/// Asks for a summary of what leaves, in at most that many tokens.
pub(super) async fn ask_for_summary(
    cx: &Context<'_>,
    prompt: &str,
    selection: &Selection<'_>,
    most: u32,
) -> Result<String, FailReason> {
    let messages = Material::new(selection.leaving.iter().copied(), Limits::NONE);
    let (words, tokens) = (words_in(most).to_string(), most.to_string());
    let with = |messages: &str| fill(prompt, &[("words", &words), ("tokens", &tokens), ("messages", messages)]);
    ask(cx, &messages, with, most, None).await
}
