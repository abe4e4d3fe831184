//! The texts of exported chats, read by a second, small reader.

use serde_json::Value;

use super::raw_texts::{TranscriptText, without_mark};

/// The texts of the turns of all chats of a question.
pub(super) fn in_longmemeval(file: &str) -> Vec<TranscriptText> {
    let chats = |row: &Value| {
        let chats = row["haystack_sessions"].as_array().cloned();
        chats
            .into_iter()
            .flatten()
            .flat_map(|chat| chat.as_array().cloned().unwrap_or_default())
            .collect()
    };
    in_elements(file, chats, |turn| strings(&turn["content"]))
}

/// The texts of all turns, however they are nested, without the marks at their ends.
pub(super) fn in_beam(file: &str) -> Vec<TranscriptText> {
    fn turns(value: &Value) -> Vec<Value> {
        match value {
            Value::Array(items) => items.iter().flat_map(turns).collect(),
            Value::Object(fields) if fields.contains_key("role") => vec![value.clone()],
            Value::Object(fields) => match fields.get("turns") {
                Some(inner) => turns(inner),
                None => fields.values().flat_map(turns).collect(),
            },
            _ => Vec::new(),
        }
    }
    let file = without_mark(file);
    let chats: Vec<Value> = match file.trim_start().starts_with('[') {
        true => serde_json::from_str(file).into_iter().collect(),
        false => {
            let lines = file.split('\n').map(|line| {
                let values = serde_json::Deserializer::from_str(line).into_iter::<Value>();
                values.collect::<Result<Vec<_>, _>>().unwrap_or_default()
            });
            let rows = lines.flatten().filter(Value::is_object);
            rows.map(|row| row["chat"].clone()).collect()
        }
    };
    of_elements(&chats, turns, |turn| {
        let text = turn["content"].as_str().unwrap_or_default();
        let said = text.split("->->").next().unwrap_or_default().trim();
        strings(&said.into())
    })
}

/// The texts of messages and of their blocks.
pub(super) fn in_anthropic_chat(file: &str) -> Vec<TranscriptText> {
    let rows = |chat: &Value| {
        chat["chat_messages"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    in_elements(file, rows, |row| match row["content"].as_array() {
        Some(blocks) if !blocks.is_empty() => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            texts.flat_map(|block| strings(&block["text"])).collect()
        }
        _ => strings(&row["text"]),
    })
}

/// The texts of the messages on the way to the current node.
pub(super) fn in_chatgpt(file: &str) -> Vec<TranscriptText> {
    let chain = |chat: &Value| {
        let (mut chain, mut seen) = (Vec::new(), Vec::new());
        let mut at = chat["current_node"].as_str().map(str::to_owned);
        while let Some(id) = at.filter(|id| !seen.contains(id)) {
            let node = &chat["mapping"][&id];
            chain.push(node["message"].clone());
            at = node["parent"].as_str().map(str::to_owned);
            seen.push(id);
        }
        chain
    };
    in_elements(file, chain, |message| {
        let to_all = message["recipient"].as_str().is_none_or(|to| to == "all");
        let parts = message["content"]["parts"].as_array().filter(|_| to_all);
        let role = message["author"]["role"].is_string();
        parts
            .into_iter()
            .flatten()
            .filter(|_| role)
            .flat_map(strings)
            .collect()
    })
}

/// Each line that is not the program's.
pub(super) fn in_aider(file: &str) -> Vec<TranscriptText> {
    of_lines(file, |line| match line.strip_prefix("####") {
        Some(said) => said.trim().to_owned(),
        None if line.starts_with("> ") || line.starts_with("# aider chat started at") => {
            String::new()
        }
        None => line.trim().to_owned(),
    })
}

/// Each line that names no speaker.
pub(super) fn in_specstory(file: &str) -> Vec<TranscriptText> {
    of_lines(file, |line| {
        let line = line.trim();
        let is_mark = line.starts_with("_**") || line == "---";
        if is_mark {
            String::new()
        } else {
            line.to_owned()
        }
    })
}

/// A repair names the line at which a message begins.
fn of_lines(file: &str, said: fn(&str) -> String) -> Vec<TranscriptText> {
    let lines = (1..).zip(without_mark(file).lines());
    let lines = lines.map(|(number, line): (usize, &str)| TranscriptText {
        places: (1..=number).map(|line| format!("line {line}")).collect(),
        text: said(line),
    });
    lines.filter(|said| !said.text.is_empty()).collect()
}

/// The texts of the messages of each element. A repair may name any message of the element.
fn in_elements(
    file: &str,
    messages: impl Fn(&Value) -> Vec<Value>,
    texts: impl Fn(&Value) -> Vec<String>,
) -> Vec<TranscriptText> {
    let value = serde_json::from_str::<Value>(without_mark(file)).unwrap_or_default();
    of_elements(value.as_array().map_or(&[], Vec::as_slice), messages, texts)
}

fn of_elements(
    elements: &[Value],
    messages: impl Fn(&Value) -> Vec<Value>,
    texts: impl Fn(&Value) -> Vec<String>,
) -> Vec<TranscriptText> {
    let elements = (1..).zip(elements);
    let said = elements.flat_map(|(element, row): (usize, &Value)| {
        let messages = messages(row);
        let places =
            (1..=messages.len()).map(|message| format!("element {element}, message {message}"));
        let places = places
            .chain([format!("element {element}")])
            .collect::<Vec<_>>();
        let texts = messages.iter().flat_map(&texts);
        texts
            .map(|text| TranscriptText {
                places: places.clone(),
                text,
            })
            .collect::<Vec<_>>()
    });
    said.collect()
}

fn strings(value: &Value) -> Vec<String> {
    let text = value.as_str().filter(|text| !text.trim().is_empty());
    text.map(str::to_owned).into_iter().collect()
}
