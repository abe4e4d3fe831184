//! Tokens of a request, each message counted once.

use std::cell::RefCell;

use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_engine::tokens::{Encoding, MESSAGE_OVERHEAD, TOOL_OVERHEAD, TokenCounter};

use super::remembered::Remembered;

thread_local! {
    static MESSAGES: RefCell<Remembered<WireMessage, u32>> = RefCell::default();
}

/// Tokens of a request by the engine's rule for messages; tools count by their texts.
pub(super) fn of_request(request: &ChatRequest) -> u32 {
    let counter = Encoding::O200k;
    let tools = request.tools.iter().map(|tool| {
        let texts = [&tool.name, &tool.description, &tool.parameters.to_string()].map(|text| counter.count_text(text));
        TOOL_OVERHEAD + texts.iter().sum::<u32>()
    });
    let messages = MESSAGES.with_borrow_mut(|known| {
        let counted = request.messages.iter().enumerate();
        counted.map(|(place, message)| known.of(place, message, digest, of_message)).sum::<u32>()
    });
    messages + tools.sum::<u32>()
}

fn of_message(message: &WireMessage) -> u32 {
    let counter = Encoding::O200k;
    MESSAGE_OVERHEAD + message.parts.iter().map(|part| counter.count_part(part)).sum::<u32>()
}

fn digest(message: &WireMessage) -> [u8; 32] {
    // A message has a JSON form: texts and numbers alone.
    *blake3::hash(&serde_json::to_vec(message).unwrap_or_default()).as_bytes()
}
