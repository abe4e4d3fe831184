//! The stream of a run without a terminal, `--output-format stream-json`: the same messages without
//! links between them.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::readers::unasked;
use crate::import::report::Recorder;

/// Whether a row is one of a stream.
pub(super) fn is_row(row: &Value) -> bool {
    let kinds = ["system", "user", "assistant", "result"];
    row["session_id"].is_string()
        && row["parentUuid"].is_null()
        && kinds.iter().any(|kind| row["type"] == *kind)
}

/// Gives the rows of a stream the fields that they have in a session's file. Each row follows the
/// one before it of the same agent.
pub(super) fn link(
    rows: &mut Vec<(Place, Value)>,
    recorder: &mut Recorder,
) -> Result<(), ImportError> {
    let head = rows.iter().find(|(_, row)| row["subtype"] == "init");
    let head = head.map(|(_, row)| row.clone()).unwrap_or_default();
    ask(rows, recorder)?;
    let mut last = HashMap::<String, String>::new();
    for (number, (_, row)) in rows.iter_mut().enumerate() {
        let agent = row["parent_tool_use_id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let uuid = row["uuid"]
            .as_str()
            .map_or_else(|| format!("row-{number}"), str::to_owned);
        row["isSidechain"] = Value::Bool(!agent.is_empty());
        row["parentUuid"] = last.insert(agent, uuid.clone()).into();
        row["uuid"] = uuid.into();
        row["sessionId"] = row["session_id"].take();
        row["cwd"] = head["cwd"].clone();
        row["version"] = head["claude_code_version"].clone();
        if row["isSynthetic"] == true {
            row["isMeta"] = Value::Bool(true);
        }
        let about = row["compact_metadata"].take();
        if about.is_object() {
            let (trigger, tokens) = (&about["trigger"], &about["pre_tokens"]);
            row["compactMetadata"] = json!({ "trigger": trigger, "preTokens": tokens });
        }
    }
    Ok(())
}

/// Puts a message before the first reply, if the stream does not have what it answers.
fn ask(rows: &mut Vec<(Place, Value)>, recorder: &mut Recorder) -> Result<(), ImportError> {
    let is_turn = |(_, row): &(Place, Value)| row["message"].is_object();
    let first = rows.iter().position(is_turn);
    if let Some(at) = first.filter(|at| rows[*at].1["type"] == "assistant") {
        let (place, reply) = &rows[at];
        let message = json!({ "role": "user", "content": unasked::text(*place, recorder)? });
        let session = &reply["session_id"];
        let row =
            json!({ "type": "user", "session_id": session, "isMeta": true, "message": message });
        rows.insert(at, (*place, row));
    }
    Ok(())
}
