//! Parts of content in the form of Google's API, which Gemini CLI and qwen-code keep.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::report::Recorder;
use crate::import::session::reported;

/// The parts of one content.
#[derive(Default)]
pub(in crate::import) struct GoogleParts {
    /// What the speaker said: texts, thoughts, calls and media.
    pub(in crate::import) said: Vec<Part>,
    /// Results of tools, each followed by its media.
    pub(in crate::import) results: Vec<Part>,
}

/// The parts of a content: a text, a part, or an array of either. Media after a result belongs to
/// it.
pub(in crate::import) fn read(
    content: &Value,
    role: Role,
    place: Place,
    recorder: &mut Recorder,
) -> Result<GoogleParts, ImportError> {
    let mut parts = GoogleParts::default();
    for block in blocks(content) {
        if let Some(result) = result(block) {
            parts.results.extend(result);
            continue;
        }
        match content_part(block, role) {
            Some(part @ Part::Media { .. }) if !parts.results.is_empty() => {
                parts.results.push(part)
            }
            Some(part) => parts.said.push(part),
            None => {
                let what = format!(
                    "part of type `{}` in a message of role `{}`: dropped",
                    kind(block),
                    role.name()
                );
                recorder.repair(place, what)?;
            }
        }
    }
    Ok(parts)
}

/// The blocks of a content.
pub(in crate::import) fn blocks(content: &Value) -> &[Value] {
    match content {
        Value::Array(blocks) => blocks,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

/// The texts of what was said, without thoughts and calls.
pub(in crate::import) fn texts(said: &[Part]) -> String {
    let text = |part: &Part| {
        if let Part::Text { text } = part {
            Some(text.clone())
        } else {
            None
        }
    };
    said.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// The key that says what a part is.
fn kind(block: &Value) -> &str {
    block
        .as_object()
        .and_then(|keys| keys.keys().next())
        .map_or("untyped", String::as_str)
}

fn content_part(block: &Value, role: Role) -> Option<Part> {
    if let Some(text) = block.as_str().or(block["text"].as_str()) {
        return Some(text_part(block, role, text.to_owned()));
    }
    let (call, data, link) = (
        &block["functionCall"],
        &block["inlineData"],
        &block["fileData"],
    );
    let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
    match () {
        () if call.is_object() && role == Role::Assistant => Some(Part::ToolCall {
            id: text("id"),
            name: text("name"),
            arguments: call["args"].to_string(),
        }),
        () if data.is_object() => Some(media(&data["mimeType"], &data["data"], true)),
        () if link.is_object() => Some(media(&link["mimeType"], &link["fileUri"], false)),
        () => None,
    }
}

fn text_part(block: &Value, role: Role, text: String) -> Part {
    let signature = block["thoughtSignature"].as_str().map(str::to_owned);
    if role == Role::Assistant && block["thought"] == true {
        Part::Thinking { text, signature }
    } else {
        Part::Text { text }
    }
}

/// A result and the media that newer versions put into it.
fn result(block: &Value) -> Option<Vec<Part>> {
    let answer = Some(&block["functionResponse"]).filter(|answer| answer.is_object())?;
    let response = &answer["response"];
    let texts = [&response["output"], &response["error"]];
    let text = texts
        .iter()
        .find_map(|text| text.as_str())
        .map_or_else(|| response.to_string(), str::to_owned);
    let call_id = answer["id"].as_str().unwrap_or_default().to_owned();
    let is_error = !response["error"].is_null();
    let inner = blocks(&answer["parts"])
        .iter()
        .filter_map(|part| content_part(part, Role::Tool));
    let media = inner.filter(|part| matches!(part, Part::Media { .. }));
    Some(
        std::iter::once(Part::ToolResult {
            call_id,
            text,
            is_error,
        })
        .chain(media)
        .collect(),
    )
}

/// Counts as the API reports them.
pub(in crate::import) struct GoogleUsage {
    /// Of the request, with what came from a cache.
    pub(in crate::import) input: u64,
    pub(in crate::import) cached: u64,
    pub(in crate::import) output: u64,
    pub(in crate::import) thoughts: u64,
    /// Of results of the provider's own tools, which are not part of the input.
    pub(in crate::import) tool: u64,
    pub(in crate::import) total: u64,
}

/// The usage that the provider reported. Google counts thoughts beside the output and other
/// providers count them in it; the total shows which.
pub(in crate::import) fn usage(counts: &GoogleUsage) -> Option<Usage> {
    let GoogleUsage {
        input,
        cached,
        output,
        thoughts,
        tool,
        total,
    } = *counts;
    let beside = input.saturating_add(output).saturating_add(thoughts) <= total;
    let output = output.saturating_add(if beside { thoughts } else { 0 });
    let input = input.saturating_sub(cached).saturating_add(tool);
    reported(Usage {
        input,
        cache_read: cached,
        cache_write: 0,
        output,
    })
}

/// The usage in the form of the API's `usageMetadata`.
pub(in crate::import) fn usage_metadata(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    usage(&GoogleUsage {
        input: count("promptTokenCount"),
        cached: count("cachedContentTokenCount"),
        output: count("candidatesTokenCount"),
        thoughts: count("thoughtsTokenCount"),
        tool: count("toolUsePromptTokenCount"),
        total: count("totalTokenCount"),
    })
}
