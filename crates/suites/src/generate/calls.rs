//! The agent's calls, and what it read with them.

use compactometer_engine::message::Part;
use serde_json::{Map, Value};

use crate::generate::agent::AgentTable;
use crate::generate::documents::ResultRow;
use crate::generate::domains::Tool;
use crate::generate::forms::GeneratedForm;
use crate::generate::writer::ConversationWriter;

/// The argument with which an agent that a spec describes says why it makes a call.
pub(crate) const PURPOSE: &str = "purpose";
/// The argument that holds a text that the agent writes.
pub(crate) const TEXT: &str = "text";
/// The number of earlier calls that may be made again.
const RECENT: usize = 30;
/// Percentage of the calls that read again and do so with the same arguments.
const SAME: usize = 35;

/// A call of the agent.
pub(crate) struct GeneratedCall {
    pub(crate) tool: &'static Tool,
    pub(crate) id: String,
    pub(crate) part: Part,
    arguments: Map<String, Value>,
    /// Whether it uses a value of the plan.
    is_planned: bool,
    /// What an earlier call with this address returned, without statements of facts.
    pub(crate) read_before: Vec<ResultRow>,
}

/// The calls of a conversation.
#[derive(Default)]
pub(crate) struct CallMaker {
    count: usize,
    /// The latest results with the calls that they answer.
    read: Vec<ReadRange>,
}

struct ReadRange {
    tool: &'static Tool,
    arguments: Map<String, Value>,
    rows: Vec<ResultRow>,
}

impl CallMaker {
    /// A call that states or needs nothing of the plan.
    pub(crate) fn next(
        &mut self,
        agent: Option<AgentTable>,
        writer: &mut ConversationWriter,
    ) -> GeneratedCall {
        let Some(agent) = agent else {
            let tools = &writer.domain.tools;
            let tool = &tools[writer.dice.below(tools.len())];
            return self.with(agent, writer, tool, None);
        };
        if !self.read.is_empty() && writer.dice.chance(agent.again) {
            return self.again(agent, writer);
        }
        let reads_file = writer.dice.chance(agent.files);
        let takes = |tool: &&Tool| tool.takes(GeneratedForm::Path).is_some() == reads_file;
        let tools = writer.domain.tools.iter().filter(takes).collect::<Vec<_>>();
        let tool = writer.dice.pick(&tools);
        self.with(Some(agent), writer, tool, None)
    }

    /// A call of the tool. `given` is the place of an argument and its value.
    pub(crate) fn with(
        &mut self,
        agent: Option<AgentTable>,
        writer: &mut ConversationWriter,
        tool: &'static Tool,
        given: Option<(usize, &str)>,
    ) -> GeneratedCall {
        let mut arguments = Map::new();
        for (at, (name, template)) in tool.arguments.iter().enumerate() {
            let value = match given {
                Some((place, value)) if place == at => value.to_owned(),
                _ => argument(agent, writer, template),
            };
            arguments.insert((*name).to_owned(), Value::String(value));
        }
        if let Some(agent) = agent {
            explain(agent, writer, &mut arguments);
        }
        GeneratedCall {
            is_planned: given.is_some(),
            ..self.made(tool, arguments, Vec::new())
        }
    }

    /// A call with the address of an earlier one, and often with all of its arguments.
    fn again(&mut self, agent: AgentTable, writer: &mut ConversationWriter) -> GeneratedCall {
        let ReadRange {
            tool,
            ref arguments,
            ref rows,
        } = self.read[writer.dice.below(self.read.len())];
        let (mut arguments, rows) = (arguments.clone(), rows.clone());
        if !writer.dice.chance(SAME) {
            for (name, template) in tool.arguments.iter().skip(1) {
                arguments.insert(
                    name.clone(),
                    Value::String(argument(Some(agent), writer, template)),
                );
            }
            explain(agent, writer, &mut arguments);
        }
        self.made(tool, arguments, rows)
    }

    fn made(
        &mut self,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        read_before: Vec<ResultRow>,
    ) -> GeneratedCall {
        self.count += 1;
        let id = format!("call_{:04}", self.count);
        let text = Value::Object(arguments.clone()).to_string();
        let part = Part::ToolCall {
            id: id.clone(),
            name: tool.name.to_owned(),
            arguments: text,
        };
        GeneratedCall {
            tool,
            id,
            part,
            arguments,
            is_planned: false,
            read_before,
        }
    }

    /// Remembers what a call returned. The plan says when a fact is used or stated, so that such
    /// calls are not made again, and such rows are not read again.
    pub(crate) fn returned(&mut self, call: GeneratedCall, rows: Vec<ResultRow>) {
        let rows = rows
            .into_iter()
            .filter(|row| !row.is_stated)
            .collect::<Vec<_>>();
        if rows.is_empty() || call.is_planned {
            return;
        }
        self.read.push(ReadRange {
            tool: call.tool,
            arguments: call.arguments,
            rows,
        });
        if self.read.len() > RECENT {
            self.read.remove(0);
        }
    }
}

/// An argument, more often than other text with values that were mentioned earlier.
fn argument(agent: Option<AgentTable>, writer: &mut ConversationWriter, template: &str) -> String {
    let before = std::mem::replace(
        &mut writer.known_share,
        agent.map_or(0, |agent| agent.known),
    );
    let value = writer.fill(template);
    writer.known_share = before;
    value
}

/// Adds the purpose of a call and, to some, a text.
fn explain(agent: AgentTable, writer: &mut ConversationWriter, arguments: &mut Map<String, Value>) {
    let steps = writer.dice.between(1, 2);
    let purpose = writer.sentences(&writer.domain.steps, steps).join(" ");
    arguments.insert(PURPOSE.to_owned(), Value::String(purpose));
    if writer.dice.chance(agent.written) {
        let (files, sentences) = (writer.dice.between(0, 2), writer.dice.between(2, 12));
        let before = std::mem::replace(&mut writer.known_share, agent.known);
        let mut lines = (0..files)
            .map(|_| writer.fill("see {path}"))
            .collect::<Vec<_>>();
        writer.known_share = before;
        lines.extend(writer.sentences(&writer.domain.findings, sentences));
        arguments.insert(TEXT.to_owned(), Value::String(lines.join("\n")));
    }
}
