//! Runs of OpenHands before its SDK: one JSON object a line, with events in `history`: actions with `args`, observations with
//! `content`.
//!
//! The model's response is in the metadata of its calls; where it is missing, the event itself is the call. Absent on purpose:
//! what `recall` added to a request, because the program's template for it is not in the file.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::formats::openhands::view::View;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::readers::json_lines;
use crate::import::report::Recorder;
use crate::import::session::{Session, Spoken, reported};

/// Whether a line is a run.
pub(in crate::import) fn is_run(row: &Value) -> bool {
    let is_event = |event: &Value| {
        event["source"].is_string() && (event["action"].is_string() || event["observation"].is_string())
    };
    events(row).take(5).any(is_event)
}

/// The events of a run. The oldest versions have pairs of an action and its observation.
fn events(row: &Value) -> impl Iterator<Item = &Value> {
    let history = row["history"].as_array().into_iter().flatten();
    history.flat_map(|event| event.as_array().map_or(std::slice::from_ref(event), Vec::as_slice))
}

pub(in crate::import) fn sessions(
    input: &Input,
    rows: &[(Place, Value)],
    recorder: &mut Recorder,
) -> Result<Vec<Session>, ImportError> {
    let mut sessions = Vec::new();
    for (order, (place, row)) in (0..).zip(rows) {
        let mut reader =
            Reader { file: &input.file, recorder, messages: Vec::new(), view: View::default(), response: None };
        for (number, event) in (1..).zip(events(row)) {
            reader.event(Place::Turn { element: place.number(), message: number }, event)?;
        }
        let Reader { messages, view, .. } = reader;
        let group = row["instance_id"].as_str().unwrap_or(&input.stem).to_owned();
        sessions.push(Session {
            order,
            compactions: view.compactions,
            messages,
            ..Session::of(input, super::IMPORTER.name, group)
        });
    }
    Ok(sessions)
}

struct Reader<'r> {
    file: &'r str,
    recorder: &'r mut Recorder,
    messages: Vec<Spoken>,
    view: View,
    /// The response that the last message of the assistant is of.
    response: Option<String>,
}

impl Reader<'_> {
    fn event(&mut self, place: Place, event: &Value) -> Result<(), ImportError> {
        let at_ms = json_lines::local_at_ms(&event["timestamp"], self.file, place, self.recorder)?;
        let arguments = &event["args"];
        let is_user = event["source"] == "user";
        let place = match (event["action"].as_str(), event["observation"].as_str()) {
            (Some("system"), _) => {
                self.push(place, at_ms, Role::System, said(&arguments["content"]));
                None
            }
            (Some("message"), _) if is_user => Some(self.push(place, at_ms, Role::User, message(arguments))),
            (Some("condensation"), _) => {
                self.view.condense_run(place, at_ms, arguments);
                return Ok(());
            }
            (Some("message"), _) => Some(self.push(place, at_ms, Role::Assistant, message(arguments))),
            (Some(kind @ ("recall" | "change_agent_state" | "condensation_request")), _) => self.no_turn(kind),
            (Some(kind), _) if is_user => self.no_turn(&format!("{kind} of the user")),
            (Some(kind), _) => Some(self.call(place, at_ms, kind, event)),
            (None, Some(kind @ ("recall" | "agent_state_changed" | "null"))) => self.no_turn(kind),
            (None, Some(kind)) if is_loose(event) && said(&event["content"]).is_empty() => self.no_turn(kind),
            (None, Some(_)) if is_loose(event) => Some(self.push(place, at_ms, Role::User, said(&event["content"]))),
            (None, Some(kind)) => Some(self.push(place, at_ms, Role::Tool, vec![result(kind, event)])),
            (None, None) => self.no_turn("untyped event"),
        };
        self.view.push(&event["id"], place);
        Ok(())
    }

    fn no_turn(&mut self, kind: &str) -> Option<Place> {
        self.recorder.ignore(kind);
        None
    }

    fn push(&mut self, place: Place, at_ms: Option<i64>, role: Role, parts: Vec<Part>) -> Place {
        if role != Role::Tool {
            self.response = None;
        }
        self.messages.push(Spoken { place, role, at_ms, parts, usage: None });
        place
    }

    /// A call. Calls of one response are one message.
    fn call(&mut self, place: Place, at_ms: Option<i64>, kind: &str, event: &Value) -> Place {
        let metadata = &event["tool_call_metadata"];
        let response = &metadata["model_response"];
        let id = response["id"].as_str().map(str::to_owned);
        let call = call(kind, event);
        if id.is_some() && id == self.response {
            let last = self.messages.iter_mut().rfind(|said| said.role == Role::Assistant);
            if let Some(last) = last {
                last.parts.push(call);
                return last.place;
            }
        }
        let message = &response["choices"][0]["message"];
        let text = if message.is_object() { &message["content"] } else { &event["args"]["thought"] };
        let thought = message["reasoning_content"].as_str().filter(|text| !text.is_empty());
        let thought = thought.map(|text| Part::Thinking { text: text.to_owned(), signature: None });
        let parts = thought.into_iter().chain(said(text)).chain([call]).collect();
        self.messages.push(Spoken { place, role: Role::Assistant, at_ms, parts, usage: usage(&response["usage"]) });
        self.response = id;
        place
    }
}

/// Whether an observation names no call. The program sends such a one, which is an error, as a user's turn.
fn is_loose(event: &Value) -> bool {
    event["cause"].is_null() && !event["tool_call_metadata"].is_object()
}

/// A text, if there is one.
fn said(text: &Value) -> Vec<Part> {
    let text = text.as_str().filter(|text| !text.is_empty());
    text.map(|text| Part::Text { text: text.to_owned() }).into_iter().collect()
}

fn message(arguments: &Value) -> Vec<Part> {
    let links = arguments["image_urls"].as_array().into_iter().flatten();
    let images = links.map(|link| media(&Value::Null, link, false));
    said(&arguments["content"]).into_iter().chain(images).collect()
}

/// The call as the model wrote it, or else the event's arguments.
fn call(kind: &str, event: &Value) -> Part {
    let metadata = &event["tool_call_metadata"];
    let Some(id) = metadata["tool_call_id"].as_str() else {
        let id = format!("event-{}", event["id"]);
        return Part::ToolCall { id, name: kind.to_owned(), arguments: event["args"].to_string() };
    };
    let calls = metadata["model_response"]["choices"][0]["message"]["tool_calls"].as_array();
    let written = calls.into_iter().flatten().find(|call| call["id"].as_str() == Some(id));
    let arguments = written.and_then(|call| call["function"]["arguments"].as_str());
    Part::ToolCall {
        id: id.to_owned(),
        name: metadata["function_name"].as_str().unwrap_or(kind).to_owned(),
        arguments: arguments.map_or_else(|| event["args"].to_string(), str::to_owned),
    }
}

fn result(kind: &str, event: &Value) -> Part {
    let id = event["tool_call_metadata"]["tool_call_id"].as_str().map(str::to_owned);
    let call_id = id.unwrap_or_else(|| format!("event-{}", event["cause"]));
    let text = event["content"].as_str().unwrap_or_default().to_owned();
    Part::ToolResult { call_id, text, is_error: matches!(kind, "error" | "user_rejected") }
}

/// The usage that the provider reported. Its input includes what was cached.
fn usage(value: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let cache_read = count(&value["prompt_tokens_details"]["cached_tokens"]);
    let cache_write = count(&value["cache_creation_input_tokens"]);
    let input = count(&value["prompt_tokens"]).saturating_sub(cache_read).saturating_sub(cache_write);
    reported(Usage { input, cache_read, cache_write, output: count(&value["completion_tokens"]) })
}
