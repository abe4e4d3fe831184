//! What Claude Code writes where it compacts: a boundary, with the rows that stay.

use serde_json::Value;

/// A longer compaction is a fault of a clock: a day.
const MOST_MS: u64 = 86_400_000;

/// What a boundary says about its compaction.
pub(in crate::import) struct Boundary {
    pub(super) trigger: Option<String>,
    pub(super) reported_tokens: Option<u64>,
    pub(super) took_ms: Option<u64>,
    pub(super) kept: KeptRows,
}

impl Boundary {
    /// The uuid of the last message that stays, where the program names a part of the conversation
    /// that does.
    pub(in crate::import) fn tail(&self) -> Option<&str> {
        match &self.kept {
            KeptRows::From { last, .. } => Some(last),
            KeptRows::These(_) => None,
        }
    }
}

/// The rows that stay after the summary, by uuid.
pub(super) enum KeptRows {
    These(Vec<String>),
    From { first: String, last: String },
}

/// The boundary that a row is, if it is one.
pub(in crate::import) fn boundary(row: &Value) -> Option<Boundary> {
    let about = (row["subtype"] == "compact_boundary").then_some(&row["compactMetadata"])?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list = &about["preservedMessages"];
    let uuids = list
        .as_array()
        .or_else(|| list["uuids"].as_array())
        .into_iter()
        .flatten()
        .filter_map(text)
        .collect();
    let segment = &about["preservedSegment"];
    let kept = match (text(&segment["headUuid"]), text(&segment["tailUuid"])) {
        (Some(first), Some(last)) => KeptRows::From { first, last },
        _ => KeptRows::These(uuids),
    };
    Some(Boundary {
        trigger: text(&about["trigger"]),
        reported_tokens: about["preTokens"].as_u64(),
        took_ms: about["durationMs"].as_u64().filter(|took| *took <= MOST_MS),
        kept,
    })
}
