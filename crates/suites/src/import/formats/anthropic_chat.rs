//! Chats of claude.ai, as its export has them: a JSON array of conversations with
//! `chat_messages`.

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_value;
use crate::import::readers::table::{Answer, Block, Call, Read, Table, words};
use crate::import::report::Recorder;
use crate::import::session::{Session, type_name};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "anthropic-chat",
    about: "an export of claude.ai: a JSON array of objects with `uuid` and `chat_messages`",
    source: "claude.ai, Settings: Export data, conversations.json",
    compactions: "None that can be told from a message.",
    particulars: "The text of an attachment is a part of the user's message.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let chats = json_value::with_keys(text, '[', &["uuid", "chat_messages"]);
        let is_own = |chat: &Value| chat["chat_messages"].is_array();
        chats.is_some_and(|chats| chats.as_array().into_iter().flatten().any(is_own))
    },
    read,
};

const TABLE: Table = Table {
    rows: &[],
    role: "/sender",
    roles: &[("human", Role::User), ("assistant", Role::Assistant)],
    content: &["/content/0", "/text"],
    kind: "/type",
    blocks: &[
        ("text", Block::Text(&["/text"])),
        ("thinking", Block::Thinking(&["/thinking"])),
        ("tool_use", Block::Call(Call("/id", "/name", &["/input"]))),
        (
            "tool_result",
            Block::Result(Answer("/tool_use_id", &["/content"], |block| {
                block["is_error"] == true
            })),
        ),
        ("image", Block::Media("/media_type", &["/file_uuid"])),
        ("token_budget", Block::Aside),
        ("flag", Block::Aside),
        ("voice_note", Block::Text(&["/text"])),
    ],
    at: "/created_at",
    usage: |_| None,
    joins: false,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<Session>, ImportError> {
    let chats = json_value::read(input, IMPORTER.about, recorder)?;
    let mut sessions = Vec::new();
    for (element, chat) in (1..).zip(chats.as_array().into_iter().flatten()) {
        let mut read = Read::new(&TABLE, recorder);
        let rows = chat["chat_messages"].as_array().into_iter().flatten();
        for (message, row) in (1..).zip(rows) {
            let place = Place::Turn { element, message };
            if !row.is_object() {
                let what = format!("message is {}: dropped", type_name(row));
                read.recorder.repair(place, what)?;
                continue;
            }
            read.row(place, &whole(row))?;
            for attached in row["attachments"].as_array().into_iter().flatten() {
                let text = words(&attached["extracted_content"]);
                if !text.is_empty() {
                    read.say(place, None, Role::User, Part::Text { text });
                }
            }
        }
        let id = chat["uuid"].as_str().filter(|id| !id.is_empty());
        let stem = id.map_or_else(|| format!("{}-{element}", input.stem), str::to_owned);
        sessions.push(Session {
            messages: read.messages,
            ..Session::new(input, IMPORTER.name, stem)
        });
    }
    Ok(sessions)
}

/// The row with its blocks under one pointer, which older exports leave empty.
fn whole(row: &Value) -> Value {
    let blocks = row["content"]
        .as_array()
        .filter(|blocks| !blocks.is_empty());
    let mut whole = row.clone();
    whole["content"] = blocks.map_or(Value::Null, |blocks| serde_json::json!([blocks]));
    whole
}
