//! `prompt-checkpoint` as the strategic plan describes it, and what that plan's code makes of an
//! answer (approach A, `parse_summary_with_checkpoint`).

use serde_json::Value;

use crate::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use crate::strategy::PublishedForm;
use crate::strategy::params::{Param, parameters};

/// As the document has it.
pub(super) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("parser", "faithful"),
        ("overwrite", "faithful"),
        ("forgets", "faithful"),
        ("section", "faithful"),
        ("untrimmed", "faithful"),
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
        forgets: bool = Param::deviation(), "a checkpoint replaces the last one, so that what only the last one held is lost";
        section: bool = Param::deviation(), "the section leaves out threads and external APIs";
        untrimmed: bool = Param::deviation(), "a checkpoint is shown whole, also where it exceeds what may be written";
    }
}

/// A checkpoint that holds nothing.
pub(in crate::strategies) const NOTHING: &str = "{}";

/// Splits an answer at both markers, else all of it is the summary; the checkpoint is what follows
/// the first `[CHECKPOINT]`, and must be JSON and nothing else, of whatever shape.
pub(super) fn split(answer: &str) -> (&str, Option<String>, Extraction) {
    let marked = answer
        .split_once("[SUMMARY]")
        .and_then(|(_, rest)| rest.split_once("[CHECKPOINT]"));
    let summary = marked.map_or(answer, |(summary, _)| summary.trim());
    let json = answer
        .split_once("[CHECKPOINT]")
        .map(|(_, json)| serde_json::from_str::<Value>(json.trim()));
    let (body, reading) = match json {
        Some(Ok(value)) => (Some(value.to_string()), LadderReading::Rung(Rung::Strict)),
        Some(Err(_)) => (None, LadderReading::Unreadable(Unreadable::Malformed)),
        None => (None, LadderReading::Unreadable(Unreadable::NoObject)),
    };
    (
        summary,
        body,
        Extraction {
            reading,
            leaked: 0,
            left_out: 0,
        },
    )
}
