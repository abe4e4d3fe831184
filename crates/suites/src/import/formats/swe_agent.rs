//! Trajectories of SWE-agent: one JSON object with `history`, which SWE-smith's runs have too.
//!
//! The steps in `trajectory` hold each request. Where a request has another text than the history,
//! such as an old output that was left out, this is a recorded compaction, and the conversation
//! keeps the whole text. Absent on purpose: the patch and the scores in `info`, and the usage,
//! which the file has only for the whole run.

use std::collections::BTreeSet;

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::chat;
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, ReadSession, Spoken};

const ABOUT: &str = "a trajectory of SWE-agent: a JSON object with `history`, messages with `agent` or `message_type`";

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "swe-agent",
    about: ABOUT,
    source: "SWE-agent 1.0.1 and SWE-smith, trajectories/*/*/*/*.traj",
    compactions: "A history processor can leave out old outputs in requests while `history` keeps them. If a request changes a message that the request before had whole, a compaction with the trigger `history processor` is recorded. With a processor that keeps the last outputs only, nearly every step is one.",
    particulars: "The file's name is the id; the project is the repository in the instance's name. Of several attempts the one in `history` is imported. A request that lacks messages is counted and gives no compaction. There are no times, and usage is of the whole run only.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises,
    read,
};

fn recognises(text: &str) -> bool {
    let is_own = |turn: &Value| {
        turn["role"].is_string() && (turn["agent"].is_string() || turn["message_type"].is_string())
    };
    let value = json_value::with_keys(text, '{', &["history", "role"]);
    value.is_some_and(|value| {
        value["history"]
            .as_array()
            .into_iter()
            .flatten()
            .any(is_own)
    })
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let value = json_value::read(input, ABOUT, recorder)?;
    let history = value["history"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut messages = Vec::new();
    for (element, turn) in (1..).zip(history) {
        messages.extend(spoken(Place::Element(element), turn, recorder)?);
    }
    for _ in value["attempts"].as_array().into_iter().flatten() {
        recorder.ignore("attempt of a run with several attempts");
    }
    if value["info"]["model_stats"].is_object() {
        recorder.ignore("usage of the whole run");
    }
    let compactions = compactions(history, &value["trajectory"], recorder);
    let project = value["environment"].as_str().and_then(project);
    Ok(vec![ReadSession {
        projects: project.into_iter().collect(),
        compactions,
        messages,
        ..ReadSession::new(input, IMPORTER.name, &input.stem)
    }])
}

/// The repository in the name of an instance, such as `owner__name` in
/// `owner__name.95280573.pr_53856` or `owner__name-1867`.
fn project(environment: &str) -> Option<String> {
    let (owner, rest) = environment.split_once("__")?;
    let name = rest.split('.').next().unwrap_or(rest);
    let name = name
        .rsplit_once('-')
        .filter(|(_, number)| number.parse::<u64>().is_ok())
        .map_or(name, |(name, _)| name);
    Some(format!("{owner}/{name}"))
}

/// A message of the chat format, with the thoughts and the id of the call that SWE-agent has in
/// fields of its own.
fn spoken(
    place: Place,
    turn: &Value,
    recorder: &mut Recorder,
) -> Result<Option<Spoken>, ImportError> {
    let Some(mut said) = chat::spoken(place, turn, recorder)? else {
        return Ok(None);
    };
    if said.role == Role::Assistant {
        let blocks = turn["thinking_blocks"].as_array().into_iter().flatten();
        said.parts
            .splice(0..0, blocks.filter_map(thinking).collect::<Vec<_>>());
    }
    let ids = turn["tool_call_ids"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if let (Some(id), Some(Part::ToolResult { call_id, .. })) =
        (ids.first(), said.parts.first_mut())
    {
        *call_id = id.as_str().unwrap_or_default().to_owned();
    }
    if said.role == Role::Tool {
        said.parts.extend(chat::images(&turn["content"]));
    }
    Ok(Some(said))
}

fn thinking(block: &Value) -> Option<Part> {
    let signature = block["signature"].as_str().map(str::to_owned);
    Some(Part::Thinking {
        text: block["thinking"].as_str()?.to_owned(),
        signature,
    })
}

/// One compaction for each step whose request changed other messages of the history than the
/// request before it.
fn compactions(history: &[Value], steps: &Value, recorder: &mut Recorder) -> Vec<Compaction> {
    let mut found = Vec::new();
    let mut last = BTreeSet::new();
    for step in steps.as_array().into_iter().flatten() {
        let request = step["query"]
            .as_array()
            .or_else(|| step["messages"].as_array());
        let Some(request) = request else { continue };
        if request.len() >= history.len() {
            continue;
        }
        if request
            .iter()
            .zip(history)
            .any(|(sent, turn)| sent["role"] != turn["role"])
        {
            recorder.ignore("request that does not follow the history");
            continue;
        }
        let changed = (0..request.len())
            .filter(|at| text(&request[*at]) != text(&history[*at]))
            .collect::<BTreeSet<_>>();
        if !changed.is_subset(&last) {
            found.push(compaction(request, &changed));
        }
        last = changed;
    }
    found
}

fn text(turn: &Value) -> String {
    chat::text(&turn["content"])
}

fn compaction(request: &[Value], changed: &BTreeSet<usize>) -> Compaction {
    let left = |(at, turn): (usize, &Value)| match turn["role"].as_str()? {
        "system" => None,
        _ if !changed.contains(&at) => Some(Left::Kept(Place::Element(at + 1))),
        "assistant" => Some(Left::Written(Role::Assistant, text(turn))),
        "tool" => Some(Left::Written(Role::Tool, text(turn))),
        _ => Some(Left::Written(Role::User, text(turn))),
    };
    Compaction {
        trigger: Some("history processor".to_owned()),
        context: request.iter().enumerate().filter_map(left).collect(),
        ..Compaction::at(Place::Element(request.len() + 1))
    }
}
