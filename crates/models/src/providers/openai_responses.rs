//! OpenAI's responses, whose service compacts a chat into an item that only its models read.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use crate::sealed_summary;

use super::answer_so_far::AnswerSoFar;
use super::openai::{is_strict, plain};
use super::portable::{arguments_text, between_users, call_id, given, some, text, tool_name};
use super::{ModelLookup, OwnCompaction, Provider, ReportedUsage, Service};

/// OpenAI's own service, or another server that speaks its format.
pub static OPENAI_RESPONSES: Provider = Provider {
    name: "openai-responses",
    about: "OpenAI's responses, which compact by themselves; key in OPENAI_API_KEY, for another URL in COMPACTOMETER_API_KEY if it needs one",
    form: "MODEL[@URL]",
    service: Some(Service {
        address: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
    }),
    takes_address: true,
    path: "responses",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    write_body: body,
    read,
    usage,
    lookup: ModelLookup::ByName,
    compaction: Some(OwnCompaction {
        header: None,
        beside: "/compact",
        from_tokens: 0,
        is_sealed: true,
    }),
};

/// The request's body. The interface has no seed, and a compaction has no parameters. Nothing is
/// stored there.
fn body(request: &ChatRequest, model: &str) -> Value {
    let system = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System);
    let instructions = system.filter_map(text).collect::<Vec<_>>().join("\n\n");
    let mut instructions = (!instructions.is_empty()).then_some(instructions);
    if let Some(asked) = &request.compaction {
        let texts = [&instructions, &asked.instructions];
        let texts = texts.into_iter().flatten().cloned().collect::<Vec<_>>();
        instructions = (!texts.is_empty()).then(|| texts.join("\n\n"));
        return given(json!({
            "model": model,
            "instructions": instructions,
            "input": input(&request.messages),
        }));
    }
    let format = |schema| json!({"type": "json_schema", "name": "reply", "schema": schema, "strict": is_strict(schema)});
    given(json!({
        "model": model,
        "instructions": instructions,
        "input": input(&request.messages),
        "tools": some(request.tools.iter().map(tool).collect()),
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature.map(plain),
        "text": request.schema.as_ref().map(|schema| json!({"format": format(schema)})),
        "store": false,
        "stream": true,
    }))
}

fn tool(tool: &ToolDefinition) -> Value {
    let (name, description) = (tool_name(&tool.name), &tool.description);
    json!({"type": "function", "name": name, "description": description, "parameters": tool.parameters, "strict": false})
}

/// All messages but the system prompt. The first item is the user's or a compaction, and the last
/// is not the assistant's.
fn input(messages: &[WireMessage]) -> Vec<Value> {
    let said = messages
        .iter()
        .filter(|message| message.role != Role::System);
    let items = said.flat_map(items).collect::<Vec<_>>();
    between_users(items, |item| {
        item["role"] == "assistant" || item["type"] == "function_call"
    })
}

/// The items of a message; this format takes no thinking of another provider.
fn items(message: &WireMessage) -> Vec<Value> {
    let said = match message.role {
        Role::Tool => None,
        role => text(message).map(|text| json!({"role": role.name(), "content": text})),
    };
    let others = message.parts.iter().filter_map(|part| match part {
        Part::ToolCall {
            id,
            name,
            arguments,
        } => Some(json!({
            "type": "function_call",
            "call_id": call_id(id),
            "name": tool_name(name),
            "arguments": arguments_text(arguments),
        })),
        Part::ToolResult {
            call_id: id, text, ..
        } => Some(json!({
            "type": "function_call_output",
            "call_id": call_id(id),
            "output": text,
        })),
        Part::Sealed { content } => {
            Some(json!({"type": "compaction", "encrypted_content": content}))
        }
        _ => None,
    });
    said.into_iter().chain(others).collect()
}

/// Adds what an event, or the whole answer where it is not streamed, says.
fn read(answer: &mut AnswerSoFar, event: &Value) {
    let (kind, response) = (
        event["type"].as_str().unwrap_or_default(),
        &event["response"],
    );
    answer.began |= kind == "response.output_item.added" || kind.ends_with(".delta");
    match kind {
        "response.output_text.delta" | "response.refusal.delta" => answer
            .text
            .push_str(event["delta"].as_str().unwrap_or_default()),
        "response.completed" | "response.incomplete" => end(answer, response),
        _ if event["output"].is_array() => {
            for item in event["output"].as_array().into_iter().flatten() {
                whole(answer, item);
            }
            end(answer, event);
        }
        _ => {}
    }
}

/// Adds an item of an answer that is not streamed. What a compaction keeps of the user's messages,
/// the client has.
fn whole(answer: &mut AnswerSoFar, item: &Value) {
    if item["type"] == "compaction"
        && let Some(sealed) = item["encrypted_content"].as_str()
    {
        answer.is_compacted = true;
        let opened = sealed_summary::open(sealed);
        answer.is_sealed = opened.is_none();
        answer.text = opened.unwrap_or_else(|| sealed.to_owned());
    }
    if item["role"] == "assistant" {
        for part in item["content"].as_array().into_iter().flatten() {
            let said = part["text"].as_str().or(part["refusal"].as_str());
            answer.text.push_str(said.unwrap_or_default());
        }
    }
}

/// Reads what the end of an answer says of all of it.
fn end(answer: &mut AnswerSoFar, response: &Value) {
    answer.ended = true;
    answer.model = response["model"].as_str().map(str::to_owned);
    answer.usage = response
        .get("usage")
        .filter(|usage| usage.is_object())
        .cloned();
    answer.finish = Some(match response["incomplete_details"]["reason"].as_str() {
        None => Finish::Stop,
        Some("content_filter") => Finish::ContentFilter,
        Some(_) => Finish::Length,
    });
}

/// The usage, each token once, and how many of the output's tokens are reasoning.
fn usage(raw: &Value) -> Option<ReportedUsage> {
    let number = |path: &str| raw.pointer(path).and_then(Value::as_u64);
    let (input, output) = (number("/input_tokens")?, number("/output_tokens")?);
    let cache_read = number("/input_tokens_details/cached_tokens")
        .unwrap_or_default()
        .min(input);
    Some(ReportedUsage {
        tokens: Usage {
            input: input - cache_read,
            cache_read,
            cache_write: 0,
            output,
        },
        reasoning: number("/output_tokens_details/reasoning_tokens"),
    })
}
