//! Rollouts of Codex: one JSON object a line with `timestamp`, `type` and `payload`.
//!
//! Items of a response up to its usage are one message. Instructions and context that the program
//! wrote before the user's first message are the system prompt; later ones are counted and left
//! out. A compaction leaves its messages in the file, so its summary is a recorded compaction, and
//! neither it nor the reply that wrote it is a message.

use std::collections::BTreeSet;

use compactometer_engine::message::{Part, Role, Usage, part_text};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::kept::SessionFolder;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::blocks::media;
use crate::import::readers::json_lines;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Notes, ReadSession, Spoken, reported, unreadable};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "codex",
    about: "a Codex rollout: one JSON object a line with `type` and `payload`, the first of type `session_meta`",
    source: "openai/codex 0.169, ~/.codex/sessions/*/*/*/rollout-*.jsonl",
    compactions: "`compacted` has the place and time. The next request began with `replacement_history`, of which messages read before count as kept; without that field, with the user's messages and the summary. The reply whose text is the summary has the usage and the tokens before. From 0.119 on many summaries are encrypted: such a compaction is listed as not measured.",
    particulars: "Items of one response are one message. Messages of role `developer`, and texts that are one element such as `<environment_context>`, belong to the system prompt. Encrypted reasoning, events for the terminal and context that the program wrote later are counted and left out.",
    sessions: Some(SessionFolder {
        variable: Some("CODEX_HOME"),
        home: ".codex",
        pattern: "sessions/*/*/*/rollout-*.jsonl",
    }),
    reattaches: None,
    by_line: true,
    recognises: |text| {
        json_lines::beginning(text)
            .any(|row| row["type"] == "session_meta" && row["payload"].is_object())
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    let mut reader = CodexReader {
        recorder,
        messages: Vec::new(),
        compactions: Vec::new(),
        group: None,
        version: None,
        projects: BTreeSet::new(),
        directories: Vec::new(),
    };
    let mut notes = Notes::default();
    for (place, row) in rows {
        reader.row(place, &row)?;
        notes.answered(place, row["payload"]["model"].as_str());
    }
    let CodexReader {
        messages,
        compactions,
        group,
        version,
        projects,
        directories,
        ..
    } = reader;
    let group = group.unwrap_or_else(|| input.stem.clone());
    Ok(vec![ReadSession {
        projects,
        directories,
        version,
        compactions,
        notes,
        messages,
        ..ReadSession::new(input, IMPORTER.name, group)
    }])
}

struct CodexReader<'r> {
    recorder: &'r mut Recorder,
    messages: Vec<Spoken>,
    compactions: Vec<Compaction>,
    group: Option<String>,
    version: Option<String>,
    projects: BTreeSet<String>,
    directories: Vec<String>,
}

impl CodexReader<'_> {
    fn row(&mut self, place: Place, row: &Value) -> Result<(), ImportError> {
        let payload = &row["payload"];
        let at_ms = json_lines::at_ms(&row["timestamp"], place, self.recorder)?;
        match (
            row["type"].as_str().unwrap_or("untyped"),
            payload["type"].as_str(),
        ) {
            ("session_meta", _) => self.head(place, payload),
            ("turn_context", _) => {
                self.works_in(payload["cwd"].as_str());
                self.recorder.ignore("turn_context");
            }
            ("response_item", _) => self.item(place, at_ms, payload)?,
            ("token_usage_record", _) => self.report(usage(&payload["usage"])),
            ("event_msg", Some("token_count")) => {
                self.report(usage(&payload["info"]["last_token_usage"]))
            }
            ("compacted", _) => self.compacted(place, at_ms, payload),
            (kind, inner) => self
                .recorder
                .ignore(&inner.map_or(kind.to_owned(), |inner| format!("{kind} {inner}"))),
        }
        Ok(())
    }

    fn works_in(&mut self, directory: Option<&str>) {
        project::note_directory(&mut self.directories, directory);
    }

    fn head(&mut self, place: Place, payload: &Value) {
        let text = |key: &str| payload[key].as_str();
        self.works_in(text("cwd"));
        if self.group.is_none() {
            self.group = text("id").map(str::to_owned);
            self.version = text("cli_version").map(str::to_owned);
            self.projects.extend(text("cwd").map(project::of_directory));
            let instructions = payload["base_instructions"]["text"]
                .as_str()
                .or(text("instructions"));
            if let Some(text) = instructions.filter(|text| !text.is_empty()) {
                let parts = vec![Part::Text {
                    text: text.to_owned(),
                }];
                self.messages.push(Spoken {
                    place,
                    role: Role::System,
                    at_ms: None,
                    parts,
                    usage: None,
                });
            }
        }
    }

    fn item(&mut self, place: Place, at_ms: Option<i64>, item: &Value) -> Result<(), ImportError> {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str().unwrap_or("untyped") {
            "message" => self.message(place, at_ms, item)?,
            "function_call" => {
                let arguments = item["arguments"]
                    .as_str()
                    .map_or_else(|| item["arguments"].to_string(), str::to_owned);
                let call = Part::ToolCall {
                    id: text("call_id"),
                    name: text("name"),
                    arguments,
                };
                self.say(place, at_ms, Role::Assistant, vec![call]);
            }
            "custom_tool_call" => {
                let arguments = Value::String(text("input")).to_string();
                let call = Part::ToolCall {
                    id: text("call_id"),
                    name: text("name"),
                    arguments,
                };
                self.say(place, at_ms, Role::Assistant, vec![call]);
            }
            "local_shell_call" => {
                let arguments = item["action"].to_string();
                let call = Part::ToolCall {
                    id: text("call_id"),
                    name: "local_shell".to_owned(),
                    arguments,
                };
                self.say(place, at_ms, Role::Assistant, vec![call]);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let text = output(&item["output"]);
                let call_id = item["call_id"].as_str().unwrap_or_default().to_owned();
                let is_error = item["output"]["success"] == Value::Bool(false);
                self.say(
                    place,
                    at_ms,
                    Role::Tool,
                    vec![Part::ToolResult {
                        call_id,
                        text,
                        is_error,
                    }],
                );
            }
            "reasoning" => {
                let texts = item["summary"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|block| block["text"].as_str());
                let thought = texts.collect::<Vec<_>>().join("\n");
                if thought.is_empty() {
                    self.recorder.ignore("encrypted reasoning");
                } else {
                    self.say(
                        place,
                        at_ms,
                        Role::Assistant,
                        vec![Part::Thinking {
                            text: thought,
                            signature: None,
                        }],
                    );
                }
            }
            kind => self.recorder.ignore(&format!("response_item {kind}")),
        }
        Ok(())
    }

    fn message(
        &mut self,
        place: Place,
        at_ms: Option<i64>,
        item: &Value,
    ) -> Result<(), ImportError> {
        let mut parts = Vec::new();
        for block in item["content"].as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap_or("untyped") {
                "input_text" | "output_text" | "text" => {
                    parts.push(Part::Text {
                        text: block["text"].as_str().unwrap_or_default().to_owned(),
                    });
                }
                "input_image" => parts.push(media(&Value::Null, &block["image_url"], false)),
                kind => {
                    self.recorder.repair(
                        place,
                        format!("block of type `{kind}` in a message: dropped"),
                    )?;
                }
            }
        }
        let role = match item["role"].as_str().unwrap_or("unknown") {
            "assistant" => Role::Assistant,
            "user" if !is_context(&parts) => Role::User,
            "user" | "developer" | "system" => Role::System,
            other => {
                self.recorder.ignore(&format!("message of role {other}"));
                return Ok(());
            }
        };
        if role == Role::System && self.messages.iter().any(|said| said.role != Role::System) {
            self.recorder
                .ignore("context that the program wrote during the conversation");
        } else {
            self.say(place, at_ms, role, parts);
        }
        Ok(())
    }

    /// Adds to the last message if that is of the same role and, of the assistant, not yet finished
    /// by its usage or by a compaction.
    fn say(&mut self, place: Place, at_ms: Option<i64>, role: Role, parts: Vec<Part>) {
        let compacted = self.compactions.last().map(|compaction| compaction.place);
        let is_open = |last: &Spoken| last.usage.is_none() && Some(last.place) > compacted;
        match self.messages.last_mut() {
            Some(last) if last.role == role && role != Role::User && is_open(last) => {
                last.parts.extend(parts)
            }
            _ => self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts,
                usage: None,
            }),
        }
    }

    /// What a provider reports belongs to the response before it; some versions report it twice.
    fn report(&mut self, usage: Option<Usage>) {
        let mut said = self.messages.iter_mut().rev();
        if let Some(last) = said
            .find(|said| said.role == Role::Assistant)
            .filter(|said| said.usage.is_none())
        {
            last.usage = usage;
        }
    }

    /// The reply that wrote the summary comes before it as a message of the assistant.
    fn compacted(&mut self, place: Place, at_ms: Option<i64>, payload: &Value) {
        let summary = payload["message"].as_str().unwrap_or_default();
        let wrote = |said: &Spoken| {
            said.role == Role::Assistant
                && matches!(&said.parts[..], [Part::Text { text }] if !text.is_empty() && summary.ends_with(text.as_str()))
        };
        let reply = self.messages.pop_if(|said| wrote(said));
        let context = match payload["replacement_history"].as_array() {
            Some(items) => items.iter().filter_map(|item| self.left(item)).collect(),
            // Versions that do not write it keep what the user said.
            None => {
                let users = self.messages.iter().filter(|said| said.role == Role::User);
                let written = Left::Written(Role::User, summary.to_owned());
                users
                    .map(|said| Left::Kept(said.place))
                    .chain([written])
                    .collect()
            }
        };
        let usage = reply.and_then(|reply| reply.usage);
        let reported_tokens = usage
            .or_else(|| self.last_usage())
            .map(|usage| usage.total_input());
        self.compactions.push(Compaction {
            at_ms,
            reported_tokens,
            usage,
            // A summary that the provider wrote is encrypted, or is not in the file.
            unmeasured: unreadable(summary),
            context,
            ..Compaction::at(place)
        });
    }

    /// What the provider reported for the last response.
    fn last_usage(&self) -> Option<Usage> {
        self.messages.iter().rev().find_map(|said| said.usage)
    }

    /// An item of the next request: a message that was read before, or what the program wrote. Its
    /// context is not part of the conversation.
    fn left(&self, item: &Value) -> Option<Left> {
        let blocks = item["content"].as_array().into_iter().flatten();
        let texts = blocks
            .filter_map(|block| block["text"].as_str())
            .map(|text| Part::Text {
                text: text.to_owned(),
            });
        let parts = texts.collect::<Vec<_>>();
        let role = match item["role"].as_str()? {
            "user" if !is_context(&parts) => Role::User,
            "assistant" => Role::Assistant,
            _ => return None,
        };
        // Images do not count: the item may hold a copy of one that was dropped when it was read.
        let said_texts = |said: &Spoken| {
            said.parts
                .iter()
                .filter(|part| matches!(part, Part::Text { .. }))
                .eq(&parts)
        };
        let read = self
            .messages
            .iter()
            .rfind(|said| said.role == role && said_texts(said));
        let text = || {
            parts
                .iter()
                .filter_map(part_text)
                .collect::<Vec<_>>()
                .join("\n")
        };
        Some(read.map_or_else(
            || Left::Written(role, text()),
            |said| Left::Kept(said.place),
        ))
    }
}

/// Whether the program wrote a user's message: each of its texts is one element, such as
/// `<environment_context>`.
fn is_context(parts: &[Part]) -> bool {
    let is_element = |text: &str| {
        let text = text.trim();
        let name = text
            .strip_prefix('<')
            .and_then(|rest| rest.split(['>', ' ']).next())
            .unwrap_or_default();
        !name.is_empty() && text.ends_with(&format!("</{name}>"))
    };
    let is_of_program = |part: &Part| matches!(part, Part::Text { text } if is_element(text) || text.starts_with("# AGENTS.md instructions for "));
    !parts.is_empty() && parts.iter().all(is_of_program)
}

/// The text of an output: a string, or the texts of its blocks.
fn output(value: &Value) -> String {
    let texts = |blocks: &Value| {
        let blocks = blocks.as_array().into_iter().flatten();
        blocks
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n")
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => value["content"]
            .as_str()
            .map_or_else(|| texts(&value["content_items"]), str::to_owned),
        blocks => texts(blocks),
    }
}

/// The usage that the provider reported. Its input includes what was cached.
fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    let (cache_read, cache_write) = (
        count("cached_input_tokens"),
        count("cache_write_input_tokens"),
    );
    let input = count("input_tokens")
        .saturating_sub(cache_read)
        .saturating_sub(cache_write);
    reported(Usage {
        input,
        cache_read,
        cache_write,
        output: count("output_tokens"),
    })
}
