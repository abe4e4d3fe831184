//! Model calls as records hold them, and the texts that records name by hash.

use compactometer_engine::message::Usage;
use compactometer_engine::meter::{Call, Purpose};
use compactometer_engine::model::ChatError;
use compactometer_formats::record::{CallRow, Record, Refusal};

use crate::prepare::{KeptTexts, PreparedScenario};

/// A record and the texts that it refers to by hash.
pub struct CaseResult {
    /// The record.
    pub record: Record,
    /// Texts by hash: requests, replies, what was saved, and what was written into views.
    pub texts: KeptTexts,
}

/// A call of the session as a record holds it. What it sent and what came back goes to the texts.
pub(crate) fn session_call_row(
    prepared: &PreparedScenario,
    call: &Call,
    texts: &mut KeptTexts,
) -> CallRow {
    // A recount sends the context, which is known.
    let is_kept = call.purpose != Purpose::Recount;
    let request = is_kept.then(|| {
        call.request
            .texts()
            .map(|text| prepared.shorten(text, texts))
            .collect::<Vec<_>>()
            .join("\n\n")
    });
    CallRow {
        request: request.map(|request| texts.keep(&request)),
        ..call_row(call, texts)
    }
}

/// A call as a record holds it. Its reply goes to the texts.
pub(crate) fn call_row(call: &Call, texts: &mut KeptTexts) -> CallRow {
    match &call.outcome {
        Ok(reply) => CallRow {
            purpose: call.purpose,
            usage: reply.usage,
            latency_ms: Some(reply.latency_ms),
            finish: Some(reply.finish),
            request: None,
            reply: Some(texts.keep(&reply.text)),
            error: None,
            refusal: None,
            served: reply.served.clone(),
        },
        Err(error) => CallRow {
            purpose: call.purpose,
            usage: Usage::default(),
            latency_ms: Some(waited_ms(call)),
            finish: None,
            request: None,
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

/// How long a turn waited for a call. It also waits for a timeout.
pub(crate) fn waited_ms(call: &Call) -> u64 {
    match &call.outcome {
        Ok(reply) => reply.latency_ms,
        Err(ChatError::Timeout { after_ms }) => *after_ms,
        Err(_) => 0,
    }
}
