//! The texts of formats whose rows name speaker and kind in fields, read without knowing where they
//! are: each string under a key that holds words, outside of arguments.

use serde_json::Value;

use super::raw_texts::{TranscriptText, without_mark};

/// Keys of words in some of the formats.
const WORDS: &[&str] = &["text", "aggregated_output", "errorText"];
/// Keys under which words are arguments of calls, or about the file.
const OTHERS: &[&str] = &[
    "arguments",
    "args",
    "id",
    "call_id",
    "tool_call_id",
    "toolCallId",
    "tool_id",
    "input",
    "action",
    "metadata",
    "extra",
    "info",
    "parameters",
    "state",
];
/// Lists of rows.
const LISTS: &[&str] = &[
    "messages",
    "input",
    "output",
    "items",
    "data",
    "conversation",
    "contents",
    "history",
    "events",
    "requests",
];

pub(super) fn anywhere(file: &str) -> Vec<TranscriptText> {
    let file = without_mark(file);
    let mut said = Vec::new();
    match serde_json::from_str::<Value>(file) {
        Ok(Value::Array(rows)) => rows_of(&rows, "element", &mut said),
        Ok(whole) => {
            let lists = LISTS.iter().filter_map(|list| whole[*list].as_array());
            lists.for_each(|rows| rows_of(rows, "element", &mut said));
        }
        Err(_) => {
            let rows = file
                .split('\n')
                .map(|line| serde_json::from_str(line).unwrap_or_default());
            rows_of(&rows.collect::<Vec<_>>(), "line", &mut said);
        }
    }
    said
}

fn rows_of(rows: &[Value], kind: &str, said: &mut Vec<TranscriptText>) {
    for (number, row) in (1..).zip(rows) {
        let mut texts = Vec::new();
        words(row, &mut texts);
        let place = |number: usize| format!("{kind} {number}");
        let places = || (1..=number).map(place).collect::<Vec<_>>();
        said.extend(texts.into_iter().map(|text| TranscriptText {
            places: places(),
            text,
        }));
    }
}

fn words(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| words(value, texts)),
        Value::Object(fields) => {
            for (key, value) in fields
                .iter()
                .filter(|(key, _)| !OTHERS.contains(&key.as_str()))
            {
                match value {
                    Value::String(text) if WORDS.contains(&key.as_str()) => {
                        texts.extend((!text.trim().is_empty()).then(|| text.clone()));
                    }
                    inner => words(inner, texts),
                }
            }
        }
        _ => {}
    }
}
