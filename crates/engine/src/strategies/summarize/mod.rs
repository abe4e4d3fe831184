//! `summarize`: the plain set-up of source 000 before checkpoints: a word-limited summary before the recent tail.

use std::sync::Arc;

use async_trait::async_trait;

use super::published::{Asking, Faithful, ONE_PIECE, PENDING, UNCHECKED, selected};
use super::{ask_for_reply, fill_around, plain_limits, tokens, with_summary, words_in};
use crate::conversation::render::{Material, RenderLimits};
use crate::strategy::declined::Declined;
use crate::strategy::declined::FailReason;
use crate::strategy::params::Settings;
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};

/// Registry entry. The source triggers at 10,000 tokens, keeps 2,000 and asks for 300 words, some 400 tokens.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "summarize",
    about: "one summary of 200-300 words before the recent tail",
    source: "000, part 1 (today's set-up)",
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: &[
        tokens("window", "context window that the trigger is meant for", 12_500),
        tokens("trigger", "size at which a compaction starts", 10_000),
        tokens("tail", "kept verbatim", 2_000),
        tokens("written", "most that the summary may have", 400),
        UNCHECKED,
        ONE_PIECE,
        PENDING,
    ],
    limits: plain_limits,
    build: |settings| Arc::new(Summarize { settings: settings.clone() }),
};

/// As the document has it.
pub(super) const FAITHFUL: Faithful = Faithful {
    spec: &SPEC,
    values: &[("unchecked", "faithful"), ("one_piece", "faithful"), ("pending", "faithful")],
    breaks: &[1, 3, 5, 6, 8],
};

struct Summarize {
    settings: Settings,
}

#[async_trait]
impl Strategy for Summarize {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = selected(cx, &self.settings)?;
        let asking = Asking::new(&self.settings);
        let summary = ask_as(cx, self.settings.prompt(), &selection, cx.budget.written, asking).await?;
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
    ask_as(cx, prompt, selection, most, Asking::default()).await
}

/// The same, in that way.
pub(super) async fn ask_as(
    cx: &Context<'_>,
    prompt: &str,
    selection: &Selection<'_>,
    most: u32,
    asking: Asking,
) -> Result<String, FailReason> {
    let messages = Material::new(selection.leaving.iter().copied(), RenderLimits::NONE, prompt.len());
    let (words, tokens) = (words_in(most).to_string(), most.to_string());
    let with = |messages| fill_around(messages, prompt, &[("words", &words), ("tokens", &tokens)]);
    Ok(ask_for_reply(cx, messages, with, most, None, asking).await?.text)
}
