//! Sessions of pi: one JSON object a line, linked by `id` and `parentId` from version 2 on.
//!
//! If entries branch, the chain to the last one is kept; the others are counted as abandoned. A
//! compaction of the program leaves its messages in the file, so its summary is a recorded
//! compaction and not a message. Absent on purpose: the system prompt and tool definitions, which
//! these files do not contain.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_formats::scenario::Unmeasured;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::kept::SessionFolder;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::blocks::{media, misplaced, tool_result};
use crate::import::readers::json_lines;
use crate::import::readers::linked::{self, Links};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Notes, ReadSession, Spoken, reported};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "pi",
    about: "a pi session: one JSON object a line, the first of type `session`",
    source: "badlogic/pi-mono 0.74, ~/.pi/agent/sessions/*/*.jsonl",
    compactions: "`compaction` has the place, time and tokens before (`tokensBefore`). The next request began with its `summary` and the messages from `firstKeptEntryId` on, in version 1 of the format from `firstKeptEntryIndex`. `fromHook` says that an extension wrote it. Usage and trigger are not in the file.",
    particulars: "`id` and `parentId` link entries from version 2 on; an entry without its parent follows the one before. Entries of other roles and types, such as a change of the model, are counted and left out.",
    sessions: Some(SessionFolder {
        variable: Some("PI_CODING_AGENT_DIR"),
        home: ".pi/agent",
        pattern: "sessions/*/*.jsonl",
    }),
    reattaches: None,
    by_line: true,
    recognises: |text| {
        json_lines::beginning(text).any(|row| row["type"] == "session" && row["cwd"].is_string())
    },
    read,
};

/// The first row has the session's id, which is not a link.
const LINKS: Links = Links {
    id: |row| row["id"].as_str().filter(|_| row["type"] != "session"),
    parent: |row| row["parentId"].as_str(),
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    let head = rows
        .iter()
        .map(|(_, row)| row)
        .find(|row| row["type"] == "session");
    let text = |key: &str| head.and_then(|row| row[key].as_str());
    let group = text("id").unwrap_or(&input.stem).to_owned();
    let kept = linked::chain(&rows, &LINKS, recorder)?;
    let (mut messages, mut compactions) = (Vec::new(), Vec::new());
    for (at, (place, row)) in rows.iter().enumerate() {
        match row["type"].as_str().unwrap_or("untyped") {
            "session" => {}
            "message" if !kept.contains(&at) => recorder.ignore("message of an abandoned branch"),
            "message" => messages.extend(
                PiReader {
                    place: *place,
                    recorder,
                }
                .spoken(row)?,
            ),
            "compaction" if !kept.contains(&at) => {
                compactions.push(Compaction::unmeasured(*place, Unmeasured::LeftBehind));
            }
            "compaction" => {
                let stays = first_kept(row, &rows[..at]).unwrap_or(at);
                let before = rows[..at]
                    .iter()
                    .enumerate()
                    .skip(stays)
                    .filter(|(at, _)| kept.contains(at));
                compactions.push(compaction(
                    *place,
                    row,
                    before.map(|(_, row)| row),
                    recorder,
                )?);
            }
            kind => recorder.ignore(kind),
        }
    }
    Ok(vec![ReadSession {
        projects: text("cwd").map(project::of_directory).into_iter().collect(),
        directories: text("cwd").map(str::to_owned).into_iter().collect(),
        compactions,
        notes: Notes::of_models(
            rows.iter()
                .map(|(place, row)| (*place, &row["message"]["model"])),
        ),
        messages,
        ..ReadSession::new(input, IMPORTER.name, group)
    }])
}

/// The first entry that a compaction kept: by its id, or in version 1 by its number, where the head
/// of the file is number 0.
fn first_kept(row: &Value, before: &[(Place, Value)]) -> Option<usize> {
    match row["firstKeptEntryId"].as_str() {
        Some(first) => before
            .iter()
            .position(|(_, entry)| entry["id"].as_str() == Some(first)),
        None => row["firstKeptEntryIndex"]
            .as_u64()
            .and_then(|first| usize::try_from(first).ok()),
    }
}

/// What the program wrote, and the entries that it kept.
fn compaction<'r>(
    place: Place,
    row: &Value,
    kept: impl Iterator<Item = &'r (Place, Value)>,
    recorder: &mut Recorder,
) -> Result<Compaction, ImportError> {
    let kept = kept
        .filter(|(_, entry)| entry["type"] == "message")
        .map(|(place, _)| Left::Kept(*place));
    let summary = Left::Written(
        Role::User,
        row["summary"].as_str().unwrap_or_default().to_owned(),
    );
    let compactor = row["details"]["compactor"]
        .as_str()
        .unwrap_or("an extension");
    Ok(Compaction {
        at_ms: json_lines::at_ms(&row["timestamp"], place, recorder)?,
        reported_tokens: row["tokensBefore"].as_u64(),
        compactor: (row["fromHook"] == true).then(|| compactor.to_owned()),
        context: std::iter::once(summary).chain(kept).collect(),
        ..Compaction::at(place)
    })
}

struct PiReader<'r> {
    place: Place,
    recorder: &'r mut Recorder,
}

impl PiReader<'_> {
    fn spoken(&mut self, row: &Value) -> Result<Option<Spoken>, ImportError> {
        let message = &row["message"];
        let role = match message["role"].as_str().unwrap_or("unknown") {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "toolResult" => Role::Tool,
            other => {
                self.recorder.ignore(&format!("message of role {other}"));
                return Ok(None);
            }
        };
        let stamp = if row["timestamp"].is_null() {
            &message["timestamp"]
        } else {
            &row["timestamp"]
        };
        let at_ms = json_lines::at_ms(stamp, self.place, self.recorder)?;
        let mut parts = Vec::new();
        match &message["content"] {
            Value::String(text) => parts.push(Part::Text { text: text.clone() }),
            content => {
                for block in content.as_array().into_iter().flatten() {
                    parts.extend(self.part(role, block)?);
                }
            }
        }
        if role == Role::Tool {
            parts = tool_result(&message["toolCallId"], parts, message["isError"] == true);
        }
        let usage = Some(&message["usage"])
            .filter(|_| role == Role::Assistant)
            .and_then(usage);
        Ok(Some(Spoken {
            place: self.place,
            role,
            at_ms,
            parts,
            usage,
        }))
    }

    fn part(&mut self, role: Role, block: &Value) -> Result<Option<Part>, ImportError> {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let part = match (block["type"].as_str().unwrap_or("untyped"), role) {
            ("text", _) => Part::Text { text: text("text") },
            ("thinking", Role::Assistant) => {
                let signature = block["thinkingSignature"].as_str().map(str::to_owned);
                Part::Thinking {
                    text: text("thinking"),
                    signature,
                }
            }
            ("toolCall", Role::Assistant) => Part::ToolCall {
                id: text("id"),
                name: text("name"),
                arguments: block["arguments"].to_string(),
            },
            ("image", _) => media(&block["mimeType"], &block["data"], true),
            (kind, _) => {
                self.recorder.repair(self.place, misplaced(kind, role))?;
                return Ok(None);
            }
        };
        Ok(Some(part))
    }
}

/// The usage that the provider reported.
fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    reported(Usage {
        input: count("input"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        output: count("output"),
    })
}
