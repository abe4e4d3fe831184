//! From conversations to skeletons.

mod atoms;
mod texts;

use std::collections::{BTreeSet, HashMap};

use compactometer_engine::message::{Message, Part, Role};
use compactometer_formats::scenario::Scenario;
use compactometer_text::exact::{forms, whole};
use serde_json::Value;

use super::format::{
    ArgumentNode, SkeletonMessage, SkeletonPart, SkeletonSession, Skeletons, TextClass,
};
use super::words::{ARGUMENTS, CHOICES, FIRST_UNNAMED, TOOLS, ToolKind, kind_of, unnamed_kind};
use crate::dice::{SeededDice, Stream};
use atoms::{AtomValues, Humps, folded, runs, shared_shapes};
use texts::{PunctuationMarks, TextReader};

/// The skeletons of conversations. Facts and questions of these do not matter.
pub fn extract(scenarios: &[Scenario]) -> Skeletons {
    let shared = shared_atoms(scenarios);
    let numbers = shared.iter().cloned().zip(0..).collect();
    let projects: BTreeSet<&str> = scenarios.iter().map(project).collect();
    let (mut marks, mut humps) = (PunctuationMarks::default(), Humps::default());
    let sessions = scenarios
        .iter()
        .map(|scenario| {
            let number = projects
                .iter()
                .position(|known| *known == project(scenario));
            let mut reader = SessionReader::new(&numbers, &mut marks, &mut humps);
            reader.session(scenario, number.unwrap_or_default() as u32)
        })
        .collect();
    Skeletons {
        punctuation: marks.all(),
        shared: shared_shapes(&shared, &humps),
        sessions,
    }
}

fn project(scenario: &Scenario) -> &str {
    scenario.projects().next().unwrap_or_default()
}

/// Atoms that sessions of two or more projects have, in random order.
fn shared_atoms(scenarios: &[Scenario]) -> Vec<String> {
    let mut seen: HashMap<String, BTreeSet<&str>> = HashMap::new();
    for scenario in scenarios {
        let parts = scenario.messages.iter().flat_map(|message| &message.parts);
        for text in parts.filter_map(text_of) {
            let values = forms(text).flat_map(|place| runs(&text[place]));
            for run in values.filter(|run| run.starts_with(char::is_alphanumeric)) {
                seen.entry(folded(run))
                    .or_default()
                    .insert(project(scenario));
            }
        }
    }
    let mut shared: Vec<String> = seen
        .into_iter()
        .filter(|(_, projects)| projects.len() > 1)
        .map(|(atom, _)| atom)
        .collect();
    shared.sort_unstable();
    SeededDice::new(7, 0, Stream::Skeleton).shuffle(&mut shared);
    shared
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
            Some(text)
        }
        Part::ToolCall { arguments, .. } => Some(arguments),
        Part::Media { .. } | Part::Sealed { .. } => None,
    }
}

/// Reads one session.
struct SessionReader<'s> {
    texts: TextReader<'s>,
    /// Names of arguments and tools that no table has, in order of their first use.
    unnamed: HashMap<String, u32>,
    /// The number and the tool of each call.
    calls: HashMap<&'s str, (u32, u32)>,
}

impl<'s> SessionReader<'s> {
    fn new(
        shared: &'s HashMap<String, usize>,
        marks: &'s mut PunctuationMarks,
        humps: &'s mut Humps,
    ) -> Self {
        SessionReader {
            texts: TextReader {
                values: AtomValues::new(shared),
                marks,
                humps,
            },
            unnamed: HashMap::new(),
            calls: HashMap::new(),
        }
    }

    fn session(&mut self, scenario: &'s Scenario, project: u32) -> SkeletonSession {
        let directories = scenario
            .directories
            .iter()
            .map(|path| path.trim_end_matches('/'));
        let directories = directories
            .filter(|path| whole(path).is_some())
            .map(|path| self.texts.value(path))
            .collect();
        let mut last: Option<i64> = None;
        let messages = scenario.messages.iter().map(|message| {
            let pause = message
                .at_ms
                .zip(last)
                .map_or(0, |(now, last)| (now - last).max(0) / 1_000);
            last = message.at_ms.or(last);
            self.message(message, pause as u64)
        });
        let messages = messages.collect();
        let place = |id| {
            scenario
                .messages
                .iter()
                .position(|message| message.id == id)
        };
        let compactions = scenario
            .compactions
            .iter()
            .filter_map(|made| place(made.after));
        SkeletonSession {
            project,
            directories,
            atoms: self.texts.values.shapes(),
            values: std::mem::take(&mut self.texts.values.rows),
            messages,
            compactions: compactions.map(|at| at as u32).collect(),
        }
    }

    fn message(&mut self, message: &'s Message, pause: u64) -> SkeletonMessage {
        let role = match message.role {
            Role::System => 0,
            Role::User => 1,
            Role::Assistant => 2,
            Role::Tool => 3,
        };
        let said = message
            .parts
            .iter()
            .map(|part| self.part(part, message.role));
        let said = said.collect();
        let usage = message.usage.as_ref().map_or(Vec::new(), |usage| {
            vec![
                usage.input,
                usage.cache_read,
                usage.cache_write,
                usage.output,
            ]
        });
        SkeletonMessage(role, pause, said, usage)
    }

    fn part(&mut self, part: &'s Part, role: Role) -> SkeletonPart {
        match part {
            Part::Text { text } => {
                let class = if role == Role::User {
                    TextClass::User
                } else {
                    TextClass::Prose
                };
                SkeletonPart::Text(self.texts.text(text, class))
            }
            Part::Thinking { text, .. } => {
                SkeletonPart::Thinking(self.texts.text(text, TextClass::Prose))
            }
            Part::ToolCall {
                id,
                name,
                arguments,
            } => self.call(id, name, arguments),
            Part::ToolResult {
                call_id,
                text,
                is_error,
            } => self.result(call_id, text, *is_error),
            Part::Media { tokens, .. } => SkeletonPart::Media(*tokens),
            // Only a view has one: a suite that does is refused.
            Part::Sealed { .. } => SkeletonPart::Media(0),
        }
    }

    fn call(&mut self, id: &'s str, name: &str, arguments: &str) -> SkeletonPart {
        let (number, tool) = (self.calls.len() as u32, self.tool(name));
        self.calls.insert(id, (number, tool));
        let parsed = serde_json::from_str(arguments);
        let value = parsed.unwrap_or_else(|_| serde_json::json!({ "content": arguments }));
        SkeletonPart::Call(number, tool, self.node(&value, ""))
    }

    fn result(&mut self, call: &str, text: &str, is_error: bool) -> SkeletonPart {
        let call = self.calls.get(call);
        let class = match call.map(|(_, tool)| kind_of(*tool)) {
            Some(ToolKind::Read) => TextClass::Code,
            Some(ToolKind::Search) => TextClass::Listing,
            Some(ToolKind::Run) => TextClass::Log,
            _ => TextClass::Other,
        };
        let call = call.map(|(number, _)| *number);
        SkeletonPart::Result(call, is_error, self.texts.text(text, class))
    }

    fn tool(&mut self, name: &str) -> u32 {
        if let Some(number) = TOOLS.iter().position(|(known, _)| *known == name) {
            return number as u32;
        }
        let number = self.unnamed(&format!("tool {name}"));
        FIRST_UNNAMED + 7 * number + unnamed_kind(name)
    }

    fn unnamed(&mut self, name: &str) -> u32 {
        let next = self.unnamed.len() as u32;
        *self.unnamed.entry(name.to_owned()).or_insert(next)
    }

    fn field(&mut self, name: &str, value: &Value) -> u32 {
        if let Some(number) = ARGUMENTS.iter().position(|known| *known == name) {
            return number as u32;
        }
        let is_authored = super::is_authored(name, value);
        FIRST_UNNAMED + 2 * self.unnamed(name) + u32::from(is_authored)
    }

    fn number(&mut self, text: &str) -> ArgumentNode {
        if whole(text).is_some() {
            return ArgumentNode::Value(self.texts.value(text));
        }
        let digits = text.trim_start_matches('-').split('.').next();
        ArgumentNode::Number(digits.map_or(1, str::len) as u16, text.starts_with('-'))
    }

    fn node(&mut self, value: &Value, name: &str) -> ArgumentNode {
        match value {
            Value::Null => ArgumentNode::Flag(None),
            Value::Bool(flag) => ArgumentNode::Flag(Some(*flag)),
            Value::Number(number) => self.number(&number.to_string()),
            Value::Array(items) => {
                ArgumentNode::List(items.iter().map(|item| self.node(item, name)).collect())
            }
            Value::Object(fields) => ArgumentNode::Fields(
                fields
                    .iter()
                    .map(|(name, value)| (self.field(name, value), self.node(value, name)))
                    .collect(),
            ),
            Value::String(text) => match CHOICES.iter().position(|known| known == text) {
                Some(number) => ArgumentNode::Choice(number),
                None => ArgumentNode::Text(self.texts.argument(text, class_of(name))),
            },
        }
    }
}

fn class_of(name: &str) -> TextClass {
    match name {
        "content" | "old_string" | "new_string" | "new_source" | "patch" | "oldString"
        | "newString" | "oldText" | "newText" => TextClass::Code,
        "command" | "cmd" => TextClass::Log,
        _ => TextClass::Prose,
    }
}
