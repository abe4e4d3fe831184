//! Results of tools that Claude Code, or the provider for it, took out of the context beside
//! compactions.

use serde_json::Value;

use super::session_row::ClaudeCodeRow;
use crate::import::session::Cleared;

/// The ids of the calls whose results a row takes out.
pub(super) fn cleared_calls(row: &Value) -> Vec<String> {
    let ids = row["microcompactMetadata"]["compactedToolIds"].as_array();
    let ids = ids.into_iter().flatten().filter_map(Value::as_str);
    ids.map(str::to_owned).collect()
}

/// What was taken out, row by row.
#[derive(Default)]
pub(super) struct Clearing {
    /// How many results the provider left out of its last request.
    left_out: usize,
}

impl Clearing {
    /// What a row takes out. A reply says how many results its request left out, the earlier ones
    /// among them.
    pub(super) fn at(&mut self, row: &ClaudeCodeRow) -> Option<Cleared> {
        let edits = row.message.as_ref().and_then(|message| {
            let edits = &message["context_management"]["applied_edits"];
            edits.as_array()
        });
        let left_out = edits.map(|edits| {
            let cleared = |edit: &Value| edit["cleared_tool_uses"].as_u64();
            edits.iter().filter_map(cleared).sum::<u64>() as usize
        });
        let more = left_out.map_or(0, |now| now.saturating_sub(self.left_out));
        self.left_out = match (left_out, row.boundary.is_some() || row.summary) {
            (Some(now), _) => now,
            (None, true) => 0,
            (None, false) => self.left_out,
        };
        (more > 0 || !row.cleared.is_empty()).then(|| Cleared {
            place: row.place,
            results: row.cleared.len() + more,
            calls: row.cleared.clone(),
        })
    }
}
