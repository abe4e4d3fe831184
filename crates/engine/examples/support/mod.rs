//! What the examples share: a model that answers at once, and short ways to a session.
#![allow(dead_code, reason = "each example takes a part")]

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::{CountedMessage, Encoding};

pub(crate) type Failure = Box<dyn std::error::Error>;

/// Stands in for your client of a language model: it answers each request with the same text.
pub(crate) struct Model(pub(crate) &'static str);

#[async_trait]
impl ChatModel for Model {
    fn name(&self) -> &str {
        "example"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        Ok(ChatReply {
            text: self.0.to_owned(),
            finish: Finish::Stop,
            usage: Default::default(),
            latency_ms: 0,
            served: None,
        })
    }
}

/// A strategy with its default parameters, and a window of 4,000 tokens for it: compact at 3,200,
/// leave at most 1,200.
pub(crate) fn strategy(name: &str) -> Result<(Arc<dyn Strategy>, SessionConfig), Failure> {
    let mut all = strategies::ALL.iter();
    let spec = all
        .find(|spec| spec.name == name)
        .ok_or("no such strategy")?;
    let settings = Settings::defaults(spec);
    let tail = (spec.limits)(&settings)?.tail_share();
    Ok(((spec.build)(&settings), config(tail)?))
}

/// The same limits, of which the newest messages take this share.
pub(crate) fn config(tail: f64) -> Result<SessionConfig, Failure> {
    Ok(SessionConfig {
        budget: Budget::matched(4_000, 3_200, 1_200, tail)?,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    })
}

/// A message that was said at a time in milliseconds.
pub(crate) fn said(id: u32, role: Role, text: &str, at_ms: i64) -> Arc<CountedMessage> {
    let message = Message {
        id: MessageId(id),
        role,
        at_ms: Some(at_ms),
        parts: vec![Part::Text {
            text: text.to_owned(),
        }],
        usage: None,
    };
    CountedMessage::new(message, &Encoding::O200k)
}

/// The turns of a long chat about deployments: the user asks, the agent answers.
pub(crate) fn chat() -> impl Iterator<Item = (u32, Role, String)> {
    (0..40).map(|id| match id % 2 {
        0 => (
            id,
            Role::User,
            format!(
                "Deploy build {id}, please. {}",
                "It has more details. ".repeat(40)
            ),
        ),
        _ => (
            id,
            Role::Assistant,
            format!("Build {id} runs as dep-{:04x}.", id * 977),
        ),
    })
}
