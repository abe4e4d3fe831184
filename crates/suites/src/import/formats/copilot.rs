//! Sessions of GitHub Copilot CLI: one event a line with `type`, `data`, `id`, `timestamp` and
//! `parentId`.
//!
//! Each agent that the session started is a conversation of its own. A compaction is written while
//! the conversation goes on: it replaces what was said before it began, and what was said meanwhile
//! stays. Absent on purpose: the definitions of tools, which these files do not contain.

use std::collections::BTreeMap;

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_formats::scenario::Unmeasured;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::kept::SessionFolder;
use crate::import::place::Place;
use crate::import::project;
use crate::import::readers::json_lines;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Notes, ReadSession, Spoken, reported};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "copilot",
    about: "a GitHub Copilot CLI session: one event a line with `type`, `data` and `parentId`, the first `session.start`",
    source: "GitHub Copilot CLI 1.0.74, ~/.copilot/session-state/*/events.jsonl",
    compactions: "The program writes the summary while the conversation goes on: `session.compaction_complete` has the place, time, tokens before and the usage of the call, and what was said after `session.compaction_start` follows the summary. A compaction that failed is left out. The trigger is not in the file.",
    particulars: "The first `system.message` counts. `agentId` is a conversation `SESSION/side-N`, not independent of its session. Messages that the program wrote in the user's place are counted and left out. Replies have no input tokens.",
    sessions: Some(SessionFolder {
        variable: None,
        home: ".copilot",
        pattern: "session-state/*/events.jsonl",
    }),
    reattaches: None,
    by_line: true,
    recognises: |text| {
        json_lines::beginning(text)
            .any(|row| row["type"] == "session.start" && row["data"]["sessionId"].is_string())
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_lines::read(input, recorder)?;
    let head = rows
        .iter()
        .map(|(_, row)| row)
        .find(|row| row["type"] == "session.start");
    let head = head.map_or(&Value::Null, |row| &row["data"]);
    let mut agents = BTreeMap::<Option<&str>, AgentMessages>::new();
    for (place, row) in &rows {
        let agent = agents.entry(row["agentId"].as_str()).or_default();
        agent.event(*place, row, recorder)?;
    }
    let sessions = (0..)
        .zip(agents)
        .filter(|(_, (_, agent))| !agent.messages.is_empty());
    let session = |(order, (id, agent)): (u64, (Option<&str>, AgentMessages))| {
        let models = rows
            .iter()
            .filter(|(_, row)| row["agentId"].as_str() == id)
            .map(|(place, row)| (*place, &row["data"]["model"]));
        ReadSession {
            order,
            notes: Notes::of_models(models),
            ..agent.session(id.is_some(), head, input)
        }
    };
    Ok(sessions.map(session).collect())
}

/// The conversation of one agent.
#[derive(Default)]
struct AgentMessages {
    messages: Vec<Spoken>,
    compactions: Vec<Compaction>,
    /// Where the compaction began that is being written.
    began: Option<Place>,
}

impl AgentMessages {
    /// The session of this agent, whom another one may have called, in a file with this head.
    fn session(self, is_called: bool, head: &Value, input: &Input) -> ReadSession {
        let group = head["sessionId"].as_str().unwrap_or(&input.stem).to_owned();
        let directory = head["context"]["cwd"].as_str();
        ReadSession {
            stem: if is_called {
                format!("{group}/side-")
            } else {
                group.clone()
            },
            numbered: is_called,
            projects: directory.map(project::of_directory).into_iter().collect(),
            directories: directory.map(str::to_owned).into_iter().collect(),
            version: head["copilotVersion"].as_str().map(str::to_owned),
            compactions: self.compactions,
            messages: self.messages,
            ..ReadSession::new(input, IMPORTER.name, group)
        }
    }

    fn event(
        &mut self,
        place: Place,
        row: &Value,
        recorder: &mut Recorder,
    ) -> Result<(), ImportError> {
        let data = &row["data"];
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        let at_ms = json_lines::at_ms(&row["timestamp"], place, recorder)?;
        let has_system = self.messages.iter().any(|said| said.role == Role::System);
        // The files give the output of a reply and not its input, so no reply has a usage.
        let mut say = |role, parts| {
            self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts,
                usage: None,
            })
        };
        match row["type"].as_str().unwrap_or("untyped") {
            // The program repeats its instructions when it goes on.
            "system.message" if has_system => {
                recorder.ignore("repeated system.message");
            }
            "system.message" => say(
                Role::System,
                vec![Part::Text {
                    text: text("content"),
                }],
            ),
            // What the program says in the place of the user is not a statement of the user.
            "user.message" if data["source"] == "system" => {
                recorder.ignore("user.message of the program")
            }
            "user.message" => say(
                Role::User,
                vec![Part::Text {
                    text: text("content"),
                }],
            ),
            "assistant.message" => say(Role::Assistant, assistant(data)),
            "tool.execution_complete" => say(Role::Tool, vec![result(data)]),
            "session.compaction_start" => self.began = Some(place),
            "session.compaction_complete" => {
                let began = self.began.take().unwrap_or(place);
                let compaction = compaction((began, place), at_ms, data, &self.messages);
                let failed = || Compaction::unmeasured(place, Unmeasured::Failed);
                self.compactions.push(compaction.unwrap_or_else(failed));
            }
            kind => recorder.ignore(kind),
        }
        Ok(())
    }
}

fn assistant(data: &Value) -> Vec<Part> {
    let text = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let thought = text(&data["reasoningText"]).map(|text| Part::Thinking {
        text,
        signature: None,
    });
    let said = text(&data["content"]).map(|text| Part::Text { text });
    let calls = data["toolRequests"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| Part::ToolCall {
            id: text(&call["toolCallId"]).unwrap_or_default(),
            name: text(&call["name"]).unwrap_or_default(),
            arguments: call["arguments"].to_string(),
        });
    thought.into_iter().chain(said).chain(calls).collect()
}

fn result(data: &Value) -> Part {
    let is_error = data["success"] == false;
    let text = if is_error {
        &data["error"]["message"]
    } else {
        &data["result"]["content"]
    };
    let call_id = data["toolCallId"].as_str().unwrap_or_default().to_owned();
    Part::ToolResult {
        call_id,
        text: text.as_str().unwrap_or_default().to_owned(),
        is_error,
    }
}

/// What the program wrote, and all messages since it began to write.
fn compaction(
    (began, place): (Place, Place),
    at_ms: Option<i64>,
    data: &Value,
    messages: &[Spoken],
) -> Option<Compaction> {
    let summary = data["summaryContent"]
        .as_str()
        .filter(|_| data["success"] != false)?;
    let kept = messages
        .iter()
        .filter(|said| said.place > began && said.role != Role::System);
    let written = Left::Written(Role::User, summary.to_owned());
    let used = &data["compactionTokensUsed"];
    let count = |key: &str| used[key].as_u64().unwrap_or(0);
    let (cache_read, cache_write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Some(Compaction {
        at_ms,
        reported_tokens: data["preCompactionTokens"].as_u64(),
        usage: reported(Usage {
            input: count("inputTokens").saturating_sub(cache_read + cache_write),
            cache_read,
            cache_write,
            output: count("outputTokens"),
        }),
        context: std::iter::once(written)
            .chain(kept.map(|said| Left::Kept(said.place)))
            .collect(),
        ..Compaction::at(place)
    })
}
