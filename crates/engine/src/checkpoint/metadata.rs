//! What is known of a checkpoint beside what it says (the strategic plan, checkpoint schema, `metadata`). All of it derives
//! from its record, so that nothing is kept twice.

use serde::{Deserialize, Serialize};

use crate::conversation::record::{RecordKind, SessionRecord};

/// The source's object, but for the thread's id, which is the key of its record in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// [`SessionRecord::created_at_ms`]: milliseconds since the Unix epoch; a store writes it as a date.
    pub extracted_at_ms: Option<i64>,
    /// [`SessionRecord::tokens_before`]: tokens of the view at that time. The source counts its messages alike, without tools.
    pub token_count: u32,
    /// Whether that had reached [`IMMINENT_SHARE`] of the trigger. The source shows the field and no rule for it; this is the
    /// one that fits its example, 8,247 tokens of 10,000.
    pub summarization_imminent: bool,
    /// The record's text, where the attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extraction_error: Option<String>,
}

/// The share of the trigger from which a summary is imminent: the source's `checkpoint_threshold_ratio`.
pub const IMMINENT_SHARE: f64 = 0.8;

impl Metadata {
    /// Of a checkpoint, or of a failed attempt; none for other records. `trigger` is the session's, in tokens; 0 is never.
    pub fn of(saved: &SessionRecord, trigger: u32) -> Option<Self> {
        let is_failed = saved.kind == RecordKind::Failed;
        (is_failed || saved.kind == RecordKind::Checkpoint).then(|| Metadata {
            extracted_at_ms: saved.created_at_ms,
            token_count: saved.tokens_before,
            summarization_imminent: trigger > 0
                && f64::from(saved.tokens_before) >= f64::from(trigger) * IMMINENT_SHARE,
            extraction_error: is_failed.then(|| saved.body.clone()),
        })
    }
}
