//! Chats of ChatGPT, as its export has them: a JSON array of conversations, each a tree of messages
//! under `mapping`.
//!
//! The chain to `current_node` is the conversation; other branches are counted.

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::readers::json_value;
use crate::import::readers::tabled::{as_arguments, words};
use crate::import::report::Recorder;
use crate::import::session::{Notes, ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "chatgpt",
    about: "an export of ChatGPT: a JSON array of objects with `mapping` and `current_node`",
    source: "chatgpt.com, Settings: Export data, conversations.json",
    compactions: "None that can be told from a message.",
    particulars: "A message to a tool (`recipient`) is a call, and the tool's message its result. Thoughts and hidden messages without words are left out.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let chats = json_value::with_keys(text, '[', &["mapping", "current_node"]);
        let is_own = |chat: &Value| chat["mapping"].is_object();
        chats.is_some_and(|chats| chats.as_array().into_iter().flatten().any(is_own))
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let chats = json_value::read(input, IMPORTER.about, recorder)?;
    let mut sessions = Vec::new();
    for (element, chat) in (1..).zip(chats.as_array().into_iter().flatten()) {
        let chain = chain(chat, recorder);
        let (mut messages, mut notes) = (Vec::new(), Notes::default());
        let mut last_call = None;
        for (message, node) in (1..).zip(chain) {
            let place = Place::Turn { element, message };
            notes.answered(place, node["metadata"]["model_slug"].as_str());
            match spoken(node, &mut last_call) {
                Some((role, parts)) => messages.push(Spoken {
                    place,
                    role,
                    at_ms: node["create_time"].as_f64().map(|at| (at * 1e3) as i64),
                    parts,
                    usage: None,
                }),
                None => recorder.ignore("message without words"),
            }
        }
        let id = ["conversation_id", "id"]
            .iter()
            .find_map(|key| chat[*key].as_str());
        let stem = id.filter(|id| !id.is_empty());
        let stem = stem.map_or_else(|| format!("{}-{element}", input.stem), str::to_owned);
        sessions.push(ReadSession {
            messages,
            notes,
            ..ReadSession::new(input, IMPORTER.name, stem)
        });
    }
    Ok(sessions)
}

/// The messages on the way to the current node, or to the last one without an answer.
fn chain<'c>(chat: &'c Value, recorder: &mut Recorder) -> Vec<&'c Value> {
    let nodes = chat["mapping"].as_object();
    let is_leaf = |node: &&Value| node["children"].as_array().is_none_or(Vec::is_empty);
    let last = nodes.into_iter().flat_map(|nodes| nodes.values());
    let last = || last.clone().rfind(is_leaf);
    let current = chat["current_node"].as_str();
    let current = current.and_then(|id| nodes?.get(id)).or_else(last);
    let above = |node: &&'c Value| nodes?.get(node["parent"].as_str()?);
    let all = nodes.map_or(0, serde_json::Map::len);
    let mut chain = std::iter::successors(current, above)
        .take(all)
        .map(|node| &node["message"])
        .filter(|message| message.is_object())
        .collect::<Vec<_>>();
    chain.reverse();
    let said = nodes.into_iter().flat_map(|nodes| nodes.values());
    let said = said.filter(|node| node["message"].is_object()).count();
    (chain.len()..said).for_each(|_| recorder.ignore("message of an abandoned branch"));
    chain
}

/// Who speaks in a message, and what; nothing if it has no words.
fn spoken(message: &Value, last_call: &mut Option<String>) -> Option<(Role, Vec<Part>)> {
    let content = &message["content"];
    let texts = content["parts"].as_array().cloned().unwrap_or_else(|| {
        let keys = ["text", "result"];
        let text = keys.iter().find_map(|key| content.get(*key));
        text.cloned().into_iter().collect()
    });
    let mut parts = texts.iter().map(part).collect::<Vec<_>>();
    parts.retain(|part| !matches!(part, Part::Text { text } if text.trim().is_empty()));
    if parts.is_empty() {
        return None;
    }
    let recipient = message["recipient"].as_str().filter(|to| *to != "all");
    let id = || message["id"].as_str().unwrap_or_default().to_owned();
    let joined = || {
        let texts = parts
            .iter()
            .filter_map(compactometer_engine::message::part_text);
        texts.collect::<Vec<_>>().join("\n")
    };
    match (message["author"]["role"].as_str()?, recipient) {
        ("assistant", Some(tool)) => {
            *last_call = Some(id());
            let call = Part::ToolCall {
                id: id(),
                name: tool.to_owned(),
                arguments: as_arguments("input", &Value::String(joined())),
            };
            Some((Role::Assistant, vec![call]))
        }
        ("assistant", None) => Some((Role::Assistant, parts)),
        ("tool", _) => match last_call.take() {
            Some(call_id) => {
                let result = Part::ToolResult {
                    call_id,
                    text: joined(),
                    is_error: false,
                };
                Some((Role::Tool, vec![result]))
            }
            // What a tool shows without a call, such as what was remembered.
            None => Some((Role::Assistant, parts)),
        },
        ("system", _) => Some((Role::System, parts)),
        _ => Some((Role::User, parts)),
    }
}

fn part(value: &Value) -> Part {
    match value["asset_pointer"].as_str() {
        Some(_) => media(&value["content_type"], &value["asset_pointer"], false),
        None => Part::Text { text: words(value) },
    }
}
