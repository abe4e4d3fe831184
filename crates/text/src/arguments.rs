//! What an argument of a call is for: it says where or what to act on, or it holds text that the
//! agent writes.
//!
//! The table names arguments as the agents' tools do, in small letters and without separators.
//! Absent on purpose: what a command writes. A command is an address as a whole, since each of its
//! words decides what it does.

use serde_json::Value;

/// What an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArgumentPurpose {
    /// It says where or what to act on.
    Address,
    /// The agent writes it.
    Authored,
}

/// Arguments that say where or what to act on. Those of the Read, Grep, Bash, Edit and similar
/// tools of Claude Code, Codex, Copilot CLI, Gemini CLI, OpenHands, opencode, pi and qwen-code.
const ADDRESSES: &[&str] = &[
    "absolutepath",
    "bashid",
    "branch",
    "cellid",
    "cmd",
    "command",
    "commands",
    "cwd",
    "destination",
    "dir",
    "dirpath",
    "directory",
    "domain",
    "environment",
    "file",
    "fileid",
    "filename",
    "filepath",
    "filepaths",
    "files",
    "glob",
    "host",
    "id",
    "ids",
    "include",
    "key",
    "link",
    "node",
    "notebookpath",
    "oldpath",
    "oldstr",
    "oldstring",
    "oldtext",
    "path",
    "paths",
    "pattern",
    "pid",
    "port",
    "processid",
    "project",
    "query",
    "ref",
    "regex",
    "repo",
    "repository",
    "resource",
    "script",
    "selector",
    "server",
    "sessionid",
    "shellid",
    "skill",
    "source",
    "sql",
    "symbol",
    "table",
    "target",
    "targetfile",
    "taskid",
    "uri",
    "url",
    "urls",
    "workdir",
];

/// Arguments that the agent writes.
const AUTHORED: &[&str] = &[
    "activeform",
    "answer",
    "body",
    "chars",
    "code",
    "comment",
    "content",
    "contents",
    "description",
    "explanation",
    "feedback",
    "filetext",
    "header",
    "insert",
    "inserttext",
    "instructions",
    "label",
    "message",
    "messages",
    "newcontent",
    "newsource",
    "newstr",
    "newstring",
    "newtext",
    "note",
    "notes",
    "plan",
    "prompt",
    "question",
    "questions",
    "reason",
    "replacement",
    "step",
    "subject",
    "summary",
    "text",
    "thought",
    "thoughts",
    "title",
    "todo",
    "todos",
];

/// An argument of this many characters or more is not an address unless the table names it.
const LONG: usize = 300;
/// An argument of this many words or more is prose.
const PROSE: usize = 12;

/// A piece of a call's arguments with one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// The name of its field; empty if the call has one text without a name.
    pub name: &'a str,
    /// Its text; a number in decimals.
    pub text: String,
    /// What it is for.
    pub purpose: ArgumentPurpose,
}

/// The arguments of a call: its texts and numbers at any depth.
pub fn arguments(value: &Value) -> Vec<Argument<'_>> {
    let mut found = Vec::new();
    collect("", value, &mut found);
    found
}

fn collect<'v>(name: &'v str, value: &'v Value, found: &mut Vec<Argument<'v>>) {
    match value {
        Value::String(text) if text.trim_start().starts_with("*** Begin Patch") => {
            patch(name, text, found)
        }
        Value::String(text) => found.push(Argument {
            name,
            text: text.clone(),
            purpose: purpose(name, text),
        }),
        Value::Number(number) => {
            found.push(Argument {
                name,
                text: number.to_string(),
                purpose: ArgumentPurpose::Address,
            });
        }
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, found)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| collect(name, field, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn purpose(name: &str, text: &str) -> ArgumentPurpose {
    let plain = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    let is_named = |table: &[&str]| table.contains(&plain.as_str());
    let is_id = plain.ends_with("id") || plain.ends_with("path") || plain.ends_with("url");
    let is_short =
        text.chars().nth(LONG).is_none() && text.split_whitespace().nth(PROSE - 1).is_none();
    match () {
        () if is_named(AUTHORED) => ArgumentPurpose::Authored,
        () if is_named(ADDRESSES) || is_id || is_short => ArgumentPurpose::Address,
        () => ArgumentPurpose::Authored,
    }
}

/// A patch names files and quotes what it replaces, and holds new lines.
fn patch<'v>(name: &'v str, text: &str, found: &mut Vec<Argument<'v>>) {
    let (new, old): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('+'));
    for (lines, purpose) in [
        (old, ArgumentPurpose::Address),
        (new, ArgumentPurpose::Authored),
    ] {
        found.push(Argument {
            name,
            text: lines.join("\n"),
            purpose,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purposes(call: &Value) -> Vec<(String, ArgumentPurpose)> {
        arguments(call)
            .into_iter()
            .map(|argument| (argument.name.to_owned(), argument.purpose))
            .collect()
    }

    #[test]
    fn each_argument_has_its_purpose() {
        let edit = serde_json::json!({"file_path": "a.rs", "old_string": "x", "new_string": "y", "replace_all": true});
        let found = purposes(&edit);
        let of = |name: &str| {
            found
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, purpose)| *purpose)
        };
        assert_eq!(
            [of("file_path"), of("old_string")],
            [Some(ArgumentPurpose::Address); 2]
        );
        assert_eq!(
            (of("new_string"), found.len()),
            (Some(ArgumentPurpose::Authored), 3)
        );
        let unknown = serde_json::json!({"holo": "KX-4711", "note_to_self": "the quick brown fox jumps over the lazy dog and runs far away"});
        assert_eq!(
            purposes(&unknown),
            [
                ("holo".to_owned(), ArgumentPurpose::Address),
                ("note_to_self".to_owned(), ArgumentPurpose::Authored)
            ]
        );
    }

    #[test]
    fn a_patch_names_files_and_holds_new_lines() {
        let patch = serde_json::json!(
            "*** Begin Patch\n*** Update File: src/pay.rs\n-let port = 1;\n+let port = 8443;\n*** End Patch"
        );
        let found = arguments(&patch);
        let text = |purpose| {
            found
                .iter()
                .find(|part| part.purpose == purpose)
                .map(|part| part.text.as_str())
                .expect("a part")
        };
        assert!(
            text(ArgumentPurpose::Address).contains("src/pay.rs")
                && text(ArgumentPurpose::Authored) == "+let port = 8443;"
        );
    }
}
