//! What real sessions commit: each reference strategy over the embedded suite's conversations, one
//! after the other.

use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::meter::Metered;
use compactometer_engine::params::Settings;
use compactometer_engine::record::SessionRecord;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::Edit;
use compactometer_suites::embedded::smoke;

/// Tokens.
const WINDOW: u32 = 12_000;

/// What one decision of a session committed.
pub(crate) struct Decision {
    pub(crate) saved: Vec<SessionRecord>,
    pub(crate) view: Vec<Edit>,
    pub(crate) after: MessageId,
}

/// What a strategy commits until it has decided about so many compactions.
pub(crate) async fn decisions(
    spec: &StrategySpec,
    messages: &[Arc<CountedMessage>],
    compactions: usize,
) -> Vec<Decision> {
    let settings = Settings::defaults(spec);
    let limits = (spec.limits)(&settings).unwrap();
    let strategy =
        (spec.build)(&settings.scaled(spec, f64::from(WINDOW) / f64::from(limits.window)));
    let model = compactometer_models::by_name("mock").unwrap();
    let metered = Metered::new(&*model, 1);
    let budget =
        Budget::matched(WINDOW, WINDOW / 5 * 4, WINDOW / 5 * 2, limits.tail_share()).unwrap();
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let mut decisions = Vec::new();
    for (last, next) in messages.iter().zip(&messages[1..]) {
        session.push(last.clone()).unwrap();
        let (records, events) = (session.history().len(), session.events().len());
        session
            .before_call(Some(
                1_769_870_000_000 + i64::from(next.message.id.0) * 30_000,
            ))
            .await;
        let saved = session.history()[records..].to_vec();
        if !saved.is_empty() || session.events().len() > events {
            decisions.push(Decision {
                saved,
                view: session.view().to_edits(),
                after: last.message.id,
            });
        }
        if session.events().len() >= compactions {
            return decisions;
        }
    }
    panic!(
        "{}: {} compactions in {} messages",
        spec.name,
        session.events().len(),
        messages.len()
    );
}

/// The embedded suite as one conversation, several times over.
pub(crate) fn endless() -> Vec<Arc<CountedMessage>> {
    let mut messages = Vec::new();
    for pass in 0..4 {
        for (place, scenario) in smoke().unwrap().scenarios.into_iter().enumerate() {
            let said = scenario
                .messages
                .into_iter()
                .filter(|message| message.role != Role::System);
            messages.extend(said.map(|message| with_call_ids(message, &format!("{pass}-{place}"))));
        }
    }
    let count = |(message, id): (Message, u32)| {
        let message = Message {
            id: MessageId(id),
            ..message
        };
        CountedMessage::new(message, &Encoding::O200k)
    };
    messages.into_iter().zip(0..).map(count).collect()
}

/// Call ids are unique in a conversation, so each scenario of each pass has its own.
fn with_call_ids(message: Message, of: &str) -> Message {
    let part = |part| match part {
        Part::ToolCall {
            id,
            name,
            arguments,
        } => Part::ToolCall {
            id: format!("{id}-{of}"),
            name,
            arguments,
        },
        Part::ToolResult {
            call_id,
            text,
            is_error,
        } => Part::ToolResult {
            call_id: format!("{call_id}-{of}"),
            text,
            is_error,
        },
        other => other,
    };
    Message {
        parts: message.parts.into_iter().map(part).collect(),
        ..message
    }
}
