//! OpenAI, and chat completions on the wire.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use super::answer_so_far::AnswerSoFar;
use super::portable::{arguments_text, between_users, call_id, given, some, text, tool_name};
use super::{ModelLookup, Provider, ReportedUsage, Service};

/// OpenAI's own service.
pub static OPENAI: Provider = Provider {
    name: "openai",
    about: "OpenAI's chat completions; key in OPENAI_API_KEY",
    form: "MODEL",
    service: Some(Service {
        address: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
    }),
    takes_address: false,
    path: "chat/completions",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    // Reasoning models take only this name.
    write_body: |request, model| body(request, model, "max_completion_tokens"),
    read,
    usage,
    lookup: ModelLookup::ByName,
    compaction: None,
};

/// The request's body. A stream is asked for, since only a stream shows when the first token came.
pub(super) fn body(request: &ChatRequest, model: &str, limit: &str) -> Value {
    let format = |schema| json!({"name": "reply", "schema": schema, "strict": is_strict(schema)});
    given(json!({
        "model": model,
        "messages": chat(&request.messages),
        "tools": some(request.tools.iter().map(tool).collect()),
        (limit): request.max_output_tokens,
        "temperature": request.temperature.map(plain),
        "response_format": request.schema.as_ref().map(|schema| json!({"type": "json_schema", "json_schema": format(schema)})),
        "seed": seed(request.seed),
        "stream": true,
        "stream_options": {"include_usage": true},
    }))
}

/// The number as it was written: 0.3, not 0.30000001192092896.
pub(super) fn plain(number: f32) -> Value {
    number
        .to_string()
        .parse::<f64>()
        .map_or(Value::Null, |number| json!(number))
}

/// Servers keep seeds in 32 bits or fewer, some take the largest for "none"; the upper bits are
/// folded in.
fn seed(seed: u64) -> u64 {
    (seed ^ (seed >> 32)) & 0x7fff_ffff
}

fn tool(tool: &ToolDefinition) -> Value {
    let (name, description) = (tool_name(&tool.name), &tool.description);
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": tool.parameters}})
}

/// All messages. The first after the system prompt is the user's, and the last is not the
/// assistant's.
fn chat(request: &[WireMessage]) -> Vec<Value> {
    let chat = request.iter().flat_map(messages).collect();
    between_users(chat, |message| message["role"] == "assistant")
}

/// One message, or one for each tool result; a message without text or calls gives none. This
/// format has no thinking.
fn messages(message: &WireMessage) -> Vec<Value> {
    let content = text(message);
    match message.role {
        Role::System | Role::User => {
            let said = |content| json!({"role": message.role.name(), "content": content});
            content.map(said).into_iter().collect()
        }
        Role::Assistant => assistant(message, content).into_iter().collect(),
        Role::Tool => message.parts.iter().filter_map(tool_result).collect(),
    }
}

fn assistant(message: &WireMessage, content: Option<String>) -> Option<Value> {
    let calls = message.parts.iter().filter_map(call).collect::<Vec<_>>();
    if calls.is_empty() {
        return content.map(|content| json!({"role": "assistant", "content": content}));
    }
    Some(json!({"role": "assistant", "content": content, "tool_calls": calls}))
}

fn call(part: &Part) -> Option<Value> {
    let Part::ToolCall {
        id,
        name,
        arguments: written,
    } = part
    else {
        return None;
    };
    let function = json!({"name": tool_name(name), "arguments": arguments_text(written)});
    Some(json!({"id": call_id(id), "type": "function", "function": function}))
}

fn tool_result(part: &Part) -> Option<Value> {
    let Part::ToolResult {
        call_id: id, text, ..
    } = part
    else {
        return None;
    };
    Some(json!({"role": "tool", "tool_call_id": call_id(id), "content": text}))
}

/// Whether a schema keeps to the rules under which providers promise to obey it: every object
/// closed, every key required.
pub(super) fn is_strict(schema: &Value) -> bool {
    let closed = match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let required = schema.get("required").and_then(Value::as_array);
            let is_required =
                |key: &String| required.is_some_and(|keys| keys.iter().any(|name| name == key));
            schema.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.keys().all(is_required)
        }
        None => schema.get("type").is_none_or(|kind| kind != "object"),
    };
    let parts: Vec<&Value> = match schema {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    };
    closed && parts.into_iter().all(is_strict)
}

/// Adds what an event, or the whole answer where the server does not stream, says.
pub(super) fn read(answer: &mut AnswerSoFar, event: &Value) {
    if let Some(model) = event
        .get("model")
        .and_then(Value::as_str)
        .filter(|model| !model.is_empty())
    {
        answer.model = Some(model.to_owned());
    }
    if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
        answer.usage = Some(usage.clone());
    }
    // One answer is asked for.
    let Some(choice) = event.get("choices").and_then(|choices| choices.get(0)) else {
        return;
    };
    let message = choice
        .get("delta")
        .or_else(|| choice.get("message"))
        .unwrap_or(&Value::Null);
    for name in ["content", "refusal"] {
        answer.text.push_str(
            message
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default(),
        );
    }
    answer.began |= [
        "content",
        "refusal",
        "reasoning_content",
        "reasoning",
        "tool_calls",
    ]
    .iter()
    .any(|name| {
        message
            .get(name)
            .is_some_and(|value| !value.is_null() && value != "")
    });
    answer.finish = match choice.get("finish_reason").and_then(Value::as_str) {
        None => answer.finish,
        Some("length") => Some(Finish::Length),
        Some("content_filter") => Some(Finish::ContentFilter),
        Some(_) => Some(Finish::Stop),
    };
}

/// The usage, each token once, and how many of the output's tokens are reasoning.
pub(super) fn usage(raw: &Value) -> Option<ReportedUsage> {
    let number = |path: &str| raw.pointer(path).and_then(Value::as_u64);
    let (prompt, output) = (number("/prompt_tokens")?, number("/completion_tokens")?);
    let cache_read = number("/prompt_tokens_details/cached_tokens")
        .unwrap_or_default()
        .min(prompt);
    let reasoning = number("/completion_tokens_details/reasoning_tokens");
    Some(ReportedUsage {
        tokens: Usage {
            input: prompt - cache_read,
            cache_read,
            cache_write: 0,
            output,
        },
        reasoning,
    })
}
