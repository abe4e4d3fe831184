//! What the strategic plan keeps beside each checkpoint, read from the record itself.
//!
//! Absent on purpose: a clock. `extracted_at` is the session's time, and null where the session has
//! none.

use compactometer_engine::record::{RecordKind, SessionRecord};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

/// Metadata of a checkpoint (the strategic plan, checkpoint schema).
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Metadata {
    /// When it was written, RFC 3339 in UTC.
    pub(crate) extracted_at: Option<String>,
    /// Tokens of the view that it was extracted from.
    pub(crate) token_count: u32,
    /// The conversation.
    pub(crate) thread_id: String,
    /// Whether it was written before a compaction, while the view still held everything.
    pub(crate) summarization_imminent: bool,
    /// Why the newest attempt after it failed; none where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extraction_error: Option<String>,
    /// US dollars of the calls that wrote it, where the caller gave prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_usd: Option<f64>,
}

impl Metadata {
    /// Of the record that represents a commit: its checkpoint, else its last record.
    pub(crate) fn of_commit(thread: &str, saved: &[SessionRecord], cost_usd: Option<f64>) -> Self {
        let chosen = saved
            .iter()
            .rev()
            .find(|saved| saved.kind == RecordKind::Checkpoint)
            .or(saved.last());
        let Some(chosen) = chosen else {
            return Metadata {
                thread_id: thread.to_owned(),
                ..Metadata::default()
            };
        };
        Metadata {
            extracted_at: chosen
                .created_at_ms
                .and_then(timestamp)
                .map(|at| at.to_string()),
            token_count: chosen.tokens_before,
            thread_id: thread.to_owned(),
            summarization_imminent: chosen.is_before_turn(),
            extraction_error: failure(saved),
            cost_usd,
        }
    }
}

/// Why the last attempt among these failed.
pub(crate) fn failure(saved: &[SessionRecord]) -> Option<String> {
    let failed = saved
        .last()
        .filter(|saved| saved.kind == RecordKind::Failed);
    failed.map(|saved| saved.body.clone())
}

/// A time in milliseconds since the Unix epoch; none outside the calendar.
pub(crate) fn timestamp(ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(ms).ok()
}

/// The checkpoint's own fields and its metadata, as the strategic plan's `latest.json` holds them.
pub(crate) fn document(body: &str, metadata: &Metadata) -> Value {
    let mut fields = match serde_json::from_str(body) {
        Ok(Value::Object(fields)) => fields,
        // Another strategy's checkpoint need not be an object.
        _ => Map::from_iter([("checkpoint".to_owned(), Value::String(body.to_owned()))]),
    };
    fields.insert(
        "metadata".to_owned(),
        serde_json::to_value(metadata).unwrap_or_default(),
    );
    Value::Object(fields)
}
