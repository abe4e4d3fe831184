//! Every strategy with every fault: whatever a model does, the session remains sound.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use crate::material::by_name;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::meter::Metered;
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;
use compactometer_simulator::faults;

/// A conversation of about 4,000 tokens with tool calls.
pub(crate) fn conversation() -> Vec<Arc<CountedMessage>> {
    let mut said = vec![(Role::System, vec![text("You are an agent.")])];
    for turn in 0..40 {
        said.push((
            Role::User,
            vec![text(&format!(
                "Please move the quota of svc-{turn} to {turn}55 and tell me why."
            ))],
        ));
        let call = format!("call-{turn}");
        let arguments = format!("{{\"id\":\"svc-{turn}\"}}");
        said.push((
            Role::Assistant,
            vec![Part::ToolCall {
                id: call.clone(),
                name: "move".into(),
                arguments,
            }],
        ));
        let result = format!("moved svc-{turn}: {}", "ok, the quota stands. ".repeat(8));
        said.push((
            Role::Tool,
            vec![Part::ToolResult {
                call_id: call,
                text: result,
                is_error: false,
            }],
        ));
        said.push((
            Role::Assistant,
            vec![text(&format!(
                "We decided to keep svc-{turn} because finance asked for it."
            ))],
        ));
    }
    let count = |(id, (role, parts)): (usize, (Role, Vec<Part>))| {
        let message = Message {
            id: MessageId(id as u32),
            role,
            at_ms: None,
            parts,
            usage: None,
        };
        CountedMessage::new(message, &Encoding::O200k)
    };
    said.into_iter().enumerate().map(count).collect()
}

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

/// A strategy and its session's limits under the matched protocol.
pub(crate) fn at_2000_tokens(spec: &StrategySpec) -> (Arc<dyn Strategy>, SessionConfig) {
    let settings = Settings::defaults(spec);
    let share = (spec.limits)(&settings).unwrap().tail_share();
    let budget = Budget::matched(2_000, 1_600, 600, share).unwrap();
    let factor = 2_000.0 / f64::from((spec.limits)(&settings).unwrap().window);
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    };
    ((spec.build)(&settings.scaled(spec, factor)), config)
}

/// Runs a session. Returns the number of compactions applied and the number of decisions.
async fn run(spec: &StrategySpec, model: &str, messages: &[Arc<CountedMessage>]) -> (usize, usize) {
    let model = by_name(model);
    let metered = Metered::new(&*model, 3);
    let (strategy, config) = at_2000_tokens(spec);
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let mut usage_before = 0;
    for counted in messages {
        if counted.message.role == Role::Assistant {
            let before = session.view().clone();
            let event = session.before_call(None).await.cloned();
            assert_eq!(session.view().check(), [], "{}", spec.name);
            if let Some(event) = event.filter(|event| event.outcome != Outcome::Applied) {
                assert_eq!(event.tokens_after, before.tokens(), "{}", spec.name);
                assert_eq!(
                    session.view().to_wire(),
                    before.to_wire(),
                    "{}: a failure changes nothing",
                    spec.name
                );
            }
            let usage = session
                .history()
                .iter()
                .map(|saved| saved.usage.output)
                .sum::<u64>();
            assert!(usage >= usage_before, "{}", spec.name);
            usage_before = usage;
        }
        session.push(counted.clone()).unwrap();
    }
    // The records report the usage that the meter counted.
    let remembered = session
        .history()
        .iter()
        .map(|saved| saved.usage.total_input())
        .sum::<u64>();
    assert!(remembered <= metered.usage().total_input(), "{}", spec.name);
    let applied = session
        .events()
        .iter()
        .filter(|event| event.outcome == Outcome::Applied)
        .count();
    (applied, session.events().len())
}

#[test]
fn every_strategy_survives_every_fault() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let messages = conversation();
    let turns = messages
        .iter()
        .filter(|counted| counted.message.role == Role::Assistant)
        .count();
    for spec in strategies::ALL {
        let (applied, _) = runtime.block_on(run(spec, "mock", &messages));
        assert!(
            applied >= 2,
            "{}: {applied} compactions without faults",
            spec.name
        );
        for fault in faults::ALL {
            // A rate at which both the fault and the retry after it occur.
            let model = format!("mock+{}=0.7", fault.name);
            let (_, decisions) = runtime.block_on(run(spec, &model, &messages));
            assert!(
                decisions > 0 && decisions <= turns / 2,
                "{} {}: {decisions}",
                spec.name,
                fault.name
            );
        }
    }
}
