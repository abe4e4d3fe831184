//! Conversations in OpenAI's chat format, as JSON or JSON Lines.
//!
//! Absent on purpose: definitions of tools beside the messages, which are only counted.

use serde_json::Value;

use super::Importer;
use super::error::ImportError;
use super::input::Input;
use super::message_files::{self, Conversation};
use super::report::Recorder;
use super::session::Session;
use super::{chat, json_lines};

pub(super) const IMPORTER: Importer = Importer {
    name: "openai",
    about: "messages in OpenAI's chat format: an array, an object with `messages`, or one of either a line",
    source: "OpenAI Chat Completions API, messages of a request",
    recognises,
    read,
};

/// Blocks of the other APIs have types that the chat format has not.
fn recognises(text: &str) -> bool {
    let messages = message_files::beginning(text);
    let is_foreign = |message: &Value| {
        let blocks = message["content"].as_array().into_iter().flatten();
        blocks.into_iter().any(|block| !matches!(block["type"].as_str(), Some("text" | "image_url" | "refusal")))
    };
    !messages.is_empty() && !messages.iter().any(is_foreign)
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<Session>, ImportError> {
    let mut sessions = Vec::new();
    for (order, Conversation { around, messages }) in (0..).zip(message_files::conversations(input, recorder)?) {
        if around["tools"].is_array() {
            recorder.ignore("definitions of tools");
        }
        let mut said = Vec::new();
        for (place, message) in messages {
            let at_ms = json_lines::at_ms(&message["timestamp"], &input.file, place, recorder)?;
            said.extend(
                chat::spoken(&input.file, place, &message, recorder)?
                    .map(|said| super::session::Spoken { at_ms, ..said }),
            );
        }
        sessions.push(message_files::session(input, "openai", &around, order, said));
    }
    Ok(sessions)
}
