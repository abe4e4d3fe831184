//! Google's generateContent and its stream. The model and whether the answer comes as a stream are
//! in the path.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use super::{Api, ApiReply, ApiRequest, RequestField, ServerTrouble};

const STREAM: &str = "streamGenerateContent";

pub(super) static API: Api = Api {
    path: "/v1beta/models/MODEL:generateContent",
    serves: |path| called(path).is_some(),
    counts: None,
    read,
    whole,
    events: Some(events),
    refused: None,
    refusal,
};

/// The model and the method that a path names.
fn called(path: &str) -> Option<(&str, &str)> {
    let (model, method) = path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    ["generateContent", STREAM]
        .contains(&method)
        .then_some((model, method))
}

fn read(body: &RequestField<'_>, path: &str) -> Result<ApiRequest, ServerTrouble> {
    let (model, method) = called(path).unwrap_or_default();
    let config = body.get("generationConfig");
    let mut messages = super::messages_of(&body.get("contents"), super::all, message)?;
    let system = body.get("systemInstruction");
    if system.is_given() {
        let parts = parts(&system)?;
        messages.insert(0, super::message(Role::System, parts));
    }
    let seed = |value: &Value| value.as_u64().or(value.as_i64().map(i64::cast_unsigned));
    let schema = ["responseJsonSchema", "responseSchema"]
        .into_iter()
        .map(|name| config.get(name))
        .find(RequestField::is_given)
        .map(|schema| schema.value.clone());
    let stops = config.get("stopSequences");
    let stop = match stops.is_given() {
        true => stops
            .items()?
            .map(|stop| stop.text().map(str::to_owned))
            .collect::<Result<_, _>>()?,
        false => Vec::new(),
    };
    let request = ChatRequest {
        messages,
        tools: super::tools(&body.get("tools"), tool)?,
        max_output_tokens: super::most_tokens(&config.get("maxOutputTokens"))?,
        temperature: super::temperature(&config, 2.0)?,
        schema,
        compaction: None,
        seed: config
            .get("seed")
            .number(seed, "a whole number")?
            .unwrap_or(0),
    };
    Ok(ApiRequest {
        model: model.to_owned(),
        request,
        stream: method == STREAM,
        with_usage: true,
        stop,
        edited: Default::default(),
    })
}

/// The functions that a tool declares. Tools that Google runs itself declare none.
fn tool(tool: &RequestField<'_>) -> Result<Vec<ToolDefinition>, ServerTrouble> {
    let declared = tool.get("functionDeclarations");
    if !declared.is_given() {
        return Ok(Vec::new());
    }
    let definition = |function: RequestField<'_>| {
        let schema = match function.get("parametersJsonSchema").is_given() {
            true => "parametersJsonSchema",
            false => "parameters",
        };
        super::definition(&function, schema)
    };
    declared.items()?.map(definition).collect()
}

/// A turn.
fn message(content: &RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble> {
    let role = content.get("role");
    let speaker = match role.value.as_str() {
        Some("user" | "function") | None => Role::User,
        Some("model") => Role::Assistant,
        Some(other) => {
            let choices = "choose `user` or `model`";
            return Err(role.trouble(format!("`{other}` is not a role; {choices}")));
        }
    };
    Ok(super::with_results_first(speaker, parts(content)?))
}

fn parts(content: &RequestField<'_>) -> Result<Vec<Part>, ServerTrouble> {
    if let Some(text) = content.value.as_str() {
        return Ok(vec![Part::Text {
            text: text.to_owned(),
        }]);
    }
    let parts = content.get("parts");
    parts.required()?.items()?.map(|item| part(&item)).collect()
}

fn part(part: &RequestField<'_>) -> Result<Part, ServerTrouble> {
    let (call, result) = (part.get("functionCall"), part.get("functionResponse"));
    let id = |of: &RequestField<'_>| match of.get("id").value.as_str() {
        Some(id) => id.to_owned(),
        None => of.get("name").value.as_str().unwrap_or_default().to_owned(),
    };
    if call.is_given() {
        return Ok(Part::ToolCall {
            id: id(&call),
            name: call.get("name").text()?.to_owned(),
            arguments: match call.get("args").is_given() {
                true => call.get("args").value.to_string(),
                false => "{}".to_owned(),
            },
        });
    }
    if result.is_given() {
        return Ok(Part::ToolResult {
            call_id: id(&result),
            text: texts(result.get("response").value),
            is_error: !result.get("response").get("error").value.is_null(),
        });
    }
    let text = part.get("text");
    if text.is_given() {
        let text = text.text()?.to_owned();
        return Ok(match part.get("thought").value.as_bool() {
            Some(true) => Part::Thinking {
                text,
                signature: None,
            },
            _ => Part::Text { text },
        });
    }
    Ok(super::media(part, "application/octet-stream"))
}

/// The texts of a response, which is an object of any form.
fn texts(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn whole(answer: &ApiReply<'_>) -> Value {
    let text = json!({"text": answer.reply.text});
    let text = answer.has_text().then_some(text);
    let parts = text.into_iter().chain(calls(answer)).collect();
    chunk(answer, parts, true)
}

fn calls<'a>(answer: &'a ApiReply<'_>) -> impl Iterator<Item = Value> + use<'a> {
    answer.calls.iter().map(|called| {
        let arguments = serde_json::from_str::<Value>(&called.arguments);
        let arguments = arguments.unwrap_or_else(|_| json!({}));
        json!({"functionCall": {"id": called.id, "name": called.name, "args": arguments}})
    })
}

fn chunk(answer: &ApiReply<'_>, parts: Vec<Value>, is_last: bool) -> Value {
    let Usage {
        cache_read, output, ..
    } = answer.reply.usage;
    let input = answer.reply.usage.total_input();
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!(finish(answer));
    }
    let mut chunk = json!({"candidates": [candidate], "modelVersion": answer.model, "responseId": answer.id("")});
    if is_last {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": input,
            "cachedContentTokenCount": cache_read,
            "candidatesTokenCount": output,
            "totalTokenCount": input.saturating_add(output),
        });
    }
    chunk
}

fn finish(answer: &ApiReply<'_>) -> &'static str {
    match answer.reply.finish {
        Finish::Stop => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::ContentFilter => "SAFETY",
    }
}

/// The text a few words at a time, then the calls, why it ended and what it used.
fn events(answer: &ApiReply<'_>) -> String {
    let pieces = answer.pieces().into_iter();
    let texts = pieces.map(|piece| chunk(answer, vec![json!({"text": piece})], false));
    let last = chunk(answer, calls(answer).collect(), true);
    texts
        .chain([last])
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

fn refusal(trouble: &ServerTrouble) -> Value {
    let (kind, message) = trouble.kind_and_message();
    let status = match kind {
        "not_found_error" => "NOT_FOUND",
        "rate_limit_error" => "RESOURCE_EXHAUSTED",
        "overloaded_error" => "UNAVAILABLE",
        "api_error" => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    json!({"error": {"code": trouble.status.as_u16(), "message": message, "status": status}})
}
