//! What a transcript says, read once more in a few lines: each text with its place, as repairs name it.

use serde_json::Value;

/// A text of a transcript.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) place: String,
    pub(super) text: String,
}

/// Texts of the rows of type `user` and `assistant`.
pub(super) fn in_claude_code(file: &str) -> Vec<Said> {
    let mut said = Vec::new();
    for (number, line) in (1..).zip(without_mark(file).split('\n')) {
        let row = serde_json::from_str::<Value>(line).unwrap_or_default();
        if matches!(row["type"].as_str(), Some("user" | "assistant")) {
            blocks(&row["message"]["content"], |block| block["type"] == "text", &format!("line {number}"), &mut said);
        }
    }
    said
}

/// Texts of all turns.
pub(super) fn in_tau_bench(file: &str) -> Vec<Said> {
    let tasks = serde_json::from_str::<Value>(without_mark(file)).unwrap_or_default();
    let mut said = Vec::new();
    for (element, task) in (1..).zip(tasks.as_array().into_iter().flatten()) {
        for (message, turn) in (1..).zip(task["traj"].as_array().into_iter().flatten()) {
            let place = format!("element {element}, message {message}");
            blocks(&turn["content"], |_| true, &place, &mut said);
        }
    }
    // An element without a task is named as a whole.
    said.retain(|said| {
        let element = said.place.split(',').next().and_then(|place| place.rsplit(' ').next()?.parse::<usize>().ok());
        element.is_some_and(|element| matches!(tasks[element - 1]["task_id"], Value::String(_) | Value::Number(_)))
    });
    said
}

fn without_mark(file: &str) -> &str {
    file.strip_prefix('\u{feff}').unwrap_or(file)
}

/// A content that is a text, or texts in blocks, also those of a tool's result.
fn blocks(content: &Value, is_text: fn(&Value) -> bool, place: &str, said: &mut Vec<Said>) {
    match content {
        Value::String(text) if !text.trim().is_empty() => {
            said.push(Said { place: place.to_owned(), text: text.to_owned() });
        }
        Value::Array(items) => {
            for item in items {
                let inner = if item["type"] == "tool_result" { &item["content"] } else { &item["text"] };
                if inner.is_string() && is_text(item) || item["type"] == "tool_result" {
                    blocks(inner, is_text, place, said);
                }
            }
        }
        _ => {}
    }
}
