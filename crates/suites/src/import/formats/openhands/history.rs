//! A conversation as its events are read: its messages, and what condensations left of them.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::formats::openhands::view::EventView;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, Spoken};

/// The messages that were read, and what the next request holds of them.
pub(in crate::import) struct EventHistory<'r> {
    pub(in crate::import) recorder: &'r mut Recorder,
    pub(in crate::import) view: EventView,
    messages: Vec<Spoken>,
    /// The response that the last message of the assistant is of, if no other turn followed.
    response: Option<String>,
}

/// What an event says.
pub(in crate::import) struct EventWords<'v> {
    pub(in crate::import) role: Role,
    pub(in crate::import) parts: Vec<Part>,
    /// The id of the response that it is of.
    pub(in crate::import) response: &'v Value,
    pub(in crate::import) usage: Option<Usage>,
}

impl EventWords<'_> {
    /// Something that is of no response of a model.
    pub(in crate::import) fn new(role: Role, parts: Vec<Part>) -> Self {
        EventWords {
            role,
            parts,
            response: &Value::Null,
            usage: None,
        }
    }
}

impl<'r> EventHistory<'r> {
    pub(in crate::import) fn new(recorder: &'r mut Recorder) -> Self {
        EventHistory {
            recorder,
            view: EventView::default(),
            messages: Vec::new(),
            response: None,
        }
    }

    /// Whether an action of this response continues the last message.
    pub(in crate::import) fn continues(&self, response: &Value) -> bool {
        response.is_string() && response.as_str() == self.response.as_deref()
    }

    /// Adds a message, or adds to the last one if that is of the same response. Returns the
    /// message's place.
    pub(in crate::import) fn say(
        &mut self,
        place: Place,
        at_ms: Option<i64>,
        said: EventWords,
    ) -> Place {
        let EventWords {
            role,
            parts,
            response,
            usage,
        } = said;
        let is_same = role == Role::Assistant && self.continues(response);
        if role != Role::Tool {
            self.response = response.as_str().map(str::to_owned);
        }
        match self
            .messages
            .iter_mut()
            .rfind(|said| said.role != Role::Tool)
        {
            Some(last) if is_same => {
                last.parts.extend(parts);
                last.place
            }
            _ => {
                self.messages.push(Spoken {
                    place,
                    role,
                    at_ms,
                    parts,
                    usage,
                });
                place
            }
        }
    }

    pub(in crate::import) fn into_session(self, input: &Input, group: &str) -> ReadSession {
        let (compactions, messages) = (self.view.compactions, self.messages);
        ReadSession {
            compactions,
            messages,
            ..ReadSession::new(input, "openhands", group)
        }
    }
}
