//! A compaction that the recorded program made: when it happened, and what its next request began with.

use compactometer_engine::message::{MessageId, Role, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A compaction that the program made while the conversation was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedCompaction {
    /// The last message before it.
    pub after: MessageId,
    /// When it happened, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// What started it, in the program's own word, such as `auto` or `manual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Tokens of the request before it, as the program reported them. They include what the file does not contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_tokens: Option<u64>,
    /// What the provider reported for the call that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the next request began with after the system prompt, in order.
    pub context: Vec<Retained>,
}

/// One message of what a recorded compaction left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Retained {
    /// That message of the conversation, whole.
    Kept(MessageId),
    /// A message that the program wrote, such as a summary.
    Written {
        /// Who speaks in it.
        role: Role,
        /// Its text.
        text: String,
    },
}
