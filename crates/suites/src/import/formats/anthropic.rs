//! Conversations as Anthropic's Messages API takes them, as JSON or JSON Lines.
//!
//! There, a result is part of a user's message. Here, it is a separate message. Absent on purpose:
//! definitions of tools beside the messages, which are only counted.

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::place::Place;
use crate::import::readers::blocks::{BlockReader, blocks, usage};
use crate::import::readers::json_lines;
use crate::import::readers::message_files::{self, MessageFile, SaidMessages};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Spoken, unreadable};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "anthropic",
    about: "messages of Anthropic's Messages API: an array, an object with `messages`, or one of either a line",
    source: "Anthropic Messages API 2023-06-01, messages of a request",
    compactions: "A block `compaction` is one, with its summary. A summary of a program is imported as a message, and `compactometer import pair BEFORE AFTER` measures it.",
    particulars: "As for `openai`. Results become a separate message before the rest of the user's message. `redacted_thinking`, `tools` and unknown blocks within results are counted and left out.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises,
    read: |input, recorder| message_files::sessions(input, "anthropic", recorder, messages),
};

/// The API's form is known by its roles and by blocks that have a `type`. New types of blocks come
/// every few months; those of other APIs do not occur.
fn recognises(text: &str) -> bool {
    let messages = message_files::beginning(text);
    let is_own = |message: &Value| {
        let types = blocks(&message["content"]);
        let is_possible = |block: &Value| {
            block["type"]
                .as_str()
                .is_some_and(|kind| !OF_OTHERS.contains(&kind))
        };
        matches!(message["role"].as_str(), Some("user" | "assistant"))
            && message["tool_calls"].is_null()
            && types.iter().all(is_possible)
    };
    !messages.is_empty() && messages.iter().all(is_own)
}

/// Types of blocks that other APIs have.
const OF_OTHERS: &[&str] = &[
    "image_url",
    "input_audio",
    "input_text",
    "output_text",
    "refusal",
    "file",
    "reasoning",
    "tool-call",
    "tool-result",
];

fn messages(
    conversation: &MessageFile,
    recorder: &mut Recorder,
) -> Result<SaidMessages, ImportError> {
    let MessageFile { around, messages } = conversation;
    let mut said = SaidMessages::default();
    let mut reader = BlockReader { recorder };
    let system = blocks(&around["system"]);
    if let (false, Some((place, _))) = (system.is_empty(), messages.first()) {
        let parts = parts(&mut reader, *place, Role::System, &system)?;
        said.messages.push(Spoken {
            place: *place,
            role: Role::System,
            at_ms: None,
            parts,
            usage: None,
        });
    }
    for (place, message) in messages {
        said.compactions.extend(compaction(*place, message));
        said.messages.extend(turns(&mut reader, *place, message)?);
    }
    Ok(said)
}

/// The compaction that the API made before a reply. The next requests begin with its summary.
fn compaction(place: Place, message: &Value) -> Option<Compaction> {
    let blocks = message["content"].as_array()?;
    let block = blocks.iter().find(|block| is_compaction(block))?;
    let summary = block["content"].as_str().unwrap_or_default();
    Some(Compaction {
        unmeasured: unreadable(summary),
        context: vec![Left::Written(Role::Assistant, summary.to_owned())],
        ..Compaction::at(place)
    })
}

fn is_compaction(block: &Value) -> bool {
    block["type"] == "compaction"
}

/// The messages that one of the API is here: its results, then everything else.
fn turns(
    reader: &mut BlockReader,
    place: Place,
    message: &Value,
) -> Result<Vec<Spoken>, ImportError> {
    let role = match message["role"].as_str().unwrap_or("unknown") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            reader.recorder.repair(
                place,
                format!("role `{other}` is not user or assistant: dropped"),
            )?;
            return Ok(Vec::new());
        }
    };
    let at_ms = json_lines::at_ms(&message["timestamp"], place, reader.recorder)?;
    let (results, others): (Vec<_>, Vec<_>) = blocks(&message["content"])
        .into_iter()
        .filter(|block| !is_compaction(block))
        .partition(|block| block["type"] == "tool_result");
    let mut answers = Vec::new();
    results
        .iter()
        .for_each(|block| reader.result(block, &mut answers));
    let parts = parts(reader, place, role, &others)?;
    let usage = usage(&message["usage"]).filter(|_| role == Role::Assistant);
    let said = |role, parts, usage| Spoken {
        place,
        role,
        at_ms,
        parts,
        usage,
    };
    let mut turns = Vec::new();
    if !answers.is_empty() {
        turns.push(said(Role::Tool, answers, None));
    }
    if !parts.is_empty() || turns.is_empty() {
        turns.push(said(role, parts, usage));
    }
    Ok(turns)
}

fn parts(
    reader: &mut BlockReader,
    place: Place,
    role: Role,
    blocks: &[Value],
) -> Result<Vec<Part>, ImportError> {
    let mut parts = Vec::new();
    for block in blocks {
        parts.extend(reader.part(place, role, block)?);
    }
    Ok(parts)
}
