//! Sessions that `opencode export` writes: one JSON object with `info` and `messages`, each message
//! with `info` and `parts`.
//!
//! A message of the assistant is one call of the model; where an older version has several in one,
//! `step-finish` separates them. A compaction leaves its messages in the file, so its summary is a
//! recorded compaction and not a message. Absent on purpose: the system prompt and tool
//! definitions, which these files do not contain.

mod compaction_parts;

use std::collections::HashSet;

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::blocks::media;
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{Cleared, Notes, ReadSession, Spoken, reported};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "opencode",
    about: "a session of `opencode export`: a JSON object with `info` and `messages`, each with `info` and `parts`",
    source: "sst/opencode 1.18, opencode export SESSION",
    compactions: "A user's message with a part `compaction` has the place, time and trigger; the assistant's message with `summary` has the summary and its usage. The next request began with the question `What did we do so far?`, which version 1.18 sends and the file lacks, the summary, the messages from `tail_start_id` on and one that asks to continue. Tokens before are not in the file, and a compaction without a summary is left out.",
    particulars: "A session of a subagent is not independent of its parent. Results that the program cleared stay whole in the conversation, and hold nothing from then on. Messages that the user took back (`info.revert`) are counted and left out.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let session = json_value::with_keys(text, '{', &["info", "messages"]).unwrap_or_default();
        let mut messages = session["messages"].as_array().into_iter().flatten();
        session["info"].is_object()
            && messages.any(|message| message["info"].is_object() && message["parts"].is_array())
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let session = json_value::read(input, IMPORTER.about, recorder)?;
    let text = |key: &str| {
        session["info"][key]
            .as_str()
            .filter(|text| !text.is_empty())
    };
    let all = session["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let messages = before_revert(&session["info"], all, recorder);
    let (compactions, of_program) = compaction_parts::find(messages);
    let mut reader = OpencodeReader {
        recorder,
        out: Vec::new(),
    };
    for (number, message) in (1..)
        .zip(messages)
        .filter(|(number, _)| !of_program.contains(number))
    {
        reader.message(Place::Element(number), message)?;
    }
    let id = text("id").unwrap_or(&input.stem).to_owned();
    let models = (1..).zip(messages).map(|(number, message)| {
        let model = &message["info"]["modelID"];
        (Place::Element(number), model)
    });
    let notes = Notes {
        cleared: cleared(messages),
        ..Notes::of_models(models)
    };
    Ok(vec![ReadSession {
        stem: id.clone(),
        directories: text("directory").map(str::to_owned).into_iter().collect(),
        projects: text("directory")
            .map(project::of_directory)
            .into_iter()
            .collect(),
        version: text("version").map(str::to_owned),
        compactions,
        notes,
        messages: reader.out,
        ..ReadSession::new(input, IMPORTER.name, text("parentID").unwrap_or(&id))
    }])
}

/// The results that the program cleared, each before the first message after that time.
fn cleared(messages: &[Value]) -> Vec<Cleared> {
    let parts = messages
        .iter()
        .flat_map(|message| message["parts"].as_array());
    let mut cleared = parts
        .flatten()
        .filter_map(|part| Some((part["state"]["time"]["compacted"].as_i64()?, part)))
        .collect::<Vec<_>>();
    cleared.sort_by_key(|(at_ms, _)| *at_ms);
    let created = |message: &Value| message["info"]["time"]["created"].as_i64();
    let cleared = cleared.into_iter().map(|(at_ms, part)| {
        let is_after = |message: &Value| created(message).is_some_and(|created| created > at_ms);
        let before = messages.iter().position(is_after).unwrap_or(messages.len());
        Cleared {
            place: Place::Element(before + 1),
            results: 1,
            calls: part["callID"]
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .collect(),
        }
    });
    cleared.collect()
}

/// The messages before the one that the user went back to.
fn before_revert<'m>(info: &Value, messages: &'m [Value], recorder: &mut Recorder) -> &'m [Value] {
    let target = info["revert"]["messageID"].as_str();
    let from = messages
        .iter()
        .position(|message| target.is_some() && message["info"]["id"].as_str() == target);
    let (kept, taken_back) = messages.split_at(from.unwrap_or(messages.len()));
    taken_back
        .iter()
        .for_each(|_| recorder.ignore("message that the user took back"));
    kept
}

struct OpencodeReader<'r> {
    recorder: &'r mut Recorder,
    out: Vec<Spoken>,
}

/// What a call of the model said, and the results of its tools.
#[derive(Default)]
struct OpencodeStep {
    said: Vec<Part>,
    results: Vec<Part>,
    answered_at: Option<i64>,
}

impl OpencodeReader<'_> {
    fn message(&mut self, place: Place, message: &Value) -> Result<(), ImportError> {
        let info = &message["info"];
        let role = match info["role"].as_str().unwrap_or("unknown") {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => {
                self.recorder.ignore(&format!("message of role {other}"));
                return Ok(());
            }
        };
        let at_ms = info["time"]["created"].as_i64();
        let (mut step, mut steps) = (OpencodeStep::default(), 0);
        for part in message["parts"].as_array().into_iter().flatten() {
            if role == Role::Assistant && part["type"] == "step-finish" {
                self.push(
                    place,
                    role,
                    at_ms,
                    std::mem::take(&mut step),
                    usage(&part["tokens"]),
                );
                steps += 1;
            } else {
                self.part(place, role, part, &mut step)?;
            }
        }
        if steps == 0 || !step.said.is_empty() {
            let usage = Some(&info["tokens"])
                .filter(|_| role == Role::Assistant && steps == 0)
                .and_then(usage);
            self.push(place, role, at_ms, step, usage);
        }
        Ok(())
    }

    fn push(
        &mut self,
        place: Place,
        role: Role,
        at_ms: Option<i64>,
        step: OpencodeStep,
        usage: Option<Usage>,
    ) {
        self.out.push(Spoken {
            place,
            role,
            at_ms,
            parts: step.said,
            usage,
        });
        if !step.results.is_empty() {
            let (at_ms, parts) = (step.answered_at, step.results);
            self.out.push(Spoken {
                place,
                role: Role::Tool,
                at_ms,
                parts,
                usage: None,
            });
        }
    }

    fn part(
        &mut self,
        place: Place,
        role: Role,
        part: &Value,
        step: &mut OpencodeStep,
    ) -> Result<(), ImportError> {
        let text = || part["text"].as_str().unwrap_or_default().to_owned();
        match (part["type"].as_str().unwrap_or("untyped"), role) {
            ("text", _) if part["ignored"] == true => {
                self.recorder.ignore("text that was not sent")
            }
            ("text", _) => step.said.push(Part::Text { text: text() }),
            ("reasoning", Role::Assistant) => step.said.push(Part::Thinking {
                text: text(),
                signature: None,
            }),
            ("file", _) => step.said.push(media(&part["mime"], &part["url"], false)),
            ("tool", Role::Assistant) => self.tool(part, step),
            ("reasoning" | "tool", _) => {
                self.recorder.repair(place, misplaced(part, role))?;
            }
            (kind, _) => self.recorder.ignore(kind),
        }
        Ok(())
    }

    /// A call and its result. A call that did not finish has none.
    fn tool(&mut self, part: &Value, step: &mut OpencodeStep) {
        let state = &part["state"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&part["callID"]);
        step.said.push(Part::ToolCall {
            id: id.clone(),
            name: text(&part["tool"]),
            arguments: state["input"].to_string(),
        });
        let (answer, is_error) = match state["status"].as_str() {
            Some("completed") => (&state["output"], false),
            Some("error") => (&state["error"], true),
            _ => return,
        };
        step.results.push(Part::ToolResult {
            call_id: id,
            text: text(answer),
            is_error,
        });
        let attachments = state["attachments"].as_array().into_iter().flatten();
        step.results
            .extend(attachments.map(|file| media(&file["mime"], &file["url"], false)));
        step.answered_at = step.answered_at.max(state["time"]["end"].as_i64());
    }
}

fn misplaced(part: &Value, role: Role) -> String {
    let (kind, role) = (&part["type"], role.name());
    format!("part of type {kind} in a message of role `{role}`: dropped")
}

/// The usage that the provider reported. The input is without what was cached, and the output
/// without reasoning.
pub(in crate::import) fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    reported(Usage {
        input: count(&tokens["input"]),
        cache_read: count(&tokens["cache"]["read"]),
        cache_write: count(&tokens["cache"]["write"]),
        output: count(&tokens["output"]).saturating_add(count(&tokens["reasoning"])),
    })
}

/// The numbers, from 1, of messages that the program wrote for a compaction.
pub(in crate::import) type OfProgram = HashSet<usize>;
