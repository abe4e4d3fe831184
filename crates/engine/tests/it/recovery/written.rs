//! When checkpoints are written, by whom, and what is known of it.

use std::sync::Mutex;

use async_trait::async_trait;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::meter::{Metered, Purpose};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::session::Session;
use compactometer_engine::tokens::Encoding;

use crate::recovery::stage::{CHECKPOINT, Says, config, middleware, ready, said, strategy};

/// The tokens of each request before which a checkpoint was written.
fn checkpointed_at(values: &[(&str, &str)], texts: &[&str]) -> Vec<u32> {
    let strategy = strategy("middleware-checkpoint", values);
    let metered = Metered::new(&Says(CHECKPOINT), 0);
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    for (id, text) in texts.iter().enumerate() {
        let role = if id % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        if role == Role::Assistant {
            ready(session.before_call(None));
        }
        session.push(said(id as u32, role, text, None)).unwrap();
    }
    session
        .checkpoint_events()
        .iter()
        .map(|event| event.tokens)
        .collect()
}

#[test]
fn prediction_moves_with_the_pace_and_the_horizon() {
    let texts = |words: usize| {
        (0..200)
            .map(|_| "look again ".repeat(words))
            .collect::<Vec<_>>()
    };
    let first = |words: usize, ahead: &'static str| {
        let texts = texts(words);
        let texts = texts.iter().map(String::as_str).collect::<Vec<_>>();
        checkpointed_at(
            &[
                ("delta", "80"),
                ("predictive", "on"),
                ("ahead", ahead),
                ("shift", "0"),
            ],
            &texts,
        )[0]
    };
    // A turn of the agent and one of the user: 2 x (2 x words + 4) tokens.
    let (slow, fast) = (first(3, "3"), first(25, "3"));
    assert!(slow > fast + 50, "{slow} and {fast}");
    assert!((800 - 3 * 116..800).contains(&fast), "{fast}");
    assert!(first(25, "1") > fast && first(25, "5") < fast);
}

#[test]
fn a_change_of_topic_is_a_reason_by_itself() {
    let about = |words: &str| words.repeat(4);
    let cars = about("engine brake wheel gear clutch piston ");
    let soup = about("onion carrot leek celery thyme butter ");
    let texts = [[cars.as_str(); 6], [soup.as_str(); 6]].concat();
    let written = |shift: &'static str, texts: &[&str]| {
        checkpointed_at(
            &[
                ("delta", "80"),
                ("predictive", "on"),
                ("ahead", "0"),
                ("shift", shift),
            ],
            texts,
        )
        .len()
    };
    assert_eq!(
        (
            written("0.1", &texts),
            written("0", &texts),
            written("0.1", &[cars.as_str(); 12])
        ),
        (1, 0, 0)
    );
    assert!(
        checkpointed_at(&[("delta", "80")], &texts).is_empty(),
        "off by default"
    );
}

#[test]
fn another_model_writes_the_checkpoints() {
    let (strategy, metered, cheap) = (
        middleware(),
        Metered::new(&Says("Work went on."), 0),
        Metered::new(&Says(CHECKPOINT), 0),
    );
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config())
        .checkpointing_with(&cheap, Some(4_000));
    for id in 0..31 {
        let role = if id % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        session
            .push(said(id, role, &"look again ".repeat(25), None))
            .unwrap();
        ready(session.before_call(None));
    }
    let (calls, cheap_calls) = (metered.take_calls(), cheap.take_calls());
    assert!(!calls.is_empty() && calls.iter().all(|call| call.purpose == Purpose::Compaction));
    assert!(
        !cheap_calls.is_empty()
            && cheap_calls
                .iter()
                .all(|call| call.purpose == Purpose::Checkpoint)
    );
    let recorded = session
        .history()
        .iter()
        .map(|saved| saved.usage.input)
        .sum::<u64>();
    assert_eq!(recorded, metered.usage().input + cheap.usage().input);
}

/// Answers in turn.
struct InTurn(Mutex<Vec<&'static str>>);

#[async_trait]
impl ChatModel for InTurn {
    fn name(&self) -> &str {
        "in-turn"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let text = self.0.lock().unwrap().remove(0);
        Says(text).complete(request).await
    }
}

#[test]
fn repeated_failures_raise_one_alert_and_count_in_the_rate() {
    let answers = [
        CHECKPOINT, "no", "no", "no", "no", CHECKPOINT, "no", "no", "no",
    ];
    let model = InTurn(Mutex::new(answers.to_vec()));
    let (strategy, metered) = (
        strategy(
            "middleware-checkpoint",
            &[("delta", "2"), ("ratio", "0.01")],
        ),
        Metered::new(&model, 0),
    );
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    assert_eq!(session.health().success_rate(), None);
    let mut alerts = Vec::new();
    for id in 0..9 {
        session
            .push(said(
                id,
                if id % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                },
                "Go on, please.",
                None,
            ))
            .unwrap();
        ready(session.before_call(None));
        alerts.push(session.health().alerts.len());
    }
    assert_eq!(alerts, [0, 0, 0, 1, 1, 1, 1, 1, 2]);
    let health = session.health();
    assert_eq!(
        (
            health.alerts[0].after,
            health.alerts[0].failures,
            health.in_a_row
        ),
        (MessageId(3), 3, 3)
    );
    assert_eq!(health.success_rate(), Some(2.0 / 9.0));
}

#[test]
fn failures_with_a_summary_count_too() {
    let (strategy, metered) = (
        strategy("prompt-checkpoint", &[]),
        Metered::new(&Says("Work went on."), 0),
    );
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    for id in 0..9 {
        let role = if id % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        session
            .push(said(id, role, &"look again ".repeat(30), None))
            .unwrap();
    }
    let event = ready(session.compact(None)).unwrap().clone();
    assert_eq!(
        (event.outcome, event.extractions.len()),
        (Outcome::Applied, 1)
    );
    assert_eq!(session.health().success_rate(), Some(0.0));
}
