//! The stream of a run without a terminal, `--output-format stream-json`: one event a line.

use compactometer_engine::message::{Part, Role};

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::readers::json_lines;
use crate::import::readers::tabled::{
    CallFields, FieldTable, ReadByTable, ResultFields, TableBlock,
};
use crate::import::report::Recorder;
use crate::import::session::ReadSession;

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "gemini-stream",
    about: "the stream-json of Gemini CLI: one event a line with `type`, such as message or tool_use with `tool_id`",
    source: "google-gemini/gemini-cli 0.11, --output-format stream-json",
    compactions: "The stream does not show them; a chat of format `gemini` does.",
    particulars: "Pieces of a reply are joined.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        json_lines::beginning(text)
            .any(|row| row["type"] == "init" && row["session_id"].is_string())
    },
    read,
};

const TABLE: FieldTable = FieldTable {
    rows: &[],
    role: "",
    roles: &[("user", Role::User), ("assistant", Role::Assistant)],
    content: &[""],
    kind: "/type",
    blocks: &[
        ("message", TableBlock::Message("/role", "/content")),
        (
            "tool_use",
            TableBlock::Call(CallFields("/tool_id", "/tool_name", &["/parameters"])),
        ),
        (
            "tool_result",
            TableBlock::Result(ResultFields(
                "/tool_id",
                &["/output", "/error/message"],
                |event| event["status"] == "error",
            )),
        ),
        ("*", TableBlock::Aside),
    ],
    at: "/timestamp",
    usage: |_| None,
    joins: true,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    let mut read = ReadByTable::new(&TABLE, recorder);
    for (place, row) in &rows {
        read.row(*place, row)?;
        if row["delta"] == true {
            read.messages
                .last_mut()
                .into_iter()
                .for_each(|said| join(&mut said.parts));
        }
    }
    let group = rows.iter().find_map(|(_, row)| row["session_id"].as_str());
    Ok(vec![ReadSession {
        messages: read.messages,
        ..ReadSession::new(input, IMPORTER.name, group.unwrap_or(&input.stem))
    }])
}

/// Joins the last text to the one before it.
fn join(parts: &mut Vec<Part>) {
    let is_text = |part: &Part| matches!(part, Part::Text { .. });
    let are_texts = parts.len() > 1 && parts.iter().rev().take(2).all(is_text);
    if are_texts
        && let Some(Part::Text { text: piece }) = parts.pop()
        && let Some(Part::Text { text }) = parts.last_mut()
    {
        text.push_str(&piece);
    }
}
