//! Anthropic's messages.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{
    ChatRequest, Finish, ServerCompaction, ToolDefinition, WireMessage,
};
use serde_json::{Value, json};

use super::answer_so_far::AnswerSoFar;
use super::openai::plain;
use super::portable::{CONTINUE, arguments, call_id, given, is_blank, some, tool_name};
use super::{ModelLookup, OwnCompaction, Provider, ReportedUsage, Service};

/// A reply of a given shape is the input of this tool: every version of the interface has tools. A
/// transcript hardly has a tool of this name, and two tools of one name are refused.
const REPLY_TOOL: &str = "give_reply_in_schema";
/// The interface wants a limit. Where the request has none, the most that every model takes.
const MOST_OUTPUT: u32 = 4_096;
/// The service compacts no shorter chat.
const LEAST_COMPACTED: u32 = 50_000;

/// Anthropic's own service, or another server that speaks its format.
pub static ANTHROPIC: Provider = Provider {
    name: "anthropic",
    about: "Anthropic's messages; key in ANTHROPIC_API_KEY, for another URL in COMPACTOMETER_API_KEY if it needs one",
    form: "MODEL[@URL]",
    service: Some(Service {
        address: "https://api.anthropic.com/v1",
        key_variable: "ANTHROPIC_API_KEY",
    }),
    takes_address: true,
    path: "messages",
    headers: &[("anthropic-version", "2023-06-01")],
    key_header: ("x-api-key", ""),
    write_body: body,
    read,
    usage,
    lookup: ModelLookup::ByName,
    compaction: Some(OwnCompaction {
        header: Some(("anthropic-beta", "compact-2026-01-12")),
        beside: "",
        from_tokens: LEAST_COMPACTED,
        is_sealed: false,
    }),
};

/// The request's body. The interface has no seed.
fn body(request: &ChatRequest, model: &str) -> Value {
    let system = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System);
    let system = system
        .flat_map(|message| &message.parts)
        .filter_map(block)
        .collect();
    let (tools, choice) = tools(request);
    given(json!({
        "model": model,
        "max_tokens": request.max_output_tokens.unwrap_or(MOST_OUTPUT),
        "system": some(system),
        "messages": turns(&request.messages),
        "tools": some(tools),
        "tool_choice": choice,
        // The interface ends at 1.
        "temperature": request.temperature.map(|temperature| plain(temperature.min(1.0))),
        "context_management": request.compaction.as_ref().map(compaction),
        "stream": true,
    }))
}

/// A compaction of all that is said, after which nothing is answered.
fn compaction(asked: &ServerCompaction) -> Value {
    let mut edit = json!({
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": LEAST_COMPACTED},
        "pause_after_compaction": true,
    });
    if let Some(instructions) = &asked.instructions {
        edit["instructions"] = instructions.as_str().into();
    }
    json!({"edits": [edit]})
}

/// The defined tools, and which of them may be called. The interface refuses calls of undefined
/// tools, so in a request without definitions each called tool gets one, and the model may not call
/// these.
fn tools(request: &ChatRequest) -> (Vec<Value>, Option<Value>) {
    let mut tools = request.tools.iter().map(tool).collect::<Vec<_>>();
    let mut choice = None;
    if tools.is_empty() {
        tools = called_tools(&request.messages);
        choice = (!tools.is_empty()).then(|| json!({"type": "none"}));
    }
    if let Some(schema) = &request.schema {
        tools.push(
            json!({"name": REPLY_TOOL, "description": "Gives the reply.", "input_schema": schema}),
        );
        choice = Some(json!({"type": "tool", "name": REPLY_TOOL}));
    }
    (tools, choice)
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({"name": tool_name(&tool.name), "description": tool.description, "input_schema": tool.parameters})
}

/// A definition of each tool that the messages call, in the order of first calls.
fn called_tools(messages: &[WireMessage]) -> Vec<Value> {
    let mut names = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if let Part::ToolCall { name, .. } = part
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
    let define =
        |name: &String| json!({"name": tool_name(name), "input_schema": {"type": "object"}});
    names.iter().map(define).collect()
}

/// Messages in turns: tool results are the user's, and neighbours of one role form one turn. The
/// first and the last turn are the user's.
fn turns(messages: &[WireMessage]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages
        .iter()
        .filter(|message| message.role != Role::System)
    {
        let role = if message.role == Role::Assistant {
            "assistant"
        } else {
            "user"
        };
        let blocks = message.parts.iter().filter_map(block).collect::<Vec<_>>();
        match turns.last_mut().filter(|(last, _)| *last == role) {
            Some((_, last)) => last.extend(blocks),
            None if blocks.is_empty() => {}
            None => turns.push((role, blocks)),
        }
    }
    let go_on = || ("user", vec![json!({"type": "text", "text": CONTINUE})]);
    if turns.first().is_none_or(|(role, _)| *role == "assistant") {
        turns.insert(0, go_on());
    }
    if turns.last().is_some_and(|(role, _)| *role == "assistant") {
        turns.push(go_on());
    }
    let turn = |(role, mut blocks): (&str, Vec<Value>)| {
        // Results must come before the user's other blocks.
        blocks.sort_by_key(|block| block["type"] != "tool_result");
        json!({"role": role, "content": blocks})
    };
    turns.into_iter().map(turn).collect()
}

/// A part as a block; what the interface refuses (blank text, thinking without a signature) is left
/// out.
fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } => (!is_blank(text)).then(|| json!({"type": "text", "text": text})),
        Part::Thinking { text, signature } => signature
            .as_ref()
            .map(|signature| json!({"type": "thinking", "thinking": text, "signature": signature})),
        Part::ToolCall {
            id,
            name,
            arguments: written,
        } => {
            let (id, name, input) = (call_id(id), tool_name(name), arguments(written));
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        Part::ToolResult {
            call_id: id,
            text,
            is_error,
        } => Some(result(id, text, *is_error)),
        Part::Media { media_type, .. } => {
            Some(json!({"type": "text", "text": format!("[{media_type}]")}))
        }
        // A client refuses such a request before it is written.
        Part::Sealed { .. } => None,
    }
}

fn result(id: &str, text: &str, is_error: bool) -> Value {
    let content = if is_blank(text) {
        json!([])
    } else {
        json!(text)
    };
    let id = call_id(id);
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
}

/// Adds what an event, or the whole answer where it is not streamed, says.
fn read(answer: &mut AnswerSoFar, event: &Value) {
    match event.get("type").and_then(Value::as_str) {
        Some("message") => whole(answer, event),
        Some("message_start") => whole(answer, &event["message"]),
        Some("content_block_start") => {
            answer.writes_reply = event["content_block"]["name"] == REPLY_TOOL
        }
        Some("content_block_delta") => delta(answer, &event["delta"]),
        Some("message_delta") => {
            add_usage(answer, &event["usage"]);
            answer.finish = finish(&event["delta"]).or(answer.finish);
        }
        Some("message_stop") => answer.ended = true,
        _ => {}
    }
}

fn whole(answer: &mut AnswerSoFar, message: &Value) {
    answer.model = message
        .get("model")
        .and_then(Value::as_str)
        .map(str::to_owned);
    add_usage(answer, &message["usage"]);
    for block in message["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => answer
                .text
                .push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") if block["name"] == REPLY_TOOL => {
                answer.text.push_str(&block["input"].to_string())
            }
            Some("compaction") => compacted(answer, &block["content"]),
            _ => {}
        }
    }
    answer.finish = finish(message).or(answer.finish);
}

/// A compaction that failed has no content.
fn compacted(answer: &mut AnswerSoFar, content: &Value) {
    if let Some(summary) = content.as_str() {
        answer.is_compacted = true;
        answer.text.push_str(summary);
    }
}

fn delta(answer: &mut AnswerSoFar, delta: &Value) {
    answer.began = true;
    if delta["type"] == "compaction_delta" {
        return compacted(answer, &delta["content"]);
    }
    let said = delta
        .get("text")
        .or_else(|| delta.get("partial_json").filter(|_| answer.writes_reply));
    answer
        .text
        .push_str(said.and_then(Value::as_str).unwrap_or_default());
}

/// The first event holds the input, the last one the output; later numbers replace earlier ones.
fn add_usage(answer: &mut AnswerSoFar, usage: &Value) {
    let Some(usage) = usage.as_object() else {
        return;
    };
    let kept = answer.usage.get_or_insert_with(|| json!({}));
    if let Some(kept) = kept.as_object_mut() {
        kept.extend(
            usage
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), value.clone())),
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

/// The usage; the interface counts each token once, and does not tell reasoning apart. What a
/// compaction used is only in the list of its iterations.
fn usage(raw: &Value) -> Option<ReportedUsage> {
    let iterations = raw["iterations"].as_array().map_or(&[][..], Vec::as_slice);
    let mut tokens = Usage::default();
    for one in match iterations {
        [] => std::slice::from_ref(raw),
        iterations => iterations,
    } {
        let number = |key: &str| one.get(key).and_then(Value::as_u64);
        tokens.input += number("input_tokens")?;
        tokens.cache_read += number("cache_read_input_tokens").unwrap_or_default();
        tokens.cache_write += number("cache_creation_input_tokens").unwrap_or_default();
        tokens.output += number("output_tokens")?;
    }
    Some(ReportedUsage {
        tokens,
        reasoning: None,
    })
}
