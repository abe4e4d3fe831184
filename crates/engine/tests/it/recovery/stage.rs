//! A session with a checkpoint, over a model that answers alike.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::record::RecordKind;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;

pub(crate) const CHECKPOINT: &str = r#"{"active_goals":["Build a CRM"],"key_decisions":{"storage":"PostgreSQL","cache":"Redis"},"user_preferences":{"format":"JSON"},"context_references":{"threads":["telegram:7"]}}"#;

/// Answers every request alike.
pub(crate) struct Says(pub(crate) &'static str);

#[async_trait]
impl ChatModel for Says {
    fn name(&self) -> &str {
        "says"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let usage = Usage {
            input: 1,
            output: 1,
            ..Usage::default()
        };
        Ok(ChatReply {
            text: self.0.to_owned(),
            finish: Finish::Stop,
            usage,
            latency_ms: 1,
            served: None,
        })
    }
}

/// Polls a future that never waits for anything outside.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing in the engine waits"),
    }
}

pub(crate) fn said(id: u32, role: Role, text: &str, at_ms: Option<i64>) -> Arc<CountedMessage> {
    let message = Message {
        id: MessageId(id),
        role,
        at_ms,
        parts: vec![Part::Text { text: text.into() }],
        usage: None,
    };
    CountedMessage::new(message, &Encoding::O200k)
}

pub(crate) fn strategy(name: &str, values: &[(&str, &str)]) -> Arc<dyn Strategy> {
    let spec = ALL.iter().find(|spec| spec.name == name).unwrap();
    let mut settings = Settings::defaults(spec);
    for (name, value) in values {
        settings.set(spec, name, value).unwrap();
    }
    (spec.build)(&settings)
}

pub(crate) fn config() -> SessionConfig {
    let budget = Budget::matched(1_000, 800, 300, 0.5).unwrap();
    SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    }
}

/// A session whose strategy has written a checkpoint and not compacted; the last message is the
/// agent's, at that time.
pub(crate) fn with_checkpoint<'s>(
    strategy: &'s dyn Strategy,
    metered: &'s Metered<'s>,
    last: &str,
    at_ms: i64,
) -> Session<'s> {
    let mut session = Session::new(strategy, metered, &Encoding::O200k, config());
    session
        .push(said(0, Role::System, "You help.", None))
        .unwrap();
    for id in 1..14 {
        let (role, text) = if id % 2 == 1 {
            (Role::User, "look again ".repeat(45))
        } else {
            (Role::Assistant, "Done.".into())
        };
        session
            .push(said(id, role, &text, Some(at_ms - 1)))
            .unwrap();
    }
    ready(session.before_call(Some(at_ms)));
    assert_eq!(
        session
            .history()
            .iter()
            .map(|saved| saved.kind)
            .collect::<Vec<_>>(),
        [RecordKind::Checkpoint]
    );
    session
        .push(said(14, Role::Assistant, last, Some(at_ms)))
        .unwrap();
    session
}

pub(crate) fn middleware() -> Arc<dyn Strategy> {
    strategy("middleware-checkpoint", &[("delta", "80")])
}

pub(crate) fn system(session: &Session<'_>) -> String {
    let texts = session.view().entries()[0]
        .parts()
        .map(|(part, _)| match part {
            Part::Text { text } => text.clone(),
            _ => String::new(),
        });
    texts.collect::<Vec<_>>().join("\n")
}

pub(crate) fn chat(session: &Session<'_>) -> String {
    format!("{:?}", &session.view().to_wire()[1..])
}
