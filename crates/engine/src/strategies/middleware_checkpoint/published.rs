//! What the source's own code makes of messages and answers (000, approach B: `_format_messages`, `_extract_checkpoint`).
//!
//! Where that code would not run at all, the reading nearest to it that does: its file breaks off an indented block with
//! `from pathlib import Path`, never imports `datetime`, and searches the reply object where it means its text.

use serde_json::Value;

use crate::checkpoint::{Extraction, Reading, Rung, Unreadable};
use crate::conversation::render::Material;
use crate::conversation::view::Entry;
use crate::message::Part;
use crate::strategy::Context;

/// Messages as `ROLE: content`: calls and their arguments are no content, and a tag in a text may close the prompt's.
pub(super) fn messages<'e>(cx: &Context<'_>, entries: impl Iterator<Item = &'e Entry>) -> Material {
    let content = |entry: &Entry| {
        let texts = entry.parts().filter_map(|(part, _)| match part {
            Part::Text { text } | Part::ToolResult { text, .. } => Some(text.as_str()),
            Part::Thinking { .. } | Part::ToolCall { .. } | Part::Media { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let blocks = entries.map(|entry| format!("{}: {}", entry.role().name().to_uppercase(), content(entry)));
    let text = blocks.collect::<Vec<_>>().join("\n\n");
    Material { tokens_at_most: cx.counter.count_text(&text), text, cut: Vec::new() }
}

/// An object in a `json` fence. The branch for an unfenced one reads group 1 of a pattern that has none, and raises.
pub(super) fn extracted(answer: &str) -> (Option<String>, Extraction) {
    let fenced = answer.split_once("```json").and_then(|(_, rest)| rest.split_once("```"));
    let reading = match fenced.map(|(object, _)| serde_json::from_str::<Value>(object.trim())) {
        Some(Ok(object @ Value::Object(_))) => return (Some(object.to_string()), of(Reading::Rung(Rung::Fenced))),
        Some(_) => Unreadable::Malformed,
        None => Unreadable::NoObject,
    };
    (None, of(Reading::Unreadable(reading)))
}

fn of(reading: Reading) -> Extraction {
    Extraction { reading, leaked: 0, left_out: 0 }
}
