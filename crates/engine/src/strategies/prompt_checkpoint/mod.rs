//! `prompt-checkpoint`: approach A of the strategic plan. One call writes a summary and a JSON
//! checkpoint. The summary precedes the recent tail; the checkpoint is saved and becomes a section
//! of the system prompt.
//!
//! Corrected against the source: fenced JSON is read, an answer without a readable checkpoint
//! leaves the previous one in place, a new checkpoint adds to the one before it (`update`), the
//! section shows every field and keeps to its size.

mod published;
mod update;

use std::sync::Arc;

use async_trait::async_trait;

use super::summarize::{ASSUMED_WINDOW, SummaryDeviations};
use crate::budget::Limits;
use crate::checkpoint::{self, Checkpoint, Examples, Extraction};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::render::{Material, RenderLimits};
use crate::conversation::view::WrittenPart;
use crate::model::ChatReply;
use crate::recovery::{Showing, latest_checkpoint, sections, system_with};
use crate::strategy::approach::Approach;
use crate::strategy::ask::ask;
use crate::strategy::next_view::with_summary_under;
use crate::strategy::params::{Param, ParamError, Settings, limits_in_tokens, parameters};
use crate::strategy::prompt::{fill, words_in};
use crate::strategy::selection::Selection;
use crate::strategy::summary::NotASummary;
use crate::strategy::{Compacted, Context, Declined, FailReason, Strategy, StrategySpec, retrieve};

pub(super) use published::{CheckpointDeviations, NOTHING};
pub(super) use update::{previous, replaces, together, updated};

/// Registry entry: the limits of `summarize`, and as many tokens again for a checkpoint like the
/// source's example.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "prompt-checkpoint",
    about: "a summary and a JSON checkpoint in one call; the checkpoint joins the system prompt",
    source: "the strategic plan, approach A",
    approach: Some(Approach::Prompt),
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: &[
        Options::PARAMS,
        published::ParserDeviation::PARAMS,
        CheckpointDeviations::PARAMS,
        SummaryDeviations::PARAMS,
    ],
    limits,
    build: |settings| {
        let deviations = Deviations {
            parser: published::ParserDeviation::read(settings).parser,
            checkpoints: CheckpointDeviations::read(settings),
            summaries: SummaryDeviations::read(settings),
        };
        Arc::new(PromptCheckpoint {
            prompt: settings.prompt().to_owned(),
            deviations,
        })
    },
    published: Some(published::FORM),
};

parameters! {
    /// The source's limits, also those of the other strategies that write checkpoints.
    Options {
        window: u32 = Param::tokens(ASSUMED_WINDOW).of_limits(), "context window (assumed: no request is refused for it unless you set another)";
        trigger: u32 = Param::tokens(10_000).of_limits(), "size at which a compaction starts";
        tail: u32 = Param::tokens_or_none(2_000).of_limits(), "kept verbatim";
        written: u32 = Param::tokens(800).of_limits(), "most that summary and checkpoint may have together";
    }
}

pub(super) fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let Options {
        window,
        trigger,
        tail,
        written,
    } = Options::read(settings);
    limits_in_tokens(window, ASSUMED_WINDOW, trigger, tail, written)
}

/// How a summary and a checkpoint are asked for in one call.
#[derive(Clone, Copy)]
pub(super) struct Deviations {
    /// Whether an answer is split as the source's own code splits it.
    pub(super) parser: bool,
    pub(super) checkpoints: CheckpointDeviations,
    pub(super) summaries: SummaryDeviations,
}

struct PromptCheckpoint {
    prompt: String,
    deviations: Deviations,
}

#[async_trait]
impl Strategy for PromptCheckpoint {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = self.deviations.summaries.selection(cx)?;
        let (summary, body) = ask_for_both(cx, &self.prompt, &selection, self.deviations).await?;
        let Deviations { checkpoints, .. } = self.deviations;
        let body = match body {
            None if checkpoints.overwrite => Some(NOTHING.to_owned()),
            body => body.map(|body| updated(cx, &self.prompt, body, checkpoints)),
        };
        Ok(with_summary_and_checkpoint(
            cx,
            &selection,
            &summary,
            body,
            self.showing(),
            checkpoints,
        ))
    }

    fn showing(&self) -> Showing {
        Showing {
            at_once: false,
            leaves_out: self.deviations.checkpoints.section,
        }
    }

    async fn retrieve(
        &self,
        cx: &Context<'_>,
        questions: &[&str],
        room: u32,
    ) -> Vec<Vec<WrittenPart>> {
        retrieve::checkpoint(cx, questions, room).await
    }
}

/// Asks for a summary and a checkpoint's JSON, half of what may be written each. Where no
/// checkpoint can be read, the meter is told why, and only the summary counts.
pub(super) async fn ask_for_both(
    cx: &Context<'_>,
    prompt: &str,
    selection: &Selection<'_>,
    deviations: Deviations,
) -> Result<(String, Option<String>), FailReason> {
    let half = cx.budget.half_of_written();
    let previous = previous(cx);
    let messages = || Material::new(selection.leaving.iter().copied(), RenderLimits::NONE);
    let (words, tokens) = (words_in(half).to_string(), half.to_string());
    let with = |messages: String| {
        fill(
            prompt,
            &[
                ("words", &words),
                ("tokens", &tokens),
                ("previous", &previous),
                ("messages", &messages),
            ],
        )
    };
    let reply = ask(
        cx,
        messages(),
        with,
        cx.budget.written,
        None,
        deviations.summaries.options(),
    )
    .await;
    let reply = reply.inspect_err(|reason| cx.summarizer.note_failed(reason))?;
    let examples = Examples::new(prompt, || messages().text + "\n" + &previous);
    let (summary, body, extraction) = if deviations.parser {
        published::split(&reply.text)
    } else {
        let (summary, checkpoint, extraction) = split(&reply, &examples);
        (
            summary,
            checkpoint.map(|checkpoint| json(&checkpoint)),
            extraction,
        )
    };
    cx.summarizer.note(extraction);
    if summary.is_empty() && !deviations.summaries.unchecked {
        return Err(FailReason::NoSummary(NotASummary::Empty));
    }
    Ok((summary.to_owned(), body))
}

/// A checkpoint as it is saved.
pub(super) fn json(checkpoint: &Checkpoint) -> String {
    serde_json::to_string(checkpoint).unwrap_or_default()
}

/// A summary in the chat and a checkpoint in the system prompt: the new one, given as JSON, else
/// the one before. One that cannot be read is saved and not shown. What may not be written beside
/// the summary is taken out of it.
pub(super) fn with_summary_and_checkpoint(
    cx: &Context<'_>,
    selection: &Selection<'_>,
    summary: &str,
    body: Option<String>,
    showing: Showing,
    deviations: CheckpointDeviations,
) -> Compacted {
    let shown = match &body {
        Some(body) => serde_json::from_str::<Checkpoint>(body)
            .ok()
            .map(|new| (new, cx.number_of_new(1))),
        None => latest_checkpoint(cx.history),
    };
    let trimmed = shown
        .as_ref()
        .filter(|_| !deviations.untrimmed)
        .and_then(|(whole, _)| trimmed(cx, whole, summary));
    // Also saved, so that what was taken out does not come back with the next compaction.
    let (shown, body) = match trimmed {
        Some(trimmed) => (
            Some((trimmed.clone(), cx.number_of_new(1))),
            Some(json(&trimmed)),
        ),
        None => (shown, body),
    };
    let shown = shown.filter(|(checkpoint, _)| !checkpoint.is_empty());
    let system = system_with(
        selection.system,
        sections(
            shown.as_ref(),
            showing,
            cx.history.latest(RecordKind::Shared),
        ),
    );
    let mut compacted = with_summary_under(system, cx, selection, summary.to_owned());
    let saved = body.map(|body| NewRecord::new(RecordKind::Checkpoint, selection.covers(), body));
    compacted.saved.extend(saved);
    compacted
}

/// What of the checkpoint may be written beside the summary; nothing if all of it may.
fn trimmed(cx: &Context<'_>, whole: &Checkpoint, summary: &str) -> Option<Checkpoint> {
    let room = cx
        .budget
        .written
        .saturating_sub(cx.counter.count_text(summary).saturating_add(AROUND));
    let mut trimmed = whole.clone();
    trimmed.trim(|checkpoint| cx.counter.count_text(&checkpoint.to_section()) <= room);
    (trimmed != *whole).then_some(trimmed)
}

/// Tokens around a summary and a checkpoint in the view.
const AROUND: u32 = 24;

/// Splits an answer at its markers. Without the second one, a checkpoint that can be read starts at
/// the first line that opens a fence or an object; else all of the answer is the summary.
fn split<'a>(
    reply: &'a ChatReply,
    examples: &Examples<'_>,
) -> (&'a str, Option<Checkpoint>, Extraction) {
    let text = reply
        .text
        .split_once("[SUMMARY]")
        .map_or(reply.text.as_str(), |(_, rest)| rest);
    let read = |json: &str| checkpoint::extract(json, reply.finish, examples);
    if let Some((summary, json)) = text.split_once("[CHECKPOINT]") {
        let (checkpoint, extraction) = read(json);
        return (summary.trim(), checkpoint, extraction);
    }
    let opening = ["\n{", "\n```"]
        .iter()
        .filter_map(|opening| text.find(opening))
        .min();
    let (summary, json) = text.split_at(opening.unwrap_or(0));
    let (checkpoint, extraction) = read(json);
    let summary = if checkpoint.is_some() && !summary.trim().is_empty() {
        summary
    } else {
        text
    };
    (summary.trim(), checkpoint, extraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Tail;
    use crate::checkpoint::{LadderReading, Rung, Unreadable};
    use crate::message::Usage;
    use crate::model::Finish;
    use crate::strategies::default_limits;

    fn splits(text: &str) -> (String, Option<Vec<String>>, LadderReading) {
        let reply = ChatReply {
            text: text.to_owned(),
            finish: Finish::Stop,
            usage: Usage::default(),
            latency_ms: 0,
            served: None,
        };
        let (summary, checkpoint, extraction) = split(
            &reply,
            &Examples::new("{\"active_goals\": [\"goal\"]}", String::new),
        );
        (
            summary.to_owned(),
            checkpoint.map(|checkpoint| checkpoint.active_goals),
            extraction.reading,
        )
    }

    #[test]
    fn splits_at_the_markers() {
        let goals = Some(vec!["Build".to_owned()]);
        let json = "{\"active_goals\": [\"goal\", \"Build\"]}";
        let summary = "A CRM.".to_owned();
        let found = splits(&format!("[SUMMARY]\nA CRM.\n\n[CHECKPOINT]\n{json}"));
        assert_eq!(
            found,
            (
                summary.clone(),
                goals.clone(),
                LadderReading::Rung(Rung::Strict)
            )
        );
        let found = splits(&format!("[SUMMARY]\nA CRM.\n\n{json}"));
        assert_eq!(
            found,
            (
                summary.clone(),
                goals.clone(),
                LadderReading::Rung(Rung::Strict)
            )
        );
        let found = splits(&format!("A CRM.\n```json\n{json}\n```"));
        assert_eq!(
            found,
            (
                summary.clone(),
                goals.clone(),
                LadderReading::Rung(Rung::Fenced)
            )
        );
        assert_eq!(
            splits(json),
            (json.to_owned(), goals, LadderReading::Rung(Rung::Strict))
        );
        let found = splits("[SUMMARY]\nA CRM.\n[CHECKPOINT]\n{bad}");
        assert_eq!(
            found,
            (
                summary,
                None,
                LadderReading::Unreadable(Unreadable::Malformed)
            )
        );
    }

    #[test]
    fn a_summary_without_a_checkpoint_stays_whole() {
        for text in [
            "only prose",
            "prose\n{code} and\nprose",
            "prose\n```\ncode\n```\nprose",
        ] {
            let (summary, goals, reading) = splits(text);
            assert_eq!((summary.as_str(), goals), (text, None));
            assert!(matches!(reading, LadderReading::Unreadable(_)));
        }
    }

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (12_500, 10_000, Tail::Tokens(2_000), 800)
        );
    }
}
