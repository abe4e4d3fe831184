//! Reads a chat completion's body into a request of ours. What is wrong names its place, as OpenAI's errors do.
//!
//! Parameters that a model of ours has no use for (`top_p`, `tool_choice`, `user` and the like) are accepted and ignored.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatRequest, ToolDefinition, WireMessage};
use hyper::StatusCode;
use serde_json::{Value, json};

use super::trouble::Trouble;

/// A chat completion that is asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    /// By which model.
    pub(super) model: String,
    /// What the model sees.
    pub(super) request: ChatRequest,
    /// Whether the reply comes as events.
    pub(super) stream: bool,
    /// Whether the usage comes as an event.
    pub(super) with_usage: bool,
    /// Texts at which the reply ends.
    pub(super) stop: Vec<String>,
}

/// Reads a body.
///
/// # Errors
/// [`Trouble`] with the place of the first thing that cannot be used.
pub(super) fn read(body: &[u8]) -> Result<Asked, Trouble> {
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| Trouble::of(StatusCode::BAD_REQUEST, format!("the body is no JSON: {error}")))?;
    if !body.is_object() {
        return Err(Trouble::of(StatusCode::BAD_REQUEST, "the body is no JSON object"));
    }
    let model = required(&body, "model", "model")?.to_owned();
    if present(&body, "n").is_some_and(|n| n.as_u64() != Some(1)) {
        return Err(Trouble::invalid("n", "one choice is given at a time; `n` must be 1"));
    }
    let most = match present(&body, "max_completion_tokens") {
        Some(_) => count(&body, "max_completion_tokens")?,
        None => count(&body, "max_tokens")?,
    };
    let request = ChatRequest {
        messages: messages(&body)?,
        tools: tools(&body)?,
        max_output_tokens: most,
        temperature: temperature(&body)?,
        schema: schema(&body)?,
        seed: seed(&body)?,
    };
    let options = present(&body, "stream_options");
    Ok(Asked {
        model,
        request,
        stream: flag(&body, "stream", "stream")?,
        with_usage: options
            .map_or(Ok(false), |options| flag(options, "include_usage", "stream_options.include_usage"))?,
        stop: stop(&body)?,
    })
}

/// A key's value, where it is there and not null.
fn present<'v>(object: &'v Value, key: &str) -> Option<&'v Value> {
    object.get(key).filter(|value| !value.is_null())
}

fn required<'v>(object: &'v Value, key: &str, place: &str) -> Result<&'v str, Trouble> {
    let value = present(object, key).ok_or_else(|| Trouble::invalid(place, format!("`{place}` is missing")))?;
    value.as_str().ok_or_else(|| Trouble::invalid(place, format!("`{place}` must be a string")))
}

fn flag(object: &Value, key: &str, place: &str) -> Result<bool, Trouble> {
    let value = present(object, key).map(Value::as_bool);
    value.unwrap_or(Some(false)).ok_or_else(|| Trouble::invalid(place, format!("`{place}` must be true or false")))
}

fn count(body: &Value, key: &str) -> Result<Option<u32>, Trouble> {
    let Some(value) = present(body, key) else { return Ok(None) };
    let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    count
        .map(Some)
        .ok_or_else(|| Trouble::invalid(key, format!("`{key}` is `{value}`; it must be a whole number from 1")))
}

fn temperature(body: &Value) -> Result<Option<f32>, Trouble> {
    let Some(value) = present(body, "temperature") else { return Ok(None) };
    let number = value.as_f64().filter(|number| (0.0..=2.0).contains(number));
    let trouble =
        || Trouble::invalid("temperature", format!("`temperature` is `{value}`; it must be a number from 0 to 2"));
    number.map(|number| Some(number as f32)).ok_or_else(trouble)
}

/// Clients' seeds have a sign; ours have none.
fn seed(body: &Value) -> Result<u64, Trouble> {
    let Some(value) = present(body, "seed") else { return Ok(0) };
    let seed = value.as_u64().or(value.as_i64().map(i64::cast_unsigned));
    seed.ok_or_else(|| Trouble::invalid("seed", format!("`seed` is `{value}`; it must be a whole number")))
}

fn stop(body: &Value) -> Result<Vec<String>, Trouble> {
    /// As many as OpenAI takes.
    const MOST: usize = 4;
    let trouble = || Trouble::invalid("stop", format!("`stop` must be a string or a list of at most {MOST} strings"));
    match present(body, "stop") {
        None => Ok(Vec::new()),
        Some(Value::String(stop)) => Ok(vec![stop.clone()]),
        Some(Value::Array(stops)) if stops.len() <= MOST => {
            stops.iter().map(|stop| stop.as_str().map(str::to_owned).ok_or_else(trouble)).collect()
        }
        Some(_) => Err(trouble()),
    }
    .map(|stops| stops.into_iter().filter(|stop| !stop.is_empty()).collect())
}

fn schema(body: &Value) -> Result<Option<Value>, Trouble> {
    let Some(format) = present(body, "response_format") else { return Ok(None) };
    match required(format, "type", "response_format.type")? {
        "text" => Ok(None),
        "json_object" => Ok(Some(json!({"type": "object"}))),
        "json_schema" => {
            let schema =
                format.get("json_schema").and_then(|named| named.get("schema")).filter(|schema| schema.is_object());
            let place = "response_format.json_schema.schema";
            schema.cloned().map(Some).ok_or_else(|| Trouble::invalid(place, format!("`{place}` must be an object")))
        }
        other => Err(Trouble::invalid(
            "response_format.type",
            format!("`{other}` is no format; choose `text`, `json_object` or `json_schema`"),
        )),
    }
}

fn tools(body: &Value) -> Result<Vec<ToolDefinition>, Trouble> {
    let Some(tools) = present(body, "tools") else { return Ok(Vec::new()) };
    let tools = tools.as_array().ok_or_else(|| Trouble::invalid("tools", "`tools` must be a list"))?;
    let tool = |(at, tool): (usize, &Value)| {
        let place = format!("tools[{at}].function");
        let function = tool.get("function").ok_or_else(|| Trouble::invalid(&place, format!("`{place}` is missing")))?;
        Ok(ToolDefinition {
            name: required(function, "name", &format!("{place}.name"))?.to_owned(),
            description: function.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            parameters: present(function, "parameters").cloned().unwrap_or_else(|| json!({})),
        })
    };
    tools.iter().enumerate().map(tool).collect()
}

fn messages(body: &Value) -> Result<Vec<WireMessage>, Trouble> {
    let messages = present(body, "messages").ok_or_else(|| Trouble::invalid("messages", "`messages` is missing"))?;
    let messages = messages.as_array().ok_or_else(|| Trouble::invalid("messages", "`messages` must be a list"))?;
    if messages.is_empty() {
        return Err(Trouble::invalid("messages", "`messages` is empty; at least one message is needed"));
    }
    messages.iter().enumerate().map(|(at, value)| message(value, &format!("messages[{at}]"))).collect()
}

fn message(value: &Value, place: &str) -> Result<WireMessage, Trouble> {
    let role_place = format!("{place}.role");
    let role = match required(value, "role", &role_place)? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        other => {
            let message = format!("`{other}` is no role; choose `system`, `developer`, `user`, `assistant` or `tool`");
            return Err(Trouble::invalid(&role_place, message));
        }
    };
    let mut parts = content(value.get("content").unwrap_or(&Value::Null), &format!("{place}.content"))?;
    if role == Role::Tool {
        let call_id = required(value, "tool_call_id", &format!("{place}.tool_call_id"))?.to_owned();
        parts = vec![Part::ToolResult { call_id, text: joined(parts), is_error: false }];
    }
    if let Some(calls) = present(value, "tool_calls").filter(|_| role == Role::Assistant) {
        parts.extend(tool_calls(calls, &format!("{place}.tool_calls"))?);
    }
    if parts.is_empty() && role != Role::Assistant {
        let place = format!("{place}.content");
        return Err(Trouble::invalid(&place, format!("`{place}` is missing")));
    }
    Ok(WireMessage { role, parts: parts.into() })
}

fn joined(parts: Vec<Part>) -> String {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text { text } => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn content(content: &Value, place: &str) -> Result<Vec<Part>, Trouble> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Part::Text { text: text.clone() }]),
        Value::Array(parts) => {
            parts.iter().enumerate().map(|(at, value)| part(value, &format!("{place}[{at}]"))).collect()
        }
        _ => Err(Trouble::invalid(place, format!("`{place}` must be a string or a list of parts"))),
    }
}

fn part(value: &Value, place: &str) -> Result<Part, Trouble> {
    let kind_place = format!("{place}.type");
    let kind = required(value, "type", &kind_place)?;
    let media = |media_type: &str| {
        // The bytes stay outside, as everywhere; nobody here looks at them.
        let digest = blake3::hash(value.to_string().as_bytes()).to_hex()[..32].to_owned();
        Part::Media { media_type: media_type.to_owned(), digest, tokens: MEDIA_TOKENS }
    };
    match kind {
        "text" => Ok(Part::Text { text: required(value, "text", &format!("{place}.text"))?.to_owned() }),
        "refusal" => Ok(Part::Text { text: required(value, "refusal", &format!("{place}.refusal"))?.to_owned() }),
        "image_url" => Ok(media("image/*")),
        "input_audio" => Ok(media("audio/*")),
        "file" => Ok(media("application/octet-stream")),
        other => {
            Err(Trouble::invalid(&kind_place, format!("`{other}` is no kind of part; choose `text` or `image_url`")))
        }
    }
}

/// Tokens of an image, sound or file, whatever its size: assumed, OpenAI's count of an image of one tile.
const MEDIA_TOKENS: u32 = 255;

fn tool_calls(calls: &Value, place: &str) -> Result<Vec<Part>, Trouble> {
    let calls = calls.as_array().ok_or_else(|| Trouble::invalid(place, format!("`{place}` must be a list")))?;
    let call = |(at, call): (usize, &Value)| {
        let place = format!("{place}[{at}]");
        let function = call.get("function").unwrap_or(&Value::Null);
        Ok(Part::ToolCall {
            id: required(call, "id", &format!("{place}.id"))?.to_owned(),
            name: required(function, "name", &format!("{place}.function.name"))?.to_owned(),
            arguments: required(function, "arguments", &format!("{place}.function.arguments"))?.to_owned(),
        })
    };
    calls.iter().enumerate().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_finds_its_place() {
        let body = json!({
            "model": "m", "seed": -1, "temperature": 0.5, "max_tokens": 9, "max_completion_tokens": 7, "stop": "END",
            "stream": true, "stream_options": {"include_usage": true}, "top_p": 0.1,
            "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
            "tools": [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "done"},
            ],
        });
        insta::assert_debug_snapshot!(read(body.to_string().as_bytes()));
    }
}
