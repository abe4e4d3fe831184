//! Conversations in OpenAI's chat format, as JSON or JSON Lines.
//!
//! Absent on purpose: definitions of tools beside the messages, which are only counted.

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::readers::chat;
use crate::import::readers::json_lines;
use crate::import::readers::message_files::{self, MessageFile, SaidMessages};
use crate::import::report::Recorder;
use crate::import::session::Spoken;

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "openai",
    about: "messages in OpenAI's chat format: an array, an object with `messages`, or one of either a line",
    source: "OpenAI Chat Completions API, messages of a request",
    compactions: "None is recorded; a summary is imported as a message, and `compactometer import pair BEFORE AFTER` measures one.",
    particulars: "If each line is a message, the file is one conversation; each object with `messages` is one. `conversation_id`, `session_id`, `thread_id` or `id`, `group_id` and `project` beside `messages` are read. A file of texts only is read as this format, not as `anthropic`. There is no usage. `name`, `refusal` and `audio` are left out.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises,
    read: |input, recorder| message_files::sessions(input, "openai", recorder, messages),
};

/// Types of blocks that other APIs have.
const OF_OTHERS: &[&str] = &[
    "image",
    "document",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "server_tool_use",
    "web_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "search_result",
    "container_upload",
    "compaction",
    "reasoning",
    "tool-call",
    "tool-result",
];

/// Blocks of the other APIs have types that the chat format has not.
fn recognises(text: &str) -> bool {
    let messages = message_files::beginning(text);
    let is_foreign = |message: &serde_json::Value| {
        let blocks = message["content"].as_array().into_iter().flatten();
        blocks.into_iter().any(|block| {
            // New types of blocks come every few months.
            block["type"]
                .as_str()
                .is_none_or(|kind| OF_OTHERS.contains(&kind))
        })
    };
    !messages.is_empty() && !messages.iter().any(is_foreign)
}

fn messages(
    conversation: &MessageFile,
    recorder: &mut Recorder,
) -> Result<SaidMessages, ImportError> {
    let mut said = SaidMessages::default();
    for (place, message) in &conversation.messages {
        let at_ms = json_lines::at_ms(&message["timestamp"], *place, recorder)?;
        let spoken = chat::spoken(*place, message, recorder)?;
        said.messages
            .extend(spoken.map(|said| Spoken { at_ms, ..said }));
    }
    Ok(said)
}
