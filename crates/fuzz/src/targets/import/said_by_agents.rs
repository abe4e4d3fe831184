//! The texts of logs of agents, read by a second, small reader. A repair may name a message by the
//! place of an earlier one, which it joined, so that each text has all places up to its own.

use serde_json::Value;

use super::raw_texts::{TranscriptText, without_mark};

/// The value of a whole file, or its lines.
fn values(file: &str) -> Vec<Value> {
    let file = without_mark(file);
    match serde_json::from_str::<Value>(file) {
        Ok(value) => vec![value],
        Err(_) => file
            .split('\n')
            .map(|line| serde_json::from_str(line).unwrap_or_default())
            .collect(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The texts of values, each with the places up to its own as `place` writes them.
fn numbered<'v>(
    values: impl Iterator<Item = &'v Value>,
    texts: fn(&Value) -> Vec<String>,
    place: impl Fn(usize) -> String,
) -> Vec<TranscriptText> {
    let mut said = Vec::new();
    for (number, value) in (1..).zip(values) {
        let places = || (1..=number).map(&place).collect::<Vec<_>>();
        said.extend(texts(value).into_iter().map(|text| TranscriptText {
            places: places(),
            text,
        }));
    }
    said.retain(|said| !said.text.trim().is_empty());
    said
}

fn line(number: usize) -> String {
    format!("line {number}")
}

fn element(number: usize) -> String {
    format!("element {number}")
}

fn texts_of<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<String> {
    values
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The texts of steps and of their results.
pub(super) fn in_atif(file: &str) -> Vec<TranscriptText> {
    fn of_content(content: &Value) -> Vec<String> {
        let blocks = list(content)
            .filter(|block| block["type"] == "text")
            .map(|block| &block["text"]);
        texts_of(std::iter::once(content).chain(blocks))
    }
    fn of_step(step: &Value) -> Vec<String> {
        let results =
            list(&step["observation"]["results"]).flat_map(|result| of_content(&result["content"]));
        of_content(&step["message"])
            .into_iter()
            .chain(results)
            .collect()
    }
    let mut said = Vec::new();
    for (element, value) in (1..)
        .zip(values(file))
        .filter(|(_, value): &(usize, Value)| value["schema_version"].is_string())
    {
        let place = |number| format!("element {element}, message {number}");
        said.extend(numbered(list(&value["steps"]), of_step, place));
    }
    said
}

/// The texts of what was said, thought and returned.
pub(super) fn in_copilot(file: &str) -> Vec<TranscriptText> {
    fn of_event(event: &Value) -> Vec<String> {
        let data = &event["data"];
        match event["type"].as_str() {
            Some("user.message") => texts_of([&data["content"]].into_iter()),
            Some("assistant.message") => {
                texts_of([&data["content"], &data["reasoningText"]].into_iter())
            }
            Some("tool.execution_complete") if data["success"] == false => {
                texts_of([&data["error"]["message"]].into_iter())
            }
            Some("tool.execution_complete") => texts_of([&data["result"]["content"]].into_iter()),
            _ => Vec::new(),
        }
    }
    numbered(values(file).iter(), of_event, line)
}

/// The texts of messages and of their blocks.
pub(super) fn in_langchain(file: &str) -> Vec<TranscriptText> {
    fn of_message(message: &Value) -> Vec<String> {
        let blocks = list(&message["content"])
            .filter(|block| block["type"] == "text")
            .map(|block| &block["text"]);
        texts_of(std::iter::once(&message["content"]).chain(blocks))
    }
    of_whole(file, of_message)
}

/// The texts of blocks and of results.
pub(super) fn in_strands(file: &str) -> Vec<TranscriptText> {
    fn of_message(message: &Value) -> Vec<String> {
        let blocks = || list(&message["content"]);
        let results = blocks()
            .flat_map(|block| list(&block["toolResult"]["content"]))
            .map(|block| &block["text"]);
        texts_of(blocks().map(|block| &block["text"]).chain(results))
    }
    of_whole(file, of_message)
}

/// The texts of the messages of a file that is a list, or an object with one.
fn of_whole(file: &str, texts: fn(&Value) -> Vec<String>) -> Vec<TranscriptText> {
    let values = values(file);
    let whole = values.first().unwrap_or(&Value::Null);
    numbered(list(whole).chain(list(&whole["messages"])), texts, element)
}

/// The texts of messages that were not written by a list.
pub(super) fn in_gemini(file: &str) -> Vec<TranscriptText> {
    fn of_row(row: &Value) -> Vec<String> {
        let blocks = list(&row["content"]).map(|block| &block["text"]);
        match row["type"].as_str() {
            Some("user" | "gemini") => texts_of(std::iter::once(&row["content"]).chain(blocks)),
            _ => Vec::new(),
        }
    }
    let values = values(file);
    match &values[..] {
        [whole] if whole["messages"].is_array() => {
            numbered(list(&whole["messages"]), of_row, element)
        }
        rows => numbered(rows.iter(), of_row, line),
    }
}

/// The texts of parts that are not messages of a compaction.
pub(super) fn in_opencode(file: &str) -> Vec<TranscriptText> {
    fn of_message(message: &Value) -> Vec<String> {
        if message["info"]["summary"] == true
            || !matches!(message["info"]["role"].as_str(), Some("user" | "assistant"))
        {
            return Vec::new();
        }
        let parts = || list(&message["parts"]);
        if parts().any(|part| {
            part["type"] == "compaction" || part["metadata"]["compaction_continue"] == true
        }) {
            return Vec::new();
        }
        let said = parts()
            .filter(|part| part["type"] == "text")
            .map(|part| &part["text"]);
        let results = parts()
            .map(|part| &part["state"])
            .filter(|state| state["status"] == "completed");
        texts_of(said.chain(results.map(|state| &state["output"])))
    }
    let values = values(file);
    numbered(list(&values[0]["messages"]), of_message, element)
}

/// The texts of messages and results, of events or of runs.
pub(super) fn in_openhands(file: &str) -> Vec<TranscriptText> {
    fn of_event(event: &Value) -> Vec<String> {
        let of = |content: &Value| texts_of(list(content).map(|block| &block["text"]));
        match event["kind"].as_str() {
            Some("MessageEvent") => of(&event["llm_message"]["content"]),
            Some("ActionEvent") => of(&event["thought"]),
            Some("ObservationEvent") => of(&event["observation"]["content"]),
            _ => Vec::new(),
        }
    }
    fn of_run_event(event: &Value) -> Vec<String> {
        let said = event["action"] == "message";
        let seen = event["observation"].is_string() && !event["action"].is_string();
        let known = [(said, &event["args"]["content"]), (seen, &event["content"])];
        texts_of(
            known
                .into_iter()
                .filter(|(is_known, _)| *is_known)
                .map(|(_, text)| text),
        )
    }
    let values = values(file);
    let is_run = values.iter().any(|row| row["history"].is_array());
    if !is_run {
        return numbered(values.iter(), of_event, line);
    }
    let mut said = Vec::new();
    for (element, run) in (1..).zip(&values) {
        let element: usize = element;
        let place = |number| format!("element {element}, message {number}");
        said.extend(numbered(list(&run["history"]), of_run_event, place));
    }
    said
}

/// The texts of messages and results.
pub(super) fn in_qwen(file: &str) -> Vec<TranscriptText> {
    fn of_row(row: &Value) -> Vec<String> {
        let parts = || list(&row["message"]["parts"]);
        let texts = parts().map(|part| &part["text"]);
        let results = parts().map(|part| &part["functionResponse"]["response"]["output"]);
        match row["type"].as_str() {
            Some("user" | "assistant" | "tool_result") => texts_of(texts.chain(results)),
            _ => Vec::new(),
        }
    }
    numbered(values(file).iter(), of_row, line)
}
