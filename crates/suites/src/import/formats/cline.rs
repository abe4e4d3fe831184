//! Tasks of Cline, Roo Code and Kilo Code: messages in the form of Anthropic's API whose results are
//! often words, `[read_file for 'a.rs'] Result:`, and whose calls may be words too, in XML.

use std::collections::HashSet;

use compactometer_engine::message::{Part, Role};
use serde_json::{Map, Value};

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_lines;
use crate::import::readers::tabled::{
    self, CallFields, FieldTable, ReadByTable, ResultFields, TableBlock,
};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Notes, ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "cline",
    about: "a task of Cline, Roo Code or Kilo Code: a list of `role`, `content` and `ts`, with results as words",
    source: "cline/cline 3, RooCodeInc/Roo-Code 3, tasks/*/api_conversation_history.json",
    compactions: "Roo's and Kilo's: a message with `isSummary` took the place of those whose `condenseParent` names it. Cline's own leave no record in this file.",
    particulars: "Words that begin with `[TOOL] Result:` or `[TOOL for 'X'] Result:` are the result of the call before them. A call in XML becomes a call if its result follows. Details of the environment are of the program.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises,
    read,
};

const TABLE: FieldTable = FieldTable {
    rows: &[""],
    role: "/role",
    roles: &[("user", Role::User), ("assistant", Role::Assistant)],
    content: &["/content"],
    kind: "/type",
    blocks: &[
        ("text", TableBlock::Text(&["/text"])),
        ("thinking", TableBlock::Thinking(&["/thinking"])),
        ("reasoning", TableBlock::Thinking(&["/text"])),
        (
            "tool_use",
            TableBlock::Call(CallFields("/id", "/name", &["/input"])),
        ),
        (
            "tool_result",
            TableBlock::Result(ResultFields("/tool_use_id", &["/content"], |block| {
                block["is_error"] == true
            })),
        ),
        (
            "image",
            TableBlock::Media("/source/media_type", &["/source/data"]),
        ),
        ("redacted_thinking", TableBlock::Aside),
        ("thoughtSignature", TableBlock::Aside),
    ],
    at: "/ts",
    usage: |_| None,
    joins: false,
};

fn recognises(text: &str) -> bool {
    let rows = tabled::beginning(text, &["role", "content"], TABLE.rows);
    let is_message = |row: &Value| {
        matches!(row["role"].as_str(), Some("user" | "assistant")) && row.get("content").is_some()
    };
    let is_own = |row: &Value| {
        let blocks = row["content"].as_array().into_iter().flatten();
        let mut texts = blocks.filter_map(|block| block["text"].as_str());
        row["isSummary"].is_boolean()
            || row["condenseParent"].is_string()
            || row["role"] == "user"
                && texts.any(|text| tool_of(text).is_some() || is_of_program(text))
    };
    rows.iter().any(is_own) && rows.iter().all(is_message)
}

/// The tool whose result begins with a text.
fn tool_of(text: &str) -> Option<&str> {
    let head = text.trim_start().strip_prefix('[')?.lines().next()?;
    let head = head.trim_end().strip_suffix("] Result:")?;
    let name = head.split(" for ").next()?.trim();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

fn is_of_program(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("<environment_details>") || text.starts_with("[TASK RESUMPTION]")
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = tabled::rows(input, IMPORTER.about, TABLE.rows, recorder)?;
    let mut read = ReadByTable::new(&TABLE, recorder);
    let mut notes = Notes::default();
    for (place, row) in &rows {
        if row["isSummary"] == true {
            let compaction = condensed(*place, row, &rows, read.recorder)?;
            read.compactions.push(compaction);
            continue;
        }
        let first = read.messages.len();
        read.row(*place, row)?;
        if let Some(said) = read.messages[first..]
            .iter()
            .position(|said| said.role == Role::User)
        {
            results(&mut read.messages, first + said, &mut notes);
        }
    }
    Ok(vec![ReadSession {
        messages: read.messages,
        compactions: read.compactions,
        notes,
        ..ReadSession::new(input, IMPORTER.name, &input.stem)
    }])
}

/// Makes results of what a message of the user says of calls, and separates what the program says.
fn results(messages: &mut Vec<Spoken>, at: usize, notes: &mut Notes) {
    let said = messages.remove(at);
    let (mut answers, mut others) = (Vec::new(), Vec::new());
    let mut is_result = false;
    for part in said.parts {
        let text = match &part {
            Part::Text { text } => text.clone(),
            _ => String::new(),
        };
        if let Some(tool) = tool_of(&text)
            && let Some(call_id) = called(messages.get_mut(at.wrapping_sub(1)), tool, &answers)
        {
            is_result = true;
            answers.push(Part::ToolResult {
                call_id,
                text,
                is_error: false,
            });
        } else if is_result && !is_of_program(&text) {
            add(&mut answers, part);
        } else {
            is_result = false;
            others.push(part);
        }
    }
    if others
        .iter()
        .all(|part| matches!(part, Part::Text { text } if is_of_program(text)))
    {
        notes.by_program.push(said.place);
    }
    let new = [(Role::Tool, answers), (Role::User, others)];
    let new = new.into_iter().filter(|(_, parts)| !parts.is_empty());
    let new = new.map(|(role, parts)| Spoken {
        place: said.place,
        role,
        at_ms: said.at_ms,
        parts,
        usage: None,
    });
    messages.splice(at..at, new.collect::<Vec<_>>());
}

/// Adds what follows the head of a result to it.
fn add(answers: &mut Vec<Part>, part: Part) {
    match (answers.last_mut(), part) {
        (Some(Part::ToolResult { text, .. }), Part::Text { text: more }) => {
            text.push('\n');
            text.push_str(&more);
        }
        (_, part) => answers.push(part),
    }
}

/// The id of the call of a reply that a result is of: the first of the tool's that has none yet, or
/// the one that the reply has in XML, which becomes a call.
fn called(reply: Option<&mut Spoken>, tool: &str, answers: &[Part]) -> Option<String> {
    let reply = reply.filter(|reply| reply.role == Role::Assistant)?;
    let is_answered = |id: &str| {
        let is_its =
            |part: &Part| matches!(part, Part::ToolResult { call_id, .. } if call_id == id);
        answers.iter().any(is_its)
    };
    let open = reply.parts.iter().find_map(|part| match part {
        Part::ToolCall { id, name, .. } if name == tool && !is_answered(id) => Some(id),
        _ => None,
    });
    if let Some(id) = open {
        return Some(id.clone());
    }
    let call = reply.parts.iter().find_map(|part| match part {
        Part::Text { text } => in_xml(text, tool),
        _ => None,
    })?;
    reply.parts.push(call);
    Some(format!("xml-{tool}"))
}

/// The call of a tool in a text.
fn in_xml(text: &str, tool: &str) -> Option<Part> {
    let (open, close) = (format!("<{tool}>"), format!("</{tool}>"));
    let start = text.find(&open)?;
    let end = start + text[start..].rfind(&close)?;
    let arguments = arguments(&text[start + open.len()..end]);
    Some(Part::ToolCall {
        id: format!("xml-{tool}"),
        name: tool.to_owned(),
        arguments: Value::Object(arguments).to_string(),
    })
}

/// The elements of a call.
fn arguments(mut inner: &str) -> Map<String, Value> {
    let mut found = Map::new();
    while let Some((_, rest)) = inner.split_once('<') {
        let Some((name, rest)) = rest.split_once('>') else {
            break;
        };
        let Some((value, rest)) = rest.split_once(&format!("</{name}>")) else {
            inner = rest;
            continue;
        };
        found.insert(
            name.to_owned(),
            Value::String(value.trim_matches('\n').to_owned()),
        );
        inner = rest;
    }
    found
}

/// What a summary took the place of: the messages that name it, directly or through a later one.
fn condensed(
    place: Place,
    row: &Value,
    rows: &[(Place, Value)],
    recorder: &mut Recorder,
) -> Result<Compaction, ImportError> {
    let ids = rows.iter().filter(|(other, _)| *other <= place);
    let ids = ids
        .filter_map(|(_, row)| row["condenseId"].as_str())
        .collect::<HashSet<_>>();
    let is_kept = |row: &Value| {
        row["isSummary"] != true
            && !row["condenseParent"]
                .as_str()
                .is_some_and(|parent| ids.contains(parent))
    };
    let before = rows
        .iter()
        .filter(|(other, row)| *other < place && is_kept(row));
    let summary = Left::Written(Role::User, tabled::words(&row["content"]));
    let kept = before.map(|(place, _)| Left::Kept(*place));
    Ok(Compaction {
        at_ms: json_lines::at_ms(&row["ts"], place, recorder)?,
        context: kept.chain([summary]).collect(),
        ..Compaction::at(place)
    })
}
