//! `summarize`: the set-up that the strategic plan starts from: a word-limited summary before the
//! recent tail.

mod published;

use std::sync::Arc;

use async_trait::async_trait;

use crate::conversation::render::{Material, RenderLimits};
use crate::conversation::view::Entry;
use crate::strategy::approach::Approach;
use crate::strategy::ask::{AskOptions, ask};
use crate::strategy::next_view::with_summary;
use crate::strategy::params::{Param, limits_in_tokens, parameters};
use crate::strategy::prompt::{fill, words_in};
use crate::strategy::{Compacted, Context, Declined, FailReason, Strategy, StrategySpec};

pub(super) use published::SummaryDeviations;

/// Registry entry. The source triggers at 10,000 tokens, keeps 2,000 and asks for 300 words, some
/// 400 tokens.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "summarize",
    about: "one summary of 200-300 words before the recent tail",
    source: "the strategic plan, part 1 (today's set-up)",
    approach: Some(Approach::Prompt),
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: &[Options::PARAMS, SummaryDeviations::PARAMS],
    limits: |settings| {
        let Options {
            window,
            trigger,
            tail,
            written,
        } = Options::read(settings);
        limits_in_tokens(window, ASSUMED_WINDOW, trigger, tail, written)
    },
    build: |settings| {
        Arc::new(Summarize {
            prompt: settings.prompt().to_owned(),
            deviations: SummaryDeviations::read(settings),
        })
    },
    published: Some(published::FORM),
};

/// The source names a trigger and no window; this one makes the trigger 0.8 of it.
pub(super) const ASSUMED_WINDOW: u32 = 12_500;

parameters! {
    /// The source's limits.
    Options {
        window: u32 = Param::tokens(ASSUMED_WINDOW).of_limits(), "context window (assumed: no request is refused for it unless you set another)";
        trigger: u32 = Param::tokens(10_000).of_limits(), "size at which a compaction starts";
        tail: u32 = Param::tokens_or_none(2_000).of_limits(), "kept verbatim";
        written: u32 = Param::tokens(400).of_limits(), "most that the summary may have";
    }
}

struct Summarize {
    prompt: String,
    deviations: SummaryDeviations,
}

#[async_trait]
impl Strategy for Summarize {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = self.deviations.selection(cx)?;
        let options = self.deviations.options();
        let summary = ask_for_summary(
            cx,
            &self.prompt,
            &selection.leaving,
            cx.budget.written,
            options,
        )
        .await?;
        Ok(with_summary(cx, &selection, summary))
    }
}

/// Asks for a summary of what leaves, in at most that many tokens.
pub(super) async fn ask_for_summary(
    cx: &Context<'_>,
    prompt: &str,
    leaving: &[&Entry],
    most: u32,
    options: AskOptions<'_>,
) -> Result<String, FailReason> {
    let messages = Material::new(leaving.iter().copied(), RenderLimits::NONE);
    let (words, tokens) = (words_in(most).to_string(), most.to_string());
    let with = |messages: String| {
        fill(
            prompt,
            &[
                ("words", &words),
                ("tokens", &tokens),
                ("messages", &messages),
            ],
        )
    };
    Ok(ask(cx, messages, with, most, None, options).await?.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Tail;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (12_500, 10_000, Tail::Tokens(2_000), 400)
        );
    }
}
