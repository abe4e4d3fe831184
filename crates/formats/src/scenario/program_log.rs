//! What the log of a program says beside the chat that is read from it.

use compactometer_engine::message::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a program's log says beside the chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogNotes {
    /// Messages of role user that no person wrote: notifications, reminders, output of commands.
    /// Ids ascend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_program: Vec<MessageId>,
    /// The models that answered, each from a message on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelFrom>,
    /// Where the program took results of tools out of the context, beside its compactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<ClearedResults>,
    /// Messages behind compactions that the conversation left behind when it went on from before
    /// them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_behind: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A model that answered from a message on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFrom {
    /// The first message that it wrote.
    pub from: MessageId,
    /// Its name, as the log has it.
    pub model: String,
}

/// Results that a program took out of the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClearedResults {
    /// The last message before it.
    pub after: MessageId,
    /// How many results.
    pub results: usize,
    /// The ids of their calls, as far as the log names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

impl LogNotes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == LogNotes::default()
    }

    /// The model that answered last at that message or before it, as far as the log names one.
    pub fn model_at(&self, message: MessageId) -> Option<&str> {
        let earlier = self.models.iter().rfind(|known| known.from <= message);
        earlier.map(|known| known.model.as_str())
    }
}
