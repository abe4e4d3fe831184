//! Runs of OpenHands before its SDK: one JSON object a line, with events in `history`: actions with
//! `args`, observations with `content`.
//!
//! The model's response is in the metadata of its calls; where it is missing, the event itself is
//! the call. Absent on purpose: what `recall` added to a request, because the program's template
//! for it is not in the file.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::formats::openhands::history::{EventHistory, EventWords};
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::readers::json_lines;
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, reported};

/// Whether a line is a run.
pub(in crate::import) fn is_run(row: &Value) -> bool {
    let is_event = |event: &Value| {
        event["source"].is_string()
            && (event["action"].is_string() || event["observation"].is_string())
    };
    events(row).take(5).any(is_event)
}

/// The events of a run. The oldest versions have pairs of an action and its observation.
fn events(row: &Value) -> impl Iterator<Item = &Value> {
    let history = row["history"].as_array().into_iter().flatten();
    history.flat_map(|event| {
        event
            .as_array()
            .map_or(std::slice::from_ref(event), Vec::as_slice)
    })
}

pub(in crate::import) fn sessions(
    input: &Input,
    rows: &[(Place, Value)],
    recorder: &mut Recorder,
) -> Result<Vec<ReadSession>, ImportError> {
    let mut sessions = Vec::new();
    for (order, (place, row)) in (0..).zip(rows) {
        let mut history = EventHistory::new(recorder);
        for (number, event) in (1..).zip(events(row)) {
            read_event(
                &mut history,
                Place::Turn {
                    element: place.number(),
                    message: number,
                },
                event,
            )?;
        }
        let group = row["instance_id"].as_str().unwrap_or(&input.stem);
        sessions.push(ReadSession {
            order,
            ..history.into_session(input, group)
        });
    }
    Ok(sessions)
}

fn read_event(history: &mut EventHistory, place: Place, event: &Value) -> Result<(), ImportError> {
    let at_ms = json_lines::local_at_ms(&event["timestamp"], place, history.recorder)?;
    let arguments = &event["args"];
    let is_user = event["source"] == "user";
    // What it says, or the kind of an event without a turn.
    let turn = match (event["action"].as_str(), event["observation"].as_str()) {
        (Some("condensation"), _) => {
            history.view.condense_run(place, at_ms, arguments);
            return Ok(());
        }
        (Some("system"), _) => Ok(EventWords::new(
            Role::System,
            text_parts(&arguments["content"]),
        )),
        (Some("message"), _) if is_user => Ok(EventWords::new(Role::User, message(arguments))),
        (Some("message"), _) => Ok(EventWords::new(Role::Assistant, message(arguments))),
        (Some(kind @ ("recall" | "change_agent_state" | "condensation_request")), _) => {
            Err(kind.to_owned())
        }
        (Some(kind), _) if is_user => Err(format!("{kind} of the user")),
        (Some(kind), _) => Ok(action(history, kind, event)),
        (None, Some(kind @ ("recall" | "agent_state_changed" | "null"))) => Err(kind.to_owned()),
        (None, Some(kind)) if is_loose(event) && text_parts(&event["content"]).is_empty() => {
            Err(kind.to_owned())
        }
        (None, Some(_)) if is_loose(event) => {
            Ok(EventWords::new(Role::User, text_parts(&event["content"])))
        }
        (None, Some(kind)) => Ok(EventWords::new(Role::Tool, vec![result(kind, event)])),
        (None, None) => Err("untyped event".to_owned()),
    };
    let place = match turn {
        Ok(said) => {
            let is_turn = said.role != Role::System;
            Some(history.say(place, at_ms, said)).filter(|_| is_turn)
        }
        Err(kind) => {
            history.recorder.ignore(&kind);
            None
        }
    };
    history.view.push(&event["id"], place);
    Ok(())
}

/// A call, with what the model said before the first call of its response.
fn action<'v>(history: &EventHistory, kind: &str, event: &'v Value) -> EventWords<'v> {
    let response = &event["tool_call_metadata"]["model_response"];
    let mut parts = Vec::new();
    if !history.continues(&response["id"]) {
        let message = &response["choices"][0]["message"];
        let text = if message.is_object() {
            &message["content"]
        } else {
            &event["args"]["thought"]
        };
        let thought = message["reasoning_content"]
            .as_str()
            .filter(|text| !text.is_empty());
        parts.extend(thought.map(|text| Part::Thinking {
            text: text.to_owned(),
            signature: None,
        }));
        parts.extend(text_parts(text));
    }
    parts.push(call(kind, event));
    EventWords {
        response: &response["id"],
        usage: usage(&response["usage"]),
        ..EventWords::new(Role::Assistant, parts)
    }
}

/// Whether an observation names no call. The program sends such a one, which is an error, as a
/// user's turn.
fn is_loose(event: &Value) -> bool {
    event["cause"].is_null() && !event["tool_call_metadata"].is_object()
}

/// A text, if there is one.
fn text_parts(text: &Value) -> Vec<Part> {
    let text = text.as_str().filter(|text| !text.is_empty());
    text.map(|text| Part::Text {
        text: text.to_owned(),
    })
    .into_iter()
    .collect()
}

fn message(arguments: &Value) -> Vec<Part> {
    let links = arguments["image_urls"].as_array().into_iter().flatten();
    let images = links.map(|link| media(&Value::Null, link, false));
    text_parts(&arguments["content"])
        .into_iter()
        .chain(images)
        .collect()
}

/// The call as the model wrote it, or else the event's arguments.
fn call(kind: &str, event: &Value) -> Part {
    let metadata = &event["tool_call_metadata"];
    let Some(id) = metadata["tool_call_id"].as_str() else {
        let id = format!("event-{}", event["id"]);
        return Part::ToolCall {
            id,
            name: kind.to_owned(),
            arguments: event["args"].to_string(),
        };
    };
    let calls = metadata["model_response"]["choices"][0]["message"]["tool_calls"].as_array();
    let written = calls
        .into_iter()
        .flatten()
        .find(|call| call["id"].as_str() == Some(id));
    let arguments = written.and_then(|call| call["function"]["arguments"].as_str());
    Part::ToolCall {
        id: id.to_owned(),
        name: metadata["function_name"]
            .as_str()
            .unwrap_or(kind)
            .to_owned(),
        arguments: arguments.map_or_else(|| event["args"].to_string(), str::to_owned),
    }
}

fn result(kind: &str, event: &Value) -> Part {
    let id = event["tool_call_metadata"]["tool_call_id"]
        .as_str()
        .map(str::to_owned);
    let call_id = id.unwrap_or_else(|| format!("event-{}", event["cause"]));
    let text = event["content"].as_str().unwrap_or_default().to_owned();
    Part::ToolResult {
        call_id,
        text,
        is_error: matches!(kind, "error" | "user_rejected"),
    }
}

/// The usage that the provider reported. Its input includes what was cached.
fn usage(value: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let cache_read = count(&value["prompt_tokens_details"]["cached_tokens"]);
    let cache_write = count(&value["cache_creation_input_tokens"]);
    let input = count(&value["prompt_tokens"])
        .saturating_sub(cache_read)
        .saturating_sub(cache_write);
    reported(Usage {
        input,
        cache_read,
        cache_write,
        output: count(&value["completion_tokens"]),
    })
}
