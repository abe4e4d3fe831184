//! Compactions that Claude Code made: a boundary, then the summary that took the place of the
//! messages before it.
//!
//! Versions without a boundary have only the summary. A summary that opens the conversation is one
//! of what came before the file, so that it cannot be measured.

use serde_json::Value;

use crate::import::formats::claude_code::boundary::{Boundary, KeptRows};
use crate::import::formats::claude_code::branches::LeftBehind;
use crate::import::formats::claude_code::session_row::ClaudeCodeRow;
use crate::import::formats::claude_code::tree::ChosenRow;
use crate::import::place::Place;
use crate::import::readers::blocks::blocks;
use crate::import::session::{Compaction, Left};

use compactometer_engine::message::Role;
use compactometer_formats::scenario::Unmeasured;

/// The text that an attachment adds to the conversation: a file or its name, skills in use, or what
/// a hook says at the start of a session. Other attachments are about tools and programs.
pub(in crate::import) fn attached(row: &Value) -> Option<String> {
    let attachment = &row["attachment"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (name, content) = (text(&attachment["filename"]), &attachment["content"]);
    match attachment["type"].as_str()? {
        "file" | "compact_file_reference" | "edited_text_file" => {
            let held = text(&content["file"]["content"]).or_else(|| text(&attachment["snippet"]));
            Some(name.into_iter().chain(held).collect::<Vec<_>>().join("\n"))
        }
        "invoked_skills" => {
            let skills = attachment["skills"].as_array().into_iter().flatten();
            Some(
                skills
                    .filter_map(|skill| skill["content"].as_str())
                    .collect::<Vec<_>>()
                    .join("\n"),
            )
        }
        "hook_success" | "hook_additional_context" if attachment["hookEvent"] == "SessionStart" => {
            let lines = content
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            text(content).or_else(|| Some(lines.collect::<Vec<_>>().join("\n")))
        }
        _ => None,
    }
}

/// The rows without the summaries of compactions, and the compactions.
pub(in crate::import) fn split(
    rows: &[ClaudeCodeRow],
    chosen: Vec<ChosenRow>,
) -> (Vec<ChosenRow>, Vec<Compaction>) {
    let (mut kept, mut compactions) = (Vec::with_capacity(chosen.len()), Vec::<Compaction>::new());
    let mut spoken = false;
    // Whether the last compaction still lacks its summary, and whether no turn followed it yet.
    let (mut is_open, mut is_fresh) = (false, false);
    for choice in chosen {
        let row = &rows[choice.row];
        if let Some(boundary) = &row.boundary {
            compactions.push(compaction(row, Some(boundary), &kept, rows));
            is_open = true;
        }
        if spoken && row.summary {
            if !is_open {
                compactions.push(compaction(row, None, &kept, rows));
            }
            if let Some(last) = compactions.last_mut() {
                last.context.insert(0, Left::Written(Role::User, text(row)));
            }
            (is_open, is_fresh) = (false, true);
        } else {
            if !spoken && row.summary && !is_open {
                compactions.push(Compaction::at(row.place));
            }
            // What the program adds before the next turn is a part of the next request.
            is_fresh &= row.message.is_none();
            is_open &= row.message.is_none();
            if let (true, Some(text), Some(last)) =
                (is_fresh, &row.attached, compactions.last_mut())
            {
                last.context.push(Left::Written(Role::User, text.clone()));
            }
            kept.push(choice);
        }
        spoken |= row.message.is_some();
    }
    // A boundary that names no row to keep, and that a turn follows without a summary, left nothing.
    // Otherwise it is not known what the next request began with.
    for one in &mut compactions {
        let has_summary = one
            .context
            .iter()
            .any(|left| matches!(left, Left::Written(..)));
        let mut later = kept.iter().map(|choice| &rows[choice.row]);
        if !has_summary {
            let has_kept = !std::mem::take(&mut one.context).is_empty();
            one.left_nothing =
                !has_kept && later.any(|row| row.message.is_some() && one.place < row.place);
        }
    }
    (kept, compactions)
}

/// The compactions on branches that the conversation left.
pub(in crate::import) fn left_behind<'r>(
    rows: &'r [ClaudeCodeRow],
    left: &'r LeftBehind,
) -> impl Iterator<Item = Compaction> + 'r {
    left.compactions.iter().map(|row| Compaction {
        unmeasured: Some(Unmeasured::LeftBehind),
        ..compaction(&rows[*row], rows[*row].boundary.as_ref(), &[], rows)
    })
}

fn compaction(
    row: &ClaudeCodeRow,
    boundary: Option<&Boundary>,
    before: &[ChosenRow],
    rows: &[ClaudeCodeRow],
) -> Compaction {
    Compaction {
        at_ms: row.at_ms,
        version: row.version.clone(),
        trigger: boundary.and_then(|boundary| boundary.trigger.clone()),
        reported_tokens: boundary.and_then(|boundary| boundary.reported_tokens),
        took_ms: boundary.and_then(|boundary| boundary.took_ms),
        context: boundary
            .map(|boundary| boundary.kept.left(before, rows))
            .unwrap_or_default(),
        ..Compaction::at(place(row, boundary, before, rows))
    }
}

/// The place of a compaction: that of its row, or after a message that was said before it and is
/// written after it.
fn place(
    row: &ClaudeCodeRow,
    boundary: Option<&Boundary>,
    before: &[ChosenRow],
    rows: &[ClaudeCodeRow],
) -> Place {
    let last = before.last().map(|choice| &rows[choice.row]);
    let is_tail = |last: &&ClaudeCodeRow| {
        last.uuid.is_some() && last.uuid.as_deref() == boundary.and_then(Boundary::tail)
    };
    match last.filter(is_tail).map(|last| last.place) {
        Some(last) if last > row.place => last.after(),
        _ => row.place,
    }
}

impl KeptRows {
    fn left(&self, before: &[ChosenRow], rows: &[ClaudeCodeRow]) -> Vec<Left> {
        let before = || {
            before
                .iter()
                .map(|choice| &rows[choice.row])
                .filter(|row| row.message.is_some())
        };
        let place = |row: &ClaudeCodeRow| Left::Kept(row.place);
        match self {
            KeptRows::These(uuids) => before()
                .filter(|row| row.uuid.as_ref().is_some_and(|uuid| uuids.contains(uuid)))
                .map(place)
                .collect(),
            KeptRows::From { first, last } => {
                let from = before().skip_while(|row| row.uuid.as_ref() != Some(first));
                let mut is_past = false;
                let up_to = from.take_while(|row| {
                    !std::mem::replace(&mut is_past, row.uuid.as_ref() == Some(last))
                });
                up_to.map(place).collect()
            }
        }
    }
}

fn text(row: &ClaudeCodeRow) -> String {
    let blocks = row
        .message
        .as_ref()
        .map(|message| blocks(&message["content"]))
        .unwrap_or_default();
    blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
