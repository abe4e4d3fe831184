//! `prompt-checkpoint` as the strategic plan describes it, and what that plan's code makes of an answer (approach A,
//! `parse_summary_with_checkpoint`).

use serde_json::Value;

use crate::checkpoint::{Extraction, Reading, Rung, Unreadable};
use crate::conversation::record::RecordKind;
use crate::conversation::render;
use crate::strategy::params::{Param, parameters};
use crate::strategy::{Context, PublishedForm};

/// As the document has it.
pub(super) const FORM: PublishedForm = PublishedForm {
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

parameters! {
    /// How an answer is split.
    ParserDeviation {
        parser: bool = Param::deviation(), "fenced JSON is not read, and an answer without both markers is all summary";
    }
}

parameters! {
    /// Deviations of every strategy that writes checkpoints.
    CheckpointDeviations {
        overwrite: bool = Param::deviation(), "where no checkpoint can be read, an empty one takes the place of the last";
        forgets: bool = Param::deviation(), "a checkpoint is written without the last one in sight";
        section: bool = Param::deviation(), "the section leaves out threads and external APIs";
    }
}

/// A checkpoint that holds nothing.
pub(in crate::strategies) const NOTHING: &str = "{}";

impl CheckpointDeviations {
    /// The checkpoint that a new one replaces, as a prompt shows it.
    pub(in crate::strategies) fn previous(self, cx: &Context<'_>) -> String {
        let previous = cx.history.latest(RecordKind::Checkpoint).filter(|_| !self.forgets);
        previous.map_or("None: this is the first.".to_owned(), |saved| render::neutralize(&saved.body))
    }
}

/// Splits an answer at both markers, else all of it is the summary; the checkpoint is what follows the first
/// `[CHECKPOINT]`, and must be JSON and nothing else, of whatever shape.
pub(super) fn split(answer: &str) -> (&str, Option<String>, Extraction) {
    let marked = answer.split_once("[SUMMARY]").and_then(|(_, rest)| rest.split_once("[CHECKPOINT]"));
    let summary = marked.map_or(answer, |(summary, _)| summary.trim());
    let json = answer.split_once("[CHECKPOINT]").map(|(_, json)| serde_json::from_str::<Value>(json.trim()));
    let (body, reading) = match json {
        Some(Ok(value)) => (Some(value.to_string()), Reading::Rung(Rung::Strict)),
        Some(Err(_)) => (None, Reading::Unreadable(Unreadable::Malformed)),
        None => (None, Reading::Unreadable(Unreadable::NoObject)),
    };
    (summary, body, Extraction { reading, leaked: 0, left_out: 0 })
}
