//! Messages in the forms of traces: the parts of OpenTelemetry, the chat format of OpenAI, the
//! blocks of Anthropic, the messages of LangChain and those of Inspect. A trace may mix them, so
//! each field is taken from where it is.

use std::collections::HashMap;

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::report::Recorder;
use crate::import::session::{Spoken, reported};

/// Reads messages of one place.
pub(in crate::import) struct Wire<'r> {
    pub(in crate::import) place: Place,
    pub(in crate::import) known: &'r mut KnownMessages,
    pub(in crate::import) recorder: &'r mut Recorder,
}

/// What was read already, because each request repeats the messages before it: a repair of them is
/// reported once.
pub(in crate::import) type KnownMessages = HashMap<blake3::Hash, Vec<Spoken>>;

impl Wire<'_> {
    /// Converts one message of a trace: its text by role, and its results.
    pub(in crate::import) fn spoken(
        &mut self,
        message: &Value,
    ) -> Result<Vec<Spoken>, ImportError> {
        let key = blake3::hash(message.to_string().as_bytes());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let said = self.read(message)?;
        self.known.insert(key, said.clone());
        Ok(said)
    }

    fn read(&mut self, message: &Value) -> Result<Vec<Spoken>, ImportError> {
        let fields = if message["kwargs"].is_object() {
            &message["kwargs"]
        } else {
            message
        };
        let Some(role) = role(message, fields) else {
            let what =
                "message whose role is not system, user, assistant or tool: dropped".to_owned();
            self.recorder.repair(self.place, what)?;
            return Ok(Vec::new());
        };
        let (mut parts, mut results) = (Vec::new(), Vec::new());
        for block in blocks(fields) {
            self.block(role, &block, &mut parts, &mut results)?;
        }
        parts.extend(calls(fields).filter(|_| role == Role::Assistant));
        if role == Role::Tool && results.is_empty() {
            results = result(fields, std::mem::take(&mut parts));
        }
        if role == Role::Tool {
            results.extend(self.beside_results(std::mem::take(&mut parts)));
        }
        let said = |role, parts: Vec<Part>| {
            (!parts.is_empty()).then_some(Spoken {
                place: self.place,
                role,
                at_ms: None,
                parts,
                usage: None,
            })
        };
        Ok(said(Role::Tool, results)
            .into_iter()
            .chain(said(role, parts))
            .collect())
    }

    /// The media of a tool's message that has results; a text beside them belongs to none and is
    /// counted.
    fn beside_results(&mut self, parts: Vec<Part>) -> Vec<Part> {
        let (media, others): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .partition(|part| matches!(part, Part::Media { .. }));
        others
            .iter()
            .for_each(|_| self.recorder.ignore("text beside a result"));
        media
    }

    fn block(
        &mut self,
        role: Role,
        block: &Value,
        parts: &mut Vec<Part>,
        results: &mut Vec<Part>,
    ) -> Result<(), ImportError> {
        match block["type"].as_str().unwrap_or("untyped") {
            "text" | "input_text" | "output_text" | "refusal" => {
                parts.push(Part::Text { text: text(block) })
            }
            "reasoning" | "thinking" if role == Role::Assistant => {
                let signature = block["signature"].as_str().map(str::to_owned);
                parts.push(Part::Thinking {
                    text: text(block),
                    signature,
                });
            }
            "tool_call" | "tool_use" if role == Role::Assistant => parts.push(call(block)),
            "tool_call_response" | "tool_result" => {
                results.push(response(block));
                let inner = block["content"]
                    .as_array()
                    .or(block["response"].as_array())
                    .into_iter()
                    .flatten();
                results.extend(inner.filter(is_medium).map(medium));
            }
            kind if MEDIA.contains(&kind) => parts.push(medium(block)),
            kind => {
                let what = format!(
                    "part of type `{kind}` in a message of role `{}`: dropped",
                    role.name()
                );
                self.recorder.repair(self.place, what)?;
            }
        }
        Ok(())
    }
}

/// The types of parts that are an image, sound or document.
const MEDIA: [&str; 15] = [
    "image",
    "image_url",
    "image-url",
    "input_image",
    "audio",
    "audio-url",
    "video",
    "video-url",
    "document",
    "document-url",
    "blob",
    "binary",
    "uri",
    "file",
    "file_data",
];

fn is_medium(block: &&Value) -> bool {
    block["type"]
        .as_str()
        .is_some_and(|kind| MEDIA.contains(&kind))
}

fn role(message: &Value, fields: &Value) -> Option<Role> {
    let class = message["id"]
        .as_array()
        .and_then(|path| path.last())
        .and_then(Value::as_str);
    let named = fields["role"]
        .as_str()
        .or(fields["type"].as_str())
        .or(class)?;
    Some(match named {
        "system" | "developer" | "SystemMessage" => Role::System,
        "user" | "human" | "HumanMessage" => Role::User,
        "assistant" | "ai" | "model" | "AIMessage" | "AIMessageChunk" => Role::Assistant,
        "tool" | "function" | "ToolMessage" => Role::Tool,
        _ => return None,
    })
}

/// The parts of a message; a text is one.
fn blocks(fields: &Value) -> Vec<Value> {
    let content = if fields["parts"].is_array() {
        &fields["parts"]
    } else {
        &fields["content"]
    };
    crate::import::readers::blocks::blocks(content)
}

/// The text of a part, in whichever field its form has it. A value that is not text is written as
/// JSON.
fn text(block: &Value) -> String {
    let keys = [
        "content",
        "text",
        "reasoning",
        "thinking",
        "refusal",
        "response",
        "result",
    ];
    match keys
        .iter()
        .map(|key| &block[*key])
        .find(|value| !value.is_null())
    {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(inner)) if inner.iter().any(|one| one["type"] == "text") => inner
            .iter()
            .filter(|one| !is_medium(one))
            .map(text)
            .collect::<Vec<_>>()
            .join("\n"),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// The calls that a message has beside its content.
fn calls(fields: &Value) -> impl Iterator<Item = Part> {
    let beside = &fields["additional_kwargs"]["tool_calls"];
    let calls = fields["tool_calls"]
        .as_array()
        .filter(|calls| !calls.is_empty())
        .or(beside.as_array());
    let in_blocks = blocks(fields)
        .iter()
        .any(|block| block["type"] == "tool_use" || block["type"] == "tool_call");
    calls.filter(|_| !in_blocks).into_iter().flatten().map(call)
}

fn call(call: &Value) -> Part {
    let function = if call["function"].is_object() {
        &call["function"]
    } else {
        call
    };
    let name = function["name"]
        .as_str()
        .or(call["function"].as_str())
        .unwrap_or_default();
    let arguments = ["arguments", "args", "input"]
        .iter()
        .map(|key| &function[*key])
        .find(|value| !value.is_null());
    Part::ToolCall {
        id: call["id"].as_str().unwrap_or_default().to_owned(),
        name: name.to_owned(),
        arguments: match arguments {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "{}".to_owned(),
        },
    }
}

fn response(block: &Value) -> Part {
    let id = block["id"]
        .as_str()
        .or(block["tool_use_id"].as_str())
        .unwrap_or_default();
    let is_error = block["is_error"].as_bool().unwrap_or(false);
    let own = ["response", "result", "content"]
        .iter()
        .map(|key| &block[*key])
        .find(|value| !value.is_null());
    let text = own.map_or_else(String::new, |own| {
        text(&serde_json::json!({ "content": own }))
    });
    Part::ToolResult {
        call_id: id.to_owned(),
        text,
        is_error,
    }
}

/// The result that a message of a tool is, followed by its media.
fn result(fields: &Value, parts: Vec<Part>) -> Vec<Part> {
    let (texts, media): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .partition(|part| matches!(part, Part::Text { .. }));
    let texts = texts
        .iter()
        .filter_map(compactometer_engine::message::part_text)
        .collect::<Vec<_>>()
        .join("\n");
    let error = fields["error"]["message"].as_str().unwrap_or_default();
    let text = [texts.as_str(), error]
        .iter()
        .filter(|text| !text.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join("\n");
    let is_error = fields["error"].is_object() || fields["status"] == "error";
    let call_id = fields["tool_call_id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    std::iter::once(Part::ToolResult {
        call_id,
        text,
        is_error,
    })
    .chain(media)
    .collect()
}

fn medium(block: &Value) -> Part {
    let source = &block["source"];
    let places = [
        &block["content"],
        &block["uri"],
        &block["url"],
        &block["image_url"]["url"],
        &block["image_url"],
        &block["image"],
        &block["audio"],
        &block["video"],
        &block["document"],
        &block["data"],
        &source["data"],
        &source["url"],
        &block["file_id"],
    ];
    let data = places
        .into_iter()
        .find(|data| data.is_string())
        .unwrap_or(&Value::Null);
    let kinds = [
        &block["mime_type"],
        &block["media_type"],
        &source["media_type"],
        &block["modality"],
        &Value::Null,
    ];
    let kind = kinds
        .into_iter()
        .find(|kind| kind.is_string())
        .unwrap_or(&Value::Null);
    let is_encoded =
        matches!(block["type"].as_str(), Some("blob" | "binary")) || source["type"] == "base64";
    media(kind, data, is_encoded)
}

/// What a provider reported. Programs differ in whether the input includes what was cached: with a
/// total this can be computed, and without one it does.
pub(in crate::import) fn usage(
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    total: Option<u64>,
) -> Option<Usage> {
    let cached = cache_read.saturating_add(cache_write);
    let all = [input, cached, output]
        .iter()
        .fold(0_u64, |sum, one| sum.saturating_add(*one));
    let input = if cached > 0 && total == Some(all) {
        input
    } else {
        input.saturating_sub(cached)
    };
    reported(Usage {
        input,
        cache_read,
        cache_write,
        output,
    })
}
