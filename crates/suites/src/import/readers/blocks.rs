//! Blocks of content in the form of Anthropic's messages, which Claude Code keeps too.
//!
//! An image or document counts as 1,600 tokens, which is what a provider's rule gives for a large
//! image. Its digest is that of the decoded bytes, or of the link if the file has no bytes.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::readers::base64;
use crate::import::report::Recorder;
use crate::import::session::reported;

/// Tokens of an image or document.
const MEDIA_TOKENS: u32 = 1_600;

/// Reads blocks of one file.
pub(in crate::import) struct BlockReader<'r> {
    pub(in crate::import) recorder: &'r mut Recorder,
}

impl BlockReader<'_> {
    pub(in crate::import) fn part(
        &mut self,
        place: Place,
        role: Role,
        block: &Value,
    ) -> Result<Option<Part>, ImportError> {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let part = match (block["type"].as_str().unwrap_or("untyped"), role) {
            ("text", _) => Part::Text { text: text("text") },
            ("thinking", Role::Assistant) => Part::Thinking {
                text: text("thinking"),
                signature: block["signature"].as_str().map(str::to_owned),
            },
            ("tool_use", Role::Assistant) => Part::ToolCall {
                id: text("id"),
                name: text("name"),
                arguments: block["input"].to_string(),
            },
            ("image" | "document", _) => of_source(block),
            ("redacted_thinking", _) => {
                self.recorder.ignore("redacted thinking");
                return Ok(None);
            }
            (kind, _) => {
                self.recorder.repair(place, misplaced(kind, role))?;
                return Ok(None);
            }
        };
        Ok(Some(part))
    }

    pub(in crate::import) fn result(&mut self, block: &Value, out: &mut Vec<Part>) {
        let mut contents = Vec::new();
        for inner in blocks(&block["content"]) {
            match inner["type"].as_str().unwrap_or("untyped") {
                "text" => contents.push(Part::Text {
                    text: inner["text"].as_str().unwrap_or_default().to_owned(),
                }),
                "image" | "document" => contents.push(of_source(&inner)),
                kind => self.recorder.ignore(&format!("{kind} in a tool result")),
            }
        }
        let is_error = block["is_error"].as_bool().unwrap_or(false);
        out.extend(tool_result(&block["tool_use_id"], contents, is_error));
    }
}

/// What a report says of a block that its speaker cannot have said.
pub(in crate::import) fn misplaced(kind: &str, role: Role) -> String {
    let role = role.name();
    format!("block of type `{kind}` in a message of role `{role}`: dropped")
}

/// The result of a call: the texts of its contents joined, followed by its media.
pub(in crate::import) fn tool_result(
    call_id: &Value,
    contents: Vec<Part>,
    is_error: bool,
) -> Vec<Part> {
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for part in contents {
        match part {
            Part::Text { text } => texts.push(text),
            other => parts.push(other),
        }
    }
    let call_id = call_id.as_str().unwrap_or_default().to_owned();
    parts.insert(
        0,
        Part::ToolResult {
            call_id,
            text: texts.join("\n"),
            is_error,
        },
    );
    parts
}

/// The blocks of a message's content. A string is one block of text.
pub(in crate::import) fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        _ => Vec::new(),
    }
}

fn of_source(block: &Value) -> Part {
    let source = &block["source"];
    let data = ["data", "url", "file_id"]
        .iter()
        .map(|key| &source[*key])
        .find(|data| data.is_string());
    let kind = if source["media_type"].is_string() {
        &source["media_type"]
    } else {
        &block["type"]
    };
    media(
        kind,
        data.unwrap_or(&Value::Null),
        source["type"] == "base64",
    )
}

/// An image, sound or document: its type, and its bytes in base64 or the link to it. A link with
/// the bytes in it has both.
pub(in crate::import) fn media(media_type: &Value, data: &Value, is_encoded: bool) -> Part {
    let data = data.as_str().unwrap_or_default();
    let (head, encoded) = data.split_once(";base64,").unwrap_or(("", data));
    let bytes = if is_encoded || !head.is_empty() {
        base64::decode(encoded)
    } else {
        None
    };
    Part::Media {
        media_type: media_type
            .as_str()
            .or(head.strip_prefix("data:"))
            .unwrap_or("image")
            .to_owned(),
        digest: blake3::hash(bytes.as_deref().unwrap_or(data.as_bytes()))
            .to_hex()
            .to_string(),
        tokens: MEDIA_TOKENS,
    }
}

/// The usage that the provider reported.
pub(in crate::import) fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    reported(Usage {
        input: count("input_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        output: count("output_tokens"),
    })
}
