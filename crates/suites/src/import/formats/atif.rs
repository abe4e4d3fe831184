//! Trajectories in Harbor's Agent Trajectory Interchange Format: a JSON object with
//! `schema_version` and `steps`, or one a line.
//!
//! A step of the agent is a message, and its observation is the results. The observation of a step
//! without calls is what the environment said next, so it is a user's turn. Absent on purpose:
//! compactions, for which the format has no record up to 1.6; a continuation in another file, and
//! trajectories of subagents, which are only counted.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::{media, tool_result};
use crate::import::readers::json_lines;
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, Spoken, reported, type_name};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "atif",
    about: "an ATIF trajectory: a JSON object with `schema_version` ATIF and `steps`, or one a line",
    source: "Harbor, Agent Trajectory Interchange Format 1.4 to 1.6, agent/trajectory.json of a trial",
    compactions: "The format has no record of a compaction up to 1.6. An agent that compacts may continue in the file that `continued_trajectory_ref` names; such references are counted.",
    particulars: "A result without the id of a call answers the first unanswered call of its step. A step with `is_copied_context` has no usage, since another trajectory paid for it. Trajectories of subagents are counted and left out. No long public file was found: the tests use a file made after the schema.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        is_trajectory(
            &json_value::with_keys(text, '{', &["schema_version", "steps"]).unwrap_or_default(),
        ) || json_lines::beginning(text).any(|row| is_trajectory(&row))
    },
    read,
};

fn is_trajectory(value: &Value) -> bool {
    value["schema_version"]
        .as_str()
        .is_some_and(|version| version.starts_with("ATIF-"))
        && value["steps"].is_array()
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = match is_trajectory(
        &json_value::with_keys(&input.text, '{', &["schema_version", "steps"]).unwrap_or_default(),
    ) {
        true => vec![(
            Place::Line(1),
            json_value::read(input, IMPORTER.about, recorder)?,
        )],
        false => json_lines::read(input, recorder)?,
    };
    let mut sessions = Vec::new();
    for (order, (place, row)) in (0..).zip(&rows) {
        if is_trajectory(row) {
            sessions.push(session(input, order, *place, row, recorder)?);
        } else {
            let what = "not a trajectory with `schema_version` and `steps`: dropped".to_owned();
            recorder.repair(*place, what)?;
        }
    }
    Ok(sessions)
}

fn session(
    input: &Input,
    order: u64,
    place: Place,
    row: &Value,
    recorder: &mut Recorder,
) -> Result<ReadSession, ImportError> {
    if row["agent"]["tool_definitions"].is_array() {
        recorder.ignore("definitions of tools");
    }
    if row["continued_trajectory_ref"].is_string() {
        recorder.ignore("continuation in another file");
    }
    let mut reader = AtifReader {
        recorder,
        messages: Vec::new(),
    };
    for (number, step) in (1..).zip(row["steps"].as_array().into_iter().flatten()) {
        reader.step(
            Place::Turn {
                element: place.number(),
                message: number,
            },
            step,
        )?;
    }
    let messages = reader.messages;
    let group = row["session_id"]
        .as_str()
        .filter(|id| !id.is_empty())
        .unwrap_or(&input.stem)
        .to_owned();
    Ok(ReadSession {
        order,
        messages,
        ..ReadSession::new(input, IMPORTER.name, group)
    })
}

struct AtifReader<'r> {
    recorder: &'r mut Recorder,
    messages: Vec<Spoken>,
}

impl AtifReader<'_> {
    fn step(&mut self, place: Place, step: &Value) -> Result<(), ImportError> {
        let at_ms = json_lines::local_at_ms(&step["timestamp"], place, self.recorder)?;
        let role = match step["source"].as_str() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("agent") => Role::Assistant,
            other => {
                let other = other.unwrap_or(type_name(&step["source"]));
                let what = format!("source `{other}` is not system, user or agent: dropped");
                return self.recorder.repair(place, what);
            }
        };
        let calls = step["tool_calls"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let parts = self.parts(place, role, step, calls)?;
        // What was copied from another trajectory cost nothing in this one.
        let is_own = role == Role::Assistant && step["is_copied_context"] != true;
        let usage = Some(&step["metrics"]).filter(|_| is_own).and_then(usage);
        let late =
            role == Role::System && self.messages.iter().any(|said| said.role != Role::System);
        if late {
            self.recorder.ignore("system step during the conversation");
        } else if !parts.is_empty() || role != Role::Assistant {
            self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts,
                usage,
            });
        }
        self.observation(place, at_ms, step, !calls.is_empty())
    }

    fn parts(
        &mut self,
        place: Place,
        role: Role,
        step: &Value,
        calls: &[Value],
    ) -> Result<Vec<Part>, ImportError> {
        let mut parts = Vec::new();
        if let Some(text) = step["reasoning_content"]
            .as_str()
            .filter(|text| role == Role::Assistant && !text.is_empty())
        {
            parts.push(Part::Thinking {
                text: text.to_owned(),
                signature: None,
            });
        }
        parts.extend(self.contents(place, &step["message"])?);
        parts.extend(calls.iter().filter(|_| role == Role::Assistant).map(call));
        Ok(parts)
    }

    /// The texts and images of a content, which may be a string.
    fn contents(&mut self, place: Place, value: &Value) -> Result<Vec<Part>, ImportError> {
        if let Some(text) = value.as_str() {
            let text = Some(text).filter(|text| !text.trim().is_empty());
            return Ok(text
                .map(|text| Part::Text {
                    text: text.to_owned(),
                })
                .into_iter()
                .collect());
        }
        let mut parts = Vec::new();
        for block in value.as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap_or("untyped") {
                "text" => parts.push(Part::Text {
                    text: block["text"].as_str().unwrap_or_default().to_owned(),
                }),
                "image" => parts.push(media(
                    &block["source"]["media_type"],
                    &block["source"]["path"],
                    false,
                )),
                kind => {
                    let what = format!("part of type `{kind}` in a content: dropped");
                    self.recorder.repair(place, what)?;
                }
            }
        }
        Ok(parts)
    }

    fn observation(
        &mut self,
        place: Place,
        at_ms: Option<i64>,
        step: &Value,
        has_calls: bool,
    ) -> Result<(), ImportError> {
        let results = list(&step["observation"]["results"]);
        let is_call = |result: &Value| result["source_call_id"].is_string();
        let is_answer = has_calls || results.iter().any(is_call);
        let mut parts = Vec::new();
        for result in results {
            if result["subagent_trajectory_ref"].is_array() {
                self.recorder.ignore("trajectory of a subagent");
            }
            let contents = self.contents(place, &result["content"])?;
            parts.extend(if is_answer {
                tool_result(&result["source_call_id"], contents, false)
            } else {
                contents
            });
        }
        if !parts.is_empty() {
            let role = if is_answer { Role::Tool } else { Role::User };
            self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts,
                usage: None,
            });
        }
        Ok(())
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn call(call: &Value) -> Part {
    let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
    Part::ToolCall {
        id: text("tool_call_id"),
        name: text("function_name"),
        arguments: call["arguments"].to_string(),
    }
}

/// The usage that the provider reported. Its input includes what was cached.
fn usage(metrics: &Value) -> Option<Usage> {
    let count = |key: &str| metrics[key].as_u64().unwrap_or(0);
    let cache_read = count("cached_tokens");
    let input = count("prompt_tokens").saturating_sub(cache_read);
    reported(Usage {
        input,
        cache_read,
        cache_write: 0,
        output: count("completion_tokens"),
    })
}
