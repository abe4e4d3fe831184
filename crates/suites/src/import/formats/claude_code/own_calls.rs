//! The calls that wrote summaries: the program keeps each in a file of its own, in a folder beside
//! the session's file.

use compactometer_engine::message::Usage;
use serde_json::Value;

use crate::import::input::Input;
use crate::import::readers::blocks::usage;
use crate::import::readers::json_lines;
use crate::import::session::Compaction;

/// Where the files are, below the session's folder.
const FILES: &str = "subagents/agent-acompact-*.jsonl";
/// A summary is written at most so long before its boundary.
const MOST_MS: i64 = 600_000;

/// Gives compactions the usage of the calls that wrote their summaries, each to the first
/// compaction after it.
pub(super) fn note(input: &Input, compactions: &mut [Compaction]) {
    if compactions.is_empty() {
        return;
    }
    for (ended, used) in input.beside(FILES).iter().filter_map(|text| call(text)) {
        let wrote = compactions.iter_mut().filter_map(|one| {
            let waited = one.at_ms? - ended;
            (0..=MOST_MS).contains(&waited).then_some((waited, one))
        });
        if let Some((_, one)) = wrote.min_by_key(|(waited, _)| *waited) {
            one.usage = Some(used);
        }
    }
}

/// When a call ended, and what it used: that of its row with the most output.
fn call(text: &str) -> Option<(i64, Usage)> {
    let answers = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|row| row["type"] == "assistant")
        .filter_map(|row| {
            Some((
                json_lines::milliseconds(&row["timestamp"])?,
                usage(&row["message"]["usage"])?,
            ))
        });
    answers.max_by_key(|(_, used)| used.output)
}
