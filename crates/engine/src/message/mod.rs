//! What was said: messages, their parts and the usage a provider reported for them.
//!
//! Absent on purpose: provenance. Where a part of a *view* comes from is its `Origin`; a message is
//! only what somebody said.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One message of a conversation, as a provider's API would carry it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Unique in its conversation; ascending in order of appearance.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// When it was said, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// What is said, in order.
    #[serde(deserialize_with = "few")]
    pub parts: Vec<Part>,
    /// What the provider reported for the call that produced this message; counts once per call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<Usage>>,
}

impl Message {
    /// The ids of the tool calls that this message makes, in order.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// The ids of the tool calls that this message answers, in order.
    pub fn answered_ids(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult { call_id, .. } => Some(call_id.as_str()),
            _ => None,
        })
    }
}

/// Most messages have one part. By default a growing list reserves memory for four parts; in a long
/// conversation that is more than all its text.
fn few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Part>, D::Error> {
    deserializer.deserialize_seq(Few)
}

struct Few;

impl<'de> Visitor<'de> for Few {
    type Value = Vec<Part>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Vec<Part>, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = given.next_element()? {
            if parts.len() < 4 {
                parts.reserve_exact(1);
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

/// Identifies a message within one conversation.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MessageId(pub u32);

/// Who speaks. Tool results are messages of their own, with role [`Role::Tool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions before the conversation: at most one message, the first.
    System,
    /// The person, or a synthetic turn in that role.
    User,
    /// The agent.
    Assistant,
    /// Results of tool calls.
    Tool,
}

impl Role {
    /// The role's name in rendered transcripts.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning that a provider wants back byte-identical or not at all.
    Thinking {
        /// The reasoning.
        text: String,
        /// The provider's signature over it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A request to run a tool.
    ToolCall {
        /// Pairs the call with its result; unique in the conversation.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as JSON text.
        arguments: String,
    },
    /// What a tool returned.
    ToolResult {
        /// The call that this answers.
        call_id: String,
        /// The result's text.
        text: String,
        /// Whether the tool reported failure.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// An image, sound or document. The bytes stay outside; their length never enters a count.
    Media {
        /// For example `image/png`.
        media_type: String,
        /// Content hash of the bytes that the transcript held.
        digest: String,
        /// Tokens by the provider's rule for this kind of media.
        tokens: u32,
    },
    /// What a provider's compaction left, in a form that only its own models read.
    Sealed {
        /// As the provider gave it.
        content: String,
    },
}

/// Tokens that one model call used, each counted once: `input` excludes what was read from or
/// written to a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens read at the full price.
    pub input: u64,
    /// Input tokens read from the provider's prompt cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Input tokens written to the provider's prompt cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
}

impl Usage {
    /// All input tokens, cached or not.
    pub fn total_input(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
    }
}

impl std::ops::Sub for Usage {
    type Output = Usage;

    fn sub(self, earlier: Self) -> Usage {
        Usage {
            input: self.input - earlier.input,
            cache_read: self.cache_read - earlier.cache_read,
            cache_write: self.cache_write - earlier.cache_write,
            output: self.output - earlier.output,
        }
    }
}

/// The text of a part that can hold a value.
pub fn part_text(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
            Some(text)
        }
        Part::ToolCall { arguments, .. } => Some(arguments),
        Part::Media { .. } | Part::Sealed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_read_takes_no_more_room_than_it_has_parts() {
        let part = r#"{"type":"text","text":"a"}"#;
        for count in 0..4 {
            let json = format!(
                r#"{{"id":0,"role":"user","parts":[{}]}}"#,
                vec![part; count].join(",")
            );
            let message: Message = serde_json::from_str(&json).expect("a message");
            assert_eq!(
                (message.parts.len(), message.parts.capacity()),
                (count, count)
            );
        }
    }
}
