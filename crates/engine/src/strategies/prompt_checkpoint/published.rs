//! What the source's own code makes of an answer (000, approach A: `parse_summary_with_checkpoint`).

use serde_json::Value;

use crate::checkpoint::{Extraction, Reading, Rung, Unreadable};

/// Splits an answer at both markers, else all of it is the summary; the checkpoint is what stands after the first
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
