//! Anthropic's messages on the wire.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::openai::plain;

/// The tool that a reply of a given shape is asked for through: every version of the interface has it.
const REPLY_TOOL: &str = "reply";
/// The interface wants a limit. Where the request has none, the most that every model takes.
const MOST_OUTPUT: u32 = 4_096;

/// The request's body. The interface has no seed.
pub(super) fn body(request: &ChatRequest, model: &str) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("max_tokens".into(), json!(request.max_output_tokens.unwrap_or(MOST_OUTPUT)));
    let system = request.messages.iter().filter(|message| message.role == Role::System);
    let system = system.flat_map(|message| &message.parts).filter_map(block).collect::<Vec<_>>();
    if !system.is_empty() {
        body.insert("system".into(), Value::Array(system));
    }
    body.insert("messages".into(), Value::Array(turns(&request.messages)));
    let mut tools = request.tools.iter().map(tool).collect::<Vec<_>>();
    if let Some(schema) = &request.schema {
        tools.push(json!({"name": REPLY_TOOL, "description": "Gives the reply.", "input_schema": schema}));
        body.insert("tool_choice".into(), json!({"type": "tool", "name": REPLY_TOOL}));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools));
    }
    if let Some(temperature) = request.temperature {
        // The interface ends at 1.
        body.insert("temperature".into(), plain(temperature.min(1.0)));
    }
    body.insert("stream".into(), json!(true));
    Value::Object(body)
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}

/// Messages in turns: results of tools are the user's, and neighbours of one role are one turn.
fn turns(messages: &[WireMessage]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages.iter().filter(|message| message.role != Role::System) {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = message.parts.iter().filter_map(block);
        match turns.last_mut().filter(|(last, _)| *last == role) {
            Some((_, last)) => last.extend(blocks),
            None => turns.push((role, blocks.collect())),
        }
    }
    let full = turns.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    full.map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
}

/// A part as a block; what the interface refuses (blank text, thinking without a signature) is left out.
fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } => (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text})),
        Part::Thinking { text, signature } => {
            signature.as_ref().map(|signature| json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        Part::ToolCall { id, name, arguments } => {
            let input = serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object);
            let input = input.unwrap_or_else(|| json!({"arguments": arguments}));
            Some(json!({"type": "tool_use", "id": safe_id(id), "name": name, "input": input}))
        }
        Part::ToolResult { call_id, text, is_error } => {
            let content = if text.trim().is_empty() { json!([]) } else { json!(text) };
            let id = safe_id(call_id);
            Some(json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}))
        }
        Part::Media { media_type, .. } => Some(json!({"type": "text", "text": format!("[{media_type}]")})),
    }
}

/// Ids here are letters, digits, `_` and `-`; other characters become their code, so that two ids stay two.
fn safe_id(id: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    id.chars()
        .map(|letter| if safe(letter) { letter.to_string() } else { format!("_{:x}_", u32::from(letter)) })
        .collect()
}

/// Adds what an event, or the whole answer where it is not streamed, says.
pub(super) fn take(answer: &mut Answer, event: &Value) {
    match event.get("type").and_then(Value::as_str) {
        Some("message") => whole(answer, event),
        Some("message_start") => whole(answer, &event["message"]),
        Some("content_block_start") => answer.writes_reply = event["content_block"]["name"] == REPLY_TOOL,
        Some("content_block_delta") => delta(answer, &event["delta"]),
        Some("message_delta") => {
            add_usage(answer, &event["usage"]);
            answer.finish = finish(&event["delta"]).or(answer.finish);
        }
        Some("message_stop") => answer.ended = true,
        _ => {}
    }
}

fn whole(answer: &mut Answer, message: &Value) {
    answer.model = message.get("model").and_then(Value::as_str).map(str::to_owned);
    add_usage(answer, &message["usage"]);
    for block in message["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => answer.text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") if block["name"] == REPLY_TOOL => answer.text.push_str(&block["input"].to_string()),
            _ => {}
        }
    }
    answer.finish = finish(message).or(answer.finish);
}

fn delta(answer: &mut Answer, delta: &Value) {
    answer.began = true;
    let said = delta.get("text").or_else(|| delta.get("partial_json").filter(|_| answer.writes_reply));
    answer.text.push_str(said.and_then(Value::as_str).unwrap_or_default());
}

/// The first event holds the input, the last one the output; later numbers replace earlier ones.
fn add_usage(answer: &mut Answer, usage: &Value) {
    let Some(usage) = usage.as_object() else { return };
    let kept = answer.usage.get_or_insert_with(|| json!({}));
    if let Some(kept) = kept.as_object_mut() {
        kept.extend(
            usage.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())),
        );
    }
}

fn finish(from: &Value) -> Option<Finish> {
    match from.get("stop_reason")?.as_str()? {
        "max_tokens" | "model_context_window_exceeded" => Some(Finish::Length),
        "refusal" => Some(Finish::ContentFilter),
        _ => Some(Finish::Stop),
    }
}

/// The usage; the interface counts each token once, and does not tell reasoning apart.
pub(super) fn usage(raw: &Value) -> Option<(Usage, Option<u64>)> {
    let number = |key: &str| raw.get(key).and_then(Value::as_u64);
    let usage = Usage {
        input: number("input_tokens")?,
        cache_read: number("cache_read_input_tokens").unwrap_or_default(),
        cache_write: number("cache_creation_input_tokens").unwrap_or_default(),
        output: number("output_tokens")?,
    };
    Some((usage, None))
}
