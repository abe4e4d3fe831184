//! Files of messages as an API takes them: an array of messages, an object with `messages`, an
//! array of such objects, or JSON Lines of either.
//!
//! Messages one a line are one conversation; each object with `messages` is one.

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_lines;
use crate::import::readers::surrogates;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, ReadSession, Spoken};

/// One conversation of a file.
pub(in crate::import) struct MessageFile {
    /// The object around the messages; null if there is none.
    pub(in crate::import) around: Value,
    pub(in crate::import) messages: Vec<(Place, Value)>,
}

/// What was said in a conversation.
#[derive(Default)]
pub(in crate::import) struct SaidMessages {
    pub(in crate::import) messages: Vec<Spoken>,
    pub(in crate::import) compactions: Vec<Compaction>,
}

/// The first messages of a file, for recognising its format.
pub(in crate::import) fn beginning(text: &str) -> Vec<Value> {
    /// The number of messages that are looked at.
    const LOOKED_AT: usize = 50;
    let of = |value: Value| match value {
        Value::Array(values) => values,
        other => vec![other],
    };
    let whole = surrogates::parse::<Value>(text).map(|(value, _)| of(value));
    let values = whole.unwrap_or_else(|_| json_lines::beginning(text).collect());
    let messages =
        values.into_iter().flat_map(
            |mut value| match value.get_mut("messages").map(Value::take) {
                Some(Value::Array(messages)) => messages,
                _ => vec![value],
            },
        );
    messages.filter(is_message).take(LOOKED_AT).collect()
}

/// Whether it has a role and a content.
fn is_message(value: &Value) -> bool {
    value["role"].is_string() && value.get("content").is_some()
}

fn conversations(input: &Input, recorder: &mut Recorder) -> Result<Vec<MessageFile>, ImportError> {
    let values: Vec<(Place, Value)> = match surrogates::parse::<Value>(&input.text) {
        Ok((Value::Array(values), _)) => (1..).map(Place::Element).zip(values).collect(),
        Ok((value, _)) => vec![(Place::Line(1), value)],
        Err(_) => json_lines::read(input, recorder)?,
    };
    let mut found = Vec::new();
    let mut loose = MessageFile {
        around: Value::Null,
        messages: Vec::new(),
    };
    for (element, (place, mut value)) in (1..).zip(values) {
        match value.get_mut("messages").map(Value::take) {
            Some(Value::Array(messages)) => {
                let places = (1..).map(|message| Place::Turn { element, message });
                found.push(MessageFile {
                    around: value,
                    messages: places.zip(messages).collect(),
                });
            }
            _ if is_message(&value) || value["tool_calls"].is_array() => {
                loose.messages.push((place, value))
            }
            _ => recorder.repair(
                place,
                "neither a message nor an object with `messages`: dropped".to_owned(),
            )?,
        }
    }
    found.extend((!loose.messages.is_empty()).then_some(loose));
    Ok(found)
}

/// The sessions of a file, with messages as `read` makes them. Definitions of tools are only
/// counted.
pub(in crate::import) fn sessions(
    input: &Input,
    format: &str,
    recorder: &mut Recorder,
    read: fn(&MessageFile, &mut Recorder) -> Result<SaidMessages, ImportError>,
) -> Result<Vec<ReadSession>, ImportError> {
    let mut sessions = Vec::new();
    for (order, conversation) in (0..).zip(conversations(input, recorder)?) {
        if conversation.around["tools"].is_array() {
            recorder.ignore("definitions of tools");
        }
        let said = read(&conversation, recorder)?;
        sessions.push(session(input, format, &conversation.around, order, said));
    }
    Ok(sessions)
}

/// A session of its own group, named by the object around the messages or by the file.
fn session(
    input: &Input,
    format: &str,
    around: &Value,
    order: u64,
    said: SaidMessages,
) -> ReadSession {
    let text = |key: &str| {
        around[key]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let named = ["conversation_id", "session_id", "thread_id", "id"]
        .iter()
        .find_map(|key| text(key));
    let stem = named.unwrap_or_else(|| input.stem.clone());
    ReadSession {
        stem: stem.clone(),
        projects: text("project").into_iter().collect(),
        order,
        messages: said.messages,
        compactions: said.compactions,
        ..ReadSession::new(input, format, text("group_id").unwrap_or(stem))
    }
}
