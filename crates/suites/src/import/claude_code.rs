//! Sessions of Claude Code: one JSON object a line, linked by `uuid` and `parentUuid`.
//!
//! Rows that share `message.id` are one message. Its usage is that of the row with the most output and counts once. An image or
//! document counts as 1,600 tokens, which is what a provider's rule gives for a large image. Its digest is that of the decoded
//! bytes, or of the link if the file has no bytes.
//! Absent on purpose: the system prompt and tool definitions, which these files do not contain.

use std::collections::HashMap;

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_formats::suite::MOST_REPORTED_TOKENS;
use serde_json::Value;

use super::Importer;
use super::base64;
use super::claude_broken;
use super::claude_tree::{self, Row};
use super::error::ImportError;
use super::input::Input;
use super::project;
use super::report::Recorder;
use super::session::{Place, Session, Spoken, type_name};
use super::surrogates;

pub(super) const IMPORTER: Importer = Importer {
    name: "claude-code",
    about: "a Claude Code session: one JSON object a line with `type`, `uuid` and `parentUuid`",
    source: "Claude Code 1.0, ~/.claude/projects/*/SESSION.jsonl",
    recognises,
    read,
};

/// Tokens of an image or document.
const MEDIA_TOKENS: u32 = 1_600;

fn recognises(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(5);
    lines.any(|line| {
        let row = surrogates::parse::<Value>(line).map(|(row, _)| row).unwrap_or_default();
        let linked = ["uuid", "sessionId", "leafUuid"].iter().any(|key| row[*key].is_string());
        row["type"].is_string() && linked
    })
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<Session>, ImportError> {
    let rows = rows(input, recorder)?;
    let ids = || rows.iter().filter_map(|row| row.session.as_deref()).filter(|id| !id.is_empty());
    let group = ids().find(|id| *id == input.stem).or_else(|| ids().next()).unwrap_or(&input.stem).to_owned();
    // A session changes its directory while it runs; the first is where it was started.
    let project = rows.iter().find_map(|row| row.directory.as_deref()).map(project::of_directory);
    let mut sessions = Vec::new();
    for (order, tree) in (0..).zip(claude_tree::trees(&input.file, &rows, recorder)?) {
        let messages = Reader { file: &input.file, recorder }.messages(&rows, &tree.rows)?;
        sessions.push(Session {
            file: input.file.clone(),
            source: format!("claude-code: {}", input.name),
            group: group.clone(),
            projects: project.iter().cloned().collect(),
            stem: if tree.sidechain { format!("{group}/side-") } else { group.clone() },
            numbered: tree.sidechain,
            order,
            messages,
        });
    }
    Ok(sessions)
}

fn rows(input: &Input, recorder: &mut Recorder) -> Result<Vec<Row>, ImportError> {
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    let last = input.lines().last().map_or(0, |(number, _)| number);
    for (number, line) in input.lines() {
        let mut repair = |what| recorder.repair(&input.file, Place::Line(number), what);
        match surrogates::parse::<Value>(line) {
            Ok((value, mended)) if value.is_object() => {
                if let Some(mended) = mended {
                    repair(mended.what())?;
                }
                rows.push(row(number, value, &input.file, recorder)?);
            }
            Ok((value, _)) => repair(format!("expected an object, found {}: dropped", type_name(&value)))?,
            Err(error) => {
                let torn = if number == last { "torn last line" } else { "broken line" };
                let error = error.to_string().replace("line 1 column", "column");
                repair(format!("{torn} ({error}): dropped"))?;
                broken.push((number, line));
            }
        }
    }
    claude_broken::put_back(&mut rows, &broken);
    Ok(rows)
}

fn row(line: usize, mut value: Value, file: &str, recorder: &mut Recorder) -> Result<Row, ImportError> {
    let at_ms = at_ms(line, &value, file, recorder)?;
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let kind = text("type").unwrap_or_else(|| "untyped".to_owned());
    let (uuid, session, directory) = (text("uuid"), text("sessionId"), text("cwd"));
    let parent = text("parentUuid").or_else(|| text("logicalParentUuid"));
    let sidechain = value["isSidechain"].as_bool().unwrap_or(false);
    let boundary = value["subtype"] == "compact_boundary";
    let summary = is_summary(&value);
    let message = match spoken(&kind, &value) {
        Ok(true) => value.get_mut("message").map(Value::take),
        Ok(false) => {
            recorder.ignore(&kind);
            None
        }
        Err(what) => {
            recorder.repair(file, Place::Line(line), format!("{what}: dropped"))?;
            None
        }
    };
    Ok(Row {
        line,
        kind,
        uuid,
        parent,
        session,
        directory,
        sidechain,
        summary,
        boundary,
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
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    value["isCompactSummary"].as_bool().unwrap_or(value["type"] == "user" && text.starts_with(SUMMARY))
}

fn at_ms(line: usize, value: &Value, file: &str, recorder: &mut Recorder) -> Result<Option<i64>, ImportError> {
    let Some(stamp) = value["timestamp"].as_str() else { return Ok(None) };
    let at = stamp.parse::<jiff::Timestamp>().ok();
    if at.is_none() {
        let what = format!("timestamp `{stamp}` is not in the format of RFC 3339: left out");
        recorder.repair(file, Place::Line(line), what)?;
    }
    Ok(at.map(jiff::Timestamp::as_millisecond))
}

/// Row types that never contain a turn of the conversation.
const SILENT: &[&str] =
    &["summary", "system", "file-history-snapshot", "queue-operation", "progress", "attachment", "last-prompt"];

/// Whether a row contains a turn. The error says why a row that seems to contain one is invalid.
fn spoken(kind: &str, value: &Value) -> Result<bool, String> {
    let message = &value["message"];
    let role = message["role"].as_str();
    if !matches!(kind, "user" | "assistant") {
        return match role {
            Some(role) if !SILENT.contains(&kind) => Err(format!("message of role `{role}` in a row of type `{kind}`")),
            _ => Ok(false),
        };
    }
    match (&message["role"], role) {
        _ if !message.is_object() => Err(format!("row of type `{kind}` without a message")),
        (_, Some(role)) if role != kind => Err(format!("message of role `{role}` in a row of type `{kind}`")),
        (other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)), _) => {
            Err(format!("message whose role is {} in a row of type `{kind}`", type_name(other)))
        }
        _ => Ok(true),
    }
}

/// Turns rows into messages.
struct Reader<'r> {
    file: &'r str,
    recorder: &'r mut Recorder,
}

impl Reader<'_> {
    fn messages(&mut self, rows: &[Row], chosen: &[claude_tree::Chosen]) -> Result<Vec<Spoken>, ImportError> {
        let mut messages: Vec<Spoken> = Vec::new();
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        for choice in chosen {
            let row = &rows[choice.row];
            let Some(message) = &row.message else { continue };
            if row.kind == "user" {
                self.user(row, message, choice.results_only, &mut messages)?;
                continue;
            }
            let said = self.assistant(row, message)?;
            match message["id"].as_str().map(|id| by_id.entry(id).or_insert(messages.len())) {
                Some(&mut at) if at < messages.len() => absorb(&mut messages[at], said),
                _ => messages.push(said),
            }
        }
        Ok(messages)
    }

    fn assistant(&mut self, row: &Row, message: &Value) -> Result<Spoken, ImportError> {
        let mut parts = Vec::new();
        for block in blocks(&message["content"]) {
            parts.extend(self.part(row.line, Role::Assistant, &block)?);
        }
        let usage = usage(&message["usage"]);
        Ok(Spoken { place: Place::Line(row.line), role: Role::Assistant, at_ms: row.at_ms, parts, usage })
    }

    /// A user's row: its results become a message of role tool, everything else a message of role user. A summary of the program
    /// itself is no statement of the user.
    fn user(
        &mut self,
        row: &Row,
        message: &Value,
        results_only: bool,
        out: &mut Vec<Spoken>,
    ) -> Result<(), ImportError> {
        let (mut results, mut parts) = (Vec::new(), Vec::new());
        let blocks = blocks(&message["content"]);
        for block in &blocks {
            if block["type"] == "tool_result" {
                self.result(block, &mut results);
            } else if !results_only {
                parts.extend(self.part(row.line, Role::User, block)?);
            }
        }
        let role = if row.summary { Role::System } else { Role::User };
        if row.summary {
            let what = "summary of messages that are not in the file: kept as the system prompt".to_owned();
            self.recorder.repair(self.file, Place::Line(row.line), what)?;
        }
        let said = |role, parts| Spoken { place: Place::Line(row.line), role, at_ms: row.at_ms, parts, usage: None };
        let answers = !results.is_empty();
        if answers {
            out.push(said(Role::Tool, results));
        }
        if !parts.is_empty() || !(answers || results_only) {
            out.push(said(role, parts));
        }
        Ok(())
    }

    fn part(&mut self, line: usize, role: Role, block: &Value) -> Result<Option<Part>, ImportError> {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let part = match (block["type"].as_str().unwrap_or("untyped"), role) {
            ("text", _) => Part::Text { text: text("text") },
            ("thinking", Role::Assistant) => {
                Part::Thinking { text: text("thinking"), signature: block["signature"].as_str().map(str::to_owned) }
            }
            ("tool_use", Role::Assistant) => {
                Part::ToolCall { id: text("id"), name: text("name"), arguments: block["input"].to_string() }
            }
            ("image" | "document", _) => media(block),
            ("redacted_thinking", _) => {
                self.recorder.ignore("redacted thinking");
                return Ok(None);
            }
            (kind, _) => {
                let what = format!("block of type `{kind}` in a message of role `{}`: dropped", role.name());
                self.recorder.repair(self.file, Place::Line(line), what)?;
                return Ok(None);
            }
        };
        Ok(Some(part))
    }

    /// A result with its texts joined, followed by its media.
    fn result(&mut self, block: &Value, out: &mut Vec<Part>) {
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        for inner in blocks(&block["content"]) {
            match inner["type"].as_str().unwrap_or("untyped") {
                "text" => texts.push(inner["text"].as_str().unwrap_or_default().to_owned()),
                "image" | "document" => others.push(media(&inner)),
                kind => self.recorder.ignore(&format!("{kind} in a tool result")),
            }
        }
        out.push(Part::ToolResult {
            call_id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
            text: texts.join("\n"),
            is_error: block["is_error"].as_bool().unwrap_or(false),
        });
        out.extend(others);
    }
}

/// Adds a later row of the same message to it.
fn absorb(message: &mut Spoken, row: Spoken) {
    message.parts.extend(row.parts);
    if row.usage.map(|usage| usage.output) > message.usage.map(|usage| usage.output) {
        message.usage = row.usage;
    }
}

/// The blocks of a message's content. A string is one block of text.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        _ => Vec::new(),
    }
}

fn media(block: &Value) -> Part {
    let source = &block["source"];
    let data = ["data", "url", "file_id"].iter().find_map(|key| source[*key].as_str()).unwrap_or_default();
    let bytes = if source["type"] == "base64" { base64::decode(data) } else { None };
    Part::Media {
        media_type: source["media_type"].as_str().or(block["type"].as_str()).unwrap_or_default().to_owned(),
        digest: blake3::hash(bytes.as_deref().unwrap_or(data.as_bytes())).to_hex().to_string(),
        tokens: MEDIA_TOKENS,
    }
}

/// The usage that the provider reported, or `None` if all counts are zero, as in messages that the program made itself, or
/// impossible.
fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    let usage = Usage {
        input: count("input_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        output: count("output_tokens"),
    };
    let is_possible = usage.total_input().max(usage.output) <= MOST_REPORTED_TOKENS;
    (usage != Usage::default() && is_possible).then_some(usage)
}
