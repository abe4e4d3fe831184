//! OpenAI's chat completions.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use super::{Api, ApiReply, ApiRequest, Called, RequestField, ServerTrouble};

/// How answers are named.
const ID: &str = "chatcmpl-";

pub(super) static API: Api = Api {
    path: "/v1/chat/completions",
    serves: |path| path == "/v1/chat/completions",
    counts: None,
    read,
    whole,
    events: Some(events),
    refused: None,
    refusal: ServerTrouble::body,
};

fn read(body: &RequestField<'_>, _: &str) -> Result<ApiRequest, ServerTrouble> {
    let model = body.get("model").text()?.to_owned();
    let choices = body.get("n");
    if choices.is_given() && choices.value.as_u64() != Some(1) {
        return Err(choices.trouble("one choice is given at a time; `n` must be 1"));
    }
    let most = Some(body.get("max_completion_tokens")).filter(RequestField::is_given);
    let most = super::most_tokens(&most.unwrap_or_else(|| body.get("max_tokens")))?;
    // Clients' seeds have a sign; ours have none.
    let seed = |value: &Value| value.as_u64().or(value.as_i64().map(i64::cast_unsigned));
    let format = body.get("response_format");
    let request = ChatRequest {
        messages: super::messages_of(&body.get("messages"), super::all, message)?,
        tools: super::tools(&body.get("tools"), tool)?,
        max_output_tokens: most,
        temperature: super::temperature(body, 2.0)?,
        schema: super::schema(&format, &format.get("json_schema").get("schema"))?,
        compaction: None,
        seed: body
            .get("seed")
            .number(seed, "a whole number")?
            .unwrap_or(0),
    };
    Ok(ApiRequest {
        model,
        request,
        stream: body.get("stream").flag()?,
        with_usage: body.get("stream_options").get("include_usage").flag()?,
        stop: stop(&body.get("stop"))?,
        edited: Default::default(),
    })
}

fn stop(stop: &RequestField<'_>) -> Result<Vec<String>, ServerTrouble> {
    /// As many as OpenAI takes.
    const MOST: usize = 4;
    let stops = match stop.value {
        Value::Null => Some(Vec::new()),
        Value::String(stop) => Some(vec![stop.clone()]),
        Value::Array(stops) if stops.len() <= MOST => stops
            .iter()
            .map(|stop| stop.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let stops = stops.ok_or_else(|| {
        stop.wrong(&format!(
            "must be a string or a list of at most {MOST} strings"
        ))
    })?;
    Ok(stops.into_iter().filter(|stop| !stop.is_empty()).collect())
}

fn tool(tool: &RequestField<'_>) -> Result<Vec<ToolDefinition>, ServerTrouble> {
    let function = tool.get("function");
    function.required()?;
    Ok(vec![super::definition(&function, "parameters")?])
}

fn message(message: &RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble> {
    let (role, content, calls) = (
        message.get("role"),
        message.get("content"),
        message.get("tool_calls"),
    );
    let role = match role.text()? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        other => {
            let choices = "choose `system`, `developer`, `user`, `assistant` or `tool`";
            return Err(role.trouble(format!("`{other}` is not a role; {choices}")));
        }
    };
    let mut parts = super::content(&content, part)?;
    if role == Role::Tool {
        parts = vec![super::result(&message.get("tool_call_id"), parts, false)?];
    }
    if role == Role::Assistant && calls.is_given() {
        parts.extend(
            calls
                .items()?
                .map(tool_call)
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    if parts.is_empty() && role != Role::Assistant {
        return Err(content.wrong("is missing"));
    }
    Ok(vec![super::message(role, parts)])
}

fn part(part: &RequestField<'_>) -> Result<Part, ServerTrouble> {
    let kind = part.get("type");
    match kind.text()? {
        kind @ ("text" | "refusal") => Ok(Part::Text {
            text: part.get(kind).text()?.to_owned(),
        }),
        "image_url" => Ok(super::media(part, "image/*")),
        "input_audio" => Ok(super::media(part, "audio/*")),
        "file" => Ok(super::media(part, "application/octet-stream")),
        other => Err(kind.trouble(format!(
            "`{other}` is not a kind of part; choose `text` or `image_url`"
        ))),
    }
}

fn tool_call(call: RequestField<'_>) -> Result<Part, ServerTrouble> {
    let function = call.get("function");
    Ok(Part::ToolCall {
        id: call.get("id").text()?.to_owned(),
        name: function.get("name").text()?.to_owned(),
        arguments: function.get("arguments").text()?.to_owned(),
    })
}

/// The reply as one object.
fn whole(answer: &ApiReply<'_>) -> Value {
    let content = answer.has_text().then_some(&answer.reply.text);
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if !answer.calls.is_empty() {
        message["tool_calls"] = answer.calls.iter().map(call).collect();
    }
    let choice =
        json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish(answer)});
    json!({
        "id": answer.id(ID),
        "object": "chat.completion",
        "created": 0,
        "model": answer.model,
        "choices": [choice],
        "usage": usage(answer),
    })
}

/// The reply as events: a few words each, then the end, then the usage where it is asked for.
fn events(answer: &ApiReply<'_>) -> String {
    let (id, model) = (answer.id(ID), answer.model);
    let event = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices});
        if answer.with_usage {
            chunk["usage"] = usage.unwrap_or(Value::Null);
        }
        format!("data: {chunk}\n\n")
    };
    let mut events = event(
        choice(json!({"role": "assistant", "content": ""}), Value::Null),
        None,
    );
    for piece in answer.pieces() {
        events.push_str(&event(choice(json!({"content": piece}), Value::Null), None));
    }
    for (index, called) in answer.calls.iter().enumerate() {
        let mut called = call(called);
        called["index"] = index.into();
        let delta = json!({"tool_calls": [called]});
        events.push_str(&event(choice(delta, Value::Null), None));
    }
    events.push_str(&event(choice(json!({}), json!(finish(answer))), None));
    if answer.with_usage {
        events.push_str(&event(json!([]), Some(usage(answer))));
    }
    events + "data: [DONE]\n\n"
}

fn choice(delta: Value, finish: Value) -> Value {
    json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}])
}

fn finish(answer: &ApiReply<'_>) -> &'static str {
    match answer.reply.finish {
        Finish::Stop if !answer.calls.is_empty() => "tool_calls",
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
    }
}

fn call(called: &Called) -> Value {
    let function = json!({"name": called.name, "arguments": called.arguments});
    json!({"id": called.id, "type": "function", "function": function})
}

fn usage(answer: &ApiReply<'_>) -> Value {
    let Usage {
        cache_read, output, ..
    } = answer.reply.usage;
    let input = answer.reply.usage.total_input();
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": {"cached_tokens": cache_read},
        "completion_tokens_details": {"reasoning_tokens": answer.reasoning()},
    })
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
        insta::assert_debug_snapshot!(API.read(body.to_string().as_bytes(), API.path));
    }
}
