//! Anthropic's messages.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatReply, ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use super::{
    Api, ApiReply, ApiRequest, Called, RequestField, ServerTrouble, TokenCount, context_edits,
};

const COUNT_TOKENS: &str = "/v1/messages/count_tokens";

pub(super) static API: Api = Api {
    path: "/v1/messages",
    serves: |path| path == "/v1/messages",
    counts: Some(TokenCount {
        path: COUNT_TOKENS,
        write: |tokens| json!({"input_tokens": tokens}),
    }),
    read,
    whole,
    events: Some(events),
    refused: None,
    refusal,
};

fn read(body: &RequestField<'_>, path: &str) -> Result<ApiRequest, ServerTrouble> {
    let most = body.get("max_tokens");
    if path != COUNT_TOKENS {
        most.required()?;
    }
    let system = super::content(&body.get("system"), part)?;
    let list = body.get("messages");
    // Before a summary nothing is read.
    let from = super::last_of(list.value, holds_summary);
    let mut messages = super::messages_of(&list, |at, _| at >= from, message)?;
    if !system.is_empty() {
        messages.insert(0, super::message(Role::System, system));
    }
    // The format moved from the first place to the second.
    let format = Some(body.get("output_format")).filter(RequestField::is_given);
    let format = format.unwrap_or_else(|| body.get("output_config").get("format"));
    let stops = body.get("stop_sequences");
    let stops = if stops.is_given() {
        stops
            .items()?
            .map(|stop| stop.text().map(str::to_owned))
            .collect()
    } else {
        Ok(Vec::new())
    };
    let mut request = ChatRequest {
        messages,
        tools: super::tools(&body.get("tools"), tool)?,
        max_output_tokens: super::most_tokens(&most)?,
        temperature: super::temperature(body, 1.0)?,
        schema: super::schema(&format, &format.get("schema"))?,
        compaction: None,
        // The interface has no seed.
        seed: 0,
    };
    let edited = context_edits::edit(body, &mut request)?;
    let model = body.get("model").text()?.to_owned();
    let stop = stops?
        .into_iter()
        .filter(|stop: &String| !stop.is_empty())
        .collect();
    Ok(ApiRequest {
        model,
        request,
        stream: body.get("stream").flag()?,
        with_usage: true,
        stop,
        edited,
    })
}

/// Whether a message holds the summary of a compaction that came to one.
fn holds_summary(message: &Value) -> bool {
    let mut blocks = message["content"].as_array().into_iter().flatten();
    blocks.any(|block| block["type"] == "compaction" && block["content"].is_string())
}

/// A turn.
fn message(message: &RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble> {
    let (role, content) = (message.get("role"), message.get("content"));
    let role = match role.text()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            return Err(role.trouble(format!(
                "`{other}` is not a role; choose `user` or `assistant`"
            )));
        }
    };
    Ok(super::with_results_first(
        role,
        super::content(content.required()?, part)?,
    ))
}

fn part(part: &RequestField<'_>) -> Result<Part, ServerTrouble> {
    let kind = part.get("type");
    let text = |name: &str| part.get(name).text().map(str::to_owned);
    match kind.text()? {
        "text" => Ok(Part::Text {
            text: text("text")?,
        }),
        // One that failed has no content.
        "compaction" => Ok(Part::Text {
            text: part
                .get("content")
                .value
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        }),
        "thinking" => Ok(Part::Thinking {
            text: text("thinking")?,
            signature: text("signature").ok(),
        }),
        "tool_use" => {
            let arguments = part.get("input").required()?.value.to_string();
            Ok(Part::ToolCall {
                id: text("id")?,
                name: text("name")?,
                arguments,
            })
        }
        "tool_result" => {
            let said = super::content(&part.get("content"), self::part)?;
            super::result(&part.get("tool_use_id"), said, part.get("is_error").flag()?)
        }
        "image" => Ok(super::media(part, "image/*")),
        "document" | "redacted_thinking" => Ok(super::media(part, "application/octet-stream")),
        other => {
            let choices = "choose `text`, `image`, `tool_use`, `tool_result` or `thinking`";
            Err(kind.trouble(format!("`{other}` is not a kind of block; {choices}")))
        }
    }
}

/// A tool of the client's. Tools that Anthropic runs itself have no schema, and are left out.
fn tool(tool: &RequestField<'_>) -> Result<Vec<ToolDefinition>, ServerTrouble> {
    if !tool.get("input_schema").is_given() {
        return Ok(Vec::new());
    }
    Ok(vec![super::definition(tool, "input_schema")?])
}

fn whole(answer: &ApiReply<'_>) -> Value {
    message_of(
        answer,
        blocks(answer, |called| {
            serde_json::from_str(&called.arguments).unwrap_or_else(|_| json!({}))
        }),
        Some(stop_reason(answer)),
    )
}

/// The text and the calls, with what the calls hold of their arguments.
fn blocks(answer: &ApiReply<'_>, input: impl Fn(&Called) -> Value) -> Value {
    let text = json!({"type": "text", "text": answer.reply.text});
    let calls = answer.calls.iter().map(|called| {
        json!({"type": "tool_use", "id": called.id, "name": called.name, "input": input(called)})
    });
    let text = answer.has_text().then_some(text);
    let summary = answer
        .summary
        .map(|summary| json!({"type": "compaction", "content": summary.text}));
    summary.into_iter().chain(text).chain(calls).collect()
}

fn message_of(answer: &ApiReply<'_>, content: Value, stop_reason: Option<&str>) -> Value {
    let Usage {
        input,
        cache_read,
        cache_write,
        output,
    } = answer.reply.usage;
    let mut message = json!({
        "id": answer.id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": stop_reason.and(answer.stopped_at),
        "usage": {
            "input_tokens": input,
            "cache_creation_input_tokens": cache_write,
            "cache_read_input_tokens": cache_read,
            "output_tokens": if stop_reason.is_some() { output } else { 0 },
        },
    });
    if answer.asked["context_management"].is_object() {
        message["context_management"] = json!({"applied_edits": answer.applied});
    }
    if let Some(summary) = answer.summary {
        message["usage"]["iterations"] = iterations(answer, summary);
    }
    message
}

/// What the compaction used and what the answer used, which the sums beside do not add up.
fn iterations(answer: &ApiReply<'_>, summary: &ChatReply) -> Value {
    let of = |kind: &str, usage: &Usage| {
        json!({
            "type": kind,
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": usage.output,
        })
    };
    let said = (!answer.is_paused).then(|| of("message", &answer.reply.usage));
    [of("compaction", &summary.usage)]
        .into_iter()
        .chain(said)
        .collect()
}

fn stop_reason(answer: &ApiReply<'_>) -> &'static str {
    match answer.reply.finish {
        _ if answer.is_paused => "compaction",
        Finish::Stop if answer.stopped_at.is_some() => "stop_sequence",
        Finish::Stop if !answer.calls.is_empty() => "tool_use",
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::ContentFilter => "refusal",
    }
}

/// The message as it grows: its text a few words at a time, its calls, then why it ended and what it used.
fn events(answer: &ApiReply<'_>) -> String {
    let mut all =
        vec![json!({"type": "message_start", "message": message_of(answer, json!([]), None)})];
    let begun = blocks(answer, |_| json!({}));
    for (index, block) in begun.as_array().into_iter().flatten().enumerate() {
        let mut block = block.clone();
        let deltas = match block["type"].as_str() {
            Some("text") => {
                block["text"] = json!("");
                let pieces = answer.pieces().into_iter();
                pieces
                    .map(|text| json!({"type": "text_delta", "text": text}))
                    .collect()
            }
            Some("compaction") => {
                let content = block["content"].take();
                vec![json!({"type": "compaction_delta", "content": content})]
            }
            _ => {
                let before = usize::from(answer.has_text()) + usize::from(answer.summary.is_some());
                let called = &answer.calls[index - before];
                vec![json!({"type": "input_json_delta", "partial_json": called.arguments})]
            }
        };
        all.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let deltas = deltas.into_iter();
        all.extend(
            deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    all.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": answer.stopped_at},
        "usage": {"output_tokens": answer.reply.usage.output},
    }));
    all.push(json!({"type": "message_stop"}));
    all.iter()
        .map(|data| super::event(data["type"].as_str().unwrap_or_default(), data))
        .collect()
}

fn refusal(trouble: &ServerTrouble) -> Value {
    let (kind, message) = trouble.kind_and_message();
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
