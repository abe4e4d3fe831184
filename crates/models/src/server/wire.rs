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
        .map_err(|error| Trouble::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}")))?;
    if !body.is_object() {
        return Err(Trouble::new(StatusCode::BAD_REQUEST, "the body is not a JSON object"));
    }
    let body = Field { value: &body, place: String::new() };
    let model = body.get("model").text()?.to_owned();
    let choices = body.get("n");
    if choices.is_given() && choices.value.as_u64() != Some(1) {
        return Err(choices.trouble("one choice is given at a time; `n` must be 1"));
    }
    let most = Some(body.get("max_completion_tokens")).filter(Field::is_given);
    let most = most.unwrap_or_else(|| body.get("max_tokens"));
    let count = |value: &Value| value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    let most = most.number(count, "a whole number from 1")?;
    let temperature = |value: &Value| value.as_f64().filter(|number| (0.0..=2.0).contains(number));
    // Clients' seeds have a sign; ours have none.
    let seed = |value: &Value| value.as_u64().or(value.as_i64().map(i64::cast_unsigned));
    let request = ChatRequest {
        messages: messages(&body.get("messages"))?,
        tools: tools(&body.get("tools"))?,
        max_output_tokens: most,
        temperature: body.get("temperature").number(temperature, "a number from 0 to 2")?.map(|number| number as f32),
        schema: schema(&body.get("response_format"))?,
        seed: body.get("seed").number(seed, "a whole number")?.unwrap_or(0),
    };
    Ok(Asked {
        model,
        request,
        stream: body.get("stream").flag()?,
        with_usage: body.get("stream_options").get("include_usage").flag()?,
        stop: stop(&body.get("stop"))?,
    })
}

/// A value of the body and its place there, as errors show it. A value that is missing is null.
struct Field<'v> {
    value: &'v Value,
    place: String,
}

impl<'v> Field<'v> {
    fn get(&self, key: &str) -> Field<'v> {
        let place = if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) };
        Field { value: self.value.get(key).unwrap_or(&Value::Null), place }
    }

    fn is_given(&self) -> bool {
        !self.value.is_null()
    }

    fn items(&self) -> Result<impl Iterator<Item = Field<'v>>, Trouble> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("must be a list"))?;
        Ok(items.iter().enumerate().map(|(at, value)| Field { value, place: format!("{}[{at}]", self.place) }))
    }

    /// A string that must be there.
    fn text(&self) -> Result<&'v str, Trouble> {
        self.required()?.value.as_str().ok_or_else(|| self.wrong("must be a string"))
    }

    fn required(&self) -> Result<&Self, Trouble> {
        if self.is_given() { Ok(self) } else { Err(self.wrong("is missing")) }
    }

    fn flag(&self) -> Result<bool, Trouble> {
        let flag = if self.is_given() { self.value.as_bool() } else { Some(false) };
        flag.ok_or_else(|| self.wrong("must be true or false"))
    }

    fn number<N>(&self, read: fn(&Value) -> Option<N>, expected: &str) -> Result<Option<N>, Trouble> {
        let wrong = || self.wrong(&format!("is `{}`; it must be {expected}", self.value));
        self.is_given().then(|| read(self.value).ok_or_else(wrong)).transpose()
    }

    fn wrong(&self, how: &str) -> Trouble {
        self.trouble(format!("`{}` {how}", self.place))
    }

    fn trouble(&self, message: impl Into<String>) -> Trouble {
        Trouble::invalid(&self.place, message)
    }
}

fn stop(stop: &Field<'_>) -> Result<Vec<String>, Trouble> {
    /// As many as OpenAI takes.
    const MOST: usize = 4;
    let stops = match stop.value {
        Value::Null => Some(Vec::new()),
        Value::String(stop) => Some(vec![stop.clone()]),
        Value::Array(stops) if stops.len() <= MOST => {
            stops.iter().map(|stop| stop.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let stops = stops.ok_or_else(|| stop.wrong(&format!("must be a string or a list of at most {MOST} strings")))?;
    Ok(stops.into_iter().filter(|stop| !stop.is_empty()).collect())
}

fn schema(format: &Field<'_>) -> Result<Option<Value>, Trouble> {
    if !format.is_given() {
        return Ok(None);
    }
    let kind = format.get("type");
    match kind.text()? {
        "text" => Ok(None),
        "json_object" => Ok(Some(json!({"type": "object"}))),
        "json_schema" => {
            let schema = format.get("json_schema").get("schema");
            if schema.value.is_object() {
                Ok(Some(schema.value.clone()))
            } else {
                Err(schema.wrong("must be an object"))
            }
        }
        other => Err(kind.trouble(format!("`{other}` is not a format; choose `text`, `json_object` or `json_schema`"))),
    }
}

fn tools(tools: &Field<'_>) -> Result<Vec<ToolDefinition>, Trouble> {
    let tool = |tool: Field<'_>| {
        let function = tool.get("function");
        function.required()?;
        let parameters = function.get("parameters");
        Ok(ToolDefinition {
            name: function.get("name").text()?.to_owned(),
            description: function.get("description").value.as_str().unwrap_or_default().to_owned(),
            parameters: if parameters.is_given() { parameters.value.clone() } else { json!({}) },
        })
    };
    if tools.is_given() { tools.items()?.map(tool).collect() } else { Ok(Vec::new()) }
}

fn messages(messages: &Field<'_>) -> Result<Vec<WireMessage>, Trouble> {
    let read = messages.required()?.items()?.map(|field| message(&field)).collect::<Result<Vec<_>, _>>()?;
    if read.is_empty() {
        return Err(messages.wrong("is empty; at least one message is needed"));
    }
    Ok(read)
}

fn message(message: &Field<'_>) -> Result<WireMessage, Trouble> {
    let (role, content, calls) = (message.get("role"), message.get("content"), message.get("tool_calls"));
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
    let mut parts = parts(&content)?;
    if role == Role::Tool {
        let call_id = message.get("tool_call_id").text()?.to_owned();
        parts = vec![Part::ToolResult { call_id, text: joined(parts), is_error: false }];
    }
    if role == Role::Assistant && calls.is_given() {
        parts.extend(calls.items()?.map(tool_call).collect::<Result<Vec<_>, _>>()?);
    }
    if parts.is_empty() && role != Role::Assistant {
        return Err(content.wrong("is missing"));
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

fn parts(content: &Field<'_>) -> Result<Vec<Part>, Trouble> {
    match content.value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Part::Text { text: text.clone() }]),
        Value::Array(_) => content.items()?.map(part).collect(),
        _ => Err(content.wrong("must be a string or a list of parts")),
    }
}

fn part(part: Field<'_>) -> Result<Part, Trouble> {
    let kind = part.get("type");
    let media = |media_type: &str| {
        // The bytes stay outside, as everywhere; nobody here looks at them.
        let digest = blake3::hash(part.value.to_string().as_bytes()).to_hex()[..32].to_owned();
        Part::Media { media_type: media_type.to_owned(), digest, tokens: MEDIA_TOKENS }
    };
    match kind.text()? {
        kind @ ("text" | "refusal") => Ok(Part::Text { text: part.get(kind).text()?.to_owned() }),
        "image_url" => Ok(media("image/*")),
        "input_audio" => Ok(media("audio/*")),
        "file" => Ok(media("application/octet-stream")),
        other => Err(kind.trouble(format!("`{other}` is not a kind of part; choose `text` or `image_url`"))),
    }
}

/// Tokens of an image, sound or file, whatever its size: assumed, OpenAI's count of an image of one tile.
const MEDIA_TOKENS: u32 = 255;

fn tool_call(call: Field<'_>) -> Result<Part, Trouble> {
    let function = call.get("function");
    Ok(Part::ToolCall {
        id: call.get("id").text()?.to_owned(),
        name: function.get("name").text()?.to_owned(),
        arguments: function.get("arguments").text()?.to_owned(),
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
        insta::assert_debug_snapshot!(read(body.to_string().as_bytes()));
    }
}
