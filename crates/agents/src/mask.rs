//! What differs between two equal plays, masked before the summarizer sees it: a summarizer that
//! draws by its request would answer otherwise.

use std::sync::LazyLock;

use compactometer_engine::message::Part;
use compactometer_engine::model::{ChatRequest, WireMessage};
use regex::Regex;

/// Ids, clocks and the play's folder and port, and what is put in their places.
static VOLATILE: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let forms = [
        (r"Chunk ID: \w+", "Chunk ID: 0"),
        (r"Wall time: [\d.]+", "Wall time: 0"),
        (
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            "00000000-0000-0000-0000-000000000000",
        ),
        (r"/compactometer-play-\w+", "/compactometer-play"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:0"),
        (r"<current_date>[\d-]+", "<current_date>2026-01-01"),
    ];
    let compiled = forms
        .into_iter()
        .filter_map(|(form, mask)| Some((Regex::new(form).ok()?, mask)));
    compiled.collect()
});

/// A request without what differs between equal plays, as the run's summarizer gets it.
pub(crate) fn masked(request: &ChatRequest, seed: u64) -> ChatRequest {
    let part = |part: &Part| match part {
        Part::Text { text: said } => Part::Text { text: text(said) },
        Part::ToolResult {
            call_id,
            text: said,
            is_error,
        } => Part::ToolResult {
            call_id: call_id.clone(),
            text: text(said),
            is_error: *is_error,
        },
        other => other.clone(),
    };
    let messages = request.messages.iter().map(|message| WireMessage {
        role: message.role,
        parts: message.parts.iter().map(part).collect::<Vec<_>>().into(),
    });
    ChatRequest {
        messages: messages.collect(),
        seed,
        ..request.clone()
    }
}

/// A text without what differs between equal plays.
pub(crate) fn text(text: &str) -> String {
    let mut masked = text.to_owned();
    for (form, mask) in VOLATILE.iter() {
        masked = form.replace_all(&masked, *mask).into_owned();
    }
    masked
}
