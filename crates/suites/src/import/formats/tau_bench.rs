//! Trajectories of tau-bench: a JSON array of `{task_id, trial, traj}`, messages in OpenAI's chat
//! format.
//!
//! The conversations of one task form one group. Absent on purpose: rewards, and the answer key in
//! `info`.

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::chat;
use crate::import::readers::surrogates;
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, type_name};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "tau-bench",
    about: "tau-bench trajectories: a JSON array of objects with `task_id` and `traj`",
    source: "sierra-research/tau-bench 59a200c, historical_trajectories/*.json",
    compactions: "None.",
    particulars: "Trials of a task are not independent of each other. Calls get new ids, because files repeat them; repetitions are counted. `reward` and `info`, which has the answer key, are not imported. The files have no times and no usage.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises,
    read,
};

/// The number of bytes that are read to recognise the format.
const BEGINNING: usize = 1 << 16;

fn recognises(text: &str) -> bool {
    let text = text.trim_start();
    let mut end = text.len().min(BEGINNING);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = &text[..end];
    beginning.starts_with('[')
        && ["\"task_id\"", "\"traj\""]
            .iter()
            .all(|key| beginning.contains(key))
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let mut sessions = Vec::new();
    for (element, value) in (1..).zip(elements(input, recorder)?) {
        sessions.extend(session(input, element, value, recorder)?);
    }
    Ok(sessions)
}

fn elements(input: &Input, recorder: &mut Recorder) -> Result<Vec<Value>, ImportError> {
    let broken = |error: serde_json::Error| {
        let (file, line) = (&input.file, error.line());
        let expected = "expected an array of objects with `task_id` and `traj`";
        ImportError::Other(format!("`{file}`, line {line}: {expected}: {error}"))
    };
    let (elements, mended) = surrogates::parse(&input.text).map_err(broken)?;
    if let Some(mended) = mended {
        let line = 1 + input.text[..mended.first].matches('\n').count();
        recorder.repair(Place::Line(line), mended.what())?;
    }
    Ok(elements)
}

fn session(
    input: &Input,
    element: usize,
    mut value: Value,
    recorder: &mut Recorder,
) -> Result<Option<ReadSession>, ImportError> {
    let task = match &value["task_id"] {
        Value::String(task) => task.clone(),
        Value::Number(task) => task.to_string(),
        other => {
            let what = format!(
                "`task_id` is {}: expected a number or a string: dropped",
                type_name(other)
            );
            recorder.repair(Place::Element(element), what)?;
            return Ok(None);
        }
    };
    let trial = value["trial"].as_u64().unwrap_or(0);
    let Some(Value::Array(turns)) = value.get_mut("traj").map(Value::take) else {
        recorder.repair(
            Place::Element(element),
            "`traj` is not an array: dropped".to_owned(),
        )?;
        return Ok(None);
    };
    let mut messages = Vec::new();
    for (message, turn) in (1..).zip(turns) {
        messages.extend(chat::spoken(
            Place::Turn { element, message },
            &turn,
            recorder,
        )?);
    }
    Ok(Some(ReadSession {
        stem: format!("task-{task}-trial-{trial}"),
        order: trial,
        messages,
        ..ReadSession::new(input, IMPORTER.name, format!("task-{task}"))
    }))
}
