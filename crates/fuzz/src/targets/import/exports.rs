//! The texts of exports and trajectories, read by a second, small reader.

use serde_json::Value;

use super::raw_texts::TranscriptText;

/// The texts of the history.
pub(super) fn in_swe_agent(file: &str) -> Vec<TranscriptText> {
    let value = parsed(file);
    let turns = (1..).zip(value["history"].as_array().into_iter().flatten());
    let said = turns.flat_map(|(at, turn): (usize, &Value)| {
        said_by_blocks(&turn["content"], &[format!("element {at}")])
    });
    said.collect()
}

/// The texts of all turns of all sessions. A sample without a conversation is reported as a whole.
pub(super) fn in_locomo(file: &str) -> Vec<TranscriptText> {
    let value = parsed(file);
    let samples = (1..).zip(value.as_array().into_iter().flatten());
    let said = samples.flat_map(|(element, sample): (usize, &Value)| {
        let fields = sample["conversation"].as_object().into_iter().flatten();
        let talks = fields
            .filter(|(key, _)| is_session(key))
            .filter_map(|(_, talk)| talk.as_array());
        let turns = talks.clone().map(Vec::len).sum::<usize>();
        let places = (1..=turns)
            .map(|message| format!("element {element}, message {message}"))
            .collect::<Vec<_>>();
        talks
            .flatten()
            .flat_map(|turn| said_by_blocks(&turn["text"], &places))
            .collect::<Vec<_>>()
    });
    said.collect()
}

fn is_session(key: &str) -> bool {
    key.strip_prefix("session_")
        .is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The texts of the messages that requests refer to, which are named by a request or by a message
/// of one.
pub(super) fn in_inspect(file: &str) -> Vec<TranscriptText> {
    let value = parsed(file);
    let samples = (1..).zip(value["samples"].as_array().into_iter().flatten());
    let said = samples.flat_map(|(element, sample): (usize, &Value)| {
        let events = sample["events"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let shared = sample["events_data"]["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let places = places(element, events.len(), shared.len());
        let number = |value: &Value| {
            value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
        };
        let models = events.iter().filter(|event| event["event"] == "model");
        let ranges = models.flat_map(|event| event["input_refs"].as_array().into_iter().flatten());
        let referred = ranges.filter_map(|range| {
            shared.get(number(&range[0])?..number(&range[1])?.min(shared.len()))
        });
        referred
            .flatten()
            .flat_map(|message| said_by_blocks(&message["content"], &places))
            .collect::<Vec<_>>()
    });
    said.filter(|said| !said.text.starts_with("attachment://"))
        .collect()
}

/// The texts of the parts of OTLP, in whichever span they are.
pub(super) fn in_otel(file: &str) -> Vec<TranscriptText> {
    let lines = file.split('\n').collect::<Vec<_>>();
    let whole = serde_json::from_str::<Value>(file).map(|value| vec![value]);
    let rows = whole.unwrap_or_else(|_| lines.iter().map(|line| parsed(line)).collect());
    let resources = rows
        .iter()
        .flat_map(|row| row["resourceSpans"].as_array().into_iter().flatten());
    let scopes = resources.flat_map(|one| one["scopeSpans"].as_array().into_iter().flatten());
    let spans = scopes
        .flat_map(|one| one["spans"].as_array().into_iter().flatten())
        .collect::<Vec<_>>();
    let mut named = (1..=spans.len())
        .flat_map(|span| places(span, 0, 20))
        .collect::<Vec<_>>();
    named.extend((1..=lines.len()).map(|line| format!("line {line}")));
    let pairs = spans
        .iter()
        .flat_map(|span| span["attributes"].as_array().into_iter().flatten());
    let inputs = pairs.filter(|pair| pair["key"] == "gen_ai.input.messages");
    let messages = inputs.filter_map(|pair| {
        serde_json::from_str::<Value>(pair["value"]["stringValue"].as_str()?).ok()
    });
    let parts = messages.flat_map(|messages| messages.as_array().cloned().unwrap_or_default());
    let known = |message: &Value| matches!(message["role"].as_str(), Some("user" | "assistant"));
    let parts = parts
        .filter(known)
        .flat_map(|message| message["parts"].as_array().cloned().unwrap_or_default());
    let texts = parts.filter(|part| part["type"] == "text");
    texts
        .flat_map(|part| said_by_blocks(&part["content"], &named))
        .collect()
}

/// The places of a sample or span, of its requests, and of their messages.
fn places(element: usize, requests: usize, messages: usize) -> Vec<String> {
    let own = (1..=requests.max(element)).flat_map(|one| {
        (0..=messages + 2).map(move |message| format!("element {one}, message {message}"))
    });
    own.chain((0..=requests).map(|message| format!("element {element}, message {message}")))
        .collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).unwrap_or_default()
}

/// The text of a content, or the texts of its blocks.
fn said_by_blocks(content: &Value, places: &[String]) -> Vec<TranscriptText> {
    let texts = match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let said = texts.into_iter().filter(|text| !text.trim().is_empty());
    said.map(|text| TranscriptText {
        places: places.to_vec(),
        text,
    })
    .collect()
}
