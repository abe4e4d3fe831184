//! `prompt-checkpoint`: source 000, approach A. One call writes a summary and a JSON checkpoint; the summary stands before
//! the recent tail, the checkpoint is saved and stands as a section of the system prompt.
//!
//! Mended against the source: fenced JSON is read, an answer without a readable checkpoint leaves the previous one in
//! place, a new checkpoint is written with the one that it replaces in sight, and the injected section shows every field.

mod published;

use std::sync::Arc;

use async_trait::async_trait;

use super::published::{Asking, Faithful, ONE_PIECE, PENDING, UNCHECKED, selected};
use super::{ask_for_reply, defect, fill_around, plain_limits, tokens, with_summary_under, words_in};
use crate::checkpoint::{self, Checkpoint, Examples, Extraction};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::render::{self, Material, RenderLimits};
use crate::conversation::view::WrittenPart;
use crate::model::ChatReply;
use crate::recovery::{Showing, latest_checkpoint, sections, system_with};
use crate::strategy::declined::Declined;
use crate::strategy::declined::FailReason;
use crate::strategy::params::{Param, Settings};
use crate::strategy::retrieve;
use crate::strategy::selection::Selection;
use crate::strategy::summary::NotASummary;
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};

/// Registry entry: the limits of `summarize`, and as many tokens again for a checkpoint like the source's example.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "prompt-checkpoint",
    about: "a summary and a JSON checkpoint in one call; the checkpoint joins the system prompt",
    source: "000, approach A",
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: &[
        tokens("window", "context window that the trigger is meant for", 12_500),
        tokens("trigger", "size at which a compaction starts", 10_000),
        tokens("tail", "kept verbatim", 2_000),
        tokens("written", "most that summary and checkpoint may have together", 800),
        defect("parser", "fenced JSON is not read, and an answer without both markers is all summary"),
        OVERWRITE,
        FORGETS,
        SECTION,
        UNCHECKED,
        ONE_PIECE,
        PENDING,
    ],
    limits: plain_limits,
    build: |settings| Arc::new(PromptCheckpoint { settings: settings.clone() }),
};

/// As the document has it.
pub(super) const FAITHFUL: Faithful = Faithful {
    spec: &SPEC,
    values: &[
        ("parser", "faithful"),
        ("overwrite", "faithful"),
        ("forgets", "faithful"),
        ("section", "faithful"),
        ("unchecked", "faithful"),
        ("one_piece", "faithful"),
        ("pending", "faithful"),
    ],
    breaks: &[1, 3, 5, 6, 8],
};

/// Defects that the strategies with checkpoints share.
pub(super) const OVERWRITE: Param =
    defect("overwrite", "where no checkpoint can be read, an empty one takes the place of the last");
pub(super) const FORGETS: Param = defect("forgets", "a checkpoint is written without the last one in sight");
pub(super) const SECTION: Param = defect("section", "the section leaves out threads and external APIs");

/// A checkpoint that holds nothing.
pub(super) const NOTHING: &str = "{}";

struct PromptCheckpoint {
    settings: Settings,
}

#[async_trait]
impl Strategy for PromptCheckpoint {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = selected(cx, &self.settings)?;
        let (summary, body) = ask_for_both(cx, self.settings.prompt(), &selection, &self.settings).await?;
        let body = body.or_else(|| self.settings.is_faithful("overwrite").then(|| NOTHING.to_owned()));
        Ok(with_summary_and_checkpoint(cx, &selection, &summary, body, self.showing()))
    }

    fn showing(&self) -> Showing {
        Showing { at_once: false, leaves_out: self.settings.is_faithful("section") }
    }

    async fn retrieve(&self, cx: &Context<'_>, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
        retrieve::checkpoint(cx, questions, room).await
    }
}

/// Asks for a summary and a checkpoint's JSON, half of what may be written each. Where no checkpoint can be read, the meter is
/// told why and the summary counts alone.
pub(super) async fn ask_for_both(
    cx: &Context<'_>,
    prompt: &str,
    selection: &Selection<'_>,
    settings: &Settings,
) -> Result<(String, Option<String>), FailReason> {
    let half = cx.budget.half_of_written();
    let previous = previous_checkpoint(cx, settings);
    let around = prompt.len() + previous.len();
    let messages = || Material::new(selection.leaving.iter().copied(), RenderLimits::NONE, around);
    let (words, tokens) = (words_in(half).to_string(), half.to_string());
    let values = [("words", words.as_str()), ("tokens", &tokens), ("previous", &previous)];
    let with = |messages| fill_around(messages, prompt, &values);
    let reply = ask_for_reply(cx, messages(), with, cx.budget.written, None, Asking::new(settings)).await;
    let reply = reply.inspect_err(|reason| cx.summarizer.note_failed(reason))?;
    let examples = Examples::new(prompt, || messages().text + "\n" + &previous);
    let (summary, body, extraction) = if settings.is_faithful("parser") {
        published::split(&reply.text)
    } else {
        let (summary, checkpoint, extraction) = split(&reply, &examples);
        (summary, checkpoint.map(|checkpoint| json(&checkpoint)), extraction)
    };
    cx.summarizer.note(extraction);
    if summary.is_empty() && !settings.is_faithful("unchecked") {
        return Err(FailReason::NoSummary(NotASummary::Empty));
    }
    Ok((summary.to_owned(), body))
}

/// A checkpoint as it is saved.
pub(super) fn json(checkpoint: &Checkpoint) -> String {
    serde_json::to_string(checkpoint).unwrap_or_default()
}

/// The checkpoint that a new one replaces, as a prompt shows it.
pub(super) fn previous_checkpoint(cx: &Context<'_>, settings: &Settings) -> String {
    let previous = cx.history.latest(RecordKind::Checkpoint).filter(|_| !settings.is_faithful("forgets"));
    previous.map_or("None: this is the first.".to_owned(), |saved| render::neutralize(&saved.body))
}

/// A summary in the chat and a checkpoint in the system prompt: the new one, given as JSON, else the one before. One that
/// cannot be read is saved and not shown.
pub(super) fn with_summary_and_checkpoint(
    cx: &Context<'_>,
    selection: &Selection<'_>,
    summary: &str,
    body: Option<String>,
    showing: Showing,
) -> Compacted {
    let shown = match &body {
        Some(body) => serde_json::from_str::<Checkpoint>(body).ok().map(|new| (new, cx.number_of_new(1))),
        None => latest_checkpoint(cx.history),
    };
    let shown = shown.filter(|(checkpoint, _)| !checkpoint.is_empty());
    let system =
        system_with(selection.system, sections(shown.as_ref(), showing, cx.history.latest(RecordKind::Shared)));
    let mut compacted = with_summary_under(system, cx, selection, summary.to_owned());
    let saved = body.map(|body| NewRecord { kind: RecordKind::Checkpoint, covers: selection.covers(), body });
    compacted.saved.extend(saved);
    compacted
}

/// Splits an answer at its markers. Without the second one, a checkpoint that can be read starts at the first line that opens
/// a fence or an object; else all of the answer is the summary.
fn split<'a>(reply: &'a ChatReply, examples: &Examples<'_>) -> (&'a str, Option<Checkpoint>, Extraction) {
    let text = reply.text.split_once("[SUMMARY]").map_or(reply.text.as_str(), |(_, rest)| rest);
    let read = |json: &str| checkpoint::extract(json, reply.finish, examples);
    if let Some((summary, json)) = text.split_once("[CHECKPOINT]") {
        let (checkpoint, extraction) = read(json);
        return (summary.trim(), checkpoint, extraction);
    }
    let opening = ["\n{", "\n```"].iter().filter_map(|opening| text.find(opening)).min();
    let (summary, json) = text.split_at(opening.unwrap_or(0));
    let (checkpoint, extraction) = read(json);
    let summary = if checkpoint.is_some() && !summary.trim().is_empty() { summary } else { text };
    (summary.trim(), checkpoint, extraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Reading, Rung, Unreadable};
    use crate::message::Usage;
    use crate::model::Finish;

    fn splits(text: &str) -> (String, Option<Vec<String>>, Reading) {
        let reply = ChatReply {
            text: text.to_owned(),
            finish: Finish::Stop,
            usage: Usage::default(),
            latency_ms: 0,
            served: None,
        };
        let (summary, checkpoint, extraction) =
            split(&reply, &Examples::new("{\"active_goals\": [\"goal\"]}", String::new));
        (summary.to_owned(), checkpoint.map(|checkpoint| checkpoint.active_goals), extraction.reading)
    }

    #[test]
    fn splits_at_the_markers() {
        let goals = Some(vec!["Build".to_owned()]);
        let json = "{\"active_goals\": [\"goal\", \"Build\"]}";
        let summary = "A CRM.".to_owned();
        let found = splits(&format!("[SUMMARY]\nA CRM.\n\n[CHECKPOINT]\n{json}"));
        assert_eq!(found, (summary.clone(), goals.clone(), Reading::Rung(Rung::Strict)));
        let found = splits(&format!("[SUMMARY]\nA CRM.\n\n{json}"));
        assert_eq!(found, (summary.clone(), goals.clone(), Reading::Rung(Rung::Strict)));
        let found = splits(&format!("A CRM.\n```json\n{json}\n```"));
        assert_eq!(found, (summary.clone(), goals.clone(), Reading::Rung(Rung::Fenced)));
        assert_eq!(splits(json), (json.to_owned(), goals, Reading::Rung(Rung::Strict)));
        let found = splits("[SUMMARY]\nA CRM.\n[CHECKPOINT]\n{bad}");
        assert_eq!(found, (summary, None, Reading::Unreadable(Unreadable::Malformed)));
    }

    #[test]
    fn a_summary_without_a_checkpoint_stays_whole() {
        for text in ["only prose", "prose\n{code} and\nprose", "prose\n```\ncode\n```\nprose"] {
            let (summary, goals, reading) = splits(text);
            assert_eq!((summary.as_str(), goals), (text, None));
            assert!(matches!(reading, Reading::Unreadable(_)));
        }
    }
}
