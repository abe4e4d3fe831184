//! Chats of claude.ai, as its export has them: a JSON array of conversations with
//! `chat_messages`.

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_value;
use crate::import::readers::tabled::{
    CallFields, FieldTable, ReadByTable, ResultFields, TableBlock, words,
};
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, type_name};

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

const TABLE: FieldTable = FieldTable {
    rows: &[],
    role: "/sender",
    roles: &[("human", Role::User), ("assistant", Role::Assistant)],
    content: &["/content/0", "/text"],
    kind: "/type",
    blocks: &[
        ("text", TableBlock::Text(&["/text"])),
        ("thinking", TableBlock::Thinking(&["/thinking"])),
        (
            "tool_use",
            TableBlock::Call(CallFields("/id", "/name", &["/input"])),
        ),
        (
            "tool_result",
            TableBlock::Result(ResultFields("/tool_use_id", &["/content"], |block| {
                block["is_error"] == true
            })),
        ),
        ("image", TableBlock::Media("/media_type", &["/file_uuid"])),
        ("token_budget", TableBlock::Aside),
        ("flag", TableBlock::Aside),
        ("voice_note", TableBlock::Text(&["/text"])),
    ],
    at: "/created_at",
    usage: |_| None,
    joins: false,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let chats = json_value::read(input, IMPORTER.about, recorder)?;
    let mut sessions = Vec::new();
    for (element, chat) in (1..).zip(chats.as_array().into_iter().flatten()) {
        let mut read = ReadByTable::new(&TABLE, recorder);
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
        sessions.push(ReadSession {
            messages: read.messages,
            ..ReadSession::new(input, IMPORTER.name, stem)
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
