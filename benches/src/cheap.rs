//! A counter and a model with negligible cost, so that a measurement covers only the rest.

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::tokens::TokenCounter;

/// One token for every four bytes.
pub struct Quarter;

impl TokenCounter for Quarter {
    fn name(&self) -> &'static str {
        "quarter"
    }

    fn count_text(&self, text: &str) -> u32 {
        u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
    }
}

/// Answers every request with the same text.
pub struct SameAnswer(pub String);

impl SameAnswer {
    /// The reply of a summarizer without latency: a summary, and a checkpoint if one is requested.
    pub fn at_once() -> Self {
        const REPLY: &str =
            "The work goes on as agreed.\n```json\n{\"active_goals\": [\"go on as agreed\"]}\n```";
        SameAnswer(REPLY.to_owned())
    }
}

#[async_trait]
impl ChatModel for SameAnswer {
    fn name(&self) -> &str {
        "same-answer"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let usage = Usage {
            output: Quarter.count_text(&self.0).into(),
            ..Usage::default()
        };
        Ok(ChatReply {
            text: self.0.clone(),
            finish: Finish::Stop,
            usage,
            latency_ms: 0,
            served: None,
        })
    }
}
