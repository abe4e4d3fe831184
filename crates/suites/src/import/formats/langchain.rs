//! Messages of LangChain and of deepagents, which is made with it: a list of objects with `type`
//! and `content`, or an object that has such a list in `messages`.
//!
//! LangChain removes the messages that it compacts, so a file that was written after a compaction
//! begins with the summary, and what came before it cannot be measured. Absent on purpose: the
//! system prompt and tool definitions, which these files do not contain.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::{BlockReader, blocks};
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, ReadSession, Spoken, reported};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "langchain",
    about: "messages of LangChain or deepagents: a list of `type` human, ai, tool or system with `content`, or `messages` of such",
    source: "langchain-core 1 and deepagents 0.7, messages of a state, dumped as JSON",
    compactions: "LangChain removes what it compacts from its state: a file that begins with a summary (`lc_source` `summarization`) has a compaction that is listed as not measured. deepagents records compactions in another part of the state, which is not read.",
    particulars: "A state's messages can be dumped with `messages_to_dict` or `model_dump`. The file has no times, and mostly no system prompt.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let value = ['[', '{']
            .into_iter()
            .find_map(|bracket| json_value::with_keys(text, bracket, &["type", "content"]));
        value
            .as_ref()
            .is_some_and(|value| messages(value).is_some())
    },
    read,
};

/// The messages of a file, if all of them are LangChain's.
fn messages(value: &Value) -> Option<&Vec<Value>> {
    let list = value
        .as_array()
        .or_else(|| value["messages"].as_array())
        .filter(|list| !list.is_empty())?;
    list.iter()
        .all(|message| role(message).is_some() && message.get("content").is_some())
        .then_some(list)
}

fn role(message: &Value) -> Option<Role> {
    match message["type"].as_str()? {
        "human" => Some(Role::User),
        "ai" => Some(Role::Assistant),
        "tool" => Some(Role::Tool),
        "system" => Some(Role::System),
        _ => None,
    }
}

/// Whether the program wrote it in the place of earlier messages.
fn is_summary(message: &Value) -> bool {
    message["additional_kwargs"]["lc_source"] == "summarization"
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let value = json_value::read(input, IMPORTER.about, recorder)?;
    let mut session = ReadSession::new(input, IMPORTER.name, &input.stem);
    for (number, message) in (1..).zip(messages(&value).into_iter().flatten()) {
        let place = Place::Element(number);
        let said = spoken(place, message, recorder)?;
        if is_summary(message) {
            let text = said
                .parts
                .iter()
                .filter_map(compactometer_engine::message::part_text)
                .collect::<Vec<_>>()
                .join("\n");
            session.compactions.push(Compaction {
                context: vec![Left::Written(Role::User, text)],
                ..Compaction::at(place)
            });
        }
        session.messages.push(said);
    }
    Ok(vec![session])
}

fn spoken(place: Place, message: &Value, recorder: &mut Recorder) -> Result<Spoken, ImportError> {
    let role = role(message).unwrap_or(Role::User);
    let mut parts = Vec::new();
    match role {
        Role::Tool => {
            let mut reader = BlockReader { recorder };
            reader.result(&tool_result(message), &mut parts);
        }
        _ => {
            // An agent's calls are beside its content, and may be repeated in it.
            let is_call =
                |block: &&Value| block["type"] == "tool_use" || block["type"] == "function_call";
            let content = blocks(&message["content"]);
            for block in content.iter().filter(|block| !is_call(block)) {
                parts.extend(BlockReader { recorder }.part(place, role, block)?);
            }
        }
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for call in message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|_| role == Role::Assistant)
    {
        let arguments = call["args"].to_string();
        parts.push(Part::ToolCall {
            id: text(&call["id"]),
            name: text(&call["name"]),
            arguments,
        });
    }
    Ok(Spoken {
        place,
        role,
        at_ms: None,
        parts,
        usage: usage(&message["usage_metadata"]).filter(|_| role == Role::Assistant),
    })
}

/// The result of a call as a block that other formats have too.
fn tool_result(message: &Value) -> Value {
    serde_json::json!({
        "tool_use_id": message["tool_call_id"],
        "content": message["content"],
        "is_error": message["status"] == "error",
    })
}

/// The usage that the provider reported. Its input includes what was cached.
fn usage(value: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let details = &value["input_token_details"];
    let (cache_read, cache_write) = (
        count(&details["cache_read"]),
        count(&details["cache_creation"]),
    );
    let input = count(&value["input_tokens"])
        .saturating_sub(cache_read)
        .saturating_sub(cache_write);
    reported(Usage {
        input,
        cache_read,
        cache_write,
        output: count(&value["output_tokens"]),
    })
}
