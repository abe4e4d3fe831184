//! OpenAI's responses. Nothing is stored here, so a request that goes on from an earlier response
//! is refused.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use super::{Answer, Api, Asked, Field, Trouble};

pub(super) static API: Api = Api {
    path: "/v1/responses",
    read,
    whole,
    events,
    refusal: Trouble::body,
};

fn read(body: &Field<'_>) -> Result<Asked, Trouble> {
    for earlier in ["previous_response_id", "conversation"].map(|name| body.get(name)) {
        if earlier.is_given() {
            return Err(earlier
                .wrong("cannot be used, since no response is stored here; send the whole input"));
        }
    }
    let (input, format) = (body.get("input"), body.get("text").get("format"));
    let mut messages = match input.value {
        Value::String(text) => vec![super::message(
            Role::User,
            vec![Part::Text { text: text.clone() }],
        )],
        _ => super::messages_of(&input, item)?,
    };
    let instructions = body.get("instructions");
    if instructions.is_given() {
        let text = instructions.text()?.to_owned();
        messages.insert(0, super::message(Role::System, vec![Part::Text { text }]));
    }
    let request = ChatRequest {
        messages,
        tools: super::tools(&body.get("tools"), tool)?,
        max_output_tokens: super::most_tokens(&body.get("max_output_tokens"))?,
        temperature: super::temperature(body, 2.0)?,
        schema: super::schema(&format, &format.get("schema"))?,
        // The interface has no seed.
        seed: 0,
    };
    let model = body.get("model").text()?.to_owned();
    Ok(Asked {
        model,
        request,
        stream: body.get("stream").flag()?,
        with_usage: true,
        stop: Vec::new(),
    })
}

/// One item of the input. Reasoning of an earlier response is encrypted, or a summary of it, and is
/// left out.
fn item(item: &Field<'_>) -> Result<Vec<WireMessage>, Trouble> {
    let kind = item.get("type");
    match if kind.is_given() {
        kind.text()?
    } else {
        "message"
    } {
        "message" => said(item),
        "function_call" => called(item),
        "function_call_output" => {
            let output = super::content(&item.get("output"), part)?;
            Ok(vec![super::message(
                Role::Tool,
                vec![super::result(&item.get("call_id"), output, false)?],
            )])
        }
        "reasoning" => Ok(Vec::new()),
        other => {
            let choices = "choose `message`, `function_call` or `function_call_output`";
            Err(kind.trouble(format!(
                "`{other}` is not an item that is read here; {choices}"
            )))
        }
    }
}

fn called(item: &Field<'_>) -> Result<Vec<WireMessage>, Trouble> {
    let text = |name: &str| item.get(name).text().map(str::to_owned);
    let call = Part::ToolCall {
        id: text("call_id")?,
        name: text("name")?,
        arguments: text("arguments")?,
    };
    Ok(vec![super::message(Role::Assistant, vec![call])])
}

fn said(item: &Field<'_>) -> Result<Vec<WireMessage>, Trouble> {
    let (role, content) = (item.get("role"), item.get("content"));
    let role = match role.text()? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            let choices = "choose `system`, `developer`, `user` or `assistant`";
            return Err(role.trouble(format!("`{other}` is not a role; {choices}")));
        }
    };
    Ok(vec![super::message(
        role,
        super::content(content.required()?, part)?,
    )])
}

fn part(part: &Field<'_>) -> Result<Part, Trouble> {
    let kind = part.get("type");
    match kind.text()? {
        "input_text" | "output_text" | "text" => Ok(Part::Text {
            text: part.get("text").text()?.to_owned(),
        }),
        "refusal" => Ok(Part::Text {
            text: part.get("refusal").text()?.to_owned(),
        }),
        "input_image" => Ok(super::media(part, "image/*")),
        "input_file" => Ok(super::media(part, "application/octet-stream")),
        other => {
            let choices = "choose `input_text`, `output_text` or `input_image`";
            Err(kind.trouble(format!("`{other}` is not a kind of part; {choices}")))
        }
    }
}

/// A function. Tools that OpenAI runs itself, such as a search, are left out.
fn tool(tool: &Field<'_>) -> Result<Option<ToolDefinition>, Trouble> {
    match tool.get("type").text()? {
        "function" => super::definition(tool, "parameters").map(Some),
        _ => Ok(None),
    }
}

fn whole(answer: &Answer<'_>) -> Value {
    response(answer, Some(item_of(answer, "completed")))
}

/// The response with what it holds so far.
fn response(answer: &Answer<'_>, item: Option<Value>) -> Value {
    let reason = incomplete(answer.reply.finish);
    let status = match (&item, reason) {
        (None, _) => "in_progress",
        (Some(_), None) => "completed",
        (Some(_), Some(_)) => "incomplete",
    };
    json!({
        "id": answer.id("resp_"),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": item.as_ref().and(reason).map(|reason| json!({"reason": reason})),
        "instructions": null,
        "metadata": {},
        "model": answer.model,
        "parallel_tool_calls": true,
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "usage": item.as_ref().map(|_| usage(answer)),
        "output": item.into_iter().collect::<Vec<_>>(),
    })
}

fn incomplete(finish: Finish) -> Option<&'static str> {
    match finish {
        Finish::Stop => None,
        Finish::Length => Some("max_output_tokens"),
        Finish::ContentFilter => Some("content_filter"),
    }
}

fn item_of(answer: &Answer<'_>, status: &str) -> Value {
    let content = if status == "completed" {
        json!([text(&answer.reply.text)])
    } else {
        json!([])
    };
    json!({"id": answer.id("msg_"), "type": "message", "status": status, "role": "assistant", "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn usage(answer: &Answer<'_>) -> Value {
    let Usage {
        cache_read, output, ..
    } = answer.reply.usage;
    let input = answer.reply.usage.total_input();
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": cache_read},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": answer.reasoning()},
        "total_tokens": input.saturating_add(output),
    })
}

/// The response as it grows: its message, its text a few words at a time, and then each of them as
/// a whole.
fn events(answer: &Answer<'_>) -> String {
    let whole = whole(answer);
    let (id, said) = (answer.id("msg_"), &answer.reply.text);
    let place = json!({"item_id": id, "output_index": 0, "content_index": 0});
    let in_place = |name: &str, key: &str, value: Value| {
        let mut data = place.clone();
        data[key] = value;
        (name.to_owned(), data)
    };
    let of_item = |name: &str, status: &str| {
        (
            name.to_owned(),
            json!({"output_index": 0, "item": item_of(answer, status)}),
        )
    };
    let mut all = vec![
        (
            "response.created".to_owned(),
            json!({"response": response(answer, None)}),
        ),
        (
            "response.in_progress".to_owned(),
            json!({"response": response(answer, None)}),
        ),
        of_item("response.output_item.added", "in_progress"),
        in_place("response.content_part.added", "part", text("")),
    ];
    let pieces = answer.pieces().into_iter();
    all.extend(pieces.map(|piece| in_place("response.output_text.delta", "delta", json!(piece))));
    all.push(in_place("response.output_text.done", "text", json!(said)));
    all.push(in_place("response.content_part.done", "part", text(said)));
    all.push(of_item("response.output_item.done", "completed"));
    let end = if whole["status"] == "completed" {
        "response.completed"
    } else {
        "response.incomplete"
    };
    all.push((end.to_owned(), json!({"response": whole})));
    let numbered = all
        .into_iter()
        .enumerate()
        .map(|(number, (name, mut data))| {
            data["type"] = json!(name);
            data["sequence_number"] = json!(number);
            super::event(&name, &data)
        });
    numbered.collect()
}
