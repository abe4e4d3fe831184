//! Messages in OpenAI's chat format.

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::report::Recorder;
use crate::import::session::{Spoken, type_name};

/// One message; nothing where its role is unknown, which is reported.
pub(in crate::import) fn spoken(
    place: Place,
    turn: &Value,
    recorder: &mut Recorder,
) -> Result<Option<Spoken>, ImportError> {
    let role = match turn["role"].as_str() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        other => {
            let what = format!(
                "role `{}` is not system, user, assistant or tool: dropped",
                other.unwrap_or(type_name(&turn["role"]))
            );
            recorder.repair(place, what)?;
            return Ok(None);
        }
    };
    let mut parts = Vec::new();
    if role == Role::Tool {
        let call_id = turn["tool_call_id"].as_str().unwrap_or_default().to_owned();
        parts.push(Part::ToolResult {
            call_id,
            text: text(&turn["content"]),
            is_error: false,
        });
    } else {
        parts.push(Part::Text {
            text: text(&turn["content"]),
        });
        parts.extend(images(&turn["content"]));
    }
    if role == Role::Assistant {
        parts.extend(
            turn["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(call),
        );
    }
    Ok(Some(Spoken {
        place,
        role,
        at_ms: None,
        parts,
        usage: None,
    }))
}

/// The text of a content: a string, or the joined text of its blocks. Null is empty.
pub(in crate::import) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// The images among the blocks of a content.
pub(in crate::import) fn images(content: &Value) -> impl Iterator<Item = Part> {
    let blocks = content
        .as_array()
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == "image_url");
    blocks.map(|block| media(&Value::Null, &block["image_url"]["url"], false))
}

fn call(call: &Value) -> Part {
    let function = &call["function"];
    Part::ToolCall {
        id: call["id"].as_str().unwrap_or_default().to_owned(),
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments: function["arguments"]
            .as_str()
            .map_or_else(|| function["arguments"].to_string(), str::to_owned),
    }
}
