//! Sessions of qwen-code: one JSON object a line, linked by `uuid` and `parentUuid`, with messages
//! in the form of Google's API.
//!
//! If rows branch, the chain to the last one is kept; the others are counted as abandoned. A
//! compression leaves its messages in the file, so its history is a recorded compaction and not a
//! message. Absent on purpose: the system prompt and tool definitions, which these files do not
//! contain.

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_formats::scenario::Unmeasured;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::kept::SessionFolder;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::google_parts::{self, GoogleUsage, usage};
use crate::import::readers::json_lines;
use crate::import::readers::linked::{self, Links};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Notes, ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "qwen",
    about: "a qwen-code session: one JSON object a line with `uuid`, `parentUuid` and a `message` of `parts`",
    source: "QwenLM/qwen-code 0.24, ~/.qwen/projects/*/chats/*.jsonl",
    compactions: "`chat_compression` has the place, time, trigger (`triggerReason`) and tokens before, which the program may have estimated. The next request began with `compressedHistory`: a content read before is kept, and a new text beside an earlier call was written by the program. The last response of the telemetry that belongs to no message wrote the summary.",
    particulars: "`uuid` and `parentUuid` link rows; a row without its parent follows the one before. Thinking tokens are added to the output if the total shows that they are not in it. The usage of a summary that the program refused is not added.",
    sessions: Some(SessionFolder {
        variable: None,
        home: ".qwen",
        pattern: "projects/*/chats/*.jsonl",
    }),
    reattaches: None,
    by_line: true,
    recognises: |text| {
        json_lines::beginning(text)
            .any(|row| row["uuid"].is_string() && row["message"]["parts"].is_array())
    },
    read,
};

const LINKS: Links = Links {
    id: |row| row["uuid"].as_str(),
    parent: |row| row["parentUuid"].as_str(),
};

/// The subtype of rows that are compactions.
const COMPRESSION: &str = "chat_compression";

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    let kept = linked::chain(&rows, &LINKS, recorder)?;
    let first = |key: &str| rows.iter().find_map(|(_, row)| row[key].as_str());
    let mut reader = QwenReader {
        recorder,
        messages: Vec::new(),
        compactions: Vec::new(),
        last_call: None,
    };
    for (at, (place, row)) in rows.iter().enumerate() {
        match row["type"].as_str().unwrap_or("untyped") {
            _ if !kept.contains(&at) && row["subtype"] == COMPRESSION => {
                let behind = Compaction::unmeasured(*place, Unmeasured::LeftBehind);
                reader.compactions.push(behind);
            }
            kind if !kept.contains(&at) => reader
                .recorder
                .ignore(&format!("{kind} of an abandoned branch")),
            kind => reader.row(*place, kind, row)?,
        }
    }
    let QwenReader {
        messages,
        compactions,
        ..
    } = reader;
    let group = first("sessionId").unwrap_or(&input.stem).to_owned();
    Ok(vec![ReadSession {
        projects: first("cwd")
            .map(project::of_directory)
            .into_iter()
            .collect(),
        directories: directories(&rows),
        compactions,
        notes: Notes::of_models(rows.iter().map(|(place, row)| (*place, &row["model"]))),
        messages,
        ..ReadSession::new(input, IMPORTER.name, group)
    }])
}

fn directories(rows: &[(Place, Value)]) -> Vec<String> {
    let mut directories = Vec::new();
    rows.iter()
        .for_each(|(_, row)| project::note_directory(&mut directories, row["cwd"].as_str()));
    directories
}

struct QwenReader<'r> {
    recorder: &'r mut Recorder,
    messages: Vec<Spoken>,
    compactions: Vec<Compaction>,
    /// The usage of the last call that no message has claimed yet.
    last_call: Option<Usage>,
}

impl QwenReader<'_> {
    fn row(&mut self, place: Place, kind: &str, row: &Value) -> Result<(), ImportError> {
        let subtype = row["subtype"].as_str();
        match (kind, subtype) {
            ("user" | "assistant" | "tool_result", _) if row["message"].is_object() => {
                self.message(place, kind, row)?
            }
            ("system", Some(COMPRESSION)) => self.compression(place, row)?,
            ("system", Some("ui_telemetry")) => self.telemetry(&row["systemPayload"]["uiEvent"]),
            (kind, subtype) => self
                .recorder
                .ignore(&subtype.map_or(kind.to_owned(), |subtype| format!("{kind} {subtype}"))),
        }
        Ok(())
    }

    fn message(&mut self, place: Place, kind: &str, row: &Value) -> Result<(), ImportError> {
        let role = if kind == "assistant" {
            Role::Assistant
        } else {
            Role::User
        };
        let at_ms = json_lines::at_ms(&row["timestamp"], place, self.recorder)?;
        let parts = google_parts::read(&row["message"]["parts"], role, place, self.recorder)?;
        let usage = Some(&row["usageMetadata"])
            .filter(|_| role == Role::Assistant)
            .and_then(google_parts::usage_metadata);
        if role == Role::Assistant {
            self.last_call = None;
        }
        let has_results = !parts.results.is_empty();
        if has_results {
            self.messages.push(Spoken {
                place,
                role: Role::Tool,
                at_ms,
                parts: parts.results,
                usage: None,
            });
        }
        if !has_results || !parts.said.is_empty() {
            self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts: parts.said,
                usage,
            });
        }
        Ok(())
    }

    /// The call that writes a summary has no message, so that only its telemetry has its usage.
    fn telemetry(&mut self, event: &Value) {
        let count = |key: &str| event[key].as_u64().unwrap_or(0);
        if event["event.name"] == "qwen-code.api_response" {
            self.last_call = usage(&GoogleUsage {
                input: count("input_token_count"),
                cached: count("cached_content_token_count"),
                output: count("output_token_count"),
                thoughts: count("thoughts_token_count"),
                tool: count("tool_token_count"),
                total: count("total_token_count"),
            });
        }
        self.recorder.ignore("system ui_telemetry");
    }

    fn compression(&mut self, place: Place, row: &Value) -> Result<(), ImportError> {
        let (info, history) = (
            &row["systemPayload"]["info"],
            &row["systemPayload"]["compressedHistory"],
        );
        let mut context = Vec::new();
        for content in history.as_array().into_iter().flatten() {
            context.extend(self.left(place, content)?);
        }
        self.compactions.push(Compaction {
            at_ms: json_lines::at_ms(&row["timestamp"], place, self.recorder)?,
            trigger: info["triggerReason"].as_str().map(str::to_owned),
            reported_tokens: info["originalTokenCount"].as_u64(),
            usage: self.last_call.take(),
            context,
            ..Compaction::at(place)
        });
        Ok(())
    }

    /// What a content of the next request is: a message that was read before, or a text of the
    /// program beside the calls and results of such messages.
    fn left(&mut self, place: Place, content: &Value) -> Result<Vec<Left>, ImportError> {
        let role = if content["role"] == "model" {
            Role::Assistant
        } else {
            Role::User
        };
        let parts = google_parts::read(&content["parts"], role, place, self.recorder)?;
        let same = |said: &&Spoken| {
            said.role == role && !parts.said.is_empty() && said.parts == parts.said
        };
        if let Some(said) = self.messages.iter().rev().find(same) {
            return Ok(vec![Left::Kept(said.place)]);
        }
        let texts = google_parts::texts(&parts.said);
        let written = (!texts.is_empty()).then_some(Left::Written(role, texts));
        let moved = parts
            .said
            .iter()
            .chain(&parts.results)
            .filter_map(|part| self.place_of(part));
        Ok(written.into_iter().chain(moved.map(Left::Kept)).collect())
    }

    /// The message with the same call or the same answer.
    fn place_of(&self, part: &Part) -> Option<Place> {
        let is_same = |other: &Part| match (part, other) {
            (Part::ToolCall { id: one, .. }, Part::ToolCall { id: two, .. })
            | (Part::ToolResult { call_id: one, .. }, Part::ToolResult { call_id: two, .. }) => {
                one == two
            }
            _ => false,
        };
        self.messages
            .iter()
            .rev()
            .find(|said| said.parts.iter().any(is_same))
            .map(|said| said.place)
    }
}
