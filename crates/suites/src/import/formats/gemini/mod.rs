//! Chats of Gemini CLI: a log of one JSON object a line, or the whole-file JSON of versions before
//! it.
//!
//! A message is written again whenever its tool calls change; its last version counts. Compactions
//! are in `gemini/log.rs`. Absent on purpose: the system prompt and tool definitions, which these
//! files do not contain.

mod chat_log;
pub(super) mod stream;

use std::collections::HashSet;

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::formats::gemini::chat_log::{GeminiLog, GeminiMessage};
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::kept::SessionFolder;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::google_parts::{self, GoogleUsage, usage};
use crate::import::readers::json_lines;
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{Notes, ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "gemini",
    about: "a Gemini CLI chat: JSON with `sessionId`, `projectHash` and `messages`, or one JSON object a line",
    source: "google-gemini/gemini-cli 0.61, ~/.gemini/tmp/*/chats/session-*.jsonl; before, session-*.json",
    compactions: "A list in `$set` that has new messages and lacks some that were there is a compaction: the new ones were written by the program. The log has the place and time, and neither trigger, tokens before nor usage. A rewind to before a summary also abandons what it replaced. The JSON of versions before has no record of compactions.",
    particulars: "The last version of a message counts. The session context that opens a chat is the system prompt. `$rewindTo` abandons the messages from there on. Thinking tokens are added to the output. The project is the first of `directories`, which many files lack.",
    sessions: Some(SessionFolder {
        variable: None,
        home: ".gemini",
        pattern: "tmp/*/chats/session-*.json*",
    }),
    reattaches: None,
    by_line: false,
    recognises: |text| {
        is_chat(&json_value::with_keys(text, '{', &["projectHash"]).unwrap_or_default())
            || json_lines::beginning(text).any(|row| is_chat(&row))
    },
    read,
};

fn is_chat(value: &Value) -> bool {
    value["sessionId"].is_string() && value["projectHash"].is_string()
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let chat = json_value::with_keys(&input.text, '{', &["projectHash"]).unwrap_or_default();
    let (head, log) = match chat["messages"].is_array() {
        true => {
            let chat = json_value::read(input, IMPORTER.about, recorder)?;
            let log = GeminiLog::of_messages(&chat["messages"], recorder);
            (chat, log)
        }
        false => {
            let rows = json_lines::read(input, recorder)?;
            let head = rows
                .iter()
                .map(|(_, row)| row)
                .find(|row| is_chat(row))
                .cloned()
                .unwrap_or_default();
            (head, GeminiLog::of_rows(&rows, recorder)?)
        }
    };
    let messages = GeminiReader {
        recorder,
        answered: HashSet::new(),
        has_spoken: false,
    }
    .read(&log)?;
    let group = head["sessionId"].as_str().unwrap_or(&input.stem).to_owned();
    Ok(vec![ReadSession {
        directories: strings(&head["directories"]),
        projects: head["directories"][0]
            .as_str()
            .map(project::of_directory)
            .into_iter()
            .collect(),
        notes: Notes::of_models(
            log.entries
                .iter()
                .map(|entry| (entry.place, &entry.row["model"])),
        ),
        compactions: log.compactions,
        messages,
        ..ReadSession::new(input, IMPORTER.name, group)
    }])
}

/// Whether the program wrote a user's message to open the conversation.
pub(in crate::import) fn is_context(row: &Value) -> bool {
    let first = google_parts::blocks(&row["content"]).first();
    let text = first
        .and_then(|block| block.as_str().or(block["text"].as_str()))
        .unwrap_or_default();
    text.starts_with("<session_context>")
        || text.starts_with("This is the Gemini CLI. We are setting up the context")
}

struct GeminiReader<'r> {
    recorder: &'r mut Recorder,
    /// Each call's id and answer.
    answered: HashSet<(String, String)>,
    /// Whether a user's turn was read.
    has_spoken: bool,
}

impl GeminiReader<'_> {
    fn read(mut self, log: &GeminiLog) -> Result<Vec<Spoken>, ImportError> {
        let mut messages = Vec::new();
        for GeminiMessage {
            place,
            row,
            is_gone,
            ..
        } in &log.entries
        {
            match row["type"].as_str().unwrap_or("untyped") {
                _ if *is_gone => self.recorder.ignore("message of an abandoned branch"),
                "user" => self.user(*place, row, &mut messages)?,
                "gemini" => self.gemini(*place, row, &mut messages)?,
                kind => self.recorder.ignore(kind),
            }
        }
        Ok(messages)
    }

    fn at_ms(&mut self, place: Place, row: &Value) -> Result<Option<i64>, ImportError> {
        json_lines::at_ms(&row["timestamp"], place, self.recorder)
    }

    /// A user's message. Results that their call has already are only counted.
    fn user(
        &mut self,
        place: Place,
        row: &Value,
        out: &mut Vec<Spoken>,
    ) -> Result<(), ImportError> {
        let at_ms = self.at_ms(place, row)?;
        let mut parts = google_parts::read(&row["content"], Role::User, place, self.recorder)?;
        let has_results = !parts.results.is_empty();
        self.drop_repeated(&mut parts.results);
        if !parts.results.is_empty() {
            out.push(Spoken {
                place,
                role: Role::Tool,
                at_ms,
                parts: parts.results,
                usage: None,
            });
        }
        if !has_results || !parts.said.is_empty() {
            let role = if !self.has_spoken && is_context(row) {
                Role::System
            } else {
                Role::User
            };
            self.has_spoken |= role == Role::User;
            out.push(Spoken {
                place,
                role,
                at_ms,
                parts: parts.said,
                usage: None,
            });
        }
        Ok(())
    }

    /// A repeated result goes with the media after it.
    fn drop_repeated(&mut self, results: &mut Vec<Part>) {
        let mut is_repeated = false;
        results.retain(|part| {
            if let Part::ToolResult { call_id, text, .. } = part {
                is_repeated = self.answered.contains(&(call_id.clone(), text.clone()));
                if is_repeated {
                    self.recorder.ignore("result that its call has already");
                }
            }
            !is_repeated
        });
    }

    fn gemini(
        &mut self,
        place: Place,
        row: &Value,
        out: &mut Vec<Spoken>,
    ) -> Result<(), ImportError> {
        let at_ms = self.at_ms(place, row)?;
        let mut parts = thoughts(&row["thoughts"]);
        let content = google_parts::read(&row["content"], Role::Assistant, place, self.recorder)?;
        parts.extend(content.said);
        let mut results = Vec::new();
        let mut answered_at = None;
        for call in row["toolCalls"].as_array().into_iter().flatten() {
            let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
            parts.push(Part::ToolCall {
                id: text("id"),
                name: text("name"),
                arguments: call["args"].to_string(),
            });
            results.extend(self.answer(place, call)?);
            answered_at = answered_at.max(self.at_ms(place, call)?);
        }
        out.push(Spoken {
            place,
            role: Role::Assistant,
            at_ms,
            parts,
            usage: of_message(&row["tokens"]),
        });
        results.extend(content.results);
        if !results.is_empty() {
            out.push(Spoken {
                place,
                role: Role::Tool,
                at_ms: answered_at,
                parts: results,
                usage: None,
            });
        }
        Ok(())
    }

    /// The result of a call. A text or an image beside the response belongs to it.
    fn answer(&mut self, place: Place, call: &Value) -> Result<Vec<Part>, ImportError> {
        let id = call["id"].as_str().unwrap_or_default();
        let parts = google_parts::read(&call["result"], Role::Tool, place, self.recorder)?;
        let mut results = parts.results;
        if results.is_empty() && parts.said.is_empty() {
            return Ok(Vec::new());
        }
        if results.is_empty() {
            results.push(Part::ToolResult {
                call_id: id.to_owned(),
                text: String::new(),
                is_error: false,
            });
        }
        let failed = call["status"] == "error";
        if let Part::ToolResult {
            call_id,
            text,
            is_error,
        } = &mut results[0]
        {
            self.answered.insert((call_id.clone(), text.clone()));
            *is_error |= failed;
            let beside = google_parts::texts(&parts.said);
            let texts = [text.as_str(), &beside]
                .into_iter()
                .filter(|text| !text.is_empty());
            *text = texts.collect::<Vec<_>>().join("\n");
        }
        results.extend(
            parts
                .said
                .into_iter()
                .filter(|part| matches!(part, Part::Media { .. })),
        );
        Ok(results)
    }
}

fn thoughts(value: &Value) -> Vec<Part> {
    let thoughts = value.as_array().into_iter().flatten().map(|thought| {
        let texts = [&thought["subject"], &thought["description"]]
            .into_iter()
            .filter_map(Value::as_str);
        texts
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    });
    thoughts
        .filter(|text| !text.is_empty())
        .map(|text| Part::Thinking {
            text,
            signature: None,
        })
        .collect()
}

fn of_message(tokens: &Value) -> Option<Usage> {
    let count = |key: &str| tokens[key].as_u64().unwrap_or(0);
    usage(&GoogleUsage {
        input: count("input"),
        cached: count("cached"),
        output: count("output"),
        thoughts: count("thoughts"),
        tool: count("tool"),
        total: count("total"),
    })
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
