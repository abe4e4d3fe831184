//! Model calls as records hold them, and the texts that records name by hash.

use std::collections::BTreeMap;

use compactometer_engine::message::Usage;
use compactometer_engine::meter::Call;
use compactometer_engine::model::ChatError;
use compactometer_formats::record::{CallRow, Record, Refusal, text_hash};

/// A record and the texts that it refers to by hash.
pub struct CaseResult {
    /// The record.
    pub record: Record,
    /// Texts by hash: replies, and what was inserted into views.
    pub texts: BTreeMap<String, String>,
}

/// A call as a record holds it. Its reply goes to the texts.
pub(crate) fn call_row(call: &Call, texts: &mut BTreeMap<String, String>) -> CallRow {
    match &call.outcome {
        Ok(reply) => CallRow {
            purpose: call.purpose,
            usage: reply.usage,
            latency_ms: Some(reply.latency_ms),
            finish: Some(reply.finish),
            reply: Some(keep_text(&reply.text, texts)),
            error: None,
            refusal: None,
            served: reply.served.clone(),
        },
        Err(error) => CallRow {
            purpose: call.purpose,
            usage: Usage::default(),
            latency_ms: Some(waited_ms(call)),
            finish: None,
            reply: None,
            error: Some(error.to_string()),
            refusal: match error {
                ChatError::Refused { .. } => Some(Refusal::Text),
                ChatError::Rejected { .. } => Some(Refusal::Form),
                _ => None,
            },
            served: None,
        },
    }
}

pub(crate) fn keep_text(text: &str, texts: &mut BTreeMap<String, String>) -> String {
    let hash = text_hash(text);
    texts.entry(hash.clone()).or_insert_with(|| text.to_owned());
    hash
}

/// How long a turn waited for a call. It also waits for a timeout.
pub(crate) fn waited_ms(call: &Call) -> u64 {
    match &call.outcome {
        Ok(reply) => reply.latency_ms,
        Err(ChatError::Timeout { after_ms }) => *after_ms,
        Err(_) => 0,
    }
}
