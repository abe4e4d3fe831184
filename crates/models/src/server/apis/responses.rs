//! OpenAI's responses. Nothing is stored here, so a request that goes on from an earlier response
//! is refused.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::model::{ChatReply, ChatRequest, Finish, ToolDefinition, WireMessage};
use serde_json::{Value, json};

use super::compaction::AskedCompaction;
use super::context_edits::EditedContext;
use super::{Api, ApiReply, ApiRequest, Called, RequestField, ServerTrouble, TokenCount};
use crate::sealed_summary;

pub(super) static API: Api = Api {
    path: "/v1/responses",
    serves: |path| path == "/v1/responses",
    counts: Some(TokenCount {
        path: "/v1/responses/input_tokens",
        write: |tokens| json!({"object": "response.input_tokens", "input_tokens": tokens}),
    }),
    read,
    whole,
    events: Some(events),
    refused: Some(refused),
    refusal: ServerTrouble::body,
};

fn read(body: &RequestField<'_>, _: &str) -> Result<ApiRequest, ServerTrouble> {
    for earlier in ["previous_response_id", "conversation"].map(|name| body.get(name)) {
        if earlier.is_given() {
            return Err(earlier
                .wrong("cannot be used, since no response is stored here; send the whole input"));
        }
    }
    let (input, format) = (body.get("input"), body.get("text").get("format"));
    // A compaction stands for what is before it, but for what the user said.
    let from = super::last_of(input.value, |item| item["type"] == "compaction");
    let keeps = |at, item: &Value| at >= from || item["role"] == "user";
    let mut messages = match input.value {
        Value::String(text) => vec![super::message(
            Role::User,
            vec![Part::Text { text: text.clone() }],
        )],
        _ => super::messages_of(&input, keeps, item)?,
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
        compaction: None,
        // The interface has no seed.
        seed: 0,
    };
    let model = body.get("model").text()?.to_owned();
    Ok(ApiRequest {
        model,
        request,
        stream: body.get("stream").flag()?,
        with_usage: true,
        stop: Vec::new(),
        edited: EditedContext {
            compaction: compaction(&body.get("context_management"))?,
            applied: Vec::new(),
        },
    })
}

/// The compaction that the server does before it answers.
fn compaction(entries: &RequestField<'_>) -> Result<Option<AskedCompaction>, ServerTrouble> {
    let mut asked = None;
    if entries.is_given() {
        for entry in entries.items()? {
            let kind = entry.get("type");
            if kind.text()? != "compaction" {
                return Err(kind.wrong("must be `compaction`"));
            }
            let threshold = entry.get("compact_threshold");
            let from_tokens = super::most_tokens(threshold.required()?)?;
            asked = from_tokens.map(AskedCompaction::from);
        }
    }
    Ok(asked)
}

/// One item of the input. Reasoning of an earlier response is encrypted, or a summary of it, and is
/// left out.
fn item(item: &RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble> {
    let kind = item.get("type");
    match if kind.is_given() {
        kind.text()?
    } else {
        "message"
    } {
        "message" => item_messages(item),
        "function_call" => called(item),
        "function_call_output" => {
            let output = super::content(&item.get("output"), part)?;
            Ok(vec![super::message(
                Role::Tool,
                vec![super::result(&item.get("call_id"), output, false)?],
            )])
        }
        "reasoning" => Ok(Vec::new()),
        "compaction" => {
            let content = item.get("encrypted_content");
            let sealed = content.text()?;
            let part = match sealed_summary::open(sealed) {
                Some(text) => Part::Text { text },
                None if sealed_summary::is_own(sealed) => {
                    return Err(content.wrong("was changed since this program sealed it"));
                }
                None => Part::Sealed {
                    content: sealed.to_owned(),
                },
            };
            Ok(vec![super::message(Role::Assistant, vec![part])])
        }
        other => {
            let choices = "choose `message`, `function_call` or `function_call_output`";
            Err(kind.trouble(format!(
                "`{other}` is not an item that is read here; {choices}"
            )))
        }
    }
}

fn called(item: &RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble> {
    let text = |name: &str| item.get(name).text().map(str::to_owned);
    let call = Part::ToolCall {
        id: text("call_id")?,
        name: in_namespace(item.get("namespace").value.as_str(), &text("name")?),
        arguments: text("arguments")?,
    };
    Ok(vec![super::message(Role::Assistant, vec![call])])
}

fn item_messages(item: &RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble> {
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

fn part(part: &RequestField<'_>) -> Result<Part, ServerTrouble> {
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

/// The functions of a tool: itself, or those of a namespace. Tools that OpenAI runs itself, such as
/// a search, are left out.
fn tool(tool: &RequestField<'_>) -> Result<Vec<ToolDefinition>, ServerTrouble> {
    match tool.get("type").text()? {
        "function" => Ok(vec![super::definition(tool, "parameters")?]),
        "namespace" => {
            let namespace = tool.get("name").text()?.to_owned();
            let mut tools = super::tools(&tool.get("tools"), self::tool)?;
            for tool in &mut tools {
                tool.name = in_namespace(Some(&namespace), &tool.name);
            }
            Ok(tools)
        }
        _ => Ok(Vec::new()),
    }
}

/// The name of a tool with its namespace, if it has one. The name of a function has no dot.
fn in_namespace(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(
        || name.to_owned(),
        |namespace| format!("{namespace}.{name}"),
    )
}

fn whole(answer: &ApiReply<'_>) -> Value {
    response(answer, Some(items_of(answer, "completed")))
}

/// The response with what it holds so far.
fn response(answer: &ApiReply<'_>, items: Option<Vec<Value>>) -> Value {
    let reason = incomplete(answer.reply.finish);
    let status = match (&items, reason) {
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
        "incomplete_details": items.as_ref().and(reason).map(|reason| json!({"reason": reason})),
        "instructions": null,
        "metadata": {},
        "model": answer.model,
        "parallel_tool_calls": true,
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "usage": items.as_ref().map(|_| usage(answer)),
        "output": items.unwrap_or_default(),
    })
}

fn incomplete(finish: Finish) -> Option<&'static str> {
    match finish {
        Finish::Stop => None,
        Finish::Length => Some("max_output_tokens"),
        Finish::ContentFilter => Some("content_filter"),
    }
}

/// The items of the output: the message, if there is one, and the calls.
fn items_of(answer: &ApiReply<'_>, status: &str) -> Vec<Value> {
    let is_whole = status == "completed";
    let content = is_whole.then(|| text(&answer.reply.text));
    let content = content.into_iter().collect::<Vec<_>>();
    let message = json!({"id": answer.id("msg_"), "type": "message", "status": status, "role": "assistant", "content": content});
    let calls = answer.calls.iter().map(|called| {
        let (namespace, name) = called
            .name
            .split_once('.')
            .map_or((None, &*called.name), |(space, name)| (Some(space), name));
        let arguments = if is_whole { &*called.arguments } else { "" };
        let mut item = json!({"id": call_item(called), "type": "function_call", "status": status, "call_id": called.id, "name": name, "arguments": arguments});
        if let Some(namespace) = namespace {
            item["namespace"] = namespace.into();
        }
        item
    });
    let message = answer.has_text().then_some(message);
    let summary = answer
        .summary
        .map(|summary| compaction_item(answer, summary));
    summary.into_iter().chain(message).chain(calls).collect()
}

/// A summary as an item that clients pass on unread. One that its provider sealed stays as it is.
pub(super) fn compaction_item(answer: &ApiReply<'_>, summary: &ChatReply) -> Value {
    let sealed = match summary.is_sealed() {
        true => summary.text.clone(),
        false => sealed_summary::seal(&summary.text),
    };
    json!({"id": answer.id("cmp_"), "type": "compaction", "encrypted_content": sealed})
}

fn call_item(called: &Called) -> String {
    format!("fc_{}", called.id)
}

fn text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

pub(super) fn usage(answer: &ApiReply<'_>) -> Value {
    // The interface has no place of its own for what a compaction used.
    let used = [Some(answer.reply), answer.summary];
    let used = used.into_iter().flatten().map(|reply| reply.usage);
    let sum = |of: fn(&Usage) -> u64| used.clone().map(|usage| of(&usage)).sum::<u64>();
    let cache_read = sum(|usage| usage.cache_read);
    let (input, output) = (sum(Usage::total_input), sum(|usage| usage.output));
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
fn events(answer: &ApiReply<'_>) -> String {
    let whole = whole(answer);
    let mut all = vec![
        (
            "response.created".to_owned(),
            json!({"response": response(answer, None)}),
        ),
        (
            "response.in_progress".to_owned(),
            json!({"response": response(answer, None)}),
        ),
    ];
    let (begun, done) = (
        items_of(answer, "in_progress"),
        items_of(answer, "completed"),
    );
    for (index, (begun, done)) in begun.into_iter().zip(done).enumerate() {
        let of_item = |name: &str, item: Value| {
            (
                name.to_owned(),
                json!({"output_index": index, "item": item}),
            )
        };
        all.push(of_item("response.output_item.added", begun));
        if done["type"] == "message" {
            all.extend(text_events(answer, &done["id"], index));
        } else if done["type"] == "function_call" {
            let place = json!({"item_id": done["id"], "output_index": index});
            let arguments = done["arguments"].clone();
            let in_place = |name: &str, key: &str| {
                let mut data = place.clone();
                data[key] = arguments.clone();
                (format!("response.function_call_arguments.{name}"), data)
            };
            all.extend([in_place("delta", "delta"), in_place("done", "arguments")]);
        }
        all.push(of_item("response.output_item.done", done));
    }
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

/// A response that fails: clients look for the code in it, and not in a body.
fn refused(trouble: &ServerTrouble) -> String {
    let error = &trouble.body()["error"];
    let error = json!({"code": error["code"], "message": error["message"]});
    let mut response = json!({"id": "resp_0", "object": "response", "created_at": 0, "status": "in_progress", "error": null, "output": []});
    let created = json!({"type": "response.created", "sequence_number": 0, "response": response});
    response["status"] = json!("failed");
    response["error"] = error;
    let failed = json!({"type": "response.failed", "sequence_number": 1, "response": response});
    super::event("response.created", &created) + &super::event("response.failed", &failed)
}

/// The text of a message as it grows.
fn text_events(answer: &ApiReply<'_>, id: &Value, index: usize) -> Vec<(String, Value)> {
    let place = json!({"item_id": id, "output_index": index, "content_index": 0});
    let in_place = |name: &str, key: &str, value: Value| {
        let mut data = place.clone();
        data[key] = value;
        (format!("response.{name}"), data)
    };
    let said = &answer.reply.text;
    let mut all = vec![in_place("content_part.added", "part", text(""))];
    let pieces = answer.pieces().into_iter();
    all.extend(pieces.map(|piece| in_place("output_text.delta", "delta", json!(piece))));
    all.push(in_place("output_text.done", "text", json!(said)));
    all.push(in_place("content_part.done", "part", text(said)));
    all
}
