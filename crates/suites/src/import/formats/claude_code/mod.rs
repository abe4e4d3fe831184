//! Sessions of Claude Code: one JSON object a line, linked by `uuid` and `parentUuid`.
//!
//! Rows that share `message.id` are one message. Its usage is that of the row with the most output
//! and counts once. Absent on purpose: the system prompt and tool definitions, which these files do
//! not contain.

mod boundaries;
mod boundary;
mod branches;
mod broken;
mod cleared;
mod own_calls;
mod queued;
mod session_row;
mod stream;
mod tree;

use std::collections::HashMap;

use compactometer_engine::message::{Part, Role};
use compactometer_formats::scenario::Reattached;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::kept::SessionFolder;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::blocks::{BlockReader, blocks, usage};
use crate::import::readers::json_lines;
use crate::import::report::Recorder;
use crate::import::session::{Notes, ReadSession, Spoken, type_name};
use cleared::Clearing;
use session_row::ClaudeCodeRow;

const OF_SUMMARY: &str = "summary of messages that are not in the file: kept as the system prompt";

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "claude-code",
    about: "a Claude Code session: one JSON object a line with `type`, `uuid` and `parentUuid`; or its stream-json",
    source: "Claude Code 1.0, ~/.claude/projects/*/SESSION.jsonl",
    compactions: "The boundary has the place, time, trigger and tokens before. The next request began with the summary in the row after it, the messages that `preservedMessages` or `preservedSegment` name, and the rows of type `attachment` before the next turn; before 2.1.170 files were put back without a record. Without a boundary, a summary within a session is the compaction. The call that wrote it is in `SESSION/subagents/agent-acompact-*.jsonl`, if that folder is beside the file. A compaction on a branch that the session left is counted.",
    particulars: "Rows with one `message.id` are one message, and its row with the most output has its usage. `isSidechain` is a conversation `SESSION/side-N`, not independent of its session. Worktrees of one repository are one project. A row without its parent follows the last turn of its session. A summary at the start of a file becomes the system prompt. Of branches, the one on which a model or a person spoke last is the conversation. Branches that the user left and redacted thinking are counted and left out.",
    sessions: Some(SessionFolder {
        variable: Some("CLAUDE_CONFIG_DIR"),
        home: ".claude",
        pattern: "projects/*/*.jsonl",
    }),
    reattaches: Some(reattached),
    by_line: true,
    recognises,
    read,
};

/// By its published source, it attaches the files again that were read last.
fn reattached() -> Reattached {
    Reattached {
        tool: "Read".to_owned(),
        argument: "file_path".to_owned(),
        results: 5,
        tokens: 5_000,
    }
}

fn recognises(text: &str) -> bool {
    let rows = json_lines::beginning(text).collect::<Vec<_>>();
    // Other programs have the same links, and other parts in their messages.
    let is_foreign =
        |row: &Value| row["message"]["parts"].is_array() || row["systemPayload"].is_object();
    let is_own = |row: &Value| {
        let linked = ["uuid", "sessionId", "leafUuid"]
            .iter()
            .any(|key| row[*key].is_string());
        row["type"].is_string() && linked || stream::is_row(row)
    };
    rows.iter().any(is_own) && !rows.iter().any(is_foreign)
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let mut rows = rows(input, recorder)?;
    let ids = || {
        rows.iter()
            .filter_map(|row| row.session.as_deref())
            .filter(|id| !id.is_empty())
    };
    let group = ids()
        .find(|id| *id == input.stem)
        .or_else(|| ids().next())
        .unwrap_or(&input.stem)
        .to_owned();
    // A session changes its directory while it runs; the first is where it was started.
    let project = rows
        .iter()
        .find_map(|row| row.directory.as_deref())
        .map(project::of_directory);
    let mut directories = Vec::new();
    rows.iter()
        .for_each(|row| project::note_directory(&mut directories, row.directory.as_deref()));
    let mut sessions = Vec::new();
    for (order, tree) in (0..).zip(tree::trees(&rows, recorder)?) {
        let mut notes = notes(&rows, &tree);
        notes.left_behind = tree.left_behind.messages;
        let (spoken, mut compactions) = boundaries::split(&rows, tree.rows);
        own_calls::note(input, &mut compactions);
        compactions.extend(boundaries::left_behind(&rows, &tree.left_behind));
        let session = ReadSession {
            stem: if tree.sidechain {
                format!("{group}/side-")
            } else {
                group.clone()
            },
            projects: project.iter().cloned().collect(),
            directories: directories.clone(),
            starts_inside: tree.starts_inside,
            numbered: tree.sidechain,
            order,
            compactions,
            notes,
            ..ReadSession::new(input, IMPORTER.name, &group)
        };
        sessions.push((session, spoken));
    }
    // At last, because a row's text goes when its message is read.
    let mut reader = ClaudeCodeReader(BlockReader { recorder });
    sessions
        .into_iter()
        .map(|(session, spoken)| {
            Ok(ReadSession {
                messages: reader.messages(&mut rows, &spoken)?,
                ..session
            })
        })
        .collect()
}

fn notes(rows: &[ClaudeCodeRow], tree: &tree::Tree) -> Notes {
    let (mut notes, mut clearing) = (Notes::default(), Clearing::default());
    for row in tree.rows.iter().map(|choice| &rows[choice.row]) {
        // No person speaks to a subagent.
        if row.by_program || tree.sidechain {
            notes.by_program.push(row.place);
        }
        notes.cleared.extend(clearing.at(row));
        let model = row.message.as_ref().map(|message| &message["model"]);
        let is_real = |model: &&str| !model.starts_with('<');
        notes.answered(row.place, model.and_then(Value::as_str).filter(is_real));
    }
    notes
}

/// Fields that repeat what messages have, in another form.
const REPEATED: &[&str] = &["toolUseResult", "data"];

fn rows(input: &Input, recorder: &mut Recorder) -> Result<Vec<ClaudeCodeRow>, ImportError> {
    // A row of a session is kept as what is needed of it; the rows of a stream have no links yet.
    let (mut rows, mut unlinked) = (Vec::new(), Vec::new());
    let broken = json_lines::each(input, recorder, &mut |place, mut value, recorder| {
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, _| !REPEATED.contains(&key.as_str()));
        }
        match unlinked.is_empty() && (!rows.is_empty() || !stream::is_row(&value)) {
            true => rows.push(row(place, value, recorder)?),
            false => unlinked.push((place, value)),
        }
        Ok(())
    })?;
    if !unlinked.is_empty() {
        stream::link(&mut unlinked, recorder)?;
        for (place, value) in unlinked {
            rows.push(row(place, value, recorder)?);
        }
    }
    broken::put_back(&mut rows, &broken);
    Ok(rows)
}

fn row(
    place: Place,
    mut value: Value,
    recorder: &mut Recorder,
) -> Result<ClaudeCodeRow, ImportError> {
    let at_ms = json_lines::at_ms(&value["timestamp"], place, recorder)?;
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let queued = queued::message(&value);
    let kind = match queued {
        Some(_) => "user".to_owned(),
        None => text("type").unwrap_or_else(|| "untyped".to_owned()),
    };
    let (uuid, session, directory, version) = (
        text("uuid"),
        text("sessionId"),
        text("cwd"),
        text("version"),
    );
    let parent = text("parentUuid").or_else(|| text("logicalParentUuid"));
    let sidechain = value["isSidechain"].as_bool().unwrap_or(false);
    let boundary = boundary::boundary(&value);
    let attached = boundaries::attached(&value);
    let summary = is_summary(&value);
    let by_program = queued::is_by_program(&value, queued.as_ref());
    let cleared = cleared::cleared_calls(&value);
    if let Some(message) = queued {
        value["message"] = message;
    }
    let message = match spoken(&kind, &value) {
        Ok(true) => value.get_mut("message").map(Value::take),
        Ok(false) => {
            recorder.ignore(&kind);
            None
        }
        Err(what) => {
            recorder.repair(place, format!("{what}: dropped"))?;
            None
        }
    };
    Ok(ClaudeCodeRow {
        place,
        kind,
        uuid,
        parent,
        session,
        directory,
        version,
        sidechain,
        summary,
        boundary,
        attached,
        by_program,
        cleared,
        broken: false,
        at_ms,
        message,
    })
}

/// How the summary begins in rows of versions that did not mark it.
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// Whether the program itself wrote the row in place of earlier messages.
fn is_summary(value: &Value) -> bool {
    let content = &value["message"]["content"];
    let text = content
        .as_str()
        .or_else(|| content[0]["text"].as_str())
        .unwrap_or_default();
    value["isCompactSummary"]
        .as_bool()
        .unwrap_or(value["type"] == "user" && text.starts_with(SUMMARY))
}

/// Row types that never contain a turn of the conversation.
const SILENT: &[&str] = &[
    "summary",
    "system",
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "attachment",
    "last-prompt",
];

/// Whether a row contains a turn. The error says why a row that seems to contain one is invalid.
fn spoken(kind: &str, value: &Value) -> Result<bool, String> {
    let message = &value["message"];
    let role = message["role"].as_str();
    if !matches!(kind, "user" | "assistant") {
        return match role {
            Some(role) if !SILENT.contains(&kind) => Err(format!(
                "message of role `{role}` in a row of type `{kind}`"
            )),
            _ => Ok(false),
        };
    }
    match (&message["role"], role) {
        _ if !message.is_object() => Err(format!("row of type `{kind}` without a message")),
        (_, Some(role)) if role != kind => Err(format!(
            "message of role `{role}` in a row of type `{kind}`"
        )),
        (other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)), _) => {
            Err(format!(
                "message whose role is {} in a row of type `{kind}`",
                type_name(other)
            ))
        }
        _ => Ok(true),
    }
}

/// Turns rows into messages.
struct ClaudeCodeReader<'r>(BlockReader<'r>);

impl ClaudeCodeReader<'_> {
    fn messages(
        &mut self,
        rows: &mut [ClaudeCodeRow],
        chosen: &[tree::ChosenRow],
    ) -> Result<Vec<Spoken>, ImportError> {
        let mut messages: Vec<Spoken> = Vec::new();
        let mut by_id = HashMap::<String, usize>::new();
        for choice in chosen {
            let row = &mut rows[choice.row];
            let Some(message) = row.message.take() else {
                continue;
            };
            if row.kind == "user" {
                self.user(row, &message, choice.results_only, &mut messages)?;
                continue;
            }
            let said = self.assistant(row, &message)?;
            match message["id"]
                .as_str()
                .map(|id| by_id.entry(id.to_owned()).or_insert(messages.len()))
            {
                Some(&mut at) if at < messages.len() => absorb(&mut messages[at], said),
                _ => messages.push(said),
            }
        }
        Ok(messages)
    }

    fn assistant(&mut self, row: &ClaudeCodeRow, message: &Value) -> Result<Spoken, ImportError> {
        let mut parts = Vec::new();
        for block in blocks(&message["content"]) {
            parts.extend(self.0.part(row.place, Role::Assistant, &block)?);
        }
        let usage = usage(&message["usage"]);
        Ok(Spoken {
            place: row.place,
            role: Role::Assistant,
            at_ms: row.at_ms,
            parts,
            usage,
        })
    }

    /// A user's row: its results become a message of role tool, everything else a message of role
    /// user. A summary of the program itself is not a statement of the user.
    fn user(
        &mut self,
        row: &ClaudeCodeRow,
        message: &Value,
        results_only: bool,
        out: &mut Vec<Spoken>,
    ) -> Result<(), ImportError> {
        let (mut results, mut parts) = (Vec::new(), Vec::new());
        let blocks = blocks(&message["content"]);
        for block in &blocks {
            if block["type"] == "tool_result" {
                self.0.result(block, &mut results);
            } else if !results_only {
                parts.extend(self.0.part(row.place, Role::User, block)?);
            }
        }
        let role = [Role::User, Role::System][usize::from(row.summary)];
        if row.summary {
            self.0.recorder.repair(row.place, OF_SUMMARY.to_owned())?;
        }
        let said = |role, parts| spoken_row(row, role, parts);
        let answers = !results.is_empty();
        if answers {
            out.push(said(Role::Tool, results));
        }
        if !parts.is_empty() || !(answers || results_only) {
            out.push(said(role, parts));
        }
        Ok(())
    }
}

fn spoken_row(row: &ClaudeCodeRow, role: Role, parts: Vec<Part>) -> Spoken {
    Spoken {
        place: row.place,
        role,
        at_ms: row.at_ms,
        parts,
        usage: None,
    }
}

/// Adds a later row of the same message to it.
fn absorb(message: &mut Spoken, row: Spoken) {
    message.parts.extend(row.parts);
    if row.usage.map(|usage| usage.output) > message.usage.map(|usage| usage.output) {
        message.usage = row.usage;
    }
}
