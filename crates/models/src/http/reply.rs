//! An answer as it comes in, and the reply that is made of it.

use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatReply, ChatRequest, Finish, Served};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use serde_json::Value;

use super::endpoint::Endpoint;
use super::error::{CallError, again, in_stream};
use crate::providers::{AnswerSoFar, Provider, ReportedUsage};

/// When an answer came, from the sending of its request on, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) first_token_ms: Option<u64>,
    pub(super) last_byte_ms: u64,
}

impl AnswerSoFar {
    /// Adds one event, or a whole answer that is not streamed.
    pub(super) fn take(&mut self, provider: &Provider, data: &[u8]) -> Result<(), CallError> {
        if data == b"[DONE]" {
            self.ended = true;
            return Ok(());
        }
        let event: Value = serde_json::from_slice(data)
            .map_err(|error| again(format!("the server's answer is not JSON: {error}")))?;
        let errors = [event.get("error"), event.pointer("/response/error")];
        if let Some(error) = errors.into_iter().flatten().find(|error| !error.is_null()) {
            return Err(in_stream(error));
        }
        if event["type"] == "error" {
            return Err(in_stream(&event));
        }
        (provider.read)(self, &event);
        Ok(())
    }

    /// Whether the answer is whole; one that broke off must be asked for again.
    pub(super) fn check(&self) -> Result<(), CallError> {
        if self.finish.is_some() || self.ended {
            return Ok(());
        }
        Err(again(
            "the server's answer broke off before its end".to_owned(),
        ))
    }

    /// The same with the place's key masked in everything that is kept: a server may repeat it.
    pub(super) fn masked(self, endpoint: &Endpoint) -> Self {
        let masked = |usage: Value| {
            serde_json::from_str(&endpoint.without_key(usage.to_string())).unwrap_or_default()
        };
        AnswerSoFar {
            text: endpoint.without_key(self.text),
            model: self.model.map(|model| endpoint.without_key(model)),
            usage: self.usage.map(masked),
            ..self
        }
    }

    pub(super) fn into_reply(
        self,
        provider: &Provider,
        request: &ChatRequest,
        times: Times,
        omitted: Vec<&str>,
    ) -> ChatReply {
        let read = self.usage.as_ref().and_then(provider.usage);
        let ReportedUsage {
            tokens: usage,
            reasoning,
        } = read.unwrap_or_else(|| {
            tracing::warn!(
                "the server reports no usage; tokens are counted with o200k_base instead"
            );
            ReportedUsage {
                tokens: counted(request, &self.text),
                reasoning: None,
            }
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
                is_sealed: self.is_sealed,
                omitted: omitted.into_iter().map(str::to_owned).collect(),
            })),
        }
    }
}

/// Tokens where the server counts none: an estimate, but nearer than nothing used.
fn counted(request: &ChatRequest, text: &str) -> Usage {
    let counter = Encoding::O200k;
    Usage {
        input: request.tokens(&counter).into(),
        output: counter.count_text(text).into(),
        ..Usage::default()
    }
}
