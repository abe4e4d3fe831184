//! A turn of the recorded conversation, as an agent takes it.

use compactometer_engine::message::{Message, Part, Role};
use compactometer_models::server::{Called, ModelAnswer, Posted};

use crate::definition::Tools;
use crate::desk::{ModelDesk, ToolAnswer, answer_saying};
use crate::request_view::{KnownText, call_id};
use crate::shell::in_shell;

/// What was said from a turn of the agent to the next: what it said and called, what its tools
/// answered, and what the user said then.
pub(crate) struct PlayedTurn {
    messages: Vec<Message>,
    /// The number of its first call in the conversation.
    first: usize,
}

impl PlayedTurn {
    pub(crate) fn new(messages: Vec<Message>, first: usize) -> Self {
        PlayedTurn { messages, first }
    }

    /// What the agent says, in one text.
    pub(crate) fn own(&self) -> KnownText {
        KnownText::of(Role::Assistant, self.messages.iter())
    }

    /// What the user says after it, if the user does.
    pub(crate) fn user(&self) -> Option<KnownText> {
        let mut messages = self.messages.iter();
        let has_user = messages.any(|message| message.role == Role::User);
        has_user.then(|| KnownText::of(Role::User, self.messages.iter()))
    }

    /// What the user begins with: an agent never speaks first, so what it said before the user's first
    /// words is said with them.
    pub(crate) fn beginning(&self) -> KnownText {
        KnownText::joined(Role::User, self.messages.iter())
    }

    /// Whether the agent calls tools in it.
    pub(crate) fn has_calls(&self) -> bool {
        count_calls(&self.messages) > 0
    }

    fn parts(&self, role: Role) -> impl Iterator<Item = &Part> {
        let messages = self.messages.iter();
        let of_role = messages.filter(move |message| message.role == role);
        of_role.flat_map(|message| &message.parts)
    }

    /// It as the answer to a request, and the numbers of its calls. The desk knows then what the tools
    /// answer.
    pub(crate) fn answer(
        &self,
        desk: &ModelDesk,
        posted: &Posted,
    ) -> Result<(ModelAnswer, Vec<usize>), String> {
        let (mut called, mut expected) = (Vec::new(), Vec::new());
        for part in self.parts(Role::Assistant) {
            let Part::ToolCall {
                id,
                name,
                arguments,
            } = part
            else {
                continue;
            };
            let number = self.first + called.len();
            let tool = desk.tool(posted, name);
            let tool = tool.ok_or_else(|| format!("it does not offer the tool `{name}`"))?;
            let (text, is_error) = self.result(id);
            expected.push(ToolAnswer {
                number,
                name: name.clone(),
                arguments: serde_json::from_str(arguments).unwrap_or_default(),
                text,
                is_error,
            });
            called.push(Called {
                id: call_id(number),
                arguments: match desk.tools_are() {
                    Tools::Shell => in_shell(&tool, number, name, arguments),
                    Tools::Mcp | Tools::Program => arguments.clone(),
                },
                name: tool.name,
            });
        }
        let numbers = expected.iter().map(|expected| expected.number).collect();
        desk.expect(expected);
        Ok((answer_saying(posted, self.own().text, called), numbers))
    }

    /// What the tool answered to a call; nothing if the record has no answer.
    fn result(&self, id: &str) -> (String, bool) {
        let found = self.parts(Role::Tool).find_map(|part| match part {
            Part::ToolResult {
                call_id,
                text,
                is_error,
            } if call_id == id => Some((text.clone(), *is_error)),
            _ => None,
        });
        found.unwrap_or_default()
    }
}

/// The calls in some messages.
pub(crate) fn count_calls<'m>(messages: impl IntoIterator<Item = &'m Message>) -> usize {
    let parts = messages.into_iter().flat_map(|message| &message.parts);
    parts
        .filter(|part| matches!(part, Part::ToolCall { .. }))
        .count()
}
