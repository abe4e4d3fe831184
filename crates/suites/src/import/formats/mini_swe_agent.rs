//! Trajectories of mini-swe-agent: a JSON object with `messages` in OpenAI's chat format.
//!
//! Version 1 has each call as a block of code in the reply, and its result as the message after it.

use compactometer_engine::message::{Part, Role};
use serde_json::{Value, json};

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::{chat, json_value};
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "mini-swe-agent",
    about: "a trajectory of mini-swe-agent: a JSON object with `messages`, `info` and `trajectory_format`",
    source: "SWE-agent/mini-swe-agent 1.1 and 2, *.traj.json",
    compactions: "None.",
    particulars: "The command of a reply is in `extra.actions`, or in its one block of code. There are no times.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| trajectory(text).is_some(),
    read,
};

fn trajectory(text: &str) -> Option<Value> {
    let value = json_value::with_keys(text, '{', &["trajectory_format", "messages"])?;
    let format = value["trajectory_format"].as_str()?;
    format.starts_with("mini-swe-agent").then_some(value)
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let value = json_value::read(input, IMPORTER.about, recorder)?;
    let mut session = ReadSession::new(input, IMPORTER.name, &input.stem);
    let turns = value["messages"].as_array().into_iter().flatten();
    for (number, turn) in (1..).zip(turns) {
        let place = Place::Element(number);
        if turn["role"] == "exit" {
            recorder.ignore("exit");
            continue;
        }
        let Some(said) = chat::spoken(place, turn, recorder)? else {
            continue;
        };
        let said = version_1(said, turn, session.messages.last());
        // The user says only the task.
        let is_told = session.messages.iter().any(|said| said.role == Role::User);
        if said.role == Role::User && is_told {
            session.notes.by_program.push(place);
        }
        session.messages.push(said);
    }
    Ok(vec![session])
}

/// The message with the call of its block of code, or as the result of the call before it.
fn version_1(mut said: Spoken, turn: &Value, last: Option<&Spoken>) -> Spoken {
    let is_call = |part: &Part| matches!(part, Part::ToolCall { id, .. } if id.is_empty());
    let is_open = last.is_some_and(|last| last.parts.iter().any(is_call));
    match said.role {
        Role::Assistant if turn["tool_calls"].is_null() => {
            let text = chat::text(&turn["content"]);
            said.parts
                .extend(commands(turn, &text).into_iter().map(call));
        }
        Role::User if is_open => {
            let text = chat::text(&turn["content"]);
            let code = text.split_once("<returncode>").map(|(_, rest)| rest);
            let is_error = code.is_some_and(|code| !code.trim_start().starts_with("0<"));
            said.role = Role::Tool;
            said.parts = vec![Part::ToolResult {
                call_id: String::new(),
                text,
                is_error,
            }];
        }
        _ => {}
    }
    said
}

fn call(command: String) -> Part {
    Part::ToolCall {
        id: String::new(),
        name: "bash".to_owned(),
        arguments: json!({ "command": command }).to_string(),
    }
}

/// The command that a reply asks for. A reply with several blocks is refused by the program.
fn commands(turn: &Value, text: &str) -> Option<String> {
    if let Some(command) = turn["extra"]["actions"][0]["command"].as_str() {
        return Some(command.to_owned());
    }
    let mut blocks = text.split("```").skip(1).step_by(2);
    let (block, more) = (blocks.next()?, blocks.next());
    let command = ["bash\n", "mswea_bash_command\n"]
        .iter()
        .find_map(|start| block.strip_prefix(start))?;
    more.is_none().then(|| command.trim_end().to_owned())
}
