//! What the user of a conversation said without an exact value, where the truth is known.

use compactometer_engine::message::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that the user said, each time in the same or in other words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaidSentence {
    /// What kind of sentence it is.
    pub kind: SentenceKind,
    /// How it was said, in order of the messages. A context that says one of them says it.
    pub wordings: Vec<Wording>,
    /// The message in which the user took it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<MessageId>,
}

/// Words of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// The message.
    pub said_in: MessageId,
    /// The sentence as it is in the message.
    pub text: String,
}

/// What kind of sentence it is. No text carries these labels.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SentenceKind {
    /// What is to be done always or never.
    Rule,
    /// How the user likes things.
    Preference,
    /// What takes an earlier sentence back and replaces it.
    Correction,
    /// Work to be done once.
    Request,
}
