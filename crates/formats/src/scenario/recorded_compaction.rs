//! A compaction that the recorded program made: when it happened, and what its next request began
//! with.

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
    /// Tokens of the request before it, as the program reported them. They include what the file
    /// does not contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_tokens: Option<u64>,
    /// What the provider reported for the call that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Milliseconds that it took, as the program reported them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The version of the program then, as the file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What wrote it, if that was not the program itself: an extension or a hook, by the name that
    /// the file has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compactor: Option<String>,
    /// The line of the transcript that records it, from 1, if the transcript has one object a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the next request began with after the system prompt, in order.
    pub context: Vec<Retained>,
}

/// A compaction whose result is not known, so that nothing can be said about what it left until the
/// next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnmeasuredCompaction {
    /// The last message before it; absent if the file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// When it happened, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// What started it, in the program's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Tokens of the request before it, as the program reported them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_tokens: Option<u64>,
    /// Why it is not measured.
    pub reason: Unmeasured,
}

/// What a program puts back after a compaction without a record of it: the newest results of a
/// tool, one for each subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reattached {
    /// The tool.
    pub tool: String,
    /// The argument that names the subject, such as a file.
    pub argument: String,
    /// The most results.
    pub results: u32,
    /// The most tokens of each.
    pub tokens: u32,
}

/// Why what a recorded compaction left is not measured.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Unmeasured {
    /// The file does not hold the messages before it.
    NothingBefore,
    /// The file holds only a part of the messages before it.
    PartBefore,
    /// The file does not hold what it left.
    NothingLeft,
    /// Its summary is encrypted, or absent.
    UnreadableSummary,
    /// Another compaction follows without a turn between.
    CompactedAgain,
    /// The conversation went on from before it.
    LeftBehind,
    /// It failed, so that the context stayed as it was.
    Failed,
}

impl Unmeasured {
    /// Whether the context stayed as it was.
    pub fn changed_nothing(self) -> bool {
        matches!(self, Unmeasured::LeftBehind | Unmeasured::Failed)
    }

    /// Why, in words that follow "left out: ".
    pub fn why(self) -> &'static str {
        match self {
            Unmeasured::NothingBefore => "the file does not hold what came before it",
            Unmeasured::PartBefore => "the file holds only a part of what came before it",
            Unmeasured::NothingLeft => "the file does not hold what it left",
            Unmeasured::UnreadableSummary => "its summary is not readable",
            Unmeasured::CompactedAgain => "another compaction followed without a turn between",
            Unmeasured::LeftBehind => "the session went on from before it",
            Unmeasured::Failed => "it failed",
        }
    }
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
