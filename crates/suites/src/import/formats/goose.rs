//! Sessions of goose: a head and one message a line, or an export with `conversation`.
//!
//! A message that the agent no longer sees was compacted; one that the user never sees was written
//! by the program in its place.

use compactometer_engine::message::Role;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::tabled::{
    self, CallFields, FieldTable, ReadByTable, ResultFields, TableBlock,
};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, ReadSession};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "goose",
    about: "a goose session: a head with `working_dir`, then one message a line with `role`, `created` and `content`",
    source: "block/goose 1, sessions/*.jsonl, and `goose session export --format json`",
    compactions: "Messages that only the agent sees (`userVisible` false) were written in place of those that it no longer sees (`agentVisible` false). Of several compactions, what an earlier one kept beside its summary is not in the file.",
    particulars: "A result names its call by `id`.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = tabled::beginning(text, &["role", "created"], TABLE.rows);
        let is_own = |row: &Value| row["created"].is_i64() && row["content"].is_array();
        let is_head = |row: &Value| row["working_dir"].is_string() && row["role"].is_null();
        rows.iter().any(is_own)
            && rows
                .iter()
                .all(|row| is_own(row) || is_head(row) || row.is_null())
    },
    read,
};

const REQUEST: CallFields = CallFields(
    "/id",
    "/toolCall/value/name",
    &["/toolCall/value/arguments"],
);

const TABLE: FieldTable = FieldTable {
    rows: &["", "/conversation", "/messages"],
    role: "/role",
    roles: &[("user", Role::User), ("assistant", Role::Assistant)],
    content: &["/content"],
    kind: "/type",
    blocks: &[
        ("text", TableBlock::Text(&["/text"])),
        ("thinking", TableBlock::Thinking(&["/thinking"])),
        ("toolRequest", TableBlock::Call(REQUEST)),
        ("frontendToolRequest", TableBlock::Call(REQUEST)),
        (
            "toolResponse",
            TableBlock::Result(ResultFields(
                "/id",
                &["/toolResult/value", "/toolResult/error"],
                |block| {
                    block["toolResult"]["status"] == "error"
                        || block["toolResult"]["value"]["isError"] == true
                },
            )),
        ),
        ("image", TableBlock::Media("/mimeType", &["/data"])),
        ("redactedThinking", TableBlock::Aside),
        ("toolConfirmationRequest", TableBlock::Aside),
        ("actionRequired", TableBlock::Aside),
        ("systemNotification", TableBlock::Aside),
        ("contextLengthExceeded", TableBlock::Aside),
        ("summarizationRequested", TableBlock::Aside),
        ("conversationCompacted", TableBlock::Aside),
    ],
    // In seconds, so it is read here.
    at: "/at",
    usage: |_| None,
    joins: false,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = tabled::rows(input, IMPORTER.about, TABLE.rows, recorder)?;
    let mut read = ReadByTable::new(&TABLE, recorder);
    let mut visible = Vec::new();
    for (place, row) in &rows {
        let seen_by = |who: &str| row["metadata"][who] != false;
        if !row["role"].is_string() {
            read.recorder.ignore("head");
        } else if seen_by("userVisible") {
            let first = read.messages.len();
            read.row(*place, row)?;
            let at_ms = row["created"]
                .as_i64()
                .map(|seconds| seconds.saturating_mul(1_000));
            read.messages[first..]
                .iter_mut()
                .for_each(|said| said.at_ms = at_ms);
            visible.extend(seen_by("agentVisible").then_some(*place));
        } else {
            let last = read.compactions.last().map(|one| one.place);
            let is_new = last.is_none() || read.messages.last().map(|said| said.place) > last;
            add_written(&mut read.compactions, *place, row, is_new, &visible);
        }
    }
    let directory = rows.iter().find_map(|(_, row)| row["working_dir"].as_str());
    Ok(vec![ReadSession {
        projects: directory.map(project::of_directory).into_iter().collect(),
        directories: directory.map(str::to_owned).into_iter().collect(),
        messages: read.messages,
        compactions: read.compactions,
        ..ReadSession::new(input, IMPORTER.name, &input.stem)
    }])
}

/// Adds what the program wrote to the compaction that it belongs to, which is a new one if
/// something was said since the last.
fn add_written(
    compactions: &mut Vec<Compaction>,
    place: Place,
    row: &Value,
    is_new: bool,
    visible: &[Place],
) {
    if is_new {
        compactions.push(Compaction {
            context: visible.iter().copied().map(Left::Kept).collect(),
            ..Compaction::at(place)
        });
    }
    let role = match row["role"].as_str() {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    };
    if let Some(last) = compactions.last_mut() {
        last.context
            .push(Left::Written(role, tabled::words(&row["content"])));
    }
}
