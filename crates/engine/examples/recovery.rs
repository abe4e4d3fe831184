//! A checkpoint that is shown again when the user comes back after a night: `cargo run -p
//! compactometer-engine --example recovery`.

mod support;

use compactometer_engine::event::{RecoveryOutcome, RecoveryReason};
use compactometer_engine::message::Role;
use compactometer_engine::meter::Metered;
use compactometer_engine::recovery::ABSENCE_MS;
use compactometer_engine::session::Session;
use compactometer_engine::tokens::Encoding;

use support::{Failure, Model, chat, said, strategy};

/// A summary and a checkpoint, as the strategy's prompt asks for them.
const ANSWER: &str = r#"[SUMMARY]
Builds 0 to 20 run.
[CHECKPOINT]
{"active_goals": ["deploy all builds"], "key_decisions": {"dep-0f44": "stays until Friday"}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (strategy, config) = strategy("prompt-checkpoint")?;
    let metered = Metered::new(&Model(ANSWER), 0);
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let mut last = 0;
    for (id, role, text) in chat() {
        session.push(said(id, role, &text, i64::from(id)))?;
        session.before_call(Some(i64::from(id))).await;
        last = id;
    }
    // The host may ask for what a question is about, in place of all that is shown.
    let evening = Some(i64::from(last));
    let asked = session.recover(RecoveryReason::OnDemand, Some("What stays?"), evening);
    println!("asked: {:?}", asked.await.map(|event| &event.outcome));

    let morning = i64::from(last) + ABSENCE_MS + 1;
    session.push(said(last + 1, Role::User, "Where were we?", morning))?;
    assert!(session.recovery_due(Some(morning)).is_some());
    session.before_call(Some(morning)).await;
    let shown = session.recovery_events().last();
    println!(
        "in the morning: {:?}",
        shown.map(|event| (&event.reason, &event.outcome))
    );
    assert!(matches!(
        shown.map(|event| &event.outcome),
        Some(RecoveryOutcome::Shown(2, 2))
    ));
    Ok(())
}
