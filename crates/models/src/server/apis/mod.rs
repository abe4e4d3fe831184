//! The interfaces that are served: how the body of a request is read, and how a reply is written.
//!
//! An interface is a file here and a line in [`ALL`]. What a model of ours has no use for (`top_p`,
//! `tool_choice`, `user`, `cache_control` and the like) is accepted and ignored.

mod chat_completions;
pub(super) mod compaction;
mod context_edits;
mod generate_content;
mod messages;
mod responses;
mod responses_compact;

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatReply, ChatRequest, Finish, ToolDefinition, WireMessage};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use hyper::StatusCode;
use serde_json::{Value, json};

use super::field::RequestField;
use super::responder::Called;
use super::trouble::ServerTrouble;
use context_edits::EditedContext;

/// All of them.
pub(super) const ALL: [&Api; 5] = [
    &chat_completions::API,
    &responses::API,
    &responses_compact::API,
    &messages::API,
    &generate_content::API,
];

/// Tokens of an image, sound or file, whatever its size: assumed, OpenAI's count of an image of one
/// tile.
const MEDIA_TOKENS: u32 = 255;

/// One interface.
pub(super) struct Api {
    /// Where it is served, as errors name it.
    pub(super) path: &'static str,
    /// Whether it is served at a path.
    pub(super) serves: fn(&str) -> bool,
    /// Where the tokens of a request are counted and nothing is answered.
    pub(super) counts: Option<TokenCount>,
    /// Reads a body that was posted to a path.
    read: fn(&RequestField<'_>, &str) -> Result<ApiRequest, ServerTrouble>,
    /// The reply as one object.
    pub(super) whole: fn(&ApiReply<'_>) -> Value,
    /// The reply as server-sent events, where a client may ask for them.
    pub(super) events: Option<fn(&ApiReply<'_>) -> String>,
    /// A refusal as events, where a stream has begun before the request is looked at.
    pub(super) refused: Option<fn(&ServerTrouble) -> String>,
    /// The body of a refusal.
    pub(super) refusal: fn(&ServerTrouble) -> Value,
}

/// A path at which tokens are counted, and how their number is written.
pub(super) struct TokenCount {
    pub(super) path: &'static str,
    pub(super) write: fn(u32) -> Value,
}

/// What a request asks for.
#[derive(Debug, PartialEq)]
pub(super) struct ApiRequest {
    /// By which model.
    pub(super) model: String,
    /// What the model sees.
    pub(super) request: ChatRequest,
    /// Whether the reply comes as events.
    pub(super) stream: bool,
    /// Whether the usage comes as an event, where that is a choice.
    pub(super) with_usage: bool,
    /// Texts at which the reply ends.
    pub(super) stop: Vec<String>,
    /// What the server did to the context before the model reads it, and what it is to compact.
    pub(super) edited: EditedContext,
}

/// A reply that is to be written.
pub(super) struct ApiReply<'a> {
    /// The body that asked for it.
    pub(super) asked: &'a Value,
    pub(super) model: &'a str,
    /// What was left out of the context, as the interface reports it.
    pub(super) applied: &'a [Value],
    /// The summary that the server wrote before it.
    pub(super) summary: Option<&'a ChatReply>,
    /// Whether the summary is all.
    pub(super) is_paused: bool,
    pub(super) reply: &'a ChatReply,
    pub(super) calls: &'a [Called],
    /// The text at which it was ended.
    pub(super) stopped_at: Option<&'a str>,
    pub(super) with_usage: bool,
}

impl Api {
    /// How the tokens of what is posted to a path are written, if they are only counted there.
    pub(super) fn counted_at(&self, path: &str) -> Option<fn(u32) -> Value> {
        let count = self.counts.as_ref().filter(|count| count.path == path);
        count.map(|count| count.write)
    }

    /// Reads a body.
    ///
    /// # Errors
    /// [`ServerTrouble`] with the place of the first thing that cannot be used.
    pub(super) fn read(&self, body: &[u8], path: &str) -> Result<ApiRequest, ServerTrouble> {
        let body: Value = serde_json::from_slice(body).map_err(|error| {
            ServerTrouble::new(
                StatusCode::BAD_REQUEST,
                format!("the body is not JSON: {error}"),
            )
        })?;
        if !body.is_object() {
            return Err(ServerTrouble::new(
                StatusCode::BAD_REQUEST,
                "the body is not a JSON object",
            ));
        }
        let body = RequestField {
            value: &body,
            place: String::new(),
        };
        (self.read)(&body, path)
    }
}

impl ApiReply<'_> {
    /// From the reply's content, so that the same request gives the same bytes.
    fn id(&self, prefix: &str) -> String {
        let ApiReply { model, reply, .. } = self;
        let mut said = format!("{model}\n{:?}\n{}", reply.finish, reply.text);
        for call in self.calls {
            said.push('\n');
            said.push_str(&call.id);
        }
        let hash = blake3::hash(said.as_bytes());
        format!("{prefix}{}", &hash.to_hex()[..24])
    }

    /// Words with the blanks after them, some at a time; together they are the text.
    fn pieces(&self) -> Vec<String> {
        /// Words of an event: assumed.
        const WORDS: usize = 8;
        let words: Vec<&str> = self
            .reply
            .text
            .split_inclusive(char::is_whitespace)
            .collect();
        words.chunks(WORDS).map(<[&str]>::concat).collect()
    }

    /// Whether it has a text: a reply that only calls tools has none, and neither has a summary
    /// after which the client asks again.
    fn has_text(&self) -> bool {
        !self.is_paused && (!self.reply.text.is_empty() || self.calls.is_empty())
    }

    /// Output tokens of reasoning: what was paid for and left no text.
    fn reasoning(&self) -> u64 {
        if self.reply.text.is_empty() && self.calls.is_empty() {
            self.reply.usage.output
        } else {
            0
        }
    }
}

/// Ends a reply before the first of the texts that the caller stops at, and says which; its tokens
/// are counted again.
pub(super) fn stop_at<'s>(reply: &mut ChatReply, stops: &'s [String]) -> Option<&'s str> {
    let found = stops
        .iter()
        .filter_map(|stop| Some((reply.text.find(stop.as_str())?, stop.as_str())));
    let (end, stop) = found.min()?;
    reply.text.truncate(end);
    reply.finish = Finish::Stop;
    reply.usage.output = u64::from(Encoding::O200k.count_text(&reply.text));
    Some(stop)
}

/// A server-sent event that names its type.
fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn most_tokens(field: &RequestField<'_>) -> Result<Option<u32>, ServerTrouble> {
    let count = |value: &Value| {
        value
            .as_u64()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count > 0)
    };
    field.number(count, "a whole number from 1")
}

fn temperature(body: &RequestField<'_>, most: f64) -> Result<Option<f32>, ServerTrouble> {
    let field = body.get("temperature");
    let wrong = || {
        field.wrong(&format!(
            "is `{}`; it must be a number from 0 to {most}",
            field.value
        ))
    };
    let number = field
        .value
        .as_f64()
        .filter(|number| (0.0..=most).contains(number));
    field
        .is_given()
        .then(|| number.map(|number| number as f32).ok_or_else(wrong))
        .transpose()
}

/// A list of at least one message, each of which may become several. Only those that are kept are
/// read, by their place.
fn messages_of(
    list: &RequestField<'_>,
    keeps: impl Fn(usize, &Value) -> bool,
    read: fn(&RequestField<'_>) -> Result<Vec<WireMessage>, ServerTrouble>,
) -> Result<Vec<WireMessage>, ServerTrouble> {
    let mut messages = Vec::new();
    for (at, item) in list.required()?.items()?.enumerate() {
        if keeps(at, item.value) {
            messages.extend(read(&item)?);
        }
    }
    if messages.is_empty() {
        return Err(list.wrong("is empty; at least one message is needed"));
    }
    Ok(messages)
}

/// What a message holds: a text, or a list of parts.
fn content(
    content: &RequestField<'_>,
    part: fn(&RequestField<'_>) -> Result<Part, ServerTrouble>,
) -> Result<Vec<Part>, ServerTrouble> {
    match content.value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Part::Text { text: text.clone() }]),
        Value::Array(_) => content.items()?.map(|item| part(&item)).collect(),
        _ => Err(content.wrong("must be a string or a list of parts")),
    }
}

/// Every message is read.
fn all(_: usize, _: &Value) -> bool {
    true
}

/// The place of the last item of which that holds; 0 if it holds of none.
fn last_of(list: &Value, holds: impl Fn(&Value) -> bool) -> usize {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().rposition(holds).unwrap_or(0)
}

/// The definitions of tools; each tool may be several, or none.
fn tools(
    tools: &RequestField<'_>,
    tool: fn(&RequestField<'_>) -> Result<Vec<ToolDefinition>, ServerTrouble>,
) -> Result<Vec<ToolDefinition>, ServerTrouble> {
    let mut all = Vec::new();
    if tools.is_given() {
        for item in tools.items()? {
            all.extend(tool(&item)?);
        }
    }
    Ok(all)
}

/// A definition of a tool, whose schema is in the field of that name.
fn definition(tool: &RequestField<'_>, schema: &str) -> Result<ToolDefinition, ServerTrouble> {
    let parameters = tool.get(schema);
    Ok(ToolDefinition {
        name: tool.get("name").text()?.to_owned(),
        description: tool
            .get("description")
            .value
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        parameters: if parameters.is_given() {
            parameters.value.clone()
        } else {
            json!({})
        },
    })
}

fn message(role: Role, parts: Vec<Part>) -> WireMessage {
    WireMessage {
        role,
        parts: parts.into(),
    }
}

/// A turn that may hold results of tools: each is a message of its own, before what else it says.
fn with_results_first(role: Role, parts: Vec<Part>) -> Vec<WireMessage> {
    let (results, said) = parts
        .into_iter()
        .partition::<Vec<_>, _>(|part| matches!(part, Part::ToolResult { .. }));
    let mut messages = results
        .into_iter()
        .map(|result| message(Role::Tool, vec![result]))
        .collect::<Vec<_>>();
    if !said.is_empty() || messages.is_empty() {
        messages.push(message(role, said));
    }
    messages
}

fn result(
    call_id: &RequestField<'_>,
    parts: Vec<Part>,
    is_error: bool,
) -> Result<Part, ServerTrouble> {
    Ok(Part::ToolResult {
        call_id: call_id.text()?.to_owned(),
        text: joined(parts),
        is_error,
    })
}

fn joined(parts: Vec<Part>) -> String {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text { text } => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A part that is no text. The bytes stay outside, as everywhere; nobody here looks at them.
fn media(part: &RequestField<'_>, media_type: &str) -> Part {
    let digest = blake3::hash(part.value.to_string().as_bytes()).to_hex()[..32].to_owned();
    Part::Media {
        media_type: media_type.to_owned(),
        digest,
        tokens: MEDIA_TOKENS,
    }
}

/// The schema of a `json_schema` format, as both of OpenAI's interfaces have it.
fn schema(
    format: &RequestField<'_>,
    schema: &RequestField<'_>,
) -> Result<Option<Value>, ServerTrouble> {
    if !format.is_given() {
        return Ok(None);
    }
    let kind = format.get("type");
    match kind.text()? {
        "text" => Ok(None),
        "json_object" => Ok(Some(json!({"type": "object"}))),
        "json_schema" if schema.value.is_object() => Ok(Some(schema.value.clone())),
        "json_schema" => Err(schema.wrong("must be an object")),
        other => Err(kind.trouble(format!(
            "`{other}` is not a format; choose `text`, `json_object` or `json_schema`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an interface writes, it reads again as a message of the history: calls with their ids,
    /// tools and arguments.
    #[test]
    fn an_answer_with_calls_is_whole_and_in_events() {
        let called = |number: u8, name: &str| Called {
            id: format!("call_{number}"),
            name: name.to_owned(),
            arguments: format!("{{\"path\":\"a{number}.txt\"}}"),
        };
        let reply = ChatReply {
            text: "I look at both files.".to_owned(),
            finish: Finish::Stop,
            usage: Default::default(),
            latency_ms: 0,
            served: None,
        };
        for api in ALL {
            let calls = [called(1, "read"), called(2, "suite.look")];
            let Some(events) = api.events else { continue };
            let answer = ApiReply {
                asked: &Value::Null,
                model: "m",
                applied: &[],
                summary: None,
                is_paused: false,
                reply: &reply,
                calls: &calls,
                stopped_at: None,
                with_usage: true,
            };
            let (whole, events) = ((api.whole)(&answer).to_string(), events(&answer));
            let plain = events.replace("\\\"", "\"");
            for call in &calls {
                let name = call.name.rsplit('.').next().unwrap();
                for text in [&whole, &events] {
                    assert!(text.contains(&call.id), "{}: {text}", api.path);
                    assert!(text.contains(name), "{}: {text}", api.path);
                }
                let arguments = whole.replace("\\\"", "\"");
                assert!(arguments.contains(&call.arguments), "{}: {whole}", api.path);
                assert!(plain.contains(&call.arguments), "{}: {events}", api.path);
            }
            assert!(whole.contains(&reply.text), "{}: {whole}", api.path);
        }
    }
}
