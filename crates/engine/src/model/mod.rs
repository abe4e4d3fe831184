//! The seam to a language model: what a request may say, what comes back, how it can fail.
//!
//! Absent on purpose: anything that says why a model is called. A request holds wire content only,
//! so that a mock can know nothing that a provider would not.

pub mod embed;
pub mod meter;

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize, Serializer};

use crate::message::{Part, Role, Usage, part_text};
use crate::tokens::CountedMessage;
use crate::tokens::{self, MESSAGE_OVERHEAD, TOOL_OVERHEAD, TokenCounter};

/// A language model that completes chats.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The model's name in records, for example `mock:strong`.
    fn name(&self) -> &str;

    /// Completes one chat.
    ///
    /// # Errors
    /// [`ChatError`] where no reply came back. A reply that is empty or cut is not an error of the
    /// call.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError>;
}

/// One request, as it crosses the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The chat so far.
    pub messages: Vec<WireMessage>,
    /// Tools that the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// Most tokens that the reply may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// JSON schema that the reply must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// Asks the model's provider to compact the chat, in place of an answer: the reply's text is the
    /// summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<ServerCompaction>,
    /// Seed of the model's sampling.
    pub seed: u64,
}

/// What a provider's own compaction is asked for beside what it does anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerCompaction {
    /// More instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

impl ServerCompaction {
    /// What a model is asked whose provider has no compaction of its own.
    const PROMPT: &str = "Summarize the conversation so far. The summary takes the place of all messages before this one, so \
                          write down what is needed to go on: what the user asked for and wants, what was decided and why, \
                          what was done, what is still open, and every path, name, number and identifier exactly as it is. \
                          Answer with the summary and nothing else.";

    fn asked(&self) -> WireMessage {
        let sentences = [Self::PROMPT]
            .into_iter()
            .chain(self.instructions.as_deref());
        let text = sentences.collect::<Vec<_>>().join("\n\n");
        WireMessage {
            role: Role::User,
            parts: vec![Part::Text { text }].into(),
        }
    }
}

impl ChatRequest {
    /// A chat of one user message, the form in which the reference strategies ask for a summary.
    pub fn prompt(
        text: String,
        max_output_tokens: u32,
        temperature: Option<f32>,
        seed: u64,
    ) -> Self {
        ChatRequest {
            messages: vec![WireMessage {
                role: Role::User,
                parts: vec![Part::Text { text }].into(),
            }],
            tools: Vec::new(),
            max_output_tokens: Some(max_output_tokens),
            temperature,
            schema: None,
            compaction: None,
            seed,
        }
    }

    /// The same for a model whose provider has no compaction of its own: where one is asked for, a
    /// last message asks for the summary.
    pub fn with_compaction_asked(&self) -> Cow<'_, Self> {
        let Some(compaction) = &self.compaction else {
            return Cow::Borrowed(self);
        };
        let mut request = self.clone();
        request.messages.push(compaction.asked());
        request.compaction = None;
        Cow::Owned(request)
    }

    /// Every text that the model reads, in order. A fact that is in none of them was not seen.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages
            .iter()
            .flat_map(|message| message.parts.iter())
            .filter_map(part_text)
    }

    /// Whether it holds a summary that only its provider's models read.
    pub fn has_sealed(&self) -> bool {
        let mut parts = self
            .messages
            .iter()
            .flat_map(|message| message.parts.iter());
        parts.any(|part| matches!(part, Part::Sealed { .. }))
    }

    /// Tokens of the whole request on that counter's scale; tools count by their texts.
    pub fn tokens(&self, counter: &dyn TokenCounter) -> u32 {
        let parts = self
            .messages
            .iter()
            .flat_map(|message| message.parts.iter())
            .map(|part| counter.count_part(part));
        let tools = self.tools.iter().map(|tool| {
            let texts = [&tool.name, &tool.description, &tool.parameters.to_string()];
            tokens::total(
                texts
                    .map(|text| counter.count_text(text))
                    .into_iter()
                    .chain([TOOL_OVERHEAD]),
            )
        });
        tokens::total(
            self.messages
                .iter()
                .map(|_| MESSAGE_OVERHEAD)
                .chain(parts)
                .chain(tools),
        )
    }
}

/// A message without identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WireMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub parts: WireParts,
}

/// The parts of a message on the wire: a list, which a request may share with the log that it was
/// said in.
#[derive(Clone, Deserialize)]
#[serde(from = "Vec<Part>")]
pub enum WireParts {
    /// The request's own.
    Own(Vec<Part>),
    /// Those of a message of the log.
    Said(Arc<CountedMessage>),
}

impl Deref for WireParts {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        match self {
            WireParts::Own(parts) => parts,
            WireParts::Said(counted) => &counted.message.parts,
        }
    }
}

impl From<Vec<Part>> for WireParts {
    fn from(parts: Vec<Part>) -> Self {
        WireParts::Own(parts)
    }
}

impl From<Arc<CountedMessage>> for WireParts {
    fn from(counted: Arc<CountedMessage>) -> Self {
        WireParts::Said(counted)
    }
}

impl<'p> IntoIterator for &'p WireParts {
    type Item = &'p Part;
    type IntoIter = std::slice::Iter<'p, Part>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for WireParts {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for WireParts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(out)
    }
}

impl Serialize for WireParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    /// The tool's name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: serde_json::Value,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The answer's text, without reasoning.
    pub text: String,
    /// Why the answer ended.
    pub finish: Finish,
    /// Tokens used.
    pub usage: Usage,
    /// Time from request to the last byte, in milliseconds. Data, never a sleep.
    pub latency_ms: u64,
    /// What a server reported beside; models in the process report nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Box<Served>>,
}

impl ChatError {
    /// What a model says that is asked about a summary which another provider sealed.
    pub fn unreadable() -> Self {
        ChatError::Unavailable {
            why: "the chat holds a summary that only OpenAI's models read; name one of them, as `openai-responses:MODEL`".to_owned(),
            later: false,
        }
    }
}

impl ChatReply {
    /// Whether only the server's models read the text.
    pub fn is_sealed(&self) -> bool {
        self.served.as_ref().is_some_and(|served| served.is_sealed)
    }
}

/// What a server reported with an answer, as it wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Served {
    /// The model that it says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Time from request to the first token, reasoning included, in milliseconds; absent where the
    /// answer came in one piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// Tokens of reasoning, which [`Usage::output`] includes; absent where the server does not tell
    /// them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The usage as the server wrote it; absent where it wrote none, so that [`ChatReply::usage`]
    /// is an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<serde_json::Value>,
    /// Whether only the server's models read the text: it is the summary of a compaction, sealed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sealed: bool,
    /// Parameters of the request that were not sent, since the model does not take them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The output limit cut it.
    Length,
    /// A filter withheld it.
    ContentFilter,
}

/// Why no answer came back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChatError {
    /// The provider asked for fewer requests.
    #[error("rate limited{}", retry_after_ms.map_or(String::new(), |ms| format!(", retry after {ms} ms")))]
    RateLimited {
        /// How long the provider asked to wait.
        retry_after_ms: Option<u64>,
    },
    /// No answer in time.
    #[error("no answer within {after_ms} ms")]
    Timeout {
        /// The limit that passed.
        after_ms: u64,
    },
    /// The provider failed.
    #[error("server answered {status}")]
    Server {
        /// HTTP status.
        status: u16,
    },
    /// The request's text cannot be served: it is too long, or a filter withholds it.
    #[error("request refused: {message}")]
    Refused {
        /// The provider's words.
        message: String,
    },
    /// The server does not take a request of this form. If that is so for every request, the model
    /// cannot be used.
    #[error("request rejected: {message}")]
    Rejected {
        /// The provider's words.
        message: String,
    },
    /// The model cannot be asked at all. No result of a strategy: whoever measures must stop, and
    /// record nothing of it.
    #[error("{why}")]
    Unavailable {
        /// What happened, and what to do.
        why: String,
        /// Whether it may pass by itself.
        later: bool,
    },
}
