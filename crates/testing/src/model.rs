//! A model for tests that answers by a function.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};

/// What a call of a model gives.
pub type Answer = Result<ChatReply, ChatError>;

/// Answers by a function of the number of the call, from 0, and the request.
pub struct Scripted<F> {
    answer: F,
    calls: AtomicUsize,
}

impl<F: Fn(usize, &ChatRequest) -> Answer + Send + Sync> Scripted<F> {
    /// A model with these answers.
    pub fn new(answer: F) -> Self {
        Scripted {
            answer,
            calls: AtomicUsize::new(0),
        }
    }
}

/// A model that gives every request the same answer.
pub fn says(
    text: impl Into<String>,
) -> Scripted<impl Fn(usize, &ChatRequest) -> Answer + Send + Sync> {
    let text = text.into();
    Scripted::new(move |_, _| Ok(reply(text.clone())))
}

/// A model that writes a text, from the number of the call and the request's text.
pub fn writes(
    text: impl Fn(usize, &str) -> Result<String, ChatError> + Send + Sync,
) -> Scripted<impl Fn(usize, &ChatRequest) -> Answer + Send + Sync> {
    Scripted::new(move |call, request| text(call, &request.texts().collect::<String>()).map(reply))
}

/// A finished reply that was billed and took a second.
pub fn reply(text: impl Into<String>) -> ChatReply {
    let usage = Usage {
        input: 100,
        output: 10,
        ..Usage::default()
    };
    ChatReply {
        text: text.into(),
        finish: Finish::Stop,
        usage,
        latency_ms: 1_000,
        served: None,
    }
}

#[async_trait]
impl<F: Fn(usize, &ChatRequest) -> Answer + Send + Sync> ChatModel for Scripted<F> {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: &ChatRequest) -> Answer {
        (self.answer)(self.calls.fetch_add(1, Ordering::Relaxed), request)
    }
}
