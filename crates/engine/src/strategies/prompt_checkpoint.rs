//! `prompt-checkpoint`: source 000, approach A. One call writes a summary and a JSON checkpoint; the summary stands before
//! the recent tail, the checkpoint is saved and stands as a section of the system prompt.
//!
//! Mended against the source: fenced JSON is read, an answer without a readable checkpoint leaves the previous one in
//! place, a new checkpoint is written with the one that it replaces in sight, and the injected section shows every field.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ask, fill, plain_limits, recent_or_skip, summary_turn, tokens, words_in};
use crate::checkpoint::Checkpoint;
use crate::message::{Message, Part, Role};
use crate::render::{self, Limits};
use crate::saved::{NewSaved, SavedKind, latest};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::view::{Edit, Origin, WrittenPart};

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
        let messages = render::transcript(selection.leaving.iter().copied(), Limits::NONE);
        let half = cx.budget.written / 2;
        let previous = latest(cx.history, SavedKind::Checkpoint);
        let previous = previous.map_or("None: this is the first.".to_owned(), |saved| render::neutralize(&saved.body));
        let (words, tokens) = (words_in(half).to_string(), half.to_string());
        let values = [("words", &words), ("tokens", &tokens), ("previous", &previous), ("messages", &messages)];
        let prompt = fill(&self.prompt, &values.map(|(name, value)| (name, value.as_str())));
        let answer = ask(cx, prompt, cx.budget.written, None).await?;
        let (summary, checkpoint) = split(&answer);
        let covers = selection.covers();
        let mut saved = vec![NewSaved { kind: SavedKind::Summary, covers, body: summary.to_owned() }];
        let section = match checkpoint {
            Some(checkpoint) => {
                let body = serde_json::to_string(&checkpoint).unwrap_or_default();
                saved.push(NewSaved { kind: SavedKind::Checkpoint, covers, body });
                Some((checkpoint, cx.number_of_new(1)))
            }
            None => latest_checkpoint(cx),
        };
        let mut edits: Vec<Edit> = system_edit(selection.system, section).into_iter().collect();
        edits.push(summary_turn(summary, cx.number_of_new(0)));
        edits.extend(selection.keep_edits());
        Ok(Compacted { edits, saved })
    }
}

/// Splits an answer at its markers. Without them all of it is the summary.
fn split(answer: &str) -> (&str, Option<Checkpoint>) {
    let after_heading = answer.split_once("[SUMMARY]").map_or(answer, |(_, rest)| rest);
    match after_heading.split_once("[CHECKPOINT]") {
        Some((summary, json)) => (summary.trim(), Checkpoint::parse(json)),
        None => (after_heading.trim(), None),
    }
}

fn latest_checkpoint(cx: &Context<'_>) -> Option<(Checkpoint, u32)> {
    let saved = latest(cx.history, SavedKind::Checkpoint)?;
    Some((Checkpoint::parse(&saved.body)?, saved.number))
}

/// The system message with the checkpoint's section; a conversation without one gets one that holds the section alone.
fn system_edit(system: Option<&Message>, section: Option<(Checkpoint, u32)>) -> Option<Edit> {
    let Some((checkpoint, number)) = section else { return system.map(|system| Edit::Keep(system.id)) };
    let section =
        WrittenPart { part: Part::Text { text: checkpoint.to_section() }, origin: Origin::Checkpoint(number) };
    Some(match system {
        None => Edit::Insert(Role::System, vec![section]),
        Some(system) => {
            let spoken =
                system.parts.iter().map(|part| WrittenPart { part: part.clone(), origin: Origin::Spoken(system.id) });
            Edit::Replace(system.id, spoken.chain([section]).collect())
        }
    })
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
