//! Checkpoints that are shown outside a compaction, in a replay: events, shared prefixes, fates.

use compactometer_engine::event::{RecoveryOutcome, RecoveryReason};
use compactometer_engine::message::Role;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{Record, Turn};
use compactometer_formats::scenario::Scenario;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::run_case;
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, suite};

/// A checkpoint that differs from call to call.
fn answer(call: usize) -> String {
    let shown =
        r#"{"context_references":{"files":["zz-77.rs"]},"workflow_state":{"current_step":"STEP"}}"#;
    format!(
        "```json
{}
```",
        shown.replace("STEP", &format!("step {call}"))
    )
}

/// Some 1,400 tokens of 1,600, and a user who comes back after that many hours.
fn scenario(hours: i64) -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You help.");
    let stated = builder.say(Role::User, "Work on zz-77.rs, please.");
    builder.say(Role::Assistant, "Which file was it? Yes.");
    builder.chatter(1_500);
    builder.say(Role::User, "I am back.");
    builder.say(Role::Assistant, "Welcome.");
    builder.fact("zz-77.rs", &[stated]);
    let mut scenario = builder.build();
    let last = scenario.messages.len() - 2;
    for (index, message) in scenario.messages.iter_mut().enumerate() {
        message.at_ms = Some(if index < last { 0 } else { hours * 3_600_000 });
    }
    scenario
}

fn record(strategy: &str, hours: i64) -> Record {
    let options = PlanOptions {
        entrants: select([strategy], []).unwrap(),
        window: Some(2_000),
        summarizer: "scripted".into(),
        seed: 1,
        ..PlanOptions::default()
    };
    let plan = Plan::new(suite(vec![scenario(hours)]), options, &Encoding::O200k).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let model = writes(|call, _| Ok(answer(call)));
    runtime
        .block_on(run_case(&plan.cases[0], &model, &Encoding::O200k))
        .record
}

/// The turns that could not reuse all of the request before.
fn breaks(record: &Record) -> Vec<&Turn> {
    let pairs = record.turns.windows(2);
    pairs
        .filter(|pair| pair[1].shared_prefix < pair[0].input)
        .map(|pair| &pair[1])
        .collect()
}

#[test]
fn a_return_after_absence_is_an_event_and_breaks_the_prefix_behind_the_system_prompt() {
    let record = record("middleware-checkpoint", 9);
    assert!(record.compactions.is_empty() && !record.checkpoints.is_empty());
    let [event] = &record.recoveries[..] else {
        panic!("{:?}", record.recoveries)
    };
    assert_eq!(
        (&event.reason, &event.outcome),
        (
            &RecoveryReason::Absence(9 * 3_600_000),
            &RecoveryOutcome::Shown(2, 2)
        )
    );
    let [turn] = breaks(&record)[..] else {
        panic!("one break")
    };
    assert_eq!(turn.message, record.turns.last().unwrap().message);
    assert!(
        turn.shared_prefix > 0 && turn.shared_prefix < 10,
        "{} tokens: the words of the system prompt",
        turn.shared_prefix
    );
    assert_eq!(
        record.observations.last().unwrap().fates.0,
        [Fate::Verbatim]
    );
}

#[test]
fn without_absence_nothing_is_shown_even_where_the_recorded_agent_seems_lost() {
    let record = record("middleware-checkpoint", 1);
    assert!(
        !record.checkpoints.is_empty()
            && record.recoveries.is_empty()
            && breaks(&record).is_empty()
    );
}

#[test]
fn the_documents_own_form_breaks_the_prefix_with_each_checkpoint() {
    let record = record("middleware-checkpoint-faithful", 1);
    assert!(!record.recoveries.is_empty());
    assert!(
        record
            .recoveries
            .iter()
            .all(|event| event.reason == RecoveryReason::Written)
    );
    let shown = record
        .recoveries
        .iter()
        .filter(|event| matches!(event.outcome, RecoveryOutcome::Shown(..)))
        .count();
    assert_eq!(breaks(&record).len(), shown);
    assert!(
        record
            .observations
            .iter()
            .all(|observation| observation.fates.0 == [Fate::Verbatim])
    );
}
