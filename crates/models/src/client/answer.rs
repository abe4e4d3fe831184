//! An answer as it comes in, and the reply that is made of it.

use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatReply, ChatRequest, Finish, Served};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use serde_json::Value;

use super::place::{Api, Place};
use super::trouble::{Trouble, again, in_stream};
use super::{anthropic, openai};

/// What has come of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) finish: Option<Finish>,
    /// The model that the server says it is.
    pub(super) model: Option<String>,
    /// The usage, as the server writes it.
    pub(super) usage: Option<Value>,
    /// Whether anything has been generated, reasoning included.
    pub(super) began: bool,
    /// Whether what comes is the input of the tool that the reply is asked for through.
    pub(super) writes_reply: bool,
    /// Whether the server said that this is all.
    pub(super) ended: bool,
}

/// When an answer came, from the sending of its request on, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) first_token_ms: Option<u64>,
    pub(super) last_byte_ms: u64,
}

impl Answer {
    /// Adds one event, or a whole answer that is not streamed.
    pub(super) fn take(&mut self, api: Api, data: &[u8]) -> Result<(), Trouble> {
        if data == b"[DONE]" {
            self.ended = true;
            return Ok(());
        }
        let event: Value =
            serde_json::from_slice(data).map_err(|error| again(format!("the server's answer is no JSON: {error}")))?;
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(in_stream(error));
        }
        match api {
            Api::OpenAi | Api::Compatible => openai::take(self, &event),
            Api::Anthropic => anthropic::take(self, &event),
        }
        Ok(())
    }

    /// Whether the answer is whole; one that broke off must be asked for again.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        if self.finish.is_some() || self.ended {
            return Ok(());
        }
        Err(again("the server's answer broke off before its end".to_owned()))
    }

    /// The same with the place's key masked in everything that is kept: a server may repeat it.
    pub(super) fn masked(self, place: &Place) -> Self {
        let masked = |usage: Value| serde_json::from_str(&place.without_key(usage.to_string())).unwrap_or_default();
        Answer {
            text: place.without_key(self.text),
            model: self.model.map(|model| place.without_key(model)),
            usage: self.usage.map(masked),
            ..self
        }
    }

    pub(super) fn into_reply(self, api: Api, request: &ChatRequest, times: Times, omitted: Vec<&str>) -> ChatReply {
        let read = self.usage.as_ref().and_then(|raw| match api {
            Api::OpenAi | Api::Compatible => openai::usage(raw),
            Api::Anthropic => anthropic::usage(raw),
        });
        let (usage, reasoning) = read.unwrap_or_else(|| {
            tracing::warn!("the server reports no usage; tokens are counted with o200k_base instead");
            (counted(request, &self.text), None)
        });
        ChatReply {
            text: self.text,
            finish: self.finish.unwrap_or(Finish::Stop),
            usage,
            latency_ms: times.last_byte_ms,
            served: Some(Box::new(Served {
                model: self.model,
                first_token_ms: times.first_token_ms,
                reasoning,
                usage: self.usage,
                omitted: omitted.into_iter().map(str::to_owned).collect(),
            })),
        }
    }
}

/// Tokens where the server counts none: an estimate, but nearer than nothing used.
fn counted(request: &ChatRequest, text: &str) -> Usage {
    let counter = Encoding::O200k;
    Usage { input: request.tokens(&counter).into(), output: counter.count_text(text).into(), ..Usage::default() }
}
