//! Events of OpenHands: of the SDK, one JSON object a line, or runs of versions before it, one a
//! line with its events in `history` (`openhands/runs.rs`).
//!
//! Actions of one response are one message. A condensation leaves its events in the file, so its
//! summary is a recorded compaction and not a message. Times have no zone and count as UTC. Absent
//! on purpose: usage, which events of the SDK do not contain.

mod history;
mod runs;
mod view;

use compactometer_engine::message::{Part, Role};
use compactometer_formats::scenario::Unmeasured;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::formats::openhands::history::{EventHistory, EventWords};
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::{media, tool_result};
use crate::import::readers::json_lines;
use crate::import::readers::linked::{self, Links};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, ReadSession};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "openhands",
    about: "OpenHands events: of the SDK, one a line with `kind` and `source`, or runs, one a line with `history`",
    source: "OpenHands SDK 1.58, events/event-*.json of a conversation, one a line; OpenHands 0.35, output.jsonl of an evaluation",
    compactions: "A condensation has the place, time, forgotten events, summary and the summary's position. All are applied in order. In the SDK a summary stays until it is forgotten; in runs of versions before, the last one counts. Trigger, tokens before and usage are not in the file.",
    particulars: "Events of the SDK lie in one file each: write them into one, in order. Actions with one `llm_response_id` are one message. A run's `tool_call_metadata.model_response` has texts, arguments and usage; events of the SDK have no usage. What `recall` added to a request is not in the file. Times without a zone count as UTC.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| json_lines::beginning(text).any(|row| is_event(&row) || runs::is_run(&row)),
    read,
};

/// A branch of a conversation names the event that it follows.
const LINKS: Links = Links {
    id: |row| row["id"].as_str(),
    parent: |row| row["parent_id"].as_str(),
};

fn is_event(row: &Value) -> bool {
    let is_kind = |kind: &str| kind.ends_with("Event") || kind.starts_with("Condensation");
    row["id"].is_string() && row["source"].is_string() && row["kind"].as_str().is_some_and(is_kind)
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    if rows.iter().any(|(_, row)| runs::is_run(row)) {
        return runs::sessions(input, &rows, recorder);
    }
    let is_linked = rows.iter().any(|(_, row)| row["parent_id"].is_string());
    let kept = is_linked
        .then(|| linked::chain(&rows, &LINKS, recorder))
        .transpose()?;
    let mut history = EventHistory::new(recorder);
    for (at, (place, row)) in rows.iter().enumerate() {
        match &kept {
            Some(kept) if !kept.contains(&at) && row["kind"] == "Condensation" => {
                let behind = Compaction::unmeasured(*place, Unmeasured::LeftBehind);
                history.view.compactions.push(behind);
            }
            Some(kept) if !kept.contains(&at) => {
                history.recorder.ignore("event of an abandoned branch")
            }
            _ => read_event(&mut history, *place, row)?,
        }
    }
    Ok(vec![history.into_session(input, &input.stem)])
}

fn read_event(history: &mut EventHistory, place: Place, row: &Value) -> Result<(), ImportError> {
    let at_ms = json_lines::local_at_ms(&row["timestamp"], place, history.recorder)?;
    let failed = |key: &str| {
        vec![Part::Text {
            text: row[key].as_str().unwrap_or_default().to_owned(),
        }]
    };
    let (role, parts) = match row["kind"].as_str().unwrap_or("untyped") {
        "SystemPromptEvent" => (
            Role::System,
            texts([&row["system_prompt"], &row["dynamic_context"]]),
        ),
        "MessageEvent" => message(row),
        "ActionEvent" => (Role::Assistant, action(row)),
        "ObservationEvent" => {
            let observation = &row["observation"];
            (
                Role::Tool,
                result(
                    row,
                    contents(&observation["content"]),
                    observation["is_error"] == true,
                ),
            )
        }
        "AgentErrorEvent" => (Role::Tool, result(row, failed("error"), true)),
        "UserRejectObservation" => (Role::Tool, result(row, failed("rejection_reason"), true)),
        "Condensation" => {
            history.view.condense(place, at_ms, row);
            return Ok(());
        }
        kind => {
            history.recorder.ignore(kind);
            return Ok(());
        }
    };
    let place = history.say(
        place,
        at_ms,
        EventWords {
            response: &row["llm_response_id"],
            ..EventWords::new(role, parts)
        },
    );
    history
        .view
        .push(&row["id"], (role != Role::System).then_some(place));
    Ok(())
}

fn message(row: &Value) -> (Role, Vec<Part>) {
    let message = &row["llm_message"];
    let role = match message["role"].as_str() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let mut parts = if role == Role::Assistant {
        thoughts(message)
    } else {
        Vec::new()
    };
    parts.extend(contents(&message["content"]));
    // The program adds what a skill or a hook says.
    parts.extend(contents(&row["extended_content"]));
    (role, parts)
}

fn texts<const N: usize>(values: [&Value; N]) -> Vec<Part> {
    let texts = values
        .into_iter()
        .filter_map(|value| value["text"].as_str());
    texts
        .map(|text| Part::Text {
            text: text.to_owned(),
        })
        .collect()
}

/// The texts and images of a content.
fn contents(value: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    for block in value.as_array().into_iter().flatten() {
        parts.extend(texts([block]));
        let links = block["image_urls"].as_array().into_iter().flatten();
        parts.extend(links.map(|link| media(&Value::Null, link, false)));
    }
    parts
}

/// What the model thought: blocks with a signature, or else the text of its reasoning.
fn thoughts(value: &Value) -> Vec<Part> {
    let blocks = value["thinking_blocks"].as_array().into_iter().flatten();
    let thoughts = blocks.filter_map(|block| {
        let signature = block["signature"].as_str().map(str::to_owned);
        Some(Part::Thinking {
            text: block["thinking"].as_str()?.to_owned(),
            signature,
        })
    });
    let thoughts = thoughts.collect::<Vec<_>>();
    let reasoning = value["reasoning_content"]
        .as_str()
        .filter(|text| thoughts.is_empty() && !text.is_empty());
    let reasoning = reasoning.map(|text| Part::Thinking {
        text: text.to_owned(),
        signature: None,
    });
    thoughts.into_iter().chain(reasoning).collect()
}

fn action(row: &Value) -> Vec<Part> {
    let call = &row["tool_call"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let id = text(&row["tool_call_id"])
        .or(text(&call["id"]))
        .unwrap_or_default();
    let name = text(&call["name"])
        .or(text(&row["tool_name"]))
        .unwrap_or_default();
    let arguments = text(&call["arguments"]).unwrap_or_else(|| row["action"].to_string());
    let mut parts = thoughts(row);
    parts.extend(contents(&row["thought"]));
    parts.push(Part::ToolCall {
        id,
        name,
        arguments,
    });
    parts
}

fn result(row: &Value, contents: Vec<Part>, is_error: bool) -> Vec<Part> {
    tool_result(&row["tool_call_id"], contents, is_error)
}
