//! `prompt-checkpoint`: source 000, approach A. One call writes a summary and a JSON checkpoint; the summary stands before
//! the recent tail, the checkpoint is saved and stands as a section of the system prompt.
//!
//! Mended against the source: fenced JSON is read, an answer without a readable checkpoint leaves the previous one in
//! place, a new checkpoint is written with the one that it replaces in sight, and the injected section shows every field.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ask, fill, plain_limits, recent_or_skip, tokens, with_summary, words_in};
use crate::checkpoint::Checkpoint;
use crate::event::FailReason;
use crate::recovery::{latest_checkpoint, system_with};
use crate::render::{self, Limits, Material};
use crate::saved::{NewSaved, SavedKind, latest};
use crate::select::Selection;
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};

/// Registry entry: the limits of `summarize`, and as many tokens again for a checkpoint like the source's example.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "prompt-checkpoint",
    about: "a summary and a JSON checkpoint in one call; the checkpoint joins the system prompt",
    source: "000, approach A",
    prompt: include_str!("prompt_checkpoint.md"),
    placeholders: &["messages"],
    params: &[
        tokens("window", "context window that the trigger is meant for", 12_500),
        tokens("trigger", "size at which a compaction starts", 10_000),
        tokens("tail", "kept verbatim", 2_000),
        tokens("written", "most that summary and checkpoint may have together", 800),
    ],
    limits: plain_limits,
    build: |settings| Arc::new(PromptCheckpoint { prompt: settings.prompt().to_owned() }),
};

struct PromptCheckpoint {
    prompt: String,
}

#[async_trait]
impl Strategy for PromptCheckpoint {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let answer = ask_for_both(cx, &self.prompt, &selection).await?;
        let (summary, checkpoint) = split(&answer);
        Ok(with_summary_and_checkpoint(cx, &selection, summary, checkpoint))
    }
}

/// Asks for a summary and a checkpoint, half of what may be written each.
pub(super) async fn ask_for_both(
    cx: &Context<'_>,
    prompt: &str,
    selection: &Selection<'_>,
) -> Result<String, FailReason> {
    let messages = Material::new(selection.leaving.iter().copied(), Limits::NONE);
    let half = cx.budget.written / 2;
    let previous = latest(cx.history, SavedKind::Checkpoint);
    let previous = previous.map_or("None: this is the first.".to_owned(), |saved| render::neutralize(&saved.body));
    let (words, tokens) = (words_in(half).to_string(), half.to_string());
    let with = |messages: &str| {
        let values = [("words", words.as_str()), ("tokens", &tokens), ("previous", &previous), ("messages", messages)];
        fill(prompt, &values)
    };
    ask(cx, &messages, with, cx.budget.written, None).await
}

/// A summary in the chat and a checkpoint in the system prompt: the new one, else the one before.
pub(super) fn with_summary_and_checkpoint(
    cx: &Context<'_>,
    selection: &Selection<'_>,
    summary: &str,
    checkpoint: Option<Checkpoint>,
) -> Compacted {
    let mut compacted = with_summary(cx, selection, summary.to_owned());
    let shown = match checkpoint {
        Some(checkpoint) => {
            let body = serde_json::to_string(&checkpoint).unwrap_or_default();
            compacted.saved.push(NewSaved { kind: SavedKind::Checkpoint, covers: selection.covers(), body });
            Some((checkpoint, cx.number_of_new(1)))
        }
        None => latest_checkpoint(cx.history),
    };
    let without_system = compacted.edits.split_off(usize::from(selection.system.is_some()));
    compacted.edits = system_with(selection.system, shown).into_iter().chain(without_system).collect();
    compacted
}

/// Splits an answer at its markers. Without them all of it is the summary.
pub(super) fn split(answer: &str) -> (&str, Option<Checkpoint>) {
    let after_heading = answer.split_once("[SUMMARY]").map_or(answer, |(_, rest)| rest);
    match after_heading.split_once("[CHECKPOINT]") {
        Some((summary, json)) => (summary.trim(), Checkpoint::parse(json)),
        None => (after_heading.trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_the_markers() {
        let (summary, checkpoint) = split("[SUMMARY]\nA CRM.\n\n[CHECKPOINT]\n{\"active_goals\": [\"Build\"]}");
        assert_eq!(summary, "A CRM.");
        assert_eq!(checkpoint.map(|checkpoint| checkpoint.active_goals), Some(vec!["Build".to_owned()]));
        assert_eq!(split("[SUMMARY]\nA CRM.\n[CHECKPOINT]\n{bad}"), ("A CRM.", None));
        assert_eq!(split("only prose"), ("only prose", None));
    }
}
