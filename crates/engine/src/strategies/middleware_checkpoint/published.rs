//! `middleware-checkpoint` as the strategic plan describes it, and what that plan's code makes of
//! messages and answers (approach B, `_format_messages` and `_extract_checkpoint`).
//!
//! Where that code would not run at all, the reading nearest to it that does: its file breaks off
//! an indented block with `from pathlib import Path`, never imports `datetime`, and searches the
//! reply object where it means its text.

use serde_json::Value;

use super::Prompts;
use crate::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use crate::conversation::render::Material;
use crate::conversation::view::Entry;
use crate::message::Part;
use crate::strategy::params::{Param, ParamUnit, parameters};
use crate::strategy::{Context, PublishedForm};

/// As the document has it. `other_threads` stays 0, since a replay has one thread.
pub(in crate::strategies) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("stale_count", "faithful"),
        ("parser", "faithful"),
        ("overwrite", "faithful"),
        ("forgets", "faithful"),
        ("at_once", "faithful"),
        ("section", "faithful"),
        ("untrimmed", "faithful"),
        ("roles", "faithful"),
        ("prompts", "faithful"),
        ("unchecked", "faithful"),
        ("one_piece", "faithful"),
        ("pending", "faithful"),
    ],
    breaks: &[1, 3, 5, 6, 8, 18, 21],
};

/// The document's prompts of the calls at a compaction.
pub(super) const PROMPTS: Prompts = Prompts {
    summary: include_str!("../summarize/published.md"),
    both: include_str!("../prompt_checkpoint/published.md"),
};

parameters! {
    /// When a checkpoint is due, and how it is read.
    ExtractionDeviations {
        stale_count: bool = Param::deviation(), "new tokens are those above the size at the last checkpoint, which a compaction leaves as it is";
        other_threads: u32 = Param::count(ParamUnit::Tokens, 0, (0, 10_000_000)), "stale_count: size at which another thread's checkpoint left the counter of all";
        parser: bool = Param::deviation(), "unfenced JSON is not read";
    }
}

parameters! {
    /// What a model sees of checkpoints and of messages.
    ShowingDeviations {
        at_once: bool = Param::deviation(), "each checkpoint joins the system prompt at once and voids the cached prefix";
        roles: bool = Param::deviation(), "messages are written as ROLE: content, without calls; a tag in them may close the prompt's";
        prompts: bool = Param::deviation(), "the calls at a compaction have the document's prompts, whose example may pass for values";
    }
}

impl ExtractionDeviations {
    /// Tokens of the view above a counter that a compaction leaves as it is.
    pub(super) fn new_tokens(self, cx: &Context<'_>) -> u64 {
        let of_this = cx
            .history
            .iter()
            .rfind(|saved| saved.is_before_turn())
            .map_or(0, |saved| saved.tokens_before);
        // One counter for all threads holds what the last of them left; of several, the greatest
        // silences longest.
        u64::from(
            cx.view
                .tokens()
                .saturating_sub(of_this.max(self.other_threads)),
        )
    }
}

/// Messages as `ROLE: content`: calls and their arguments are not content, and a tag in a text may
/// close the prompt's.
pub(super) fn messages<'e>(cx: &Context<'_>, entries: impl Iterator<Item = &'e Entry>) -> Material {
    let content = |entry: &Entry| {
        let texts = entry.parts().filter_map(|(part, _)| match part {
            Part::Text { text } | Part::ToolResult { text, .. } => Some(text.as_str()),
            Part::Thinking { .. }
            | Part::ToolCall { .. }
            | Part::Media { .. }
            | Part::Sealed { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let blocks =
        entries.map(|entry| format!("{}: {}", entry.role().name().to_uppercase(), content(entry)));
    let text = blocks.collect::<Vec<_>>().join("\n\n");
    Material {
        tokens_at_most: cx.counter.count_text(&text),
        text,
        cut: Vec::new(),
    }
}

/// An object in a `json` fence. The branch for an unfenced one reads group 1 of a pattern that has
/// none, and raises.
pub(super) fn extracted(answer: &str) -> (Option<String>, Extraction) {
    let fenced = answer
        .split_once("```json")
        .and_then(|(_, rest)| rest.split_once("```"));
    let reading = match fenced.map(|(object, _)| serde_json::from_str::<Value>(object.trim())) {
        Some(Ok(object @ Value::Object(_))) => {
            return (
                Some(object.to_string()),
                extraction(LadderReading::Rung(Rung::Fenced)),
            );
        }
        Some(_) => Unreadable::Malformed,
        None => Unreadable::NoObject,
    };
    (None, extraction(LadderReading::Unreadable(reading)))
}

fn extraction(reading: LadderReading) -> Extraction {
    Extraction {
        reading,
        leaked: 0,
        left_out: 0,
    }
}
