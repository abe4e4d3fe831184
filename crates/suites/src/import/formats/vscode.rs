//! Chats of Visual Studio Code, exported as JSON: `requests` with what the user asked and what was
//! answered.
//!
//! The rounds of calls are taken where the file has them; otherwise the parts that were shown.

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
use crate::import::session::ReadSession;

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "vscode-chat",
    about: "a chat of Visual Studio Code: a JSON object with `requests`, each with a `message` and a `response`",
    source: "microsoft/vscode 1.10x, Chat: Export Chat, and chatSessions/*.json",
    compactions: "None that can be told from a message.",
    particulars: "Without `toolCallRounds`, a call has the words that were shown of it, and its result too.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let value = json_value::with_keys(text, '{', &["requests", "response", "message"]);
        let requests = value
            .as_ref()
            .and_then(|value| value["requests"].as_array());
        let is_own = |request: &Value| {
            request["message"]["text"].is_string() && request["response"].is_array()
        };
        requests.is_some_and(|requests| !requests.is_empty() && requests.iter().all(is_own))
    },
    read,
};

const TABLE: FieldTable = FieldTable {
    rows: &[],
    role: "",
    roles: &[],
    content: &[""],
    kind: "/kind",
    blocks: &[
        ("untyped", TableBlock::TextOf(Role::Assistant, &["/value"])),
        (
            "markdownContent",
            TableBlock::TextOf(Role::Assistant, &["/content/value"]),
        ),
        ("thinking", TableBlock::Thinking(&["/value"])),
        (
            "toolInvocationSerialized",
            TableBlock::Done(
                CallFields(
                    "/toolCallId",
                    "/toolId",
                    &[
                        "/resultDetails/input",
                        "/toolSpecificData",
                        "/invocationMessage",
                    ],
                ),
                ResultFields(
                    "/toolCallId",
                    &[
                        "/resultDetails/output",
                        "/resultDetails",
                        "/pastTenseMessage",
                    ],
                    |part| part["resultDetails"]["isError"] == true,
                ),
            ),
        ),
        ("*", TableBlock::Aside),
    ],
    at: "",
    usage: |_| None,
    joins: false,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let value = json_value::read(input, IMPORTER.about, recorder)?;
    let mut read = ReadByTable::new(&TABLE, recorder);
    let requests = value["requests"].as_array().into_iter().flatten();
    for (element, request) in (1..).zip(requests) {
        let at_ms = request["timestamp"].as_i64();
        let place = |message| Place::Turn { element, message };
        let text = words(&request["message"]["text"]);
        read.say(place(1), at_ms, Role::User, Part::Text { text });
        let about = &request["result"]["metadata"];
        match about["toolCallRounds"]
            .as_array()
            .filter(|rounds| !rounds.is_empty())
        {
            Some(rounds) => {
                read.recorder.ignore("response as it was shown");
                for (number, round) in (2..).zip(rounds) {
                    this_round(&mut read, place(number), round, &about["toolCallResults"]);
                }
            }
            None => {
                for part in request["response"].as_array().into_iter().flatten() {
                    read.row(place(2), part)?;
                }
            }
        }
    }
    Ok(vec![ReadSession {
        messages: read.messages,
        ..ReadSession::new(input, IMPORTER.name, &input.stem)
    }])
}

/// A reply, its calls and their results.
fn this_round(read: &mut ReadByTable<'_, '_>, place: Place, round: &Value, results: &Value) {
    let text = |value: &Value, key: &str| words(&value[key]);
    let said = Part::Text {
        text: text(round, "response"),
    };
    read.say(place, None, Role::Assistant, said);
    let calls = || round["toolCalls"].as_array().into_iter().flatten();
    for call in calls() {
        let call = Part::ToolCall {
            id: text(call, "id"),
            name: text(call, "name"),
            arguments: text(call, "arguments"),
        };
        read.say(place, None, Role::Assistant, call);
    }
    for call in calls() {
        let call_id = text(call, "id");
        if let Some(result) = results.get(&call_id) {
            let result = Part::ToolResult {
                text: words(&result["content"]),
                call_id,
                is_error: false,
            };
            read.say(place, None, Role::Tool, result);
        }
    }
}
