//! Messages of Strands Agents: a list of objects with `role` and `content`, whose blocks have the
//! form of Amazon Bedrock's.
//!
//! Strands removes the messages that it compacts and does not mark the summary that takes their
//! place, so its compactions cannot be told from messages of the user. Absent on purpose: the
//! system prompt and tool definitions, which these files do not contain.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, Spoken, reported};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "strands",
    about: "messages of Strands Agents: a list with `role` and `content`, with `toolUse` and `toolResult` in their blocks",
    source: "strands-agents 1, messages of an agent, dumped as JSON",
    compactions: "Strands removes what it compacts and does not mark the summary. Compare two dumps, from before and after: `compactometer import pair BEFORE AFTER`.",
    particulars: "`agent.messages` is the list. The file has no times.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let keys = ["role", "content", "toolUse", "toolResult"];
        let value = ['[', '{']
            .into_iter()
            .find_map(|bracket| json_value::with_keys(text, bracket, &keys));
        value
            .as_ref()
            .is_some_and(|value| messages(value).is_some())
    },
    read,
};

/// The messages of a file, if each of their blocks has a key of Bedrock's and no `type`.
fn messages(value: &Value) -> Option<&Vec<Value>> {
    let list = value.as_array().or_else(|| value["messages"].as_array())?;
    let is_own = |block: &Value| block.is_object() && block.get("type").is_none();
    let are_own = |message: &Value| {
        message["role"].is_string()
            && message["content"]
                .as_array()
                .is_some_and(|blocks| blocks.iter().all(is_own))
    };
    list.iter().all(are_own).then_some(list)
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let value = json_value::read(input, IMPORTER.about, recorder)?;
    let mut session = ReadSession::new(input, IMPORTER.name, &input.stem);
    for (number, message) in (1..).zip(messages(&value).into_iter().flatten()) {
        let place = Place::Element(number);
        let role = if message["role"] == "assistant" {
            Role::Assistant
        } else {
            Role::User
        };
        let (mut results, mut parts) = (Vec::new(), Vec::new());
        for block in message["content"].as_array().into_iter().flatten() {
            match part(block) {
                Some(Part::ToolCall { .. }) if role == Role::User => {
                    recorder.ignore("call in a message of the user")
                }
                Some(result @ Part::ToolResult { .. }) => results.push(result),
                Some(part) => parts.push(part),
                None => {
                    let kind = block
                        .as_object()
                        .and_then(|block| block.keys().next())
                        .map_or("", String::as_str);
                    recorder.ignore(&format!("block `{kind}`"));
                }
            }
        }
        let usage = usage(&message["metadata"]["usage"]);
        let said = |role, parts, usage| Spoken {
            place,
            role,
            at_ms: None,
            parts,
            usage,
        };
        if !results.is_empty() {
            session.messages.push(said(Role::Tool, results, None));
        }
        if !parts.is_empty() {
            session.messages.push(said(role, parts, usage));
        }
    }
    Ok(vec![session])
}

fn part(block: &Value) -> Option<Part> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(said) = block["text"].as_str() {
        return Some(Part::Text {
            text: said.to_owned(),
        });
    }
    let (call, result) = (&block["toolUse"], &block["toolResult"]);
    if call.is_object() {
        let arguments = call["input"].to_string();
        return Some(Part::ToolCall {
            id: text(&call["toolUseId"]),
            name: text(&call["name"]),
            arguments,
        });
    }
    if result.is_object() {
        let content = result["content"].as_array().into_iter().flatten();
        let held = |block: &Value| {
            block["text"]
                .as_str()
                .map(str::to_owned)
                .or_else(|| Some(block.get("json")?.to_string()))
        };
        let text = content.filter_map(held).collect::<Vec<_>>().join("\n");
        let call_id = result["toolUseId"].as_str().unwrap_or_default().to_owned();
        return Some(Part::ToolResult {
            call_id,
            text,
            is_error: result["status"] == "error",
        });
    }
    if let Some(thought) = block["reasoningContent"]["reasoningText"]["text"].as_str() {
        return Some(Part::Thinking {
            text: thought.to_owned(),
            signature: None,
        });
    }
    block["image"].is_object().then(|| {
        media(
            &block["image"]["format"],
            &block["image"]["source"]["bytes"],
            true,
        )
    })
}

/// The usage that the provider reported.
fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    reported(Usage {
        input: count("inputTokens"),
        cache_read: count("cacheReadInputTokens"),
        cache_write: count("cacheWriteInputTokens"),
        output: count("outputTokens"),
    })
}
