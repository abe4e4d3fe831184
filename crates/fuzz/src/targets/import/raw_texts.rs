//! The texts of a transcript, read by a second, small reader, each with the places by which a
//! repair may name it.

use serde_json::Value;

/// A text of a transcript.
#[derive(Debug)]
pub(super) struct TranscriptText {
    /// The place of its row and those of the other rows of its message.
    pub(super) places: Vec<String>,
    pub(super) text: String,
}

/// The texts of rows of type `user` and `assistant`, including tool results.
pub(super) fn in_claude_code(file: &str) -> Vec<TranscriptText> {
    let rows = numbered_rows(file);
    let spoken = rows
        .iter()
        .filter(|(_, row)| matches!(row["type"].as_str(), Some("user" | "assistant")));
    let said = spoken.flat_map(|(number, row)| {
        let id = &row["message"]["id"];
        let of_message = rows.iter().filter(|(other, row)| {
            other == number || (id.is_string() && row["message"]["id"] == *id)
        });
        let places = of_message
            .map(|(number, _)| format!("line {number}"))
            .collect::<Vec<_>>();
        texts(&row["message"]["content"])
            .into_iter()
            .map(move |text| TranscriptText {
                places: places.clone(),
                text,
            })
    });
    said.filter(|said| !said.text.trim().is_empty()).collect()
}

/// The text of a content, or the texts of its blocks.
fn texts(content: &Value) -> Vec<String> {
    let of_block = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"]
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .collect(),
        Some("tool_result") => texts(&block["content"]),
        _ => Vec::new(),
    };
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().flat_map(of_block).collect(),
        _ => Vec::new(),
    }
}

/// The texts of all turns. An element without a task is reported as a whole.
pub(super) fn in_tau_bench(file: &str) -> Vec<TranscriptText> {
    let tasks = serde_json::from_str::<Value>(without_mark(file)).unwrap_or_default();
    let tasks = (1..).zip(tasks.as_array().into_iter().flatten());
    let named =
        tasks.filter(|(_, task)| matches!(task["task_id"], Value::String(_) | Value::Number(_)));
    let said = named.flat_map(|(element, task)| {
        let turns = (1..).zip(task["traj"].as_array().into_iter().flatten());
        turns.flat_map(move |(message, turn): (usize, &Value)| {
            let texts = match &turn["content"] {
                Value::String(text) => vec![text.clone()],
                Value::Array(blocks) => blocks
                    .iter()
                    .filter_map(|block| block["text"].as_str())
                    .map(str::to_owned)
                    .collect(),
                _ => Vec::new(),
            };
            let place = format!("element {element}, message {message}");
            texts.into_iter().map(move |text| TranscriptText {
                places: vec![place.clone()],
                text,
            })
        })
    });
    said.filter(|said| !said.text.trim().is_empty()).collect()
}

/// The texts of messages and results. A message of several rows is named by one of them.
pub(super) fn in_codex(file: &str) -> Vec<TranscriptText> {
    let rows = numbered_rows(file);
    let said = rows
        .iter()
        .filter(|(_, row)| row["type"] == "response_item")
        .flat_map(|(number, row)| {
            let item = &row["payload"];
            let blocks = item["content"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|_| item["type"] == "message");
            let known = |block: &&Value| {
                matches!(
                    block["type"].as_str(),
                    Some("input_text" | "output_text" | "text")
                )
            };
            let mut texts = blocks
                .filter(known)
                .filter_map(|block| block["text"].as_str())
                .collect::<Vec<_>>();
            texts.extend(
                item["output"]
                    .as_str()
                    .filter(|_| item["type"] == "function_call_output"),
            );
            let places = (1..=*number)
                .map(|number| format!("line {number}"))
                .collect::<Vec<_>>();
            texts
                .into_iter()
                .map(move |text| TranscriptText {
                    places: places.clone(),
                    text: text.to_owned(),
                })
                .collect::<Vec<_>>()
        });
    said.filter(|said| !said.text.trim().is_empty()).collect()
}

/// The texts of rows of type `message`, including results.
pub(super) fn in_pi(file: &str) -> Vec<TranscriptText> {
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    let rows = (1..).zip(without_mark(file).split('\n').map(row));
    let said = rows
        .filter(|(_, row): &(usize, Value)| row["type"] == "message")
        .flat_map(|(number, row)| {
            let place = format!("line {number}");
            let texts = texts(&row["message"]["content"]).into_iter();
            texts
                .map(move |text| TranscriptText {
                    places: vec![place.clone()],
                    text,
                })
                .collect::<Vec<_>>()
        });
    said.filter(|said| !said.text.trim().is_empty()).collect()
}

/// The texts of messages, however a file holds them.
pub(super) fn in_messages(file: &str) -> Vec<TranscriptText> {
    let file = without_mark(file);
    let values: Vec<(String, Value)> = match serde_json::from_str::<Value>(file) {
        Ok(Value::Array(values)) => (1..)
            .zip(values)
            .map(|(at, value): (usize, _)| (format!("element {at}"), value))
            .collect(),
        Ok(value) => vec![("line 1".to_owned(), value)],
        Err(_) => {
            let lines = (1..)
                .zip(file.split('\n'))
                .filter_map(|(at, line): (usize, _)| {
                    Some((
                        format!("line {at}"),
                        serde_json::from_str::<Value>(line)
                            .ok()
                            .filter(Value::is_object)?,
                    ))
                });
            lines.collect()
        }
    };
    let mut said = Vec::new();
    for (element, (place, value)) in (1..).zip(values) {
        let element: usize = element;
        match &value["messages"] {
            Value::Array(messages) => {
                for (at, message) in (1..).zip(messages) {
                    let at: usize = at;
                    let places = vec![format!("element {element}, message {at}")];
                    said.extend(texts(&message["content"]).into_iter().map(|text| {
                        TranscriptText {
                            places: places.clone(),
                            text,
                        }
                    }));
                }
            }
            _ => said.extend(
                texts(&value["content"])
                    .into_iter()
                    .map(|text| TranscriptText {
                        places: vec![place.clone()],
                        text,
                    }),
            ),
        }
    }
    said.retain(|said| !said.text.trim().is_empty());
    said
}

pub(super) fn without_mark(file: &str) -> &str {
    file.strip_prefix('\u{feff}').unwrap_or(file)
}

fn numbered_rows(file: &str) -> Vec<(usize, Value)> {
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    (1..).zip(without_mark(file).split('\n').map(row)).collect()
}
