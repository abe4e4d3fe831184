//! The stream of `codex exec --json`: one event a line. A call comes with its result. What was asked
//! is not in the stream.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::readers::tabled::{
    CallFields, FieldTable, ReadByTable, ResultFields, TableBlock,
};
use crate::import::readers::{json_lines, unasked};
use crate::import::report::Recorder;
use crate::import::session::{Notes, ReadSession, Spoken, reported};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "codex-exec",
    about: "the stream of `codex exec --json`: one event a line with `type`, such as `item.completed` with its `item`",
    source: "openai/codex 0.145, codex exec --json",
    compactions: "The stream does not show them; a rollout of format `codex` does.",
    particulars: "The stream has no words of the user: each turn begins with a message that says so, and this is a repair.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        json_lines::beginning(text)
            .any(|row| row["type"] == "thread.started" || row["type"] == "turn.started")
    },
    read,
};

const FAILED: fn(&Value) -> bool =
    |item| item["status"] == "failed" || item["exit_code"].as_i64().is_some_and(|code| code != 0);

const TABLE: FieldTable = FieldTable {
    rows: &[],
    role: "",
    roles: &[],
    content: &["/item"],
    kind: "/type",
    blocks: &[
        (
            "agent_message",
            TableBlock::TextOf(Role::Assistant, &["/text"]),
        ),
        ("reasoning", TableBlock::Thinking(&["/text"])),
        (
            "command_execution",
            TableBlock::Done(
                CallFields("/id", "shell", &["/command"]),
                ResultFields("/id", &["/aggregated_output"], FAILED),
            ),
        ),
        (
            "file_change",
            TableBlock::Done(
                CallFields("/id", "apply_patch", &["/changes"]),
                ResultFields("/id", &["/status"], FAILED),
            ),
        ),
        (
            "mcp_tool_call",
            TableBlock::Done(
                CallFields("/id", "/tool", &["/arguments"]),
                ResultFields("/id", &["/result", "/error/message"], FAILED),
            ),
        ),
        (
            "web_search",
            TableBlock::Done(
                CallFields("/id", "web_search", &["/query"]),
                ResultFields("/id", &["/status"], FAILED),
            ),
        ),
        ("todo_list", TableBlock::Aside),
        ("error", TableBlock::Aside),
    ],
    at: "/timestamp",
    usage: |_| None,
    joins: false,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    let mut read = ReadByTable::new(&TABLE, recorder);
    let mut notes = Notes::default();
    for (place, row) in &rows {
        match row["type"].as_str().unwrap_or("untyped") {
            "turn.started" => {
                let text = unasked::text(*place, read.recorder)?;
                read.say(*place, None, Role::User, Part::Text { text });
                notes.by_program.push(*place);
            }
            "item.completed" => read.row(*place, row)?,
            "turn.completed" => report(read.messages.last_mut(), &row["usage"]),
            kind => read.recorder.ignore(kind),
        }
    }
    let group = rows.iter().find_map(|(_, row)| row["thread_id"].as_str());
    Ok(vec![ReadSession {
        messages: read.messages,
        notes,
        ..ReadSession::new(input, IMPORTER.name, group.unwrap_or(&input.stem))
    }])
}

/// Notes the usage of a whole turn at its last reply.
fn report(last: Option<&mut Spoken>, counts: &Value) {
    if let Some(last) = last.filter(|said| said.role == Role::Assistant) {
        last.usage = usage(counts);
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    let cache_read = count("cached_input_tokens");
    reported(Usage {
        input: count("input_tokens").saturating_sub(cache_read),
        cache_read,
        cache_write: 0,
        output: count("output_tokens"),
    })
}
